"""An object that a function can reach -> whether it can be changed, and whether to look into it.

`watch_mutations` searches all that a function can reach, and asks these questions about each
object. The objects are those of any program, so only their real types are read, and none of their
code runs.
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
# Types whose objects never change. An object of a derived class may have attributes that change.
FIXED = (*SCALARS, range, slice, CodeType)
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
    """Return whether all state of an object is in its `__dict__`, and its class is the user's.

    The attributes of such an object can be copied and compared.
    """
    classes = []  # those that may give the object state or behaviour
    for cls in type(value).__mro__[:-1]:
        package, _, _ = str(cls.__module__).partition(".")
        if package not in STATELESS_MODULES:
            classes.append(cls)
    # An object that takes more memory has slots, or fields that C code has added.
    is_small = type(value).__basicsize__ <= SIZE_WITH_DICT
    return bool(classes) and is_small and not any(is_library_class(cls) for cls in classes)


def is_tf_generator(value) -> bool:
    """Return whether this is a tf.random.Generator; TensorFlow is not imported for the answer."""
    module = restoring.find_loaded_module("tensorflow.python.ops.stateful_random_ops")
    return bool(module) and real_isinstance(value, module.Generator)


def is_tf_function(value) -> bool:
    """Return whether this is a tf.function; TensorFlow is not imported for the answer."""
    if not restoring.find_loaded_module("tensorflow"):
        return False
    return real_isinstance(value, tensorflow_private.Function)


def is_users_namespace(value) -> bool:
    """Return whether this is a class or a module of the user's program, and not of a library."""
    if real_isinstance(value, type):
        return not is_library_class(value)
    if type(value) is not ModuleType:
        return False
    file = vars(value).get("__file__")
    if type(file) is str:
        return not is_library(file)
    # A module without a file is built into Python, except the one of a notebook.
    return vars(value).get("__name__") == "__main__"


def is_visited_unnamed(value, name: str) -> bool:
    """Return whether an attribute of a class or a module is visited even if no code names it.

    Containers and plain objects are, because they can be changed. Names such as `__dict__` are not.
    """
    if name.startswith("__"):
        return False
    return is_container(value) or is_plain_object(value)


def is_called_implicitly(value, name: str, library_names: set[str]) -> bool:
    """Return whether code may call an attribute of a class without naming it.

    `value` is the attribute and `name` its name. `+` calls `__add__`. A library calls methods that
    override its own, and `library_names` are the names of those.
    """
    if type(value) is not FunctionType:
        return False
    if value.__code__.co_filename == GENERATED:  # `@dataclass` wrote it, and not the user
        return False
    is_special = name.startswith("__") and name.endswith("__")
    return is_special or name in library_names


def can_change(leaf) -> bool:
    """Return whether a leaf, which is an object that is not compared, can be changed at all."""
    if is_exactly(leaf, *FIXED) or real_isinstance(leaf, *DEFINITIONS):
        return False
    if type(leaf) is CACHE:  # a function with `lru_cache` stores results
        return True
    if is_tf_generator(leaf):
        return False  # its state is compared
    for module_name, class_names in FIXED_BY_MODULE.items():
        module = restoring.find_loaded_module(module_name)
        classes = [getattr(module, name) for name in class_names if hasattr(module, name)]
        if module and real_isinstance(leaf, *classes):
            return False
    if not callable(leaf):
        return True
    # A callable of a library counts as a function, which does not change, unless it is a model.
    return any(cls.__name__ in MODEL_CLASSES for cls in type(leaf).__mro__)
