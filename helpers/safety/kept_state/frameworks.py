"""What of torch and TensorFlow a verb leaves as it found it: `FRAMEWORKS`.

It is read only where they have been imported.
"""

from helpers.safety.imported import module as _loaded
from helpers.safety.kept_state.entry import Kept, each_is, items_are
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS


def _read_torch_modes() -> tuple:
    """Return torch's modes: dispatch, function, whether gradients are recorded."""
    torch = _loaded("torch")
    if torch is None or not hasattr(torch, "_C") or not hasattr(torch, "overrides"):
        return ()
    dispatch = _loaded("torch.utils._python_dispatch")
    stack = dispatch._get_current_dispatch_mode_stack() if dispatch else []
    functions = torch.overrides._get_current_function_mode_stack()
    return tuple(stack), tuple(functions), torch.is_grad_enabled()


def _same_torch_modes(now, before) -> bool:
    if not now or not before:
        return True
    return each_is(now[0], before[0]) and each_is(now[1], before[1]) and now[2] == before[2]


def _put_torch_modes(before) -> None:
    torch, dispatch = _loaded("torch"), _loaded("torch.utils._python_dispatch")
    stack, functions, gradients = before
    if dispatch:
        while len(dispatch._get_current_dispatch_mode_stack()) > len(stack):
            dispatch._pop_mode()
    while len(torch.overrides._get_current_function_mode_stack()) > len(functions):
        torch.overrides._pop_mode()
    torch.set_grad_enabled(gradients)


# Set by C++ blocks of a compilation; while the first is, and its Python side is not, each op is an
# internal error (aten/src/ATen/core/PythonFallbackKernel.cpp).
_DISPATCH_KEYS = ("PythonDispatcher", "PreDispatch")
# Off in a guard of a tensor, and left off where that guard raises (torch/csrc/dynamo/guards.cpp).
_OVERRIDES = "__torch_function__"


def _read_torch_keys() -> dict:
    """Return which of these dispatch keys torch adds to each op of this thread."""
    private = getattr(_loaded("torch"), "_C", None)
    asked = getattr(private, "_dispatch_tls_is_dispatch_key_included", None)
    keys = getattr(private, "DispatchKey", None)
    if not asked or not keys:
        return {}
    found = {name: asked(getattr(keys, name)) for name in _DISPATCH_KEYS}
    return found | {_OVERRIDES: private._get_torch_function_state()}


def _put_torch_keys(before: dict) -> None:
    private = _loaded("torch")._C
    private._set_torch_function_state(before[_OVERRIDES])
    for name in _DISPATCH_KEYS:
        key = getattr(private.DispatchKey, name)
        private._dispatch_tls_set_dispatch_key_included(key, before[name])


def _same_torch_keys(now: dict, before: dict) -> bool:
    return not before or now == before


def _read_torch_tracing() -> dict:
    """Return what torch keeps of a compilation that is going on (torch/_guards.py)."""
    own = getattr(_loaded("torch._guards"), "_TLS", None)
    found = {} if own is None else vars(own)
    return {name: value for name, value in found.items() if value is not None}


def _put_torch_tracing(before: dict) -> None:
    own = vars(_loaded("torch._guards")._TLS)
    own.update({name: before.get(name) for name in own})


def _tensorflow_context():
    module = _loaded("tensorflow.python.eager.context")
    return module.context() if module is not None and hasattr(module, "context") else None


def _read_op_callbacks() -> tuple:
    """Return TensorFlow's op callbacks of this thread (framework/op_callbacks.py)."""
    context = _tensorflow_context()
    return () if context is None else tuple(context.op_callbacks)


def _put_op_callbacks(before: tuple) -> None:
    context = _tensorflow_context()
    for callback in tuple(context.op_callbacks):
        if not any(callback is old for old in before):
            context.remove_op_callback(callback)
    for callback in before:
        if not any(callback is now for now in context.op_callbacks):
            context.add_op_callback(callback)


def _read_graphs() -> tuple:
    """Return TensorFlow's stack of default graphs, and whether ops run eagerly."""
    ops, context = _loaded("tensorflow.python.framework.ops"), _tensorflow_context()
    if context is None or ops is None or not hasattr(ops, "_default_graph_stack"):
        return ()
    eager = context._thread_local_data.is_eager
    return (*ops._default_graph_stack.stack, eager)


def _put_graphs(before: tuple) -> None:
    if before:
        stack = _loaded("tensorflow.python.framework.ops")._default_graph_stack.stack
        stack[:] = before[:-1]
        _tensorflow_context()._thread_local_data.is_eager = before[-1]


def _read_doors() -> dict:
    """Return the functions at TensorFlow's two doors to C; loggers put their own there."""
    module = _loaded("tensorflow.python.pywrap_tfe")
    names = ("TFE_Py_FastPathExecute", "TFE_Py_Execute")
    return {name: vars(module)[name] for name in names if name in vars(module)} if module else {}


def _put_doors(before: dict) -> None:
    for name, function in before.items():
        setattr(_loaded("tensorflow.python.pywrap_tfe"), name, function)


def _read_tape() -> dict:
    """Return the attributes of TensorFlow's tape, which other tapes are compared with."""
    tape = getattr(_loaded("tensorflow.python.eager.backprop"), "GradientTape", None)
    return dict(vars(tape)) if tape is not None else {}


def _put_tape(before: dict) -> None:
    if not before:  # it has been imported meanwhile
        return
    tape = _loaded("tensorflow.python.eager.backprop").GradientTape
    for name in vars(tape).keys() - before.keys():
        delattr(tape, name)
    for name, value in before.items():
        if vars(tape).get(name) is not value:
            setattr(tape, name, value)


FRAMEWORKS = (
    Kept("torch's modes", _read_torch_modes, _put_torch_modes, _same_torch_modes),
    Kept("torch's dispatch keys", _read_torch_keys, _put_torch_keys, _same_torch_keys),
    Kept("torch's compilation", _read_torch_tracing, _put_torch_tracing, items_are),
    Kept("TensorFlow's op callbacks", _read_op_callbacks, _put_op_callbacks, each_is),
    Kept("TensorFlow's graphs", _read_graphs, _put_graphs, each_is),
    Kept("TensorFlow's doors to C", _read_doors, _put_doors, items_are),
    Kept("TensorFlow's tape", _read_tape, _put_tape, items_are),
)
