"""A frame that waits -> a real Python generator that goes on with it.

The generator is CPython's own, so that `send`, `throw`, `close`, `list` and `isinstance` work on
it; its body drives the machine's frame.
"""

import sys
from types import CodeType, GeneratorType
from weakref import WeakKeyDictionary

from helpers.mini.vm.values import NULL

# From 3.12 on, the subiterator of `yield from` stays on the stack until END_SEND.
SUBITERATOR_STAYS = sys.version_info >= (3, 12)


def generator_of(frame):
    """Return a generator that goes on with `frame`, with its function's name."""
    generator = _drive(frame)
    _CODES[generator] = frame.code
    generator.__name__, generator.__qualname__ = frame.titles
    return generator


SHOWN = ("gi_code", "gi_frame", "gi_yieldfrom")


def is_ours(thing) -> bool:
    """Return whether this is a generator that the machine has made."""
    return type(thing) is GeneratorType and thing.gi_code is _DRIVE


def shown(generator, name: str):
    """Return an attribute of a generator of the machine as the program's own would have it."""
    if name == "gi_code":
        return _CODES[generator]
    if generator.gi_frame is None:
        return None
    frame = generator.gi_frame.f_locals["frame"]
    if name == "gi_frame":
        return frame
    waits = None if generator.gi_running or frame.is_new else _subiterator(frame)
    return None if waits is NULL else waits


_CODES: WeakKeyDictionary[GeneratorType, CodeType] = WeakKeyDictionary()


def _drive(frame):
    machine = frame.machine
    frame.handling = type(frame.handling)()
    sent, thrown = None, None
    while True:
        value = _go_on(machine, frame, sent, thrown)
        frame.back = None
        if not _yielded(frame):
            return value
        sent, thrown = None, None
        try:
            sent = yield value
        except BaseException as error:
            thrown = error


_DRIVE = _drive.__code__


def _go_on(machine, frame, sent, thrown):
    """Run the frame until it next yields or returns: what it yielded or returned."""
    frame.back, frame.handling.outer = machine.top, _handling_of(machine)
    frame.depth = frame.back.depth + 1 if frame.back is not None else machine.depth
    if thrown is None:
        frame.stack.append(sent)
        return machine.evaluate(frame)
    subiterator = _subiterator(frame)
    if subiterator is NULL:
        return machine.evaluate(frame, thrown)
    return _throw_into(machine, frame, subiterator, thrown)


def _handling_of(machine):
    return machine.top.handling if machine.top is not None else machine.handling


def _yielded(frame) -> bool:
    return frame.decoded.opnames[frame.pc - 1] == "YIELD_VALUE"


def _subiterator(frame):
    """Return the iterator that the frame's `yield from` waits for, or NULL."""
    following = frame.decoded.instructions[frame.pc]
    delegates = following.opname == "RESUME" and following.arg & 3 == 2
    return frame.stack[-1] if delegates and _yielded(frame) else NULL


def _throw_into(machine, frame, subiterator, error):
    """Hand an exception on to the subiterator, as PEP 380 says; the frame stays where it is."""
    closing = isinstance(error, GeneratorExit)
    hand_on = getattr(subiterator, "close" if closing else "throw", None)
    try:
        value = hand_on() if closing and hand_on else hand_on and hand_on(error)
    except StopIteration as stop:
        ended = stop
    except BaseException as raised:
        ended = raised
    else:
        if closing or hand_on is None:
            return machine.evaluate(frame, error)
        return value
    if SUBITERATOR_STAYS or not isinstance(ended, StopIteration):
        return machine.evaluate(frame, ended)
    return machine.evaluate(_after_the_delegation(frame, ended.value))


def _after_the_delegation(frame, value):
    """Go to where SEND jumps to at the end: 3.11 has no instruction for it."""
    send = max(i for i in range(frame.pc) if frame.decoded.opnames[i] == "SEND")
    frame.stack[-1] = value
    frame.pc = frame.decoded.steps[send][1]
    return frame
