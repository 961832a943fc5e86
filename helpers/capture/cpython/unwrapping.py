"""A callable of any kind -> the Python function that somebody wrote, and what was peeled off it."""

import contextlib
import functools
from collections.abc import Callable, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import NamedTuple

from ...model.phrase import counted, listed
from ...safety import restoring
from ...safety.arguments import (
    is_exactly,
    item_of_type,
    printable,
    real_isinstance,
    real_type_name,
    static_attribute,
)
from .objects import called, function_of, instance_dict, names_used, python_function, refuse_async

DEEPEST = 20
VARARGS = 0x04  # co_flags, Include/cpython/code.h
_MODULES = (  # what a call of their objects comes to
    ("a torch module", "torch.nn.modules.module", "Module", "forward"),
    ("a Keras layer", "keras.src.layers.layer", "Layer", "call"),
)
_HOLDERS = {property: "fget", functools.cached_property: "func"}
_HOLDERS |= dict.fromkeys((staticmethod, classmethod), "__func__")
_GENERATORS = ("contextmanager", "asynccontextmanager")  # of contextlib; they run no line at once
COMPILED = "torch.compile is unwrapped: this is the Python function that it compiles."
_DISABLED = "torch.compiler.disable is unwrapped: this is what it keeps Dynamo out of."
_TRACED = "tf.function is unwrapped: this is the Python function that it traces."
_CACHED = "functools.lru_cache is unwrapped, and its cache is not used."
_COMPILERS = {"numba": "numba", "jax": "jax.jit", "jaxlib": "jax.jit"}
FRAMEWORKS = {  # name -> its packages, the verbs for it
    "TensorFlow": ({"tensorflow", "keras"}, "use show_graph or watch_traces"),
    "PyTorch": ({"torch"}, "use show_fx or show_compiled"),
    "jax": ({"jax", "jaxlib"}, "no verb looks inside jax"),
}
UNSEEN = "This uses jax. Only the keys, graphs and ops of TensorFlow and PyTorch are shown."
_MOST_TYPES = 5  # for which singledispatch has implementations, named


class Unwrapped(NamedTuple):
    """A function, what was peeled off, and what to `call`: decorators, no cache or compiler."""

    function: object
    sentences: tuple[str, ...]
    call: Callable

    def unreached(self, ran: bool) -> str:
        """Return why nothing was recorded where something else answered the call; else ""."""
        return "" if ran or not self.sentences else "The function's wrapper did not run it."


def unwrap(thing: object, args: tuple = ()) -> tuple[object, tuple[str, ...]]:
    """Return the Python function in a callable, or `thing`; what was peeled off.

    `args`: those of a call, by which singledispatch chooses.
    """
    return opened(thing, args=args)[:2]


def behind(thing: object, args: tuple = ()) -> FunctionType | None:
    """Return the Python function that a call leads to; None where there is none."""
    function = unwrap(thing, args)[0]
    function = function.__func__ if type(function) is MethodType else function
    return function if type(function) is FunctionType else None


def frameworks_of(thing: object, args: tuple = ()) -> set[str]:
    """Return which `FRAMEWORKS` a callable is of, its arguments, and the names that it uses.

    They are recognised by the names of modules, so that none is imported to find out.
    """
    function = behind(thing, args)
    used = names_used(function.__code__) & function.__globals__.keys() if function else ()
    homes = set()
    for value in (thing, *args, function, *(function.__globals__[name] for name in used)):
        value = value.__self__ if is_exactly(value, MethodType, BuiltinFunctionType) else value
        kinds = value.__mro__ if real_isinstance(value, type) else type(value).__mro__
        homes |= {vars(kind).get("__module__") for kind in kinds}
        inside = instance_dict(value) or {}
        homes |= {inside.get("__name__") if type(value) is ModuleType else inside.get("__module__")}
        homes |= {value.__module__} if type(value) is FunctionType else set()
    packages = {home.partition(".")[0] for home in homes if real_isinstance(home, str)}
    return {name for name, (own, _) in FRAMEWORKS.items() if packages & own}


def refuse_other_framework(thing: object, args: tuple, verb: str, own: str) -> None:
    """Raise TypeError for an object only of another framework than `own`; none is imported."""
    found = frameworks_of(thing, args)
    if found and own not in found:
        name = min(found)
        what = f"{called(thing)}{'()' * (behind(thing) is thing)} is {name}'s"
        raise TypeError(f"{verb} is for {own}, and {what}; {FRAMEWORKS[name][1]}")


def to_run(thing: object, verb: str, args: tuple = ()) -> Unwrapped:
    """Return the function to watch, and what to call for that. TypeError if there is none."""
    inside = opened(thing, args=args)
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
    return f"{what} was freed; tf.function does not keep it alive, so give it a name first"


def _weak_self(method: MethodType):
    """Return the weak reference that a tf.function keeps of a method's self, None of any other."""
    itself = method.__self__
    return itself.weakrefself_target__ if real_type_name(itself) == "TfMethodTarget" else None


def opened(thing: object, deepest: int = DEEPEST, args: tuple = ()) -> Unwrapped:
    """Return what `unwrap` does, and what to call."""
    if type(thing) is MethodType:
        return _opened_method(thing, deepest, args)
    args = (*thing.args, *args) if type(thing) is functools.partial else args
    inner, words, as_given = (deepest and _find_layer(thing, args)) or (None, "", True)
    if not words:
        return Unwrapped(thing, (), thing)
    inside = opened(inner, deepest - 1, args)
    if type(thing) is FunctionType and not is_exactly(inside.function, FunctionType, MethodType):
        return Unwrapped(thing, (), thing)
    call = inside.call
    if type(thing) is functools.partial:
        call = functools.partial(call, *thing.args, **thing.keywords)
    words = tuple(dict.fromkeys((words, *inside.sentences)))
    return Unwrapped(inside.function, words, call if as_given else thing)


def _opened_method(method: MethodType, deepest: int, args: tuple) -> Unwrapped:
    weak, function = _weak_self(method), method.__func__
    itself = weak() if weak and weak() is not None else method.__self__
    operation = getattr(restoring.module("torch.autograd.function"), "Function", type)
    derived = real_isinstance(itself, type) and operation in itself.__mro__[1:]
    if derived and function.__name__ == "apply":
        words = f"apply is unwrapped: it calls this, the forward of {printable(itself.__name__)}."
        inside = opened(static_attribute(itself, "forward").__func__, deepest, args)
        return inside._replace(sentences=(words, *inside.sentences), call=method)
    if static_attribute(itself, "__call__") is function and _find_module(itself):
        return opened(itself, deepest, args)
    inside, bound = opened(function, deepest, (itself, *args)), MethodType(function, itself)
    if not inside.sentences:
        return Unwrapped(bound, (), bound)
    if type(inside.function) is FunctionType:
        bound = MethodType(inside.function, itself)
    return inside._replace(function=bound, call=MethodType(inside.call, itself))


def _find_layer(thing, args: tuple):
    """Return what is inside, a sentence, and whether it gets the same arguments, or None."""
    inside = instance_dict(thing) or {}
    home = str(vars(type(thing)).get("__module__")).partition(".")[0]
    wrapped = dict.get(inside, "pyfunc" if real_type_name(thing) == "vectorize" else "__wrapped__")
    if type(thing) is FunctionType and thing.__globals__ is vars(functools):
        if type(kept := inside.get("register")) is MethodType:  # of singledispatchmethod
            return _dispatched(kept.__self__.dispatcher, args)
        if type(inside.get("dispatch")) is FunctionType:
            return _dispatched(thing, args)
    if type(thing) is functools.partial and (wrapped is None or wrapped is thing.func):
        count = counted(len(thing.args) + len(thing.keywords), "argument")
        return thing.func, f"A partial is unwrapped, which supplies {count}.", True
    if (traced := python_function(thing)) is not None:
        method = dict.get(instance_dict(traced) or {}, "__wrapped__")
        weak = type(method) is MethodType and _weak_self(method)
        return method if weak else traced, _TRACED, True
    if callable(thing) and callable(wrapped) and wrapped is not thing:
        if type(thing) is functools._lru_cache_wrapper:
            return wrapped, _CACHED, True
        if type(thing) is not FunctionType:
            if maker := _COMPILERS.get(home):
                return wrapped, f"{maker} is unwrapped: this is what it compiles.", True
            return wrapped, f"The wrapper {real_type_name(thing)} is unwrapped.", False
        if "get_compiler_config" in inside:
            return wrapped, COMPILED, True
        if "_torchdynamo_disable" in inside:
            return wrapped, _DISABLED, True
        maker = printable(thing.__code__.co_qualname.partition(".<locals>")[0])
        maker = "argmap" if "__argmap__" in inside else maker  # networkx writes its code anew
        words = f"The decorator {maker.removesuffix('.__call__')} is unwrapped"
        return wrapped, f"{words}: this is what it decorates.", maker in _GENERATORS
    if type(thing) is FunctionType or real_isinstance(thing, type):
        return None
    if attribute := item_of_type(thing, _HOLDERS):
        inner = getattr(thing, attribute)
        return inner, f"A {type(thing).__name__} is unwrapped.", True
    if type(thing) is functools.singledispatchmethod:
        return _dispatched(thing.dispatcher, args)
    call = static_attribute(thing, "__call__")
    if (module := _find_module(thing)) or type(call) is not FunctionType:
        return module
    words = f"{real_type_name(thing)} objects are called through their __call__: this is it."
    return MethodType(call, thing), words, True


def _dispatched(thing, args: tuple):
    """Return the implementation that a call runs; without arguments, that of all other types."""
    kinds = [printable(kind.__name__) for kind in thing.registry if kind is not object]
    runs = thing.registry[object]
    with contextlib.suppress(Exception):  # a class that answers for its subclasses
        runs = thing.dispatch(type(args[0])) if args else runs
    given = f"what runs for {real_type_name(args[0])}" if args else "the default"
    of = f"registered: {listed(kinds, _MOST_TYPES) or 'nothing else'}"
    return runs, f"singledispatch is unwrapped: this is {given} ({of}).", False


def _find_module(thing):
    for what, home, name, method in _MODULES:
        kind = getattr(restoring.module(home), name, None)
        if kind is None or not real_isinstance(thing, kind):
            continue
        inside = instance_dict(thing)
        if (plain := dict.get(inside.get("_modules") or {}, "_orig_mod")) is not None:
            disabled = real_type_name(inside.get("dynamo_ctx")) == "DisableContext"
            return plain, _DISABLED if disabled else COMPILED, True
        function = static_attribute(thing, method)
        if type(function) is FunctionType and method not in inside:
            function = MethodType(function, thing)
        if inside.get("_compiled_call_impl") is not None:
            return function, COMPILED, True
        return function, f"{real_type_name(thing)} is {what}: this is its {method}.", False
    return None
