"""Something callable -> what `torch.compile` made of it already, or a compiled copy of it.

A copy has a code object of its own. So its cache is empty, and the user's function keeps its cache.
"""

import functools
import inspect
from types import FunctionType, MethodType

from ...internals import compiled_functions
from ...safety.arguments import find_near_word, real_isinstance
from ...safety.restoring import patched
from ..cpython.objects import find_inherited
from ..cpython.unwrapping import DEEPEST, unwrap_call
from ..text.error import describe_error
from .compiled_function import compile_copy, copy_function


def find_users_compiled(fn):
    """Return what the user's `torch.compile` made, to which a call of `fn` leads; else None."""
    import torch

    # `real_isinstance`, because a mock says that it is of the class that it stands for
    target = fn
    for _ in range(DEEPEST):
        if compiled_functions.is_compiled(target):
            return target

        if real_isinstance(target, functools.partial):
            target = target.func
        elif _is_call_of_module(target):
            target = target.__self__
        elif real_isinstance(target, MethodType):
            target = target.__func__
        elif real_isinstance(target, torch.nn.Module):
            target = target.forward
        else:
            target = find_inherited(type(target), "__call__")
            if type(target) is not FunctionType:
                return None
    return None


def compile_copy_of(fn, options: dict) -> tuple:
    """Return a compiled callable that does what `fn` does, and the copy that Dynamo starts with.

    `options` are keywords of `torch.compile`; TypeError if it refuses them.
    """
    import torch

    if real_isinstance(fn, functools.partial):
        compiled, function = compile_copy_of(fn.func, options)
        return functools.partial(compiled, *fn.args, **fn.keywords), function
    if _is_call_of_module(fn):
        return compile_copy_of(fn.__self__, options)
    if real_isinstance(fn, torch.nn.Module):
        # a call of the module itself, so that its hooks run, too
        compiled, function = compile_copy_of(fn.forward, options)
        return functools.partial(_call_with_forward, fn, compiled), function
    if real_isinstance(fn, FunctionType, MethodType):
        return _compile_function(copy_function(fn), options)
    return compile_copy_of(_find_function_of_object(fn), options)


def _find_function_of_object(fn):
    """Return what a call of an object runs: its `__call__`, or the function that it wraps."""
    layer = unwrap_call(fn, 1)
    call = find_inherited(type(fn), "__call__")
    # the object of a decorator wraps a function, and its own `__call__` may do more than that one
    has_own_call = layer.call is fn and type(call) is FunctionType
    return MethodType(call, fn) if has_own_call else layer.function


def _compile_function(function, options: dict) -> tuple:
    """Return the compiled function, and the function that Dynamo starts with.

    That is `function`, or torch's wrapper around it where Dynamo cannot start with it.
    """
    import torch

    try:
        return compile_copy(function, **options)
    except Exception as error:
        parameters = inspect.signature(torch.compile).parameters
        suggestions = [
            find_near_word(name, parameters) for name in options if name not in parameters
        ]
        question = f"; did you mean {suggestions[0]}=?" if any(suggestions) else ""
        message = f"torch.compile refuses these options: {describe_error(error)}{question}"
        raise TypeError(message) from None


def _is_call_of_module(fn) -> bool:
    """Return whether it is `module.__call__`, as torch's own class defines it."""
    import torch

    is_method = real_isinstance(fn, MethodType) and real_isinstance(fn.__self__, torch.nn.Module)
    return is_method and fn.__func__ is torch.nn.Module.__call__


def _call_with_forward(module, forward, /, *args, **kwargs):
    """Call a module with another forward: its hooks run as ever."""
    with patched(module, forward=forward):
        return module(*args, **kwargs)


def read_signature(compiled) -> inspect.Signature:
    """Return the signature of a callable; an object of the user's is not asked for one."""
    call = find_inherited(type(compiled), "__call__")
    if type(compiled) is not FunctionType and type(call) is FunctionType:
        return inspect.signature(MethodType(call, compiled))
    return inspect.signature(compiled)
