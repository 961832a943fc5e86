"""Calls of compiled functions that run now, found by the frames on the stacks of threads.

`torch.compile` returns a function of torch's, `compile_wrapper` (torch/_dynamo/eval_frame.py). Its
frame is on the stack as long as a call of a compiled function runs.
"""

import sys
import threading
from collections.abc import Iterator
from types import FrameType

from ..safety.users_frames import is_library


def is_wrapper_frame(frame: FrameType) -> bool:
    """Return whether a frame is of torch's `compile_wrapper`."""
    if frame.f_code.co_name != "compile_wrapper":
        return False
    return frame.f_globals.get("__name__") == "torch._dynamo.eval_frame"


def find_wrapper_frame() -> FrameType | None:
    """Return the wrapper frame of the innermost compiled call of this thread, or None."""
    return next(_wrapper_frames(sys._getframe(1)), None)


def list_wrapper_frames() -> list[FrameType]:
    """Return the wrapper frames on this thread's stack, the innermost first."""
    return list(_wrapper_frames(sys._getframe(1)))


def has_another_thread_compiled_call() -> bool:
    """Return whether another thread is inside a call of a compiled function now."""
    this_thread = threading.get_ident()
    for thread, frame in sys._current_frames().items():
        if thread != this_thread and next(_wrapper_frames(frame), None) is not None:
            return True
    return False


def find_frame_being_compiled() -> tuple[dict, FrameType | None]:
    """Return what Dynamo compiles now, and the user's frame that called the compiled function.

    The first is the dict of the local variables of `torch._dynamo.convert_frame._compile`, empty if
    Dynamo compiles nothing in this thread. The second is None outside of a compiled call.
    """
    compile_locals = {}
    is_inside = False  # whether the walk has come to a wrapper frame
    frame = sys._getframe(1)
    while frame is not None:
        if is_inside and not is_library(frame.f_code.co_filename):
            break
        place = frame.f_globals.get("__name__"), frame.f_code.co_name
        if place == ("torch._dynamo.convert_frame", "_compile"):
            compile_locals = compile_locals or frame.f_locals
        is_inside = is_inside or is_wrapper_frame(frame)
        frame = frame.f_back
    return compile_locals, frame if is_inside else None


def _wrapper_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the wrapper frames of a stack, from this frame outwards."""
    while frame is not None:
        if is_wrapper_frame(frame):
            yield frame
        frame = frame.f_back
