"""A callable of any kind -> the Python function that somebody wrote, and what was peeled off it.

No framework is imported: where none is loaded, nobody can hand over what is of it. No line of the
callable's own code is run.
"""

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import NamedTuple

from helpers.capture.cpython.arguments import python_function
from helpers.capture.cpython.callable_name import called, name_of
from helpers.capture.cpython.function import function_of, refuse_async
from helpers.capture.cpython.objects import class_mapping, instance_dict, mro, part
from helpers.model.phrase import counted
from helpers.safety import imported
from helpers.safety.arguments import is_a, is_exactly, kind_of, own, printable

DEEPEST = 20
_MODULES = (  # what a call of their objects comes to
    ("a torch module", "torch.nn.modules.module", "Module", "forward"),
    ("a Keras layer", "keras.src.layers.layer", "Layer", "call"),
)
_GENERATORS = ("contextmanager", "asynccontextmanager")  # of contextlib; they run no line at once
_COMPILED = "torch.compile is peeled off: this is the Python function that it compiles."
_TRACED = "tf.function is peeled off: this is the Python function that it traces."


class Unwrapped(NamedTuple):
    """A function, what was peeled off it, and what to `call` so that it runs as Python.

    The call goes through decorators and modules, which may change the arguments, but not through
    what keeps a function from running: a cache, a compiler.
    """

    function: object
    sentences: tuple[str, ...]
    call: Callable

    def unreached(self, ran: bool) -> str:
        """Return why nothing was recorded where something else answered the call; else ""."""
        return "" if ran or not self.sentences else "What is around the function did not run it."


def unwrap(thing: object) -> tuple[object, tuple[str, ...]]:
    """Return the Python function in a callable, and a sentence for each thing that was peeled off.

    It is a bound method where its self is known. Peeled off are modules of torch and Keras, what
    torch.compile and tf.function make, decorators (`__wrapped__`), caches, partials, properties
    and objects with a `__call__`. Where there is no Python function inside: what is there instead.
    """
    return opened(thing)[:2]


def to_run(thing: object, args: tuple, verb: str, drives: bool = False) -> Unwrapped:
    """Return the function to watch, and what to call for that.

    TypeError if there is none, or an async one that the call only makes a coroutine of, unless the
    verb `drives` it or says so itself.
    """
    inside = opened(thing, args)
    if why := freed(inside.function):
        raise TypeError(f"{verb}: {why}")
    function, _ = function_of(inside.function, verb)
    if not drives:
        refuse_async(inside.call if type(inside.call) is FunctionType else function, verb)
    return inside._replace(function=function)


def freed(function: object) -> str:
    """Return, as a sentence, that a tf.function's method has lost its object; "" if it has not."""
    if type(function) is not MethodType or not _weak_self(function):
        return ""
    return (
        f"the object whose method {name_of(function)} is has been freed, for tf.function does not "
        "keep it; give the object a name first"
    )


def _weak_self(method: MethodType):
    """Return the weak reference that a tf.function keeps of a method's self, None of any other."""
    itself = method.__self__
    return itself.weakrefself_target__ if kind_of(itself) == "TfMethodTarget" else None


def opened(thing: object, args: tuple = (), deepest: int = DEEPEST) -> Unwrapped:
    """Return what `unwrap` does, and what to call; of several implementations, that for `args`."""
    if type(thing) is MethodType:
        weak = _weak_self(thing)
        if weak is not None and weak() is not None:
            thing = MethodType(thing.__func__, weak())
        itself = thing.__self__
        if own(itself, "__call__") is thing.__func__ and _of_module(itself):
            return opened(itself, args, deepest)
        inside = opened(thing.__func__, (itself, *args), deepest)
        if not inside.sentences:
            return Unwrapped(thing, (), thing)
        function = inside.function
        bound = MethodType(function, itself) if type(function) is FunctionType else function
        return inside._replace(function=bound, call=MethodType(inside.call, itself))
    layer = _layer(thing, args) if deepest else None
    if layer is None:
        return Unwrapped(thing, (), thing)
    inner, words, before, outer = layer
    inside = opened(inner, (*before, *args), deepest - 1)
    if type(thing) is FunctionType and not is_exactly(inside.function, FunctionType, MethodType):
        return Unwrapped(thing, (), thing)
    words = tuple(dict.fromkeys((words, *inside.sentences)))
    return Unwrapped(inside.function, words, outer(inside.call))


def _layer(thing, args):
    """Return what is inside, a sentence, what goes before the arguments, and inner -> outer call.

    None of what is a function, or nothing that anybody knows.
    """
    inside = instance_dict(thing) or {}
    wrapped = dict.get(inside, "__wrapped__")
    if type(thing) is functools.partial and wrapped in (None, thing.func):
        return _of_partial(thing)
    if type(thing) is FunctionType and "get_compiler_config" in inside and callable(wrapped):
        return wrapped, _COMPILED, (), _itself
    if (traced := python_function(thing)) is not None:
        method = dict.get(instance_dict(traced) or {}, "__wrapped__")
        weak = type(method) is MethodType and _weak_self(method)
        return method if weak else traced, _TRACED, (), _itself
    if callable(thing) and callable(wrapped) and wrapped is not thing:
        return _of_wrapper(thing, wrapped, inside, args)
    if type(thing) is FunctionType or is_a(thing, type):
        return None
    if type(thing) is property and thing.fget is not None:
        return thing.fget, "A property is peeled off: this is its getter.", (), _itself
    if is_exactly(thing, staticmethod, classmethod):
        return thing.__func__, f"A {kind_of(thing)} is peeled off.", (), _itself
    if is_a(thing, functools.cached_property):
        return inside.get("func"), "A cached_property is peeled off.", (), _itself
    if dict.get(inside, "_view") is not None and callable(source := dict.get(inside, "_source")):
        return source, "The ledger around it is peeled off.", (), _itself
    return _of_module(thing) or _of_call(thing)


def _of_partial(thing):
    function, given, named = (
        part(functools.partial, n, thing) for n in ("func", "args", "keywords")
    )
    words = f"A partial is peeled off, which gives {counted(len(given) + len(named), 'argument')}."
    return function, words, given, lambda call: functools.partial(call, *given, **named)


def _of_wrapper(thing, wrapped, inside, args):
    if type(thing) is functools._lru_cache_wrapper:
        return (
            wrapped,
            "functools.lru_cache is peeled off, and its cache is not asked.",
            (),
            _itself,
        )
    if type(thing) is not FunctionType:
        return wrapped, f"The wrapper {kind_of(thing)} is peeled off.", (), _kept(thing)
    made_in = thing.__code__.co_qualname.partition(".<locals>")[0]
    maker, home = printable(made_in.removesuffix(".__call__")), thing.__globals__.get("__name__")
    if maker == "singledispatch" and home == "functools":
        kind = type(args[0]) if args else object
        words = f"singledispatch is peeled off: this is the function for {called(kind)}."
        return inside["dispatch"](kind), words, (), _itself
    words = f"The decorator {maker} is peeled off; what it does is not shown."
    as_given = maker in _GENERATORS and home == "contextlib"
    return wrapped, words, (), _itself if as_given else _kept(thing)


def _of_module(thing):
    inside = instance_dict(thing) or {}
    for what, home, name, method in _MODULES:
        kind = getattr(imported.module(home), name, None)
        if kind is None or not is_a(thing, kind):
            continue
        compiled = dict.get(inside, "_compiled_call_impl") is not None
        if (plain := dict.get(dict.get(inside, "_modules") or {}, "_orig_mod")) is not None:
            return plain, _COMPILED, (), _itself
        function = own(thing, method)
        if type(function) is FunctionType and method not in inside:
            function = MethodType(function, thing)
        words = _COMPILED if compiled else f"{kind_of(thing)} is {what}: this is its {method}."
        return function, words, (), _itself if compiled else _kept(thing)
    return None


def _of_call(thing):
    spaces = map(class_mapping, mro(type(thing)))
    call = next((space["__call__"] for space in spaces if "__call__" in space), None)
    if type(call) is not FunctionType:
        return None
    words = f"{kind_of(thing)} objects are called through their __call__: this is it."
    return MethodType(call, thing), words, (), _itself


def _itself(call):
    return call


def _kept(thing):
    return lambda call: thing
