"""A callable that wraps another one -> what is inside it, one layer, and a sentence on the layer.

Nothing of the program is run: attributes are read from dicts and classes.
"""

import contextlib
import functools
from types import FunctionType, MethodType
from typing import NamedTuple

from ...model.phrase import format_count, format_names
from ...safety import restoring
from ...safety.arguments import (
    item_of_type,
    printable,
    real_isinstance,
    real_type_name,
    static_attribute,
)
from .objects import read_instance_dict, read_traced_function

COMPILED = "torch.compile is unwrapped: this is the Python function that it compiles."
_DISABLED = "torch.compiler.disable is unwrapped: this is what it keeps Dynamo out of."
_TRACED = "tf.function is unwrapped: this is the Python function that it traces."
_CACHED = "functools.lru_cache is unwrapped, and its cache is not used."
# Package of a wrapper's class -> the compiler that made the wrapper.
_COMPILERS = {"numba": "numba", "jax": "jax.jit", "jaxlib": "jax.jit"}
# Type of a descriptor -> the attribute that contains its function.
_DESCRIPTORS = {
    property: "fget",
    functools.cached_property: "func",
    staticmethod: "__func__",
    classmethod: "__func__",
}
# Decorators of contextlib: a call of what they return makes a context manager and runs no line.
_MAKERS_OF_CONTEXTS = ("contextmanager", "asynccontextmanager")
_MOST_TYPES = 5  # for which singledispatch has implementations, named


class Layer(NamedTuple):
    """One layer that was taken off a callable."""

    #: What was below the layer.
    inner: object
    #: What the layer was.
    sentence: str
    #: Whether to call `inner` in place of the wrapper. False where the wrapper has work to do, as
    #: a decorator, or gets other arguments.
    is_replaceable: bool


class ModuleKind(NamedTuple):
    """A class of a framework whose objects are called through a method with another name."""

    #: What an object of the class is, with an article.
    noun: str
    #: The module that contains the class.
    home: str
    #: The name of the class.
    name: str
    #: The method that a call leads to.
    method: str


_MODULE_KINDS = (
    ModuleKind("a torch module", "torch.nn.modules.module", "Module", "forward"),
    ModuleKind("a Keras layer", "keras.src.layers.layer", "Layer", "call"),
)


def find_layer(wrapper: object, args: tuple) -> Layer | None:
    """Return what is inside a wrapper, None where there is no layer.

    `args` are those of the call: singledispatch chooses by the first.
    """
    finders = _find_dispatching_function, _find_partial, _find_traced_function, _find_wrapped
    for find in finders:
        layer = find(wrapper, args)
        if layer is not None:
            return layer
    if type(wrapper) is FunctionType or real_isinstance(wrapper, type):
        return None  # it is what somebody wrote
    attribute = item_of_type(wrapper, _DESCRIPTORS)
    if attribute:
        function = getattr(wrapper, attribute)
        return Layer(function, f"A {type(wrapper).__name__} is unwrapped.", True)
    if type(wrapper) is functools.singledispatchmethod:
        return _find_implementation(wrapper.dispatcher, args)
    return find_module_method(wrapper) or _find_call_method(wrapper)


def _find_dispatching_function(wrapper: object, args: tuple) -> Layer | None:
    """Return the implementation in a function that functools made for singledispatch, or None."""
    if type(wrapper) is not FunctionType or wrapper.__globals__ is not vars(functools):
        return None
    attributes = read_instance_dict(wrapper) or {}
    register = attributes.get("register")
    if type(register) is MethodType:  # what a singledispatchmethod returns for an object
        return _find_implementation(register.__self__.dispatcher, args)
    if type(attributes.get("dispatch")) is FunctionType:
        return _find_implementation(wrapper, args)
    return None


def _find_implementation(dispatcher, args: tuple) -> Layer:
    """Return the implementation that a call of a singledispatch function runs.

    Without arguments it is the default, that of all types without one of their own.
    """
    implementation = dispatcher.registry[object]
    purpose = "the default"
    if args:
        purpose = f"what runs for {real_type_name(args[0])}"
        # A class that answers for its subclasses may raise.
        with contextlib.suppress(Exception):
            implementation = dispatcher.dispatch(type(args[0]))
    kinds = [printable(kind.__name__) for kind in dispatcher.registry if kind is not object]
    registered = f"registered: {format_names(kinds, _MOST_TYPES) or 'nothing else'}"
    sentence = f"singledispatch is unwrapped: this is {purpose} ({registered})."
    return Layer(implementation, sentence, is_replaceable=False)


def _find_partial(wrapper: object, args: tuple) -> Layer | None:
    """Return the function of a partial, or None; `unwrap_call` adds the partial's arguments."""
    if type(wrapper) is not functools.partial:
        return None
    wrapped = _read_wrapped(wrapper)
    if wrapped is not None and wrapped is not wrapper.func:
        return None  # a decorator has used a partial for its wrapper
    count = format_count(len(wrapper.args) + len(wrapper.keywords), "argument")
    sentence = f"A partial is unwrapped, which supplies {count}."
    return Layer(wrapper.func, sentence, is_replaceable=True)


def _find_traced_function(wrapper: object, args: tuple) -> Layer | None:
    """Return the Python function in a tf.function, or None."""
    traced = read_traced_function(wrapper)
    if traced is None:
        return None
    # For a method TensorFlow writes a function of its own around the bound method.
    method = dict.get(read_instance_dict(traced) or {}, "__wrapped__")
    is_bound = type(method) is MethodType and read_weak_self(method) is not None
    return Layer(method if is_bound else traced, _TRACED, is_replaceable=True)


def _read_wrapped(wrapper: object) -> object:
    """Return what a decorator has noted as the function that it wraps, or None."""
    attributes = read_instance_dict(wrapper) or {}
    # `numpy.vectorize` has its own name for it.
    name = "pyfunc" if real_type_name(wrapper) == "vectorize" else "__wrapped__"
    return dict.get(attributes, name)


def _find_wrapped(wrapper: object, args: tuple) -> Layer | None:
    """Return what a decorator, a cache or a compiler has wrapped, or None."""
    wrapped = _read_wrapped(wrapper)
    if wrapped is wrapper or not callable(wrapper) or not callable(wrapped):
        return None
    if type(wrapper) is functools._lru_cache_wrapper:
        return Layer(wrapped, _CACHED, is_replaceable=True)
    if type(wrapper) is FunctionType:
        return _find_decorated(wrapper, wrapped)
    package = str(vars(type(wrapper)).get("__module__")).partition(".")[0]
    if package in _COMPILERS:
        sentence = f"{_COMPILERS[package]} is unwrapped: this is what it compiles."
        return Layer(wrapped, sentence, is_replaceable=True)
    sentence = f"The wrapper {real_type_name(wrapper)} is unwrapped."
    return Layer(wrapped, sentence, is_replaceable=False)


def _find_decorated(wrapper: FunctionType, wrapped: object) -> Layer:
    """Return the layer of a function that a decorator, or Dynamo, put around another one."""
    attributes = read_instance_dict(wrapper) or {}
    if "get_compiler_config" in attributes:
        return Layer(wrapped, COMPILED, is_replaceable=True)
    if "_torchdynamo_disable" in attributes:
        return Layer(wrapped, _DISABLED, is_replaceable=True)
    decorator = printable(wrapper.__code__.co_qualname.partition(".<locals>")[0])
    if "__argmap__" in attributes:
        decorator = "argmap"  # networkx writes the code of its wrappers anew, under another name
    name = decorator.removesuffix(".__call__")
    sentence = f"The decorator {name} is unwrapped: this is what it decorates."
    return Layer(wrapped, sentence, is_replaceable=decorator in _MAKERS_OF_CONTEXTS)


def find_module_method(module: object) -> Layer | None:
    """Return the method that a call of a torch module or a Keras layer leads to, or None."""
    for kind in _MODULE_KINDS:
        # A framework that is not imported has made no objects.
        cls = getattr(restoring.module(kind.home), kind.name, None)
        if cls is not None and real_isinstance(module, cls):
            return _find_method_of_kind(module, kind)
    return None


def _find_method_of_kind(module: object, kind: ModuleKind) -> Layer:
    """Return the method of a module; of a compiled module, the module that was compiled."""
    attributes = read_instance_dict(module)
    original = dict.get(attributes.get("_modules") or {}, "_orig_mod")
    if original is not None:
        is_disabled = real_type_name(attributes.get("dynamo_ctx")) == "DisableContext"
        sentence = _DISABLED if is_disabled else COMPILED
        return Layer(original, sentence, is_replaceable=True)

    function = static_attribute(module, kind.method)
    # A function in the object's own dict is called without the object.
    if type(function) is FunctionType and kind.method not in attributes:
        function = MethodType(function, module)
    if attributes.get("_compiled_call_impl") is not None:  # set by `module.compile()`
        return Layer(function, COMPILED, is_replaceable=True)
    sentence = f"{real_type_name(module)} is {kind.noun}: this is its {kind.method}."
    return Layer(function, sentence, is_replaceable=False)


def _find_call_method(thing: object) -> Layer | None:
    """Return the `__call__` of an object whose class defines one in Python, or None."""
    call = static_attribute(thing, "__call__")
    if type(call) is not FunctionType:
        return None
    name = real_type_name(thing)
    sentence = f"{name} objects are called through their __call__: this is it."
    return Layer(MethodType(call, thing), sentence, is_replaceable=True)


def read_weak_self(method: MethodType):
    """Return the weak reference that a tf.function keeps of a method's self, None of any other."""
    bound_object = method.__self__
    if real_type_name(bound_object) != "TfMethodTarget":
        return None
    return bound_object.weakrefself_target__
