"""A callable -> what it is called; no code of its class runs."""

from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType

from helpers.capture.parameters import python_function
from helpers.safety.given import kind_of, printable

LONGEST_NAME = 80
_NAMED = (FunctionType, BuiltinFunctionType, MethodDescriptorType)
_class_name = type.__dict__["__name__"].__get__


def named(function) -> str:
    """Return the name of a Python function, not too long; its own class of str is not asked."""
    return printable(function.__name__, LONGEST_NAME)


def called(fn) -> str:
    """Return what a callable is called: a function's own name or a class's, else its type's."""
    kind = type(fn)
    if kind is MethodType:
        return called(fn.__func__)
    if any(kind is named for named in _NAMED):
        return printable(fn.__name__, LONGEST_NAME)
    if issubclass(kind, type):
        return printable(_class_name(fn), LONGEST_NAME)
    inner = python_function(fn)
    return called(inner) if inner is not None else kind_of(fn)
