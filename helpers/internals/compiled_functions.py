"""What `torch.compile` returns, and what it was given: looked up in torch's own attributes.

Torch wraps a function that Dynamo cannot start with, such as one of a C library, in a Python
function, `wrap_inline.<locals>.inner` (torch/_dynamo/external_utils.py). Here that function is the
inline wrapper.
"""

from types import CodeType, FunctionType, MethodType

from ..safety import restoring
from ..safety.arguments import static_attribute

_ORIGINAL = "_torchdynamo_orig_callable"  # attribute of a compiled function
_INLINE_WRAPPER = "wrap_inline.<locals>.inner"


def is_disabled(fn) -> bool:
    """Return whether a function comes from `torch.compiler.disable`."""
    return static_attribute(fn, "_torchdynamo_disable") is True


def is_compiled(fn) -> bool:
    """Return whether `fn` comes from `torch.compile`, or is a module that `compile()` changed."""
    if find_original(fn) is not fn:
        return True
    return static_attribute(fn, "_compiled_call_impl") is not None


def find_original(fn):
    """Return what `torch.compile` was given to make `fn`; `fn` itself if it is not compiled.

    A bound method is a compiled one if its function is; its original is bound to the same object.
    """
    if type(fn) is MethodType:
        function = find_original(fn.__func__)
        return fn if function is fn.__func__ else MethodType(function, fn.__self__)
    if type(fn) is not FunctionType:
        return fn._orig_mod if type(fn) is _find_module_class() else fn

    original = fn.__dict__.get(_ORIGINAL, fn)
    is_wrapped = type(original) is FunctionType and is_inline_wrapper(original.__code__)
    return original.__wrapped__ if is_wrapped else original


def find_inline_wrapper(compiled) -> FunctionType | None:
    """Return the inline wrapper that `torch.compile` put around the original; None without one."""
    function = compiled.forward if type(compiled) is _find_module_class() else compiled
    original = getattr(function, "__dict__", {}).get(_ORIGINAL)
    if type(original) is FunctionType and is_inline_wrapper(original.__code__):
        return original
    return None


def is_inline_wrapper(code: CodeType) -> bool:
    """Return whether a code object is the inline wrapper's. All inline wrappers share one."""
    return getattr(code, "co_qualname", "") == _INLINE_WRAPPER  # None has no such name


def is_module_call(fn) -> bool:
    """Return whether `fn` is what `module.compile()` compiles: the module's own `_call_impl`."""
    modules = restoring.module("torch.nn.modules.module")
    return type(fn) is MethodType and fn.__func__ is getattr(modules.Module, "_call_impl", None)


def _find_module_class() -> type | None:
    """Return the class of a compiled module; None where Dynamo is not loaded."""
    return getattr(restoring.module("torch._dynamo.eval_frame"), "OptimizedModule", None)
