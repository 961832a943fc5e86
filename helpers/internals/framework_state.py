"""What torch and TensorFlow keep of who listens to their calls -> how it is read: `KEPT`.

A framework is read only where it has been imported. What of Python there is comes with it.
"""

import contextlib
import sys
from collections.abc import Iterator

from helpers.safety import restoring
from helpers.safety.restoring import Kept, module


def _callback_door():
    """Return torch's module with the frame callback (torch/csrc/dynamo/eval_frame.c), or None."""
    return module("torch._C._dynamo.eval_frame") or module("torch._dynamo.eval_frame")


def _read_torch_callback():
    """Return what torch asks before it evaluates a frame."""
    get = getattr(_callback_door(), "get_eval_frame_callback", None)
    return get() if get is not None else None


def _read_torch_modes() -> tuple:
    """Return torch's modes: dispatch, function, whether gradients are recorded."""
    torch = module("torch")
    if torch is None or not hasattr(torch, "overrides"):
        return ()
    dispatch = module("torch.utils._python_dispatch")
    stack = dispatch._get_current_dispatch_mode_stack() if dispatch else []
    functions = torch.overrides._get_current_function_mode_stack()
    return tuple(stack), tuple(functions), torch.is_grad_enabled()


def _tensorflow_context():
    context = module("tensorflow.python.eager.context")
    return context.context() if context is not None else None


def _read_op_callbacks() -> tuple:
    """Return TensorFlow's op callbacks of this thread (framework/op_callbacks.py)."""
    context = _tensorflow_context()
    return () if context is None else tuple(context.op_callbacks)


def _read_graphs() -> tuple:
    """Return TensorFlow's stack of default graphs, and whether ops run eagerly."""
    ops, context = module("tensorflow.python.framework.ops"), _tensorflow_context()
    if context is None or ops is None:
        return ()
    return (*ops._default_graph_stack.stack, context._thread_local_data.is_eager)


def _read_doors() -> dict:
    """Return the functions at TensorFlow's two doors to C; loggers put their own there."""
    doors = module("tensorflow.python.pywrap_tfe")
    names = ("TFE_Py_FastPathExecute", "TFE_Py_Execute")
    return {name: vars(doors)[name] for name in names if name in vars(doors)} if doors else {}


def _stays(before) -> None:
    """Put nothing back: whoever came puts it back."""


class _OfFramework(Kept):
    """What a framework keeps; where it was not imported before, nothing has changed."""

    def same(self, now, before) -> bool:
        """Return whether two readings are the same."""
        return not before or super().same(now, before)


KEPT = (
    *restoring.KEPT,
    _OfFramework("torch's frame callback", _read_torch_callback, _stays),
    _OfFramework("torch's modes", _read_torch_modes, _stays),
    _OfFramework("TensorFlow's op callbacks", _read_op_callbacks, _stays),
    _OfFramework("TensorFlow's graphs", _read_graphs, _stays),
    _OfFramework("TensorFlow's doors to C", _read_doors, _stays),
)


@contextlib.contextmanager
def keeps_torch_function() -> Iterator[None]:
    """Leave `__torch_function__` on or off as it was: a guard that raises leaves it off.

    See torch/csrc/dynamo/guards.cpp.
    """
    private = sys.modules["torch"]._C
    before = private._get_torch_function_state()
    try:
        yield
    finally:
        private._set_torch_function_state(before)
