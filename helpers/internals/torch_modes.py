"""List the modes, hooks and settings that change how torch runs a call in this thread.

All of them are read from a loaded torch. `build_dispatch_mode` makes a mode that reports each op.
"""

from collections.abc import Callable
from types import CodeType

from ..safety import restoring
from . import torch_private
from .dynamo_settings import read_stance

DEVICE_KINDS = ("cpu", "cuda", "mps", "xpu")


def read_mode_stacks() -> tuple[list, list]:
    """Return (dispatch modes, function modes) of torch that are on in this thread.

    A dispatch mode intercepts each op, and a function mode each call of torch's Python API.
    """
    dispatch_module = restoring.find_loaded_module("torch.utils._python_dispatch")
    function_module = restoring.find_loaded_module("torch.overrides")
    return (
        dispatch_module._get_current_dispatch_mode_stack() if dispatch_module else [],
        function_module._get_current_function_mode_stack() if function_module else [],
    )


def _list_autocast() -> list[str]:
    """Return a text such as `cpu to bfloat16` for each device with autocast on."""
    torch = restoring.find_loaded_module("torch")
    texts = []
    for kind in DEVICE_KINDS:
        if torch.is_autocast_enabled(kind):
            dtype = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
            texts.append(f"{kind} to {dtype}")
    return texts


def _list_autograd_modes() -> list[str]:
    """Return the names of autograd's modes that differ from torch's defaults."""
    torch = restoring.find_loaded_module("torch")
    is_inference = torch.is_inference_mode_enabled()
    names = []
    if is_inference:
        names.append("inference mode")
    elif not torch.is_grad_enabled():
        names.append("no_grad")
    if torch.is_anomaly_enabled():
        names.append("anomaly detection")
    # While torch.compile traces, torch returns None unless the argument is True.
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        names.append("saved tensors hooks")
    return names


def _list_functorch_layers() -> list[str]:
    """Return the names of the transforms of torch.func that run now, the outermost first.

    Such a transform is, for example, "vmap" or "grad".
    """
    functorch = restoring.find_loaded_module("torch._C._functorch")
    layers = functorch.get_interpreter_stack() if functorch else None
    return [layer.key().name.lower() for layer in layers or ()]


def _list_module_hooks() -> list[Callable]:
    """Return the hooks that torch calls for every `nn.Module`, as functions."""
    modules = restoring.find_loaded_module("torch.nn.modules.module")
    hooks = []
    # Torch has a dict `_global_…` for each kind of hook: number -> hook, or number -> a flag.
    for name, table in vars(modules).items():
        if name.startswith("_global_") and isinstance(table, dict):
            hooks += [hook for hook in table.values() if callable(hook)]
    return hooks


def _list_settings() -> list[str]:
    """Return the names of process-wide settings of torch that somebody has changed."""
    torch = restoring.find_loaded_module("torch")
    devices = restoring.find_loaded_module("torch.utils._device")
    names = []
    if torch.are_deterministic_algorithms_enabled():
        names.append("deterministic algorithms")
    device = getattr(devices, "CURRENT_DEVICE", None)
    if device is not None:
        names.append(f"default device {device}")
    return names


def _list_compiler_settings() -> list[str]:
    """Return texts on what keeps torch.compile from compiling now, such as `stance force_eager`."""
    names = []
    if is_jit_tracing():
        names.append("torch.jit is tracing")
    if restoring.find_loaded_module("torch._dynamo.eval_frame"):  # else Dynamo is not loaded
        stance = read_stance()
        if stance != "default":
            names.append(f"stance {stance}")
        if torch_private.config.disable:
            names.append("torch._dynamo.config.disable")
    return names


def is_jit_tracing() -> bool:
    """Return whether torch.jit.trace runs a function now."""
    return restoring.find_loaded_module("torch")._C._is_tracing()


# What may change how torch runs a call -> a function that lists what of it is on in this thread.
# `show_interceptions` calls these functions when torch is loaded.
MODES = {
    "torch autocast": _list_autocast,
    "torch autograd modes": _list_autograd_modes,
    "torch.func layers": _list_functorch_layers,
    "torch's hooks of all modules": _list_module_hooks,
    "torch settings": _list_settings,
    "torch.compile turned off": _list_compiler_settings,
}


def build_dispatch_mode(
    report: Callable[[str, tuple, object], object],
    keep_out_dynamo: Callable[[CodeType], object] | None = None,
):
    """Return a torch dispatch mode, a context manager, that calls `report` after each op that ran.

    Parameters
    ----------
    report
        Gets the op's name, such as `aten.mul`, the tuple of its arguments, and its result.
    keep_out_dynamo
        Is called with each code object of the mode, and has to keep Dynamo from translating that.
        If it is None, `torch.compiler.disable` does so.
    """
    torch_private.refuse_late_dynamo()
    from torch.utils._python_dispatch import TorchDispatchMode

    # id of an op -> (name, op). The key is an id, because hashing an op calls a method in Python,
    # which costs more than the rest. The op is stored, so that no other object gets its id.
    names_by_id = {}

    class ReportingMode(TorchDispatchMode):
        # Without this, ops that take functions, such as torch.cond, raise an error in the mode.
        supports_higher_order_operators = True

        @classmethod
        def ignore_compile_internals(cls):
            return True  # otherwise torch.compile never compiles what was called in the mode

        @classmethod
        def _should_skip_dynamo(cls):
            return False

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **kwargs) if kwargs else func(*args)  # runs the op itself
            entry = names_by_id.get(id(func))
            if entry is None:
                entry = _name_op(func), func
                names_by_id[id(func)] = entry

            name, _ = entry
            if name:  # "" is for an op that is not reported
                report(name, (*args, *kwargs.values()) if kwargs else args, result)
            return result

    if keep_out_dynamo:
        keep_out_dynamo(ReportingMode.__torch_dispatch__.__code__)
        keep_out_dynamo(_name_op.__code__)
    elif dynamo := restoring.find_loaded_module("torch._dynamo"):
        ReportingMode.__torch_dispatch__ = dynamo.disable(ReportingMode.__torch_dispatch__)
    return ReportingMode()


def _name_op(op) -> str:
    """Return a name such as aten.mul or higher_order.cond; "" for an op of torch's profiler."""
    packet = getattr(op, "overloadpacket", None)  # the op without its overload: `mul` of mul.Tensor
    if packet is None:  # a higher-order op, which takes functions
        return f"higher_order.{getattr(op, '_name', type(op).__name__)}"
    if op.namespace == "profiler":
        return ""
    return f"{op.namespace}.{packet.__name__}"


def read_autograd_position() -> tuple:
    """Return (node, number) on what autograd does in this thread now.

    The node is that of the backward graph which runs now, or None outside of a backward pass. The
    number is that of the newest node that autograd has made for a later backward pass. It is -1
    where autograd makes no nodes, or torch is not loaded.
    """
    torch = restoring.find_loaded_module("torch")
    if not torch:
        return None, -1
    # Under `no_grad`, autograd makes no nodes, so there is no newest one.
    next_number = torch.autograd._get_sequence_nr() if torch.is_grad_enabled() else 0
    return torch._C._current_autograd_node(), next_number - 1


def format_dispatch_keys(tensor) -> str:
    """Return the dispatch keys by which torch chooses a kernel for a tensor now, as torch's text.

    They are the keys of the tensor itself, with those that this thread adds, without those that
    this thread excludes. An example is `CPU, BackendSelect, ADInplaceOrView, AutogradCPU`.
    """
    included = torch_private.dispatch_tls_local_include_set()
    excluded = torch_private.dispatch_tls_local_exclude_set()
    keys = (torch_private.dispatch_keys(tensor) | included) - excluded
    return str(keys).removeprefix("DispatchKeySet(")[:-1]
