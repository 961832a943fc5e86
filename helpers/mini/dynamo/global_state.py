"""What a graph depends on besides its arguments: the state of torch, hooks, what classes hold."""

import torch

from helpers.internals import torch_private

MISSING = object()
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
# Found once: guards ask them at every call.
_function_modes = torch_private.len_torch_function_stack
_dispatch_modes = torch_private.len_torch_dispatch_stack
_transforms = torch_private.maybe_current_level
_global_hooks = torch_private.has_any_global_hook
_autocast = torch_private.is_any_autocast_enabled
_jit_traces = torch_private.is_tracing
_keys = torch_private.dispatch_keys
_cpu_bits = getattr(_keys(torch.empty(0)), "raw_repr", int)()  # numbers compare faster than sets


def found(kind: type, name: str) -> object:
    """Return what the class, or one above it, has under a name, as it lies there; else MISSING."""
    return next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), MISSING)


def name_of(kind: type) -> str:
    """Return the name of a class; the first letters of a long one."""
    return kind.__name__[:60]


_module = {
    name: found(torch.nn.Module, name)
    for name in ("__call__", "_call_impl", "_wrapped_call_impl", "__getattr__")
}
module_getattr = _module["__getattr__"]


def unusual_state() -> str:
    """Return what is on that a graph cannot be made under; nothing if all is as usual."""
    if torch.is_inference_mode_enabled():
        return "inference mode is on"
    if _autocast():
        return "autocast is on"
    if _function_modes() or _dispatch_modes():
        return "a mode that changes what torch functions do is on, such as a default device"
    if _jit_traces():
        return "torch.jit is tracing"
    return "a transform such as vmap is on" if _transforms() is not None else ""


def usual_state() -> bool:
    """Return whether nothing is on that changes what torch's functions do."""
    return not unusual_state()


def unusual_tensor(tensor) -> str:
    """Return why a tensor is not just numbers with a dtype and a shape; nothing if it is."""
    if tensor._backward_hooks is not None:
        return "it has autograd hooks"
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        return "it is sparse, nested or quantized"
    if _keys(tensor) != _keys(torch.empty(0, device=tensor.device, dtype=tensor.dtype)):
        return "it is a lazy view, a named tensor or one of inference mode"
    return "it has attributes of its own" if _attributes(tensor) else ""


def _attributes(tensor) -> list[str]:
    """Return the names that someone has set on a tensor; the real Dynamo leaves marks there."""
    return [name for name in tensor.__dict__ if not name.startswith("_dynamo")]


def usual(tensor) -> bool:
    """Return whether `unusual_tensor` has nothing to say; the guard's form of it."""
    return (
        tensor._backward_hooks is None
        and (_keys(tensor).raw_repr() == _cpu_bits or not unusual_tensor(tensor))
        and not (tensor.__dict__ and _attributes(tensor))
    )


def calls_forward(kind: type) -> bool:
    """Return whether instances of a class of modules are called as torch's own modules are."""
    return all(found(kind, name) is _module[name] for name in _module)


def hookless(module) -> bool:
    """Return whether calling a module is calling its class's `forward`, and nothing else.

    That is so if `calls_forward` is true of the class as well.
    """
    own = module.__dict__
    return (
        "forward" not in own
        and "_call_impl" not in own
        and own.get("_compiled_call_impl") is None
        and not any(own.get(hooks) for hooks in HOOKS)
        and not _global_hooks()
    )
