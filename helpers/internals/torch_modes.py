"""What changes how torch runs a call in this thread: modes, hooks, settings, dispatch keys.

All of it is read from a loaded torch. `build_dispatch_mode` makes a mode that reports each op.
"""

from collections.abc import Callable
from types import CodeType

from ..safety import restoring
from . import torch_private
from .dynamo_settings import read_stance

DEVICE_KINDS = ("cpu", "cuda", "mps", "xpu")


def read_mode_stacks() -> tuple[list, list]:
    """Return torch's dispatch modes and its function modes that are on in this thread."""
    dispatch = restoring.module("torch.utils._python_dispatch")
    functions = restoring.module("torch.overrides")
    return (
        dispatch._get_current_dispatch_mode_stack() if dispatch else [],
        functions._get_current_function_mode_stack() if functions else [],
    )


def _list_autocast() -> list[str]:
    """Return a text such as `cpu to bfloat16` for each device with autocast on."""
    torch = restoring.module("torch")
    texts = []
    for kind in DEVICE_KINDS:
        if torch.is_autocast_enabled(kind):
            dtype = str(torch.get_autocast_dtype(kind)).removeprefix("torch.")
            texts.append(f"{kind} to {dtype}")
    return texts


def _list_autograd_modes() -> list[str]:
    """Return the names of autograd's modes that differ from torch's defaults."""
    torch = restoring.module("torch")
    is_inference = torch.is_inference_mode_enabled()
    names = []
    if is_inference:
        names.append("inference mode")
    elif not torch.is_grad_enabled():
        names.append("no_grad")
    if torch.is_anomaly_enabled():
        names.append("anomaly detection")
    # True: also while torch.compile traces, when torch hides the hooks from others.
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        names.append("saved tensors hooks")
    return names


def _list_functorch_layers() -> list[str]:
    """Return the names of the transforms of torch.func under way, the outermost first."""
    functorch = restoring.module("torch._C._functorch")
    layers = functorch.get_interpreter_stack() if functorch else None
    return [layer.key().name.lower() for layer in layers or ()]


def _list_module_hooks() -> list[Callable]:
    """Return the hooks that torch calls for every module."""
    modules = restoring.module("torch.nn.modules.module")
    hooks = []
    for name, table in vars(modules).items():
        if name.startswith("_global_") and isinstance(table, dict):
            hooks += [hook for hook in table.values() if callable(hook)]
    return hooks


def _list_settings() -> list[str]:
    """Return the settings of the whole of torch that somebody has changed."""
    torch = restoring.module("torch")
    devices = restoring.module("torch.utils._device")
    names = []
    if torch.are_deterministic_algorithms_enabled():
        names.append("deterministic algorithms")
    device = getattr(devices, "CURRENT_DEVICE", None)
    if device is not None:
        names.append(f"default device {device}")
    return names


def _list_compiler_settings() -> list[str]:
    """Return what keeps torch.compile from compiling now: a trace, a stance, a setting."""
    names = []
    if is_jit_tracing():
        names.append("torch.jit is tracing")
    if restoring.module("torch._dynamo.eval_frame"):
        stance = read_stance()
        if stance != "default":
            names.append(f"stance {stance}")
        if torch_private.config.disable:
            names.append("torch._dynamo.config.disable")
    return names


def is_jit_tracing() -> bool:
    """Return whether torch.jit.trace runs a function now."""
    return restoring.module("torch")._C._is_tracing()


# What changes how torch runs a call -> a function that lists which of it is on in this thread.
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
    """Return a dispatch mode, to be entered, that calls `report` after each op that ran.

    Parameters
    ----------
    report
        Gets the op's name, such as `aten.mul`, the tuple of its arguments, and its result.
    keep_out_dynamo
        Gets each code object of the mode, and has to keep Dynamo from translating it. Without this
        argument, `torch.compiler.disable` does so.
    """
    torch_private.refuse_late_dynamo()
    from torch.utils._python_dispatch import TorchDispatchMode

    # id of an op -> its name and the op. The op is kept, so that no other object gets its id. The
    # key is an id because hashing an op calls a method in Python, which costs more than the rest.
    names_by_id = {}

    class ReportingMode(TorchDispatchMode):
        supports_higher_order_operators = True  # or torch.cond and its like raise here

        @classmethod
        def ignore_compile_internals(cls):
            return True  # or torch.compile gives the function up, for good

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
            if name:
                report(name, (*args, *kwargs.values()) if kwargs else args, result)
            return result

    if keep_out_dynamo:
        keep_out_dynamo(ReportingMode.__torch_dispatch__.__code__)
        keep_out_dynamo(_name_op.__code__)
    elif dynamo := restoring.module("torch._dynamo"):
        ReportingMode.__torch_dispatch__ = dynamo.disable(ReportingMode.__torch_dispatch__)
    return ReportingMode()


def _name_op(op) -> str:
    """Return a name such as aten.mul or higher_order.cond; "" for an op of torch's profiler."""
    packet = getattr(op, "overloadpacket", None)
    if packet is None:  # a higher-order op: what its functions run is not dispatched to this mode
        return f"higher_order.{getattr(op, '_name', type(op).__name__)}"
    if op.namespace == "profiler":
        return ""
    return f"{op.namespace}.{packet.__name__}"


def read_autograd_position() -> tuple:
    """Return autograd's running node, or None, and the number of the newest node it has made.

    The number is -1 where autograd makes no nodes, or torch is not loaded.
    """
    torch = restoring.module("torch")
    if not torch:
        return None, -1
    next_number = torch.autograd._get_sequence_nr() if torch.is_grad_enabled() else 0
    return torch._C._current_autograd_node(), next_number - 1


def format_dispatch_keys(tensor) -> str:
    """Return the dispatch keys that a tensor has in this thread now, as torch writes them."""
    included = torch_private.dispatch_tls_local_include_set()
    excluded = torch_private.dispatch_tls_local_exclude_set()
    keys = (torch_private.dispatch_keys(tensor) | included) - excluded
    return str(keys).removeprefix("DispatchKeySet(")[:-1]
