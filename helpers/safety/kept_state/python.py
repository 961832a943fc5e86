"""What of Python a verb leaves as it found it: tracers, builtins, evaluator, streams: `PYTHON`."""

import builtins
import ctypes
import gc
import sys
import threading
import warnings
from contextlib import suppress

from helpers.safety import imported
from helpers.safety.kept_state.entry import Kept, attribute, each_is, is_equal, stream
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

_BUILTINS = vars(builtins)
MOST_CUT = 1000  # compiled calls that were cut short in one verb


def read_builtins() -> dict:
    """Return the builtins by name, but for `_`, which is the shell's."""
    return {name: value for name, value in _BUILTINS.items() if name != "_"}


def put_builtins(before: dict) -> None:
    """Put the builtins back, and take away what has come since."""
    for name in [name for name in _BUILTINS if name != "_" and name not in before]:
        del _BUILTINS[name]
    _BUILTINS.update(before)


def builtins_are(now: dict, before: dict) -> bool:
    """Compare without calling a builtin."""
    if now.keys() != before.keys():
        return False
    for name in before:  # noqa: SIM110 (`all` may be the one that was patched)
        if now[name] is not before[name]:
            return False
    return True


def _read_warnings() -> tuple:
    frameworks = sum(name in imported.MODULES for name in ("tensorflow", "torch"))
    return warnings.filters, tuple(warnings.filters), frameworks


def _same_warnings(now, before) -> bool:
    """Compare two readings; what a framework sets when it is imported stays, for it is set once."""
    if now[2] > before[2]:
        return True
    return now[0] is before[0] and each_is(now[1], before[1])


def _put_warnings(before) -> None:
    warnings.filters = before[0]
    warnings.filters[:] = before[1]
    warnings._filters_mutated()  # or the C side goes on with its cache (Python/_warnings.c)


def _read_gc() -> tuple:
    return gc.isenabled(), gc.get_threshold(), gc.get_debug()


def _put_gc(before) -> None:
    (gc.enable if before[0] else gc.disable)()
    gc.set_threshold(*before[1])
    gc.set_debug(before[2])


def _read_tools() -> tuple:
    """Return the names of the monitoring tools, by id (PEP 669, Python 3.12)."""
    monitoring = getattr(sys, "monitoring", None)
    return tuple(monitoring.get_tool(n) for n in range(6)) if monitoring else ()


def _put_tools(before: tuple) -> None:
    monitoring = sys.monitoring
    for number, name in enumerate(before):
        if monitoring.get_tool(number) is not None and name is None:
            monitoring.set_events(number, 0)
            monitoring.free_tool_id(number)


# The evaluator of frames (PEP 523, Python/pystate.c): read and written by address. An address is
# written only if it was read before, so the function behind it has been evaluating frames.


def _evaluator(verb: str, *given):
    function = ctypes.pythonapi[f"_PyInterpreterState_{verb}EvalFrameFunc"]
    interpreter = ctypes.pythonapi["PyInterpreterState_Get"]
    function.restype = interpreter.restype = ctypes.c_void_p
    # No argtypes: they make an ArgumentError of the RecursionError of a stack that is full.
    return function(*map(ctypes.c_void_p, (interpreter(), *given)))


def _put_evaluator(before: int) -> None:
    types = imported.module("torch._dynamo.types")
    # Of calls that were cut short torch still counts the hook as on: then the next call that is
    # compiled would leave its evaluator behind, whatever stands in the slot now.
    with suppress(AttributeError, TypeError):
        for _ in range(MOST_CUT):
            if types is None or _evaluator("Get") == before:
                break
            names = types.FrameAction, types.FrameExecStrategy, types.ConvertFrameReturn
            count_one_out(_callback_door().set_eval_frame, *names)
    _evaluator("Set", before)


def count_one_out(set_eval_frame, action, strategy, answer) -> None:
    """Have torch count one call less that has its hook on; at none, its hook comes off.

    An error in a compiled call is not counted out (torch/csrc/dynamo/eval_frame.c). Whoever takes
    the callback off in a frame that runs what is compiled, and no more, is counted out twice.
    """
    run = strategy(action.SKIP, action.RUN_ONLY)
    returned = answer(frame_exec_strategy=run, apply_to_code=False)

    def leaving():
        set_eval_frame(None)

    set_eval_frame(lambda frame, *rest: returned)
    leaving()
    set_eval_frame(None)


def _callback_door():
    """Return torch's module with the frame callback (torch/csrc/dynamo/eval_frame.c), or None."""
    loaded = imported.module
    return loaded("torch._C._dynamo.eval_frame") or loaded("torch._dynamo.eval_frame")


def _read_torch_callback():
    """Return what torch asks before it evaluates a frame."""
    get = getattr(_callback_door(), "get_eval_frame_callback", None)
    return get() if get is not None else None


def _put_torch_callback(before) -> None:
    _callback_door().set_eval_frame(before)


PYTHON = (
    Kept("sys.settrace", sys.gettrace, sys.settrace),
    Kept("sys.setprofile", sys.getprofile, sys.setprofile),
    Kept("the builtins", read_builtins, put_builtins, builtins_are),
    Kept("what is imported", imported.read, imported.put, imported.same),
    Kept("threading.settrace", threading.gettrace, threading.settrace),
    Kept("threading.setprofile", threading.getprofile, threading.setprofile),
    Kept("sys.monitoring", _read_tools, _put_tools, is_equal),
    Kept("torch's frame callback", _read_torch_callback, _put_torch_callback),
    Kept(
        "the frame evaluator",
        lambda: _evaluator("Get"),
        _put_evaluator,
        is_equal,
    ),
    stream("stdout"),
    stream("stderr"),
    attribute(sys, "stdin"),
    attribute(sys, "displayhook"),
    attribute(sys, "excepthook"),
    attribute(sys, "unraisablehook"),
    attribute(sys, "breakpointhook"),
    attribute(threading, "excepthook"),
    attribute(warnings, "showwarning"),
    Kept("warnings.filters", _read_warnings, _put_warnings, _same_warnings),
    Kept("the collector", _read_gc, _put_gc, is_equal),
    Kept("the recursion limit", sys.getrecursionlimit, sys.setrecursionlimit, is_equal),
    Kept("the switch interval", sys.getswitchinterval, sys.setswitchinterval, is_equal),
    Kept("threading.stack_size", threading.stack_size, threading.stack_size, is_equal),
)
