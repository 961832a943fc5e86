"""A tf.function -> the objects to which it belongs, so that two of the same code can be told apart.
A program may make two tf.functions from the same Python code. If both have the same *owners*, the
second one traces again what the first one has traced, and that is a retrace. The owners of a
tf.function are the `self` of its method, the values on which its closure closes, and the arguments
of its partial. The *wrapped callables* of a tf.function, which the functions below accept, are the
functions, methods and partials inside it (`list_wrapped_callables`).
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
NOT_COMPARED = object()  # stands for a value that may be the same in both, as far as is known

# The name of an owner, such as "self" or "scale" -> a plain value such as 3, or a weak reference to
# any other object, or NOT_COMPARED. Under SELF there is a tuple of these, one for each method.
Owners = dict[str, object]


def list_codes(callables: list) -> list:
    """Return the code objects of the Python functions and methods among the wrapped callables.

    Functions that TensorFlow defines are left out, because each tf.function has the same ones.
    """
    codes = []
    for wrapped in callables:
        if real_isinstance(wrapped, *PYTHON_FUNCTIONS) and not is_of_tensorflow(wrapped):
            codes.append(wrapped.__code__)
    return codes


def is_of_tensorflow(python_function) -> bool:
    """Return whether a module of TensorFlow defines a Python function."""
    return str(python_function.__globals__.get("__name__")).startswith("tensorflow.")


def read_owners(callables: list) -> Owners:
    """Return the owners of a tf.function; `callables` are its wrapped callables.

    A method contributes its `self`, a closure the values on which it closes, by their names, and a
    partial its arguments.
    """
    # Keras's trainer makes closures on values that are new at each `compile()`. They would all be
    # different owners. So only the model is the owner of such a function.
    if any(getattr(wrapped, "__module__", "") == KERAS_TRAINER for wrapped in callables):
        return {SELF: tuple(_refer_to_object(model) for model in list_models(callables))}

    methods = [wrapped for wrapped in callables if type(wrapped) is MethodType]
    selves = [tensorflow_traces.find_method_owner(method) for method in methods]
    owners: Owners = {SELF: tuple(_refer_to_object(owner) for owner in selves)}
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
    """Return the owners that a closure contributes: the name of each free variable -> its value.

    A free variable that has no value yet is left out.
    """
    owners: Owners = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # a cell without contents
            owners[name] = _refer_to_value(cell.cell_contents)
    return owners


def _refer_to_object(owner):
    """Return a weak reference to the `self` of a method, or `self` if its type allows none.

    A strong reference would keep an object alive that the program has dropped.
    """
    return weakref.ref(owner) if type(owner).__weakrefoffset__ else owner


def _refer_to_value(value):
    """Return what stands for one owner: the value itself, a weak reference, or NOT_COMPARED."""
    if is_exactly(value, *SCALARS):
        return value
    # What a function closes on is among the owners already, so the function adds nothing.
    if real_isinstance(value, *PYTHON_FUNCTIONS, partial, tensorflow_private.Function):
        return NOT_COMPARED
    # A value without weak references would have to be kept alive, so it is not compared.
    return weakref.ref(value) if type(value).__weakrefoffset__ else NOT_COMPARED


def list_different_owners(owners: Owners, earlier_owners: Owners) -> list[str]:
    """Return the names under which two tf.functions are known to have different owners.

    [] means that both have the same owners, as far as is known.
    """
    names = dict.fromkeys([*owners, *earlier_owners])  # as a set with an order
    different_names = []
    for name in names:
        # An empty tuple stands for an owner that only one of the two has.
        owner = owners.get(name, ())
        earlier_owner = earlier_owners.get(name, ())
        if not _may_be_same_owner(owner, earlier_owner):
            different_names.append(name)
    return different_names


def _may_be_same_owner(owner, other) -> bool:
    """Return whether two owners under one name are the same, or may be the same.

    Both are values of an `Owners` dict. Weak references to one object are one reference in Python,
    so `is` compares them.
    """
    if type(owner) is tuple and type(other) is tuple:
        if len(owner) != len(other):
            return False
        return all(_may_be_same_owner(*pair) for pair in zip(owner, other, strict=True))
    if is_exactly(owner, *SCALARS) and type(owner) is type(other) and owner == other:
        return True
    return owner is other or NOT_COMPARED in (owner, other)
