"""A callable of any kind -> the Python function that somebody wrote, and what was peeled off it."""

import functools
from collections.abc import Callable, Mapping
from types import FunctionType, MethodType
from typing import NamedTuple

from helpers.capture.cpython.objects import (
    called,
    function_of,
    instance_dict,
    python_function,
    refuse_async,
)
from helpers.model.phrase import counted
from helpers.safety import restoring
from helpers.safety.arguments import (
    is_exactly,
    printable,
    real_isinstance,
    real_type_name,
    static_attribute,
)

DEEPEST = 20
VARARGS = 0x04  # co_flags, Include/cpython/code.h
_MODULES = (  # what a call of their objects comes to
    ("a torch module", "torch.nn.modules.module", "Module", "forward"),
    ("a Keras layer", "keras.src.layers.layer", "Layer", "call"),
)
_HOLDERS = {property: "fget", functools.cached_property: "func"} | dict.fromkeys(
    (staticmethod, classmethod), "__func__"
)
_GENERATORS = ("contextmanager", "asynccontextmanager")  # of contextlib; they run no line at once
_COMPILED = "torch.compile is peeled off: this is the Python function that it compiles."
_TRACED = "tf.function is peeled off: this is the Python function that it traces."
_CACHED = "functools.lru_cache is peeled off, and its cache is not asked."


class Unwrapped(NamedTuple):
    """A function, what was peeled off, and what to `call`: decorators, no cache or compiler."""

    function: object
    sentences: tuple[str, ...]
    call: Callable

    def unreached(self, ran: bool) -> str:
        """Return why nothing was recorded where something else answered the call; else ""."""
        return "" if ran or not self.sentences else "What is around the function did not run it."


def unwrap(thing: object) -> tuple[object, tuple[str, ...]]:
    """Return the Python function in a callable, or `thing`; what was peeled off."""
    return opened(thing)[:2]


def behind(thing: object) -> FunctionType | None:
    """Return the Python function that a call leads to; None where there is none."""
    function = unwrap(thing)[0]
    function = function.__func__ if type(function) is MethodType else function
    return function if type(function) is FunctionType else None


def to_run(thing: object, verb: str) -> Unwrapped:
    """Return the function to watch, and what to call for that. TypeError if there is none."""
    inside = opened(thing)
    if why := freed(inside.function):
        raise TypeError(f"{verb}: {why}")
    function, _ = function_of(inside.function, verb)
    refuse_async(inside.call if type(inside.call) is FunctionType else function, verb)
    return inside._replace(function=function)


def arguments(fn, args: tuple, kwargs: Mapping) -> list[tuple[str, object]]:
    """Return (name, value) of each argument; by place where the names cannot be read."""
    function, _, call = opened(fn)
    before = int(type(function) is MethodType)
    before += len(call.args) if type(call) is functools.partial else 0
    names = []
    if is_exactly(function, FunctionType, MethodType):
        code = function.__code__
        names += code.co_varnames[: code.co_argcount]
        if code.co_flags & VARARGS:
            rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
            names += [f"{rest}[{at}]" for at in range(before + len(args))]
    names = names[before:]
    if len(names) < len(args):
        names = [f"argument {at}" for at in range(1, len(args) + 1)]
    return [*zip(names, args, strict=False), *kwargs.items()]


def freed(function: object) -> str:
    """Return, as a sentence, that a tf.function's method has lost its object; "" if it has not."""
    if type(function) is not MethodType or not _weak_self(function):
        return ""
    what = f"the object whose {called(function)} this is"
    return f"{what} has been freed; tf.function keeps none, so name it first"


def _weak_self(method: MethodType):
    """Return the weak reference that a tf.function keeps of a method's self, None of any other."""
    itself = method.__self__
    return itself.weakrefself_target__ if real_type_name(itself) == "TfMethodTarget" else None


def opened(thing: object, deepest: int = DEEPEST) -> Unwrapped:
    """Return what `unwrap` does, and what to call."""
    if type(thing) is MethodType:
        return _opened_method(thing, deepest)
    inner, words, as_given = (deepest and _find_layer(thing)) or (None, "", True)
    if not words:
        return Unwrapped(thing, (), thing)
    inside = opened(inner, deepest - 1)
    if type(thing) is FunctionType and not is_exactly(inside.function, FunctionType, MethodType):
        return Unwrapped(thing, (), thing)
    call = inside.call
    if type(thing) is functools.partial:
        call = functools.partial(call, *thing.args, **thing.keywords)
    words = tuple(dict.fromkeys((words, *inside.sentences)))
    return Unwrapped(inside.function, words, call if as_given else thing)


def _opened_method(method: MethodType, deepest: int) -> Unwrapped:
    weak, function = _weak_self(method), method.__func__
    itself = weak() if weak and weak() is not None else method.__self__
    if static_attribute(itself, "__call__") is function and _find_module(itself):
        return opened(itself, deepest)
    inside, bound = opened(function, deepest), MethodType(function, itself)
    if not inside.sentences:
        return Unwrapped(bound, (), bound)
    if type(inside.function) is FunctionType:
        bound = MethodType(inside.function, itself)
    return inside._replace(function=bound, call=MethodType(inside.call, itself))


def _find_layer(thing):
    """Return what is inside, a sentence, and whether it gets the same arguments, or None."""
    inside = instance_dict(thing) or {}
    wrapped = dict.get(inside, "__wrapped__")
    if type(thing) is functools.partial and (wrapped is None or wrapped is thing.func):
        count = counted(len(thing.args) + len(thing.keywords), "argument")
        return thing.func, f"A partial is peeled off, which gives {count}.", True
    if (traced := python_function(thing)) is not None:
        method = dict.get(instance_dict(traced) or {}, "__wrapped__")
        weak = type(method) is MethodType and _weak_self(method)
        return method if weak else traced, _TRACED, True
    if callable(thing) and callable(wrapped) and wrapped is not thing:
        if type(thing) is functools._lru_cache_wrapper:
            return wrapped, _CACHED, True
        if type(thing) is not FunctionType:
            return wrapped, f"The wrapper {real_type_name(thing)} is peeled off.", False
        if "get_compiler_config" in inside:
            return wrapped, _COMPILED, True
        maker = printable(thing.__code__.co_qualname.partition(".<locals>")[0])
        words = f"The decorator {maker.removesuffix('.__call__')} is peeled off"
        return wrapped, f"{words}: this is what it decorates.", maker in _GENERATORS
    if type(thing) is FunctionType or real_isinstance(thing, type):
        return None
    if type(thing) in _HOLDERS:
        inner = getattr(thing, _HOLDERS[type(thing)])
        return inner, f"A {type(thing).__name__} is peeled off.", True
    call = static_attribute(thing, "__call__")
    if (module := _find_module(thing)) or type(call) is not FunctionType:
        return module
    words = f"{real_type_name(thing)} objects are called through their __call__: this is it."
    return MethodType(call, thing), words, True


def _find_module(thing):
    for what, home, name, method in _MODULES:
        kind = getattr(restoring.module(home), name, None)
        if kind is None or not real_isinstance(thing, kind):
            continue
        inside = instance_dict(thing)
        if (plain := dict.get(inside.get("_modules") or {}, "_orig_mod")) is not None:
            return plain, _COMPILED, True
        function = static_attribute(thing, method)
        if type(function) is FunctionType and method not in inside:
            function = MethodType(function, thing)
        if inside.get("_compiled_call_impl") is not None:
            return function, _COMPILED, True
        return function, f"{real_type_name(thing)} is {what}: this is its {method}.", False
    return None
