"""Find the Python function that somebody wrote inside a callable of any kind.
A callable may have layers around the function: a decorator, a partial, a cache, tf.function,
torch.compile. *Unwrapping* takes the layers off one by one, and notes a sentence for each, which is
shown to the user.
"""

import functools
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import NamedTuple

from ...safety import restoring
from ...safety.arguments import is_exactly, printable, real_isinstance, static_attribute
from .objects import read_callable_name, refuse_async, require_python_function
from .wrapper_layers import find_layer, find_module_method, read_weak_self

DEEPEST = 20  # layers that are taken off at most, because two objects may wrap each other
VARARGS = 0x04  # co_flags, Include/cpython/code.h


class Unwrapped(NamedTuple):
    """The Python function that was found inside a callable."""

    #: The function or bound method. If no Python function is inside, the callable itself.
    function: object
    #: A sentence for each layer that was taken off, the outermost first.
    sentences: tuple[str, ...]
    #: What to call to run the function. Decorators stay, because they may change the arguments; a
    #: cache or a compiler is left out, because it may answer without running the function.
    call: Callable

    def describe_if_not_run(self, ran: bool) -> str:
        """Return the sentence that a wrapper answered the call without running the function.

        Return "" if the function has run, which `ran` says, or if it has no wrapper.
        """
        return "" if ran or not self.sentences else "The function's wrapper did not run it."


def unwrap(thing: object, args: tuple = ()) -> tuple[object, tuple[str, ...]]:
    """Return (function, sentences): the Python function inside a callable, and what was taken off.

    The function may be a bound method. It is `thing` itself if `thing` wraps no Python function.
    Each sentence describes one layer, such as "A partial is unwrapped, which supplies 1 argument."
    `args` are the arguments of a call: by their types, singledispatch chooses a function.
    """
    unwrapped = unwrap_call(thing, args=args)
    return unwrapped.function, unwrapped.sentences


def find_called_function(thing: object, args: tuple = ()) -> FunctionType | None:
    """Return the plain Python function that a call of `thing(*args)` runs; None if there is none.

    For a method, it is the function of the class.
    """
    function, _ = unwrap(thing, args)
    if type(function) is MethodType:
        function = function.__func__
    return function if type(function) is FunctionType else None


def find_watched_function(thing: object, verb: str, args: tuple = ()) -> Unwrapped:
    """Return the Python function that a verb is to watch, and what to call to run it.

    Raise TypeError if there is no Python function, or if a call would only make a coroutine.

    Parameters
    ----------
    thing : object
        The callable that the user passed to the verb.
    verb : str
        The name of the verb, which the error mentions.
    args : tuple
        The arguments of the call.
    """
    unwrapped = unwrap_call(thing, args=args)
    freed_self = describe_freed_self(unwrapped.function)
    if freed_self:
        raise TypeError(f"{verb}: {freed_self}")
    function, _ = require_python_function(unwrapped.function, verb)
    # A wrapper, which is `call`, may be a coroutine function though the wrapped function is not.
    called = unwrapped.call if type(unwrapped.call) is FunctionType else function
    refuse_async(called, verb)
    return unwrapped._replace(function=function)


def name_arguments(fn, args: tuple, kwargs: Mapping) -> list[tuple[str, object]]:
    """Return (name, value) of each argument of the call `fn(*args, **kwargs)`.

    The name of a positional argument is that of its parameter. If `fn` is not written in Python, or
    has too few parameters, the names are "argument 1", "argument 2", and so on.
    """
    unwrapped = unwrap_call(fn)
    function = unwrapped.function
    names = []
    if is_exactly(function, FunctionType, MethodType):
        bound_count = _count_bound_arguments(unwrapped)
        names = _list_parameters(function.__code__, bound_count, len(args))
    if len(names) < len(args):
        names = [f"argument {number}" for number in range(1, len(args) + 1)]
    return [*zip(names, args, strict=False), *kwargs.items()]


def _count_bound_arguments(unwrapped: Unwrapped) -> int:
    """Return how many arguments a function gets before those of the call.

    These are the self of a method, and the positional arguments that a partial supplies.
    """
    count = 1 if type(unwrapped.function) is MethodType else 0
    if type(unwrapped.call) is functools.partial:
        count += len(unwrapped.call.args)
    return count


def _list_parameters(code, bound_count: int, argument_count: int) -> list[str]:
    """Return the names of the parameters that get `argument_count` arguments by position.

    For `def f(a, *rest)` and three arguments, these are `a`, `rest[0]`, `rest[1]`; more may follow.

    Parameters
    ----------
    code : CodeType
        The code object of the function.
    bound_count : int
        How many arguments come before those of the call, such as self. Their names are left out.
    argument_count : int
        How many positional arguments the call has.
    """
    names = list(code.co_varnames[: code.co_argcount])
    if code.co_flags & VARARGS:
        # In `co_varnames`, the name of *args comes after all other parameters.
        varargs_name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        most_items = bound_count + argument_count
        names += [f"{varargs_name}[{index}]" for index in range(most_items)]
    return names[bound_count:]


def describe_freed_self(function: object) -> str:
    """Return the sentence that the object of a tf.function's method was freed; "" if it was not.

    tf.function keeps only a weak reference to the object. While the object lives, `unwrap_call`
    puts it into the method, so a method that still has a weak reference has lost its object.
    """
    if type(function) is not MethodType or read_weak_self(function) is None:
        return ""
    return (
        f"the object whose {read_callable_name(function)} this is was freed; "
        "tf.function does not keep it alive, so give it a name first"
    )


def unwrap_call(thing: object, deepest: int = DEEPEST, args: tuple = ()) -> Unwrapped:
    """Return the Python function inside a callable, and what to call to run the function.

    Parameters
    ----------
    thing : object
        Any object. If it is no wrapper, it is both the function and what to call.
    deepest : int
        How many layers to take off at most.
    args : tuple
        The arguments of the call. By their types, singledispatch chooses a function.
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
        # A wrapper written in Python around a function in C: only the wrapper can be shown.
        return Unwrapped(thing, (), thing)
    # Without a cache or a compiler, call what is inside; otherwise call the wrapper itself.
    call = unwrapped.call if layer.can_be_skipped else thing
    if layer.can_be_skipped and type(thing) is functools.partial:
        call = functools.partial(call, *thing.args, **thing.keywords)
    # If the same decorator was applied twice, its sentence appears once.
    sentences = tuple(dict.fromkeys((layer.sentence, *unwrapped.sentences)))
    return Unwrapped(unwrapped.function, sentences, call)


def _unwrap_method(method: MethodType, deepest: int, args: tuple) -> Unwrapped:
    """Return what `unwrap_call` returns, for a bound method.

    The function of the method is unwrapped, and the result is bound to the object again. The
    parameters are those of `unwrap_call`.
    """
    function = method.__func__
    self_object = method.__self__
    weak_self = read_weak_self(method)
    if weak_self is not None and weak_self() is not None:  # tf.function's, and the object lives
        self_object = weak_self()

    if _is_autograd_function(self_object) and function.__name__ == "apply":
        # `MyOp.apply(x)` of a torch.autograd.Function runs the static method `MyOp.forward`.
        name = printable(self_object.__name__)
        sentence = f"apply is unwrapped: it calls this, the forward of {name}."
        forward = unwrap_call(static_attribute(self_object, "forward").__func__, deepest, args)
        return forward._replace(sentences=(sentence, *forward.sentences), call=method)
    is_call_of_self = static_attribute(self_object, "__call__") is function
    if is_call_of_self and find_module_method(self_object) is not None:
        # The `__call__` of a torch module or a Keras layer leads to its `forward` or `call`.
        return unwrap_call(self_object, deepest, args)

    unwrapped = unwrap_call(function, deepest, (self_object, *args))
    if not unwrapped.sentences:  # nothing was taken off
        bound_method = MethodType(function, self_object)
        return Unwrapped(bound_method, (), bound_method)
    is_plain_function = type(unwrapped.function) is FunctionType
    inner_function = unwrapped.function if is_plain_function else function
    return unwrapped._replace(
        function=MethodType(inner_function, self_object),
        call=MethodType(unwrapped.call, self_object),
    )


def _is_autograd_function(thing: object) -> bool:
    """Return whether an object is a class that derives from `torch.autograd.Function`."""
    autograd_function = getattr(
        restoring.find_loaded_module("torch.autograd.function"), "Function", None
    )
    if autograd_function is None:  # torch is not imported, so no class derives from it
        return False
    return real_isinstance(thing, type) and autograd_function in thing.__mro__[1:]
