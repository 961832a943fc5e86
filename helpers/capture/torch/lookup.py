"""A value -> its attributes, items and length, without a line of the user's code.

`getattr`, `==` and `len` may run a property, an `__eq__` or a `__len__` of the user's, and the
learner's program may notice that. The functions here look where Python's default lookup looks, and
call only methods that are written in C. They raise NeedsUsersCode where that is not enough.
"""

import operator
from collections import deque
from collections.abc import Iterator
from types import (
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)

from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import find_inherited, read_instance_dict, read_namespace
from ..text import tensors

#: stands for a value that does not exist, or that only the user's code could compute
MISSING = object()
SEQUENCES = (list, tuple, str, bytes, range, deque, MappingProxyType)
CONTAINERS = (dict, list, tuple, set, frozenset, str, bytes, range, deque, MappingProxyType)
DICT_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))
# The special methods that a hash, a comparison or a conversion to a number may call.
COMPARING_METHODS = ("__eq__", "__hash__", "__bool__", "__len__", "__float__", "__index__")
# The dicts in which torch.nn.Module.__getattr__ looks, in this order.
MODULE_DICTS = ("_parameters", "_buffers", "_modules")


class NeedsUsersCode(Exception):
    """Only a call of the user's code could tell this value."""


# ------------------------------------------------------------------ attributes


def read_attribute(value: object, name: str):
    """Return an attribute as the default lookup finds it, or raise NeedsUsersCode.

    The order is that of object.__getattribute__: a data descriptor of the class, the instance's own
    dict, another attribute of the class, and then `__getattr__`.
    """
    if real_isinstance(value, ModuleType):
        return read_namespace(value)[name]
    cls = type(value)
    if issubclass(cls, type):  # `value` is itself a class
        return _read_attribute_of_class(value, name)
    if has_users_method(value, "__getattribute__"):
        raise NeedsUsersCode

    class_attribute = find_inherited(cls, name)  # from the class or its bases, or None
    fields = read_instance_dict(value)  # None for an object without a dict
    if fields is not None and name in fields and not _is_data_descriptor(class_attribute):
        return fields[name]
    if class_attribute is None:
        # Only a `__getattr__` is left. That of torch.nn.Module is known.
        return _read_attribute_of_module(value, name)
    return _bind_attribute(class_attribute, value, cls)


def _read_attribute_of_class(cls: type, name: str):
    """Return an attribute of a class as type.__getattribute__ finds it, or raise NeedsUsersCode.

    A data descriptor of the metaclass comes first, then an attribute of the class or its bases,
    then any attribute of the metaclass.
    """
    metaclass = type(cls)
    class_attribute = find_inherited(cls, name)
    metaclass_attribute = find_inherited(metaclass, name)
    if class_attribute is None or _is_data_descriptor(metaclass_attribute):
        return _bind_attribute(metaclass_attribute, cls, metaclass)
    if type(class_attribute) is staticmethod:
        return class_attribute.__func__
    return _bind_attribute(class_attribute, None, cls)


def _is_data_descriptor(attribute: object) -> bool:
    """Return whether an attribute of a class is a data descriptor: its class defines `__set__`.

    Such an attribute comes before the same name in an instance's dict.
    """
    return attribute is not None and find_inherited(type(attribute), "__set__") is not None


def _bind_attribute(attribute: object, value: object, cls: type):
    """Return what the default lookup makes of an attribute that it found in a class.

    A function becomes a bound method, for example.

    Parameters
    ----------
    attribute : object
        What the class has under the name; None if it has nothing.
    value : object
        The object whose attribute is read; None if an attribute of `cls` itself is read.
    cls : type
        The class in which the attribute was found.

    Raises
    ------
    NeedsUsersCode
        The attribute is a property, or another descriptor that runs Python code.
    """
    if attribute is None or real_isinstance(attribute, property):
        raise NeedsUsersCode
    if type(attribute) is FunctionType:
        return attribute if value is None else MethodType(attribute, value)
    if type(attribute) is staticmethod:
        return attribute.__func__
    if type(attribute) is classmethod and type(attribute.__func__) is FunctionType:
        return MethodType(attribute.__func__, cls)

    getter = find_inherited(type(attribute), "__get__")
    if getter is None:  # no descriptor, but a plain value
        return attribute
    # The `__get__` of a descriptor written in C, such as that of a slot, runs no Python code. Only
    # that of a classmethod may: it calls the `__get__` of the object that the classmethod wraps.
    if type(getter) is WrapperDescriptorType and type(attribute) is not classmethod:
        return getter(attribute, value, cls)
    raise NeedsUsersCode


def _read_attribute_of_module(value: object, name: str):
    """Return what the `__getattr__` of torch.nn.Module would find, or raise NeedsUsersCode.

    That is a parameter, a buffer or an inner module. `value` may be any object.
    """
    import torch

    if real_isinstance(value, torch.nn.Module):
        fields = read_instance_dict(value) or {}
        for dict_name in MODULE_DICTS:
            if name in fields.get(dict_name, ()):
                return fields[dict_name][name]
    raise NeedsUsersCode


def has_attribute(value: object, name: str) -> bool:
    """Return whether the default lookup finds an attribute, or raise NeedsUsersCode."""
    if find_inherited(type(value), name) is not None:
        return True
    fields = (
        read_namespace(value) if real_isinstance(value, ModuleType) else read_instance_dict(value)
    )
    if fields is not None and name in fields:
        return True
    if find_inherited(type(value), "__getattr__") is None:
        return False
    # A `__getattr__` might find it.
    raise NeedsUsersCode


# ------------------------------------------------------------------ containers


def read_item(value: object, key: object):
    """Return an item of one of Python's own containers, as that container stores it.

    A `__getitem__` that a user's subclass defines is not called. KeyError is raised for a missing
    key of a dict, and NeedsUsersCode for any other object.
    """
    if real_isinstance(value, dict):
        # `dict.__getitem__` would call a subclass's `__missing__`. `dict.get` does not.
        item = dict.get(value, require_safe_operand(key), MISSING)
        if item is MISSING:
            raise KeyError
        return item

    for sequence_class in SEQUENCES:
        if real_isinstance(value, sequence_class):
            safe_key = key if type(key) is slice else require_safe_operand(key)
            return sequence_class.__getitem__(value, safe_key)
    raise NeedsUsersCode


def has_key(container: object, key: object) -> bool:
    """Return whether one of Python's own containers has a key or an element.

    NeedsUsersCode is raised for any other object.
    """
    for container_class in CONTAINERS:
        if real_isinstance(container, container_class):
            return container_class.__contains__(container, require_safe_operand(key))
    raise NeedsUsersCode


def read_length(value: object):
    """Return the length of one of Python's own containers or of a tensor, else MISSING.

    A `__len__` that a user's subclass defines is not called.
    """
    for container_class in CONTAINERS:
        if real_isinstance(value, container_class):
            return container_class.__len__(value)
    has_length_in_c = type(find_inherited(type(value), "__len__")) is WrapperDescriptorType
    if has_length_in_c or tensors.is_torch_tensor(value):
        return len(value)
    return MISSING


def count_elements_left(iterator: object):
    """Return how many elements one of Python's own iterators has left, else MISSING.

    A `__length_hint__` that is written in Python is not called.
    """
    hint = find_inherited(type(iterator), "__length_hint__")
    if type(hint) is MethodDescriptorType:  # it is written in C
        return operator.length_hint(iterator)
    return MISSING


def iterate_elements(value: object) -> Iterator:
    """Return an iterator over one of Python's own containers, or raise NeedsUsersCode."""
    for container_class in (*CONTAINERS, *DICT_VIEWS):
        if real_isinstance(value, container_class):
            return container_class.__iter__(value)
    raise NeedsUsersCode


# ------------------------------------------------------------------ whose code it is


def require_safe_operand(value: object):
    """Return `value`, or raise NeedsUsersCode if a hash or a comparison of it runs the user's code.

    A container is searched, too, because it compares its elements.
    """
    if is_exactly(value, tuple, list, set, frozenset):
        for element in value:
            require_safe_operand(element)
    elif is_exactly(value, dict):
        for pair in dict.items(value):
            require_safe_operand(pair)
    for name in COMPARING_METHODS:
        if has_users_method(value, name):
            raise NeedsUsersCode
    return value


def has_users_method(value: object, name: str) -> bool:
    """Return whether a special method of a value is written in Python, and not by torch."""
    method = find_inherited(type(value), name)
    return type(method) is FunctionType and not is_from_torch(method)


def is_from_torch(called: object) -> bool:
    """Return whether a function or a class belongs to torch, to `math` or to the builtins.

    Such code is not the user's. Return False for any other object.
    """
    if not real_isinstance(called, FunctionType, type):
        return False
    package = str(called.__module__).partition(".")[0]
    return package in ("torch", "math", "builtins")
