"""A callable of any kind -> the Python function that somebody wrote, and what was taken off it."""

import functools
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import NamedTuple

from ...safety import restoring
from ...safety.arguments import is_exactly, printable, real_isinstance, static_attribute
from .objects import read_callable_name, refuse_async, require_python_function
from .wrapper_layers import find_layer, find_module_method, read_weak_self

DEEPEST = 20  # layers that are taken off; two objects may wrap each other
VARARGS = 0x04  # co_flags, Include/cpython/code.h


class Unwrapped(NamedTuple):
    """A Python function that was inside a callable."""

    #: The function, or a method; the callable itself where none is inside.
    function: object
    #: A sentence for each layer that was taken off.
    sentences: tuple[str, ...]
    #: What to call to run the function: with its decorators, without a cache or a compiler.
    call: Callable

    def unreached(self, ran: bool) -> str:
        """Return the sentence on a wrapper that answered the call without the function, or "".

        `ran` says whether the function has run.
        """
        return "" if ran or not self.sentences else "The function's wrapper did not run it."


def unwrap(thing: object, args: tuple = ()) -> tuple[object, tuple[str, ...]]:
    """Return the Python function in a callable, or `thing`, and a sentence for each layer.

    `args`: those of a call, by which singledispatch chooses.
    """
    unwrapped = unwrap_call(thing, args=args)
    return unwrapped.function, unwrapped.sentences


def find_called_function(thing: object, args: tuple = ()) -> FunctionType | None:
    """Return the Python function that a call leads to, without its self; None if there is none."""
    function, _ = unwrap(thing, args)
    if type(function) is MethodType:
        function = function.__func__
    return function if type(function) is FunctionType else None


def find_watched_function(thing: object, verb: str, args: tuple = ()) -> Unwrapped:
    """Return the function to watch, and what to call for that. TypeError if there is none.

    `verb` is named in the error, and `args` are those of the call.
    """
    unwrapped = unwrap_call(thing, args=args)
    reason = describe_freed_self(unwrapped.function)
    if reason:
        raise TypeError(f"{verb}: {reason}")
    function, _ = require_python_function(unwrapped.function, verb)
    # A wrapper may be a coroutine function around a plain one, so `call` is asked where it can be.
    refuse_async(unwrapped.call if type(unwrapped.call) is FunctionType else function, verb)
    return unwrapped._replace(function=function)


def name_arguments(fn, args: tuple, kwargs: Mapping) -> list[tuple[str, object]]:
    """Return (name, value) of each argument of a call; `argument 1` where no name can be read."""
    unwrapped = unwrap_call(fn)
    function = unwrapped.function
    names = []
    if is_exactly(function, FunctionType, MethodType):
        names = _list_parameters(function.__code__, _count_bound_arguments(unwrapped), len(args))
    if len(names) < len(args):
        names = [f"argument {number}" for number in range(1, len(args) + 1)]
    return [*zip(names, args, strict=False), *kwargs.items()]


def _count_bound_arguments(unwrapped: Unwrapped) -> int:
    """Return how many arguments come before those of a call: the self, and those of a partial."""
    count = 1 if type(unwrapped.function) is MethodType else 0
    if type(unwrapped.call) is functools.partial:
        count += len(unwrapped.call.args)
    return count


def _list_parameters(code, bound_count: int, argument_count: int) -> list[str]:
    """Return the names that `argument_count` arguments get by position, such as `a`, `rest[0]`.

    `bound_count` arguments come before them, and are not in the list.
    """
    names = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & VARARGS:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        names += [f"{rest}[{index}]" for index in range(bound_count + argument_count)]
    return names[bound_count:]


def describe_freed_self(function: object) -> str:
    """Return, as a sentence, that a tf.function's method has lost its object; "" if it has not."""
    if type(function) is not MethodType or read_weak_self(function) is None:
        return ""
    return (
        f"the object whose {read_callable_name(function)} this is was freed; "
        "tf.function does not keep it alive, so give it a name first"
    )


def unwrap_call(thing: object, deepest: int = DEEPEST, args: tuple = ()) -> Unwrapped:
    """Return the Python function in a callable, with what to call.

    Parameters
    ----------
    thing : object
        Any object; one that is no wrapper is returned as it is.
    deepest : int
        How many layers to take off at most.
    args : tuple
        The arguments of the call, by which singledispatch chooses.
    """
    if type(thing) is MethodType:
        return _unwrap_method(thing, deepest, args)
    if type(thing) is functools.partial:
        args = (*thing.args, *args)
    layer = find_layer(thing, args) if deepest else None
    if layer is None:
        return Unwrapped(thing, (), thing)

    unwrapped = unwrap_call(layer.inner, deepest - 1, args)
    is_python = is_exactly(unwrapped.function, FunctionType, MethodType)
    if type(thing) is FunctionType and not is_python:
        return Unwrapped(thing, (), thing)  # a wrapper in Python says more than what it wraps in C
    call = unwrapped.call
    if type(thing) is functools.partial:
        call = functools.partial(call, *thing.args, **thing.keywords)
    # The same decorator, applied twice, is named once.
    sentences = tuple(dict.fromkeys((layer.sentence, *unwrapped.sentences)))
    return Unwrapped(unwrapped.function, sentences, call if layer.is_replaceable else thing)


def _unwrap_method(method: MethodType, deepest: int, args: tuple) -> Unwrapped:
    """Return the function of a bound method, bound again.

    The parameters are those of `unwrap_call`.
    """
    function = method.__func__
    self_object = method.__self__
    weak_self = read_weak_self(method)
    if weak_self is not None and weak_self() is not None:
        self_object = weak_self()

    if _is_autograd_function(self_object) and function.__name__ == "apply":
        name = printable(self_object.__name__)
        sentence = f"apply is unwrapped: it calls this, the forward of {name}."
        forward = unwrap_call(static_attribute(self_object, "forward").__func__, deepest, args)
        return forward._replace(sentences=(sentence, *forward.sentences), call=method)
    is_call_of_self = static_attribute(self_object, "__call__") is function
    if is_call_of_self and find_module_method(self_object) is not None:
        # A module's `__call__` leads to its `forward`.
        return unwrap_call(self_object, deepest, args)

    unwrapped = unwrap_call(function, deepest, (self_object, *args))
    bound = MethodType(function, self_object)  # with the real self in place of a weak reference
    if not unwrapped.sentences:  # nothing was taken off
        return Unwrapped(bound, (), bound)
    if type(unwrapped.function) is FunctionType:
        bound = MethodType(unwrapped.function, self_object)
    return unwrapped._replace(function=bound, call=MethodType(unwrapped.call, self_object))


def _is_autograd_function(thing: object) -> bool:
    """Return whether an object is a class that derives from `torch.autograd.Function`."""
    # Where torch is not imported, `type` stands in: it is a base of metaclasses only.
    operation = getattr(restoring.module("torch.autograd.function"), "Function", type)
    return real_isinstance(thing, type) and operation in thing.__mro__[1:]
