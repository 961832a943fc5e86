"""A frame that waits -> a generator that continues it.

Mirrors CPython's `Objects/genobject.c`. The generator is CPython's own, and its body drives the
machine's frame.
"""


def generator_of(frame):
    """Return a generator that continues `frame`, with its function's name."""
    generator = _drive(frame)
    generator.__name__ = frame.called.__name__
    generator.__qualname__ = frame.called.__qualname__
    return generator


def _drive(frame):
    """Be the generator: continue the frame at each `next`, and yield what it yields."""
    frame.handling = type(frame.handling)()  # a generator handles exceptions of its own
    sent = None
    thrown = None
    while True:
        value = _resume(frame, sent, thrown)
        frame.back = None  # a frame that waits has no caller
        if not _has_yielded(frame):
            return value

        sent = None
        thrown = None
        try:
            sent = yield value
        except BaseException as error:
            thrown = error


def _resume(frame, sent, thrown):
    """Run the frame until it yields or returns; return that value.

    It begins with the value that was `sent` to the generator, or raises the exception `thrown` in
    the frame, if that is not None.
    """
    thread = frame.thread
    below = thread.top or thread  # what continues the generator: a frame, or no frame of ours
    frame.back = thread.top
    frame.handling.outer = below.handling
    frame.depth = below.depth + 1

    if thrown is not None and _waits_for_subiterator(frame):
        return _throw_into_subiterator(frame, thrown)
    thread.top = frame
    frame.done = False
    frame.is_flat = False  # this function, and no frame's loop, waits for the value
    if thrown is not None:
        return frame.throw(thrown)
    frame.push(sent)
    return frame.evaluate()


def _has_yielded(frame) -> bool:
    """Return whether the instruction that ran last is a `yield`: else the frame has returned."""
    return frame.steps[frame.at - 1].opname == "YIELD_VALUE"


def _waits_for_subiterator(frame) -> bool:
    """Return whether the frame waits in a `yield from`, which is a SEND and then a `yield`."""
    return _has_yielded(frame) and frame.steps[frame.at - 2].opname == "SEND"


def _throw_into_subiterator(frame, error):
    """Hand an exception on to the iterator of a `yield from`, as PEP 380 says.

    Return what that yields; the frame stays where it is. If that has no method for it, or ends, the
    frame runs on, and what it yields or returns is the result.
    """
    subiterator = frame.stack[-1]
    is_closing = isinstance(error, GeneratorExit)
    hand_on = getattr(subiterator, "close" if is_closing else "throw", None)
    ended = error  # what the frame continues with
    try:
        if hand_on is not None and is_closing:
            hand_on()
        elif hand_on is not None:
            return hand_on(error)
    except BaseException as raised:
        ended = raised

    frame.thread.top = frame
    frame.done = False
    # A StopIteration that was thrown in is no end of the iterator.
    if not isinstance(ended, StopIteration) or ended is error:
        return frame.throw(ended)
    frame.stack[-1] = ended.value
    send = frame.steps[frame.at - 2]
    frame.jump(send.arguments[0])  # where SEND goes at the end
    return frame.evaluate()
