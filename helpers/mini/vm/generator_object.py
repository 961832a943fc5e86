"""Generators of a Python-written bytecode machine: make a CPython generator from a frame of it.

Mirrors CPython's `Objects/genobject.c`. The generator is a real one of CPython's. At each `next`,
its body runs the machine's frame up to the frame's next `yield`.
"""


def generator_of(frame):
    """Return a generator that continues `frame` at each `next`, with the name of its function."""
    generator = _drive(frame)
    generator.__name__ = frame.called.__name__
    generator.__qualname__ = frame.called.__qualname__
    return generator


def _drive(frame):
    """Be the body of the generator: run the frame, and yield the values that the frame yields."""
    frame.handling = type(frame.handling)()  # exceptions in a generator are handled apart
    sent = None  # what `generator.send` passed
    thrown = None  # what `generator.throw` passed, or a GeneratorExit of `close`
    while True:
        value = _resume(frame, sent, thrown)
        frame.back = None  # a waiting frame has no caller
        if not _has_yielded(frame):  # the frame has returned
            return value

        sent = None
        thrown = None
        try:
            sent = yield value
        except BaseException as error:
            thrown = error


def _resume(frame, sent, thrown):
    """Run a waiting frame until it yields or returns, and return the value.

    If `thrown` is an exception, it is raised in the frame where that waits. Otherwise `sent` is the
    value of the `yield` at which the frame waits.
    """
    thread = frame.thread
    # The frame of the machine that called `next`. If code outside the machine did, there is none,
    # and the run itself has the same attributes.
    caller = thread.top or thread
    frame.back = thread.top
    frame.handling.outer = caller.handling
    frame.depth = caller.depth + 1

    if thrown is not None and _waits_for_subiterator(frame):
        return _throw_into_subiterator(frame, thrown)
    thread.top = frame
    frame.done = False
    frame.is_flat = False  # `evaluate` returns the value here; it is not pushed onto a stack
    if thrown is not None:
        return frame.throw(thrown)
    frame.push(sent)
    return frame.evaluate()


def _has_yielded(frame) -> bool:
    """Return whether the frame stopped at a `yield`. If not, it has returned."""
    return frame.steps[frame.at - 1].opname == "YIELD_VALUE"


def _waits_for_subiterator(frame) -> bool:
    """Return whether the frame waits in a `yield from`, which is a SEND and then a YIELD_VALUE."""
    return _has_yielded(frame) and frame.steps[frame.at - 2].opname == "SEND"


def _throw_into_subiterator(frame, error):
    """Raise an exception in the iterator of the `yield from` at which a frame waits (PEP 380).

    If the iterator yields a value, that is the result, and the frame goes on waiting. Otherwise the
    frame continues, and the result is the value that the frame then yields or returns. It continues
    with the error that the iterator raised, or after the `yield from` if that was StopIteration.
    """
    subiterator = frame.stack[-1]
    is_closing = isinstance(error, GeneratorExit)
    # An iterator that is no generator may lack the method. The error then goes to the frame itself.
    method = getattr(subiterator, "close" if is_closing else "throw", None)
    error_for_frame = error
    try:
        if method is not None and is_closing:
            method()
        elif method is not None:
            return method(error)
    except BaseException as raised:
        error_for_frame = raised

    frame.thread.top = frame
    frame.done = False
    # StopIteration says that the iterator has ended, but not if it is the one that was thrown in.
    if not isinstance(error_for_frame, StopIteration) or error_for_frame is error:
        return frame.throw(error_for_frame)
    frame.stack[-1] = error_for_frame.value
    send = frame.steps[frame.at - 2]
    frame.jump(send.arguments[0])  # the instruction after the `yield from`
    return frame.evaluate()
