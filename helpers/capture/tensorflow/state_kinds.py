"""An object that a function can reach -> whether it can be changed, and how far it is looked into.

The objects are those of any program. So their real types are asked, and no code of theirs runs.
"""

from enum import Enum
from functools import cached_property, lru_cache, partialmethod
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)

from ...internals import tensorflow_private
from ...safety import restoring
from ...safety.arguments import is_exactly, real_isinstance
from ...safety.users_frames import GENERATED, is_library
from ..text.value import is_library_class

SCALARS = (str, bytes, int, float, complex, bool, type(None))
FIXED = (*SCALARS, range, slice, CodeType)  # nothing in them can be changed; in a subclass it can
CONTAINERS = list, dict, set, tuple, frozenset
DESCRIPTORS = (
    property,
    classmethod,
    staticmethod,
    cached_property,
    partialmethod,
    MemberDescriptorType,
    GetSetDescriptorType,
)
# What a function reaches and calls, but does not change.
DEFINITIONS = (FunctionType, BuiltinFunctionType, ModuleType, type, Enum, *DESCRIPTORS)
CACHE = type(lru_cache(abs))
# A module -> the names of its classes whose objects never change.
FIXED_BY_MODULE = {
    "tensorflow": ("Tensor", "DType", "TensorShape", "TypeSpec"),
    "torch": ("dtype", "device", "Size", "layout", "memory_format"),
    "numpy": ("generic", "dtype"),
}
# Classes of TensorFlow's, PyTorch's and Keras's models, whose objects are called, and changed.
MODEL_CLASSES = ("Module", "Layer")
STATELESS_MODULES = {"typing", "abc"}  # an object inherits no attributes from their classes
SIZE_WITH_DICT = type("Plain", (), {}).__basicsize__  # bytes of an object that has only a dict


def is_container(value) -> bool:
    """Return whether this is a built-in container, and not one of a derived class."""
    return is_exactly(value, *CONTAINERS)


def is_plain_object(value) -> bool:
    """Return whether this is an object with attributes of a class that no library defines."""
    classes = []
    for cls in type(value).__mro__[:-1]:
        package, _, _ = str(cls.__module__).partition(".")
        if package not in STATELESS_MODULES:
            classes.append(cls)
    # A larger object has slots, or a state of its own in C.
    is_small = type(value).__basicsize__ <= SIZE_WITH_DICT
    return bool(classes) and is_small and not any(is_library_class(cls) for cls in classes)


def is_tf_generator(value) -> bool:
    """Return whether this is a tf.random.Generator; TensorFlow is not imported for the answer."""
    module = restoring.module("tensorflow.python.ops.stateful_random_ops")
    return bool(module) and real_isinstance(value, module.Generator)


def is_tf_function(value) -> bool:
    """Return whether this is a tf.function; TensorFlow is not imported for the answer."""
    if not restoring.module("tensorflow"):
        return False
    return real_isinstance(value, tensorflow_private.Function)


def is_users_space(value) -> bool:
    """Return whether this is a class or a module that no library defines: both can be changed."""
    if real_isinstance(value, type):
        return not is_library_class(value)
    if type(value) is not ModuleType:
        return False
    file = vars(value).get("__file__")
    if type(file) is str:
        return not is_library(file)
    return vars(value).get("__name__") == "__main__"


def is_kept_unnamed(value, name: str) -> bool:
    """Return whether a part of a class or a module is kept although no code names it."""
    if name.startswith("__"):
        return False
    return is_container(value) or is_plain_object(value)


def is_called_unnamed(value, name: str, names_of_libraries: set[str]) -> bool:
    """Return whether a method can be called by code that does not name it.

    An operator or a statement calls `__add__` and the like. A library calls a method that overrides
    one of its own, whose names are `names_of_libraries`.
    """
    if type(value) is not FunctionType or value.__code__.co_filename == GENERATED:
        return False
    is_special = name.startswith("__") and name.endswith("__")
    return is_special or name in names_of_libraries


def can_change(leaf) -> bool:
    """Return whether an object that is not compared can be changed."""
    if is_exactly(leaf, *FIXED) or real_isinstance(leaf, *DEFINITIONS):
        return False
    if type(leaf) is CACHE:
        return True
    if is_tf_generator(leaf):
        return False  # its state is compared
    for module_name, class_names in FIXED_BY_MODULE.items():
        module = restoring.module(module_name)
        classes = [getattr(module, name) for name in class_names if hasattr(module, name)]
        if module and real_isinstance(leaf, *classes):
            return False
    if not callable(leaf):
        return True
    return any(cls.__name__ in MODEL_CLASSES for cls in type(leaf).__mro__)
