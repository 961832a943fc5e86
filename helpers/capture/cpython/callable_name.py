"""A callable -> what it is called; no code of its class runs."""

from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    MethodType,
)

from helpers.capture.cpython.objects import class_mapping, instance_dict
from helpers.capture.text.label import label
from helpers.safety.arguments import is_a, is_exactly, kind_of, own, printable

LONGEST_NAME = 80
_NAMED = (FunctionType, BuiltinFunctionType, MethodDescriptorType)
_POLYMORPHIC = "tensorflow.python.eager.polymorphic_function.polymorphic_function"
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
    inner = compiled(fn)
    inner = python_function(fn) if inner is None else inner
    return called(inner) if inner is not None else _kept(fn) or kind_of(fn)


def name_of(fn) -> str:
    """Return the name that a function keeps, printable and short, or a label where it has none."""
    if type(fn) is MethodType:
        return name_of(fn.__func__)
    if is_a(fn, FunctionType, BuiltinFunctionType):
        return printable(fn.__name__)
    return _kept(fn) or (called(fn) if compiled(fn) is not None else printable(label(fn)))


def compiled(fn):
    """Return what torch.compile made this function or module of; None if it did not."""
    inside = instance_dict(fn) or {}
    if "get_compiler_config" not in inside:
        return None
    return dict.get(inside.get("_modules") or inside, "_orig_mod", inside.get("__wrapped__"))


def _kept(fn) -> str:
    """Return the name that a class, or a callable object of any kind, keeps; empty without one."""
    kept = type_name_of(fn) if is_a(fn, type) else own(fn, "__name__")
    if type(kept) is GetSetDescriptorType:  # kept in C, as a ufunc's
        kept = kept.__get__(fn)
    return printable(kept) if is_a(kept, str) else ""


def python_function(fn):
    """Return the function inside a tf.function (polymorphic_function.py), None of anything else."""
    if class_mapping(type(fn)).get("__module__") != _POLYMORPHIC:
        return None
    inner = (instance_dict(fn) or {}).get("_python_function")
    return inner if is_exactly(inner, FunctionType, MethodType) else None


def type_name_of(kind: type) -> str:
    """Return a class's own name, whatever its metaclass says."""
    return type.__dict__["__name__"].__get__(kind)
