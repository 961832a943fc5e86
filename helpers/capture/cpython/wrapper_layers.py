"""Take one layer off a callable: find the callable inside it, and describe the layer.
A layer is a decorator, a partial, a cache, a tf.function, a function compiled by torch, and so on.
No code of the program is run. Attributes are read from the dicts of objects and classes.
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
# Decorators of contextlib. A call of a decorated function only makes a context manager, and runs no
# line of the function.
_MAKERS_OF_CONTEXTS = ("contextmanager", "asynccontextmanager")
_MOST_TYPES = 5  # types with an implementation of singledispatch that a sentence names


class Layer(NamedTuple):
    """One layer that was taken off a callable."""

    #: The callable inside the layer.
    inner: object
    #: What the layer was, as a sentence for the user.
    sentence: str
    #: Whether a call of `inner` can replace a call of the wrapper. It cannot if the wrapper has
    #: work to do, as a decorator has, or gets other arguments than `inner`.
    can_be_skipped: bool


class ModuleKind(NamedTuple):
    """A class of a framework whose objects run a method with another name when they are called.

    For example, a call of a torch module runs its method `forward`.
    """

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
    """Return the outermost layer of a callable, None if the callable wraps nothing.

    `args` are the arguments of the call. By the type of the first, singledispatch chooses.
    """
    # Each takes the wrapper and the arguments, and returns a layer or None.
    finders = _find_dispatching_function, _find_partial, _find_traced_function, _find_wrapped
    for find in finders:
        layer = find(wrapper, args)
        if layer is not None:
            return layer
    if type(wrapper) is FunctionType or real_isinstance(wrapper, type):
        return None  # a function or a class that somebody wrote
    attribute_name = item_of_type(wrapper, _DESCRIPTORS)  # None if it is no descriptor
    if attribute_name:
        function = getattr(wrapper, attribute_name)
        sentence = f"A {type(wrapper).__name__} is unwrapped."
        return Layer(function, sentence, can_be_skipped=True)
    if type(wrapper) is functools.singledispatchmethod:
        return _find_implementation(wrapper.dispatcher, args)
    return find_module_method(wrapper) or _find_call_method(wrapper)


def _find_dispatching_function(wrapper: object, args: tuple) -> Layer | None:
    """Return the implementation inside a function made by singledispatch, or None.

    `functools.singledispatch` returns a function with an attribute `dispatch`. A
    `singledispatchmethod` of an object is a function with an attribute `register`.
    """
    if type(wrapper) is not FunctionType or wrapper.__globals__ is not vars(functools):
        return None
    attributes = read_instance_dict(wrapper) or {}
    register = attributes.get("register")
    if type(register) is MethodType:  # of a singledispatchmethod
        return _find_implementation(register.__self__.dispatcher, args)
    if type(attributes.get("dispatch")) is FunctionType:
        return _find_implementation(wrapper, args)
    return None


def _find_implementation(dispatcher, args: tuple) -> Layer:
    """Return the implementation that a call of a singledispatch function runs.

    `dispatcher` is the function that `functools.singledispatch` returned. Without arguments, the
    implementation is the default one, for all types for which none is registered.
    """
    implementation = dispatcher.registry[object]
    purpose = "the default"
    if args:
        purpose = f"what runs for {real_type_name(args[0])}"
        # The `__subclasscheck__` of a registered class runs here, and may raise.
        with contextlib.suppress(Exception):
            implementation = dispatcher.dispatch(type(args[0]))
    type_names = [printable(cls.__name__) for cls in dispatcher.registry if cls is not object]
    registered = f"registered: {format_names(type_names, _MOST_TYPES) or 'nothing else'}"
    sentence = f"singledispatch is unwrapped: this is {purpose} ({registered})."
    return Layer(implementation, sentence, can_be_skipped=False)


def _find_partial(wrapper: object, args: tuple) -> Layer | None:
    """Return the function of a `functools.partial`, or None for anything else.

    The caller, `unwrap_call`, passes the arguments that the partial supplies.
    """
    if type(wrapper) is not functools.partial:
        return None
    wrapped = _read_wrapped(wrapper)
    if wrapped is not None and wrapped is not wrapper.func:
        return None  # a decorator uses the partial as its wrapper; `_find_wrapped` handles that
    count = format_count(len(wrapper.args) + len(wrapper.keywords), "argument")
    sentence = f"A partial is unwrapped, which supplies {count}."
    return Layer(wrapper.func, sentence, can_be_skipped=True)


def _find_traced_function(wrapper: object, args: tuple) -> Layer | None:
    """Return the Python function in a tf.function, or None."""
    traced = read_traced_function(wrapper)
    if traced is None:
        return None
    # If a method is decorated with tf.function, TensorFlow makes a function of its own around the
    # bound method. The method in `__wrapped__` then has a weak reference as self.
    wrapped_method = dict.get(read_instance_dict(traced) or {}, "__wrapped__")
    if type(wrapped_method) is MethodType and read_weak_self(wrapped_method) is not None:
        return Layer(wrapped_method, _TRACED, can_be_skipped=True)
    return Layer(traced, _TRACED, can_be_skipped=True)


def _read_wrapped(wrapper: object) -> object:
    """Return the `__wrapped__` of an object, as `functools.wraps` sets it, or None."""
    attributes = read_instance_dict(wrapper) or {}
    # `numpy.vectorize` has the wrapped function in another attribute.
    if dict.__contains__(attributes, "pyfunc") and real_type_name(wrapper) == "vectorize":
        return dict.get(attributes, "pyfunc")
    return dict.get(attributes, "__wrapped__")


def _find_wrapped(wrapper: object, args: tuple) -> Layer | None:
    """Return the layer of a decorator, a cache or a compiler, or None if there is none."""
    wrapped = _read_wrapped(wrapper)
    if wrapped is wrapper or not callable(wrapper) or not callable(wrapped):
        return None
    if type(wrapper) is functools._lru_cache_wrapper:
        return Layer(wrapped, _CACHED, can_be_skipped=True)
    if type(wrapper) is FunctionType:
        return _find_decorated(wrapper, wrapped)
    package = str(vars(type(wrapper)).get("__module__")).partition(".")[0]
    if package in _COMPILERS:
        sentence = f"{_COMPILERS[package]} is unwrapped: this is what it compiles."
        return Layer(wrapped, sentence, can_be_skipped=True)
    # An object of an unknown class: nobody knows what its call does besides.
    sentence = f"The wrapper {real_type_name(wrapper)} is unwrapped."
    return Layer(wrapped, sentence, can_be_skipped=False)


def _find_decorated(wrapper: FunctionType, wrapped: object) -> Layer:
    """Return the layer of a Python function that a decorator, or torch, put around another one."""
    attributes = read_instance_dict(wrapper) or {}
    if "get_compiler_config" in attributes:  # set by torch.compile
        return Layer(wrapped, COMPILED, can_be_skipped=True)
    if "_torchdynamo_disable" in attributes:
        return Layer(wrapped, _DISABLED, can_be_skipped=True)
    # The wrapper is mostly an inner function of the decorator: `timed.<locals>.wrapper` -> `timed`.
    decorator = printable(wrapper.__code__.co_qualname.partition(".<locals>")[0])
    if "__argmap__" in attributes:
        decorator = "argmap"  # of networkx, which compiles its wrappers under another name
    name = decorator.removesuffix(".__call__")
    sentence = f"The decorator {name} is unwrapped: this is what it decorates."
    # A wrapper does work of its own, so it must be called. But a call of a wrapper of contextlib
    # only makes a context manager, and would not run a line of the function.
    return Layer(wrapped, sentence, can_be_skipped=decorator in _MAKERS_OF_CONTEXTS)


def find_module_method(module: object) -> Layer | None:
    """Return the layer of a torch module or a Keras layer, which leads to the method that it runs.

    Return None for any other object.
    """
    for kind in _MODULE_KINDS:
        # None if the framework is not imported: then no object is of this class.
        cls = getattr(restoring.find_loaded_module(kind.home), kind.name, None)
        if cls is not None and real_isinstance(module, cls):
            return _find_method_of_kind(module, kind)
    return None


def _find_method_of_kind(module: object, kind: ModuleKind) -> Layer:
    """Return the layer around the method of a module, such as `forward`.

    For a module that torch.compile returned, return the layer around the original module.
    """
    attributes = read_instance_dict(module)
    original = dict.get(attributes.get("_modules") or {}, "_orig_mod")
    if original is not None:
        # `torch.compiler.disable` returns a module of the same class as `torch.compile`.
        is_disabled = real_type_name(attributes.get("dynamo_ctx")) == "DisableContext"
        sentence = _DISABLED if is_disabled else COMPILED
        return Layer(original, sentence, can_be_skipped=True)

    function = static_attribute(module, kind.method)
    # A function in the object's own dict is no method: it is called without the object.
    if type(function) is FunctionType and kind.method not in attributes:
        function = MethodType(function, module)
    if attributes.get("_compiled_call_impl") is not None:  # set by `module.compile()`
        return Layer(function, COMPILED, can_be_skipped=True)
    # A call of the module does other work too, such as running hooks, so it cannot be skipped.
    sentence = f"{real_type_name(module)} is {kind.noun}: this is its {kind.method}."
    return Layer(function, sentence, can_be_skipped=False)


def _find_call_method(thing: object) -> Layer | None:
    """Return the layer that leads from an object to the `__call__` of its class.

    Return None if the class has no `__call__`, or has one in C.
    """
    call = static_attribute(thing, "__call__")
    if type(call) is not FunctionType:
        return None
    name = real_type_name(thing)
    sentence = f"{name} objects are called through their __call__: this is it."
    return Layer(MethodType(call, thing), sentence, can_be_skipped=True)


def read_weak_self(method: MethodType):
    """Return the weak reference to the object of a method that a tf.function has wrapped.

    TensorFlow binds such a method to a `TfMethodTarget`, which has the weak reference. Return None
    for any other method.
    """
    bound_object = method.__self__
    if real_type_name(bound_object) != "TfMethodTarget":
        return None
    return bound_object.weakrefself_target__
