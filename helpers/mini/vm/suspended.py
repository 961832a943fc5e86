"""A frame that waits -> a real Python generator that goes on with it.

The generator is CPython's own, so that `send`, `throw`, `close`, `list` and `isinstance` work on
it; its body drives the machine's frame.
"""

from types import CodeType, GeneratorType

from helpers.mini.vm.values import NULL


def generator_of(frame):
    """Return a generator that goes on with `frame`, with its function's name."""
    generator = _drive(frame)
    generator.__name__, generator.__qualname__ = frame.titles
    return generator


def program_code(generator: GeneratorType) -> CodeType:
    """Return the code object that runs in a generator: of the machine's own, the program's."""
    code = generator.gi_code
    if code is _drive.__code__ and generator.gi_frame is not None:
        return generator.gi_frame.f_locals["frame"].code
    return code


def _drive(frame):
    frame.handling = type(frame.handling)()
    sent, thrown = None, None
    while True:
        value = _go_on(frame, sent, thrown)
        frame.back = None
        if not _yielded(frame):
            return value
        sent, thrown = None, None
        try:
            sent = yield value
        except BaseException as error:
            thrown = error


def _go_on(frame, sent, thrown):
    """Run the frame until it next yields or returns: what it yielded or returned."""
    thread = frame.thread
    frame.back, frame.handling.outer = thread.top, (thread.top or thread).handling
    frame.depth = (thread.top or thread).depth + 1
    if thrown is not None:
        subiterator = _subiterator(frame)
        if subiterator is not NULL:
            return _throw_into(frame, subiterator, thrown)
    thread.top, frame.done, frame.is_flat = frame, False, False
    if thrown is not None:
        return frame.throw(thrown)
    frame.push(sent)
    return frame.evaluate()


def _yielded(frame) -> bool:
    return frame.steps[frame.at - 1].opname == "YIELD_VALUE"


def _subiterator(frame):
    """Return the iterator that the frame's `yield from` waits for, or NULL."""
    delegates = _yielded(frame) and frame.steps[frame.at - 2].opname == "SEND"
    return frame.stack[-1] if delegates else NULL


def _throw_into(frame, subiterator, error):
    """Hand an exception on to the subiterator, as PEP 380 says; the frame stays where it is."""
    closing = isinstance(error, GeneratorExit)
    hand_on = getattr(subiterator, "close" if closing else "throw", None)
    try:
        value = hand_on() if closing and hand_on else hand_on and hand_on(error)
    except BaseException as raised:
        ended = raised
    else:
        if not closing and hand_on is not None:
            return value
        ended = error
    frame.thread.top, frame.done = frame, False
    if not isinstance(ended, StopIteration) or ended is error:
        return frame.throw(ended)
    frame.stack[-1] = ended.value
    frame.jump(frame.steps[frame.at - 2].arguments[0])  # where SEND goes at the end
    return frame.evaluate()
