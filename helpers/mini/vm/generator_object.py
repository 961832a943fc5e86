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
    frame.handling = type(frame.handling)()
    sent = None
    thrown = None
    while True:
        value = _resume(frame, sent, thrown)
        frame.back = None
        if not _has_yielded(frame):
            return value

        sent = None
        thrown = None
        try:
            sent = yield value
        except BaseException as error:
            thrown = error


def _resume(frame, sent, thrown):
    """Run the frame until it yields or returns; return that value."""
    thread = frame.thread
    below = thread.top or thread
    frame.back = thread.top
    frame.handling.outer = below.handling
    frame.depth = below.depth + 1

    if thrown is not None and _waits_for_subiterator(frame):
        return _throw_into_subiterator(frame, thrown)
    thread.top = frame
    frame.done = False
    frame.is_flat = False
    if thrown is not None:
        return frame.throw(thrown)
    frame.push(sent)
    return frame.evaluate()


def _has_yielded(frame) -> bool:
    return frame.steps[frame.at - 1].opname == "YIELD_VALUE"


def _waits_for_subiterator(frame) -> bool:
    return _has_yielded(frame) and frame.steps[frame.at - 2].opname == "SEND"


def _throw_into_subiterator(frame, error):
    """Hand an exception on to the subiterator, as PEP 380 says; the frame stays where it is."""
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
    if not isinstance(ended, StopIteration) or ended is error:
        return frame.throw(ended)
    frame.stack[-1] = ended.value
    send = frame.steps[frame.at - 2]
    frame.jump(send.arguments[0])  # where SEND goes at the end
    return frame.evaluate()
