"""Something callable -> what `torch.compile` made of it already, or a compiled copy of it.

A copy has a code object of its own. So its cache is empty, and the user's function keeps its cache.
"""

import functools
import inspect
from types import FunctionType, MethodType

from ...internals import compiled_functions
from ...safety.arguments import find_near_word
from ...safety.restoring import patched
from ..cpython.objects import find_inherited
from ..cpython.unwrapping import DEEPEST, unwrap_call
from ..text.error import describe_error
from .compiled_function import compile_copy, copy_function


def find_users_compiled(fn):
    """Return the compiled callable that a call of `fn` runs, or None if the user compiled nothing.

    `fn` itself may be compiled, or a compiled function may be inside it: in a partial, in a method,
    in the `forward` of a module, or in the `__call__` of an object.
    """
    import torch

    target = fn
    for _ in range(DEEPEST):
        # Not `isinstance`, which believes a mock that claims another class.
        target_type = type(target)
        if compiled_functions.is_compiled(target):
            return target

        if issubclass(target_type, functools.partial):
            target = target.func
        elif _is_call_of_module(target):
            target = target.__self__
        elif target_type is MethodType:
            target = target.__func__
        elif issubclass(target_type, torch.nn.Module):
            target = target.forward
        else:
            target = find_inherited(target_type, "__call__")
            if type(target) is not FunctionType:  # it is written in C, so nothing is inside
                return None
    return None  # too many layers


def compile_copy_of(fn, options: dict) -> tuple:
    """Return a compiled callable that does what `fn` does, and the copy that Dynamo starts with.

    The Python function inside `fn` is copied and compiled. Around the compiled copy, the layers of
    `fn` are built again: a partial, or a call of a module. `options` are keywords of
    `torch.compile`; TypeError if torch refuses them.
    """
    import torch

    # Not `isinstance`, which believes a mock that claims another class.
    fn_type = type(fn)
    if issubclass(fn_type, functools.partial):
        compiled, function = compile_copy_of(fn.func, options)
        return functools.partial(compiled, *fn.args, **fn.keywords), function
    if _is_call_of_module(fn):
        return compile_copy_of(fn.__self__, options)
    if issubclass(fn_type, torch.nn.Module):
        # The module itself is called, with the compiled copy in place of its `forward`. So its
        # hooks run, too.
        compiled, function = compile_copy_of(fn.forward, options)
        return functools.partial(_call_with_forward, fn, compiled), function
    if fn_type is FunctionType or fn_type is MethodType:
        return _compile_function(copy_function(fn), options)
    return compile_copy_of(_find_function_of_object(fn), options)


def _find_function_of_object(fn):
    """Return what a call of an object runs: its `__call__`, or the function that it wraps."""
    layer = unwrap_call(fn, 1)
    call_method = find_inherited(type(fn), "__call__")
    # A decorator may return an object that wraps a function. The `__call__` of such an object may
    # do more than that function, so it is preferred where it is Python code.
    has_own_call = layer.call is fn and type(call_method) is FunctionType
    return MethodType(call_method, fn) if has_own_call else layer.function


def _compile_function(function, options: dict) -> tuple:
    """Return the compiled function, and the function that Dynamo starts with.

    Dynamo starts with `function`, or with torch's wrapper around it where it cannot. A TypeError
    says which of the `options` torch refuses, and names a similar keyword.
    """
    import torch

    try:
        return compile_copy(function, **options)
    except Exception as error:
        parameters = inspect.signature(torch.compile).parameters
        # for each unknown keyword the most similar one of torch.compile, or ""
        suggestions = [
            find_near_word(name, parameters) for name in options if name not in parameters
        ]
        question = f"; did you mean {suggestions[0]}=?" if any(suggestions) else ""
        message = f"torch.compile refuses these options: {describe_error(error)}{question}"
        raise TypeError(message) from None


def _is_call_of_module(fn) -> bool:
    """Return whether `fn` is the bound method `module.__call__` that torch.nn.Module defines."""
    import torch

    if type(fn) is not MethodType or not issubclass(type(fn.__self__), torch.nn.Module):
        return False
    return fn.__func__ is torch.nn.Module.__call__


def _call_with_forward(module, forward, /, *args, **kwargs):
    """Call a module with another `forward`, so that the module's hooks run before and after it."""
    with patched(module, forward=forward):
        return module(*args, **kwargs)


def read_signature(compiled) -> inspect.Signature:
    """Return the signature of a callable; for an object, that of its `__call__`.

    `inspect.signature(compiled)` would read `__signature__` of an object, which may run user code.
    """
    call = find_inherited(type(compiled), "__call__")
    if type(compiled) is not FunctionType and type(call) is FunctionType:
        return inspect.signature(MethodType(call, compiled))
    return inspect.signature(compiled)
