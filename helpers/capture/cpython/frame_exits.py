"""A frame that sends the event 'return' -> whether it returns, yields, or is left by an exception.

A tracer gets the same event in all three cases, so the instruction that ran last has to tell.
"""

from functools import lru_cache
from types import CodeType, FrameType

from . import disassembly

GENERATORS = 0x2A0  # co_flags: CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def is_generator_frame(frame: FrameType) -> bool:
    """Return whether a frame is of a generator, a coroutine, or an asynchronous generator."""
    return bool(frame.f_code.co_flags & GENERATORS)


def is_at_yield(frame: FrameType) -> bool:
    """Return whether a frame that sends 'return' is a generator's at a yield."""
    if not is_generator_frame(frame):
        return False
    opnames = _read_opnames(frame.f_code)
    # CPython 3.13 has moved on to the instruction after the yield when it calls the tracer.
    return "YIELD_VALUE" in (opnames.get(frame.f_lasti), opnames.get(frame.f_lasti - 2))


def is_left_by_exception(frame: FrameType, last_offset: int | None) -> bool:
    """Return whether a frame that sends 'return' with None is left by an exception.

    `last_offset` is that of the instruction that ran last, as far as it was recorded. It is
    recorded in frames in which an exception was raised, and is None for others.
    """
    opnames = _read_opnames(frame.f_code)
    if opnames.get(frame.f_lasti) in disassembly.RETURNS:
        return False
    # A return from a handler is ruled out above. What is left is an exception or a yield.
    if last_offset is not None:
        return opnames.get(last_offset) != "YIELD_VALUE"
    return not is_at_yield(frame)


@lru_cache(maxsize=256)
def _read_opnames(code: CodeType) -> dict[int, str]:
    """Return offset -> name of each instruction."""
    return {entry.offset: entry.opname for entry in disassembly.decode_instructions(code)}
