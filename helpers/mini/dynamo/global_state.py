"""The state of torch that a graph depends on besides its arguments, and what is out of bounds."""

from contextlib import contextmanager

import torch

from helpers.internals import torch_private
from helpers.mini.dynamo import classes
from helpers.safety.interrupts import uninterrupted

_function_modes = torch_private.len_torch_function_stack
_dispatch_modes = torch_private.len_torch_dispatch_stack
_transforms = torch_private.maybe_current_level
_global_hooks = torch_private.has_any_global_hook
_autocast = torch_private.is_any_autocast_enabled
_jit_traces = torch_private.is_tracing
_keys = torch_private.dispatch_keys
_cpu_bits = getattr(_keys(torch.empty(0)), "raw_repr", int)()  # numbers compare faster than sets
_module = {
    name: classes.found(torch.nn.Module, name)
    for name in ("__call__", "_call_impl", "_wrapped_call_impl", "__getattr__")
}
module_getattr = _module["__getattr__"]
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


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
    return not (
        torch.is_inference_mode_enabled()
        or _autocast()
        or _function_modes()
        or _dispatch_modes()
        or _transforms() is not None
        or _jit_traces()
    )


def usual_from_now():
    """Return `usual_state`, which is no more true once someone has changed torch.Tensor."""
    view = classes.version(torch.Tensor)
    then = view.value

    def usual_now() -> bool:
        return view.value == then and usual_state()

    return usual_now


@contextmanager
def no_mode_stays():
    """Take off, at the end of a block, what a trace that was cut in two has left on."""
    before = _dispatch_modes()
    try:
        yield
    finally:
        if _dispatch_modes() != before:
            with uninterrupted():
                while _dispatch_modes() > before:
                    torch_private.pop_dispatch_mode()


def unusual_tensor(tensor) -> str:
    """Return why a tensor is not just numbers with a dtype and a shape; nothing if it is."""
    if tensor._backward_hooks is not None:
        return "it has autograd hooks"
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_nested:
        return "it is sparse, nested or quantized"
    if _keys(tensor) != _keys_of_a_plain_one(tensor):
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


def _keys_of_a_plain_one(tensor):
    return _keys(torch.empty(0, device=tensor.device, dtype=tensor.dtype))


def calls_forward(kind: type) -> bool:
    """Return whether instances of a class of modules are called as torch's own modules are."""
    return all(classes.found(kind, name) is _module[name] for name in _module)


def hookless(module) -> bool:
    """Return whether calling a module is calling its class's `forward`, and nothing else.

    That is so if `calls_forward` is true of the class as well.
    """
    own = module.__dict__
    return (
        "forward" not in own
        and "_call_impl" not in own
        and own.get("_compiled_call_impl") is None
        and not (own.get("_forward_hooks") or own.get("_forward_pre_hooks"))
        and not (own.get("_backward_hooks") or own.get("_backward_pre_hooks"))
        and not _global_hooks()
    )
