"""From a function that `torch.compile` returned to the function that was passed to it.

Dynamo cannot start with some functions, such as a function of a C library. Torch wraps such a
function in a Python function, `wrap_inline.<locals>.inner` (torch/_dynamo/external_utils.py), and
compiles that. This module calls the Python function the inline wrapper.
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
    """Return the object that was passed to `torch.compile` to make `fn`; `fn` if not compiled.

    A bound method counts as compiled if its function is compiled. Then the result is a method, too,
    bound to the same object.
    """
    if type(fn) is MethodType:
        function = find_original(fn.__func__)
        is_method_compiled = function is not fn.__func__
        return MethodType(function, fn.__self__) if is_method_compiled else fn
    if type(fn) is not FunctionType:
        # `torch.compile(module)` returns an OptimizedModule, which has the module as `_orig_mod`.
        return fn._orig_mod if type(fn) is _find_module_class() else fn

    original = fn.__dict__.get(_ORIGINAL, fn)
    if type(original) is FunctionType and is_inline_wrapper(original.__code__):
        return original.__wrapped__  # the user passed the function inside the inline wrapper
    return original


def find_inline_wrapper(compiled) -> FunctionType | None:
    """Return torch's inline wrapper around the function that was compiled; None if there is none.

    `compiled` is what `torch.compile` returned.
    """
    is_module = type(compiled) is _find_module_class()
    function = compiled.forward if is_module else compiled
    original = getattr(function, "__dict__", {}).get(_ORIGINAL)  # what torch has compiled
    if type(original) is FunctionType and is_inline_wrapper(original.__code__):
        return original
    return None


def is_inline_wrapper(code: CodeType) -> bool:
    """Return whether a code object is the inline wrapper's. All inline wrappers share one."""
    return getattr(code, "co_qualname", "") == _INLINE_WRAPPER  # None has no such name


def is_module_call(fn) -> bool:
    """Return whether `fn` is what `module.compile()` compiles: the module's own `_call_impl`."""
    modules = restoring.find_loaded_module("torch.nn.modules.module")
    return type(fn) is MethodType and fn.__func__ is getattr(modules.Module, "_call_impl", None)


def _find_module_class() -> type | None:
    """Return the class of a compiled module; None where Dynamo is not loaded."""
    return getattr(
        restoring.find_loaded_module("torch._dynamo.eval_frame"), "OptimizedModule", None
    )
