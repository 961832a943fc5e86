"""A tf.function -> the objects to which it belongs, so that two of the same code can be told apart.

Two tf.functions of one code are no retrace of each other if they belong to different objects: to
methods of two objects, to closures over two values, or to partials with different arguments.
"""

import weakref
from contextlib import suppress
from functools import partial
from types import MethodType

from ...internals import tensorflow_private, tensorflow_traces
from ...safety.arguments import is_exactly, real_isinstance
from ..text.value import SCALARS
from .keras_trainer import list_models
from .tf_functions import KERAS_TRAINER, PYTHON_FUNCTIONS

SELF = "self"  # the name of the owners of methods
NOT_COMPARED = object()  # stands for a value that can be neither referred to weakly nor compared

# The name of an owner -> a plain value, a weak reference to another value, NOT_COMPARED, or for
# SELF a tuple of these.
Owners = dict[str, object]


def list_codes(callables: list) -> list:
    """Return the code objects of those Python functions that are not TensorFlow's own wrappers."""
    return [python_function.__code__ for python_function in _list_python_functions(callables)]


def _list_python_functions(callables: list) -> list:
    """Return the Python functions and methods that TensorFlow does not define."""
    functions = [one for one in callables if real_isinstance(one, *PYTHON_FUNCTIONS)]
    return [function for function in functions if not is_of_tensorflow(function)]


def is_of_tensorflow(python_function) -> bool:
    """Return whether a module of TensorFlow defines a Python function."""
    return str(python_function.__globals__.get("__name__")).startswith("tensorflow.")


def read_owners(callables: list) -> Owners:
    """Return the owners of a tf.function, of which these are the wrapped callables.

    The owner of a method is its `self`, the owners of a closure are the values on which it closes,
    and those of a partial its arguments. Functions of Keras's trainer close on much that Keras
    makes anew each time, so that only the model is their owner.
    """
    if any(getattr(wrapped, "__module__", "") == KERAS_TRAINER for wrapped in callables):
        return {SELF: tuple(_refer_to_object(model) for model in list_models(callables))}

    methods = [wrapped for wrapped in callables if type(wrapped) is MethodType]
    objects = [tensorflow_traces.owner_of(method) for method in methods]
    owners: Owners = {SELF: tuple(_refer_to_object(owner) for owner in objects)}
    for wrapped in callables:
        if real_isinstance(wrapped, *PYTHON_FUNCTIONS):
            if not is_of_tensorflow(wrapped):
                owners |= _read_closure(wrapped)
        elif type(wrapped) is partial:
            for index, value in enumerate(wrapped.args):
                owners[f"argument {index}"] = _refer_to_value(value)
            for name, value in wrapped.keywords.items():
                owners[name] = _refer_to_value(value)
    return owners


def _read_closure(function) -> Owners:
    """Return the values on which a function closes, by their names."""
    owners: Owners = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a cell without contents
            owners[name] = _refer_to_value(cell.cell_contents)
    return owners


def _refer_to_object(owner):
    """Return a weak reference to the object of a method, or the object if it allows none."""
    return weakref.ref(owner) if type(owner).__weakrefoffset__ else owner


def _refer_to_value(value):
    """Return a plain value itself, and of another value a weak reference or NOT_COMPARED.

    A function is not compared: what it wraps and closes on is among the owners already.
    """
    if is_exactly(value, *SCALARS):
        return value
    if real_isinstance(value, *PYTHON_FUNCTIONS, partial, tensorflow_private.Function):
        return NOT_COMPARED
    return weakref.ref(value) if type(value).__weakrefoffset__ else NOT_COMPARED


def list_different_owners(owners: Owners, earlier_owners: Owners) -> list[str]:
    """Return the names under which two tf.functions are known to have different owners."""
    names = dict.fromkeys([*owners, *earlier_owners])
    return [
        name
        for name in names
        if not _is_same_owner(owners.get(name, ()), earlier_owners.get(name, ()))
    ]


def _is_same_owner(owner, other) -> bool:
    """Return whether two owners under one name are the same; True where that is not known."""
    if type(owner) is tuple and type(other) is tuple:
        if len(owner) != len(other):
            return False
        return all(_is_same_owner(*pair) for pair in zip(owner, other, strict=True))
    if is_exactly(owner, *SCALARS) and type(owner) is type(other) and owner == other:
        return True
    return owner is other or NOT_COMPARED in (owner, other)
