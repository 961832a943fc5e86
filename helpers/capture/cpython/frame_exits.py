"""Tell why a tracer gets the event 'return' of a frame: a return, a yield or an exception.
CPython calls a tracer of `sys.settrace` with the same event, 'return', in all three cases. The
functions here look at the instruction that the frame ran last.
"""

from functools import lru_cache
from types import CodeType, FrameType

from . import disassembly

GENERATORS = 0x2A0  # co_flags: CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


def is_generator_frame(frame: FrameType) -> bool:
    """Return whether a frame is of a generator, a coroutine, or an asynchronous generator."""
    return bool(frame.f_code.co_flags & GENERATORS)


def is_at_yield(frame: FrameType) -> bool:
    """Return whether a frame whose tracer gets 'return' is suspended at a yield of a generator."""
    if not is_generator_frame(frame):
        return False
    opnames = _read_opnames(frame.f_code)
    # When CPython 3.13 calls the tracer, `f_lasti` is already the offset of the instruction after
    # the yield. An instruction has two bytes.
    return "YIELD_VALUE" in (opnames.get(frame.f_lasti), opnames.get(frame.f_lasti - 2))


def is_left_by_exception(frame: FrameType, last_offset: int | None) -> bool:
    """Return whether a frame whose tracer gets 'return' with None is left by an exception.

    Parameters
    ----------
    frame : FrameType
        The frame that ends or is suspended.
    last_offset : int or None
        The offset of the instruction that the frame ran last. The recorder notes it only in a frame
        in which an exception was raised; for any other frame it is None.
    """
    opnames = _read_opnames(frame.f_code)
    if opnames.get(frame.f_lasti) in disassembly.RETURNS:
        return False
    # The frame does not return, so it yields or is left by an exception.
    if last_offset is not None:
        return opnames.get(last_offset) != "YIELD_VALUE"
    return not is_at_yield(frame)


@lru_cache(maxsize=256)
def _read_opnames(code: CodeType) -> dict[int, str]:
    """Return offset -> name of each instruction."""
    return {entry.offset: entry.opname for entry in disassembly.decode_instructions(code)}
