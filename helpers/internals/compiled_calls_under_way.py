"""Find running calls of `torch.compile`d functions: frames of `compile_wrapper` on the stack.

`torch.compile` returns a function of torch's, `compile_wrapper` (torch/_dynamo/eval_frame.py). As
long as a call of a compiled function runs, a frame of `compile_wrapper` is on the stack. This
module calls it the wrapper frame.
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

    Returns
    -------
    compile_locals
        The local variables of the innermost running `torch._dynamo.convert_frame._compile`. They
        describe the frame that Dynamo compiles. The dict is empty if Dynamo compiles nothing in
        this thread.
    users_frame
        The innermost frame of user code that is outside of the compiled call. None if no call of a
        compiled function runs in this thread.
    """
    compile_locals = {}
    has_met_wrapper = False
    frame = sys._getframe(1)
    while frame is not None:  # from the innermost frame outwards
        if has_met_wrapper and not is_library(frame.f_code.co_filename):
            break  # the first user frame outside of the wrapper made the call
        module_and_function = frame.f_globals.get("__name__"), frame.f_code.co_name
        if module_and_function == ("torch._dynamo.convert_frame", "_compile"):
            compile_locals = compile_locals or frame.f_locals  # the innermost one counts
        has_met_wrapper = has_met_wrapper or is_wrapper_frame(frame)
        frame = frame.f_back
    return compile_locals, frame if has_met_wrapper else None


def _wrapper_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the wrapper frames of a stack, from this frame outwards."""
    while frame is not None:
        if is_wrapper_frame(frame):
            yield frame
        frame = frame.f_back
