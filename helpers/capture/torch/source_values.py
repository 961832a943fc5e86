"""A guard's text, such as `L['d']['k'] == 1` -> its value, without a line of the user's code.

Torch checks its guards in C: a dict's `__missing__` does not run, nor a property or the `__eq__` of
another class. Python's `eval` would run them, and the program would feel that. What only such code
could tell is MISSING here.
"""

import ast
import functools
import operator
import sys
import weakref
from collections import deque
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)

from ...internals import torch_private
from ...safety.arguments import is_exactly, real_isinstance
from ..cpython.objects import inherited, instance_dict, namespace
from ..text import tensors

MISSING = object()
CONTAINERS = dict, list, tuple, set, frozenset, str, bytes, range, deque, MappingProxyType
ITEMS = list, tuple, str, bytes, range, deque, MappingProxyType
OF_C = BuiltinFunctionType, MethodDescriptorType, MethodWrapperType, WrapperDescriptorType
TYPES = {one.__name__: one for one in (*CONTAINERS[:8], int, float, complex, bool, object)}
# Functions that guards name, and that only compare addresses or read what C keeps.
LOOK_ONLY = """
    ___check_type_id ___check_obj_id ___dict_version ___tuple_iterator_len
    ___tuple_iterator_getitem ___normalize_count_iter ___normalize_range_iter ___dataclass_fields
    ___namedtuple_fields ___get_torch_function_mode_stack_at ___get_current_stream __load_module
""".split()  # noqa: SIM905
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Pow: operator.pow,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.Invert: operator.invert,
}  # fmt: skip


class NeedsUsersCode(Exception):
    """Only code of the user's could tell this value."""


class CannotRead(Exception):
    """The expression has a form that is not known here."""


def value_of(text: str, scope: dict):
    """Return the value of a Python expression of torch's, or MISSING.

    Parameters
    ----------
    text : str
        What torch writes for a source, or for a check of it.
    scope : dict
        `L` and `G`, the locals and globals that the guards are about.
    """
    try:
        return read(text, scope)
    except Exception:
        return MISSING


def read(text: str, scope: dict):
    """Return the same value; raise NeedsUsersCode or another error where `value_of` has MISSING."""
    with tensors.plainly():
        return _Reader(scope).read(_parsed(text))


@functools.lru_cache(maxsize=2000)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class _Reader:
    """Reads the parts of an expression; what it cannot read raises."""

    def __init__(self, scope: dict):
        self.names = {**torch_private.shape_names, **torch_private.guard_names(), **scope}

    def read(self, node: ast.expr):
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.names[node.id] if node.id in self.names else TYPES[node.id]
            case ast.Attribute():
                return attribute(self.read(node.value), node.attr)
            case ast.Subscript():
                return item(self.read(node.value), self.read(node.slice))
            case ast.Slice():
                parts = (node.lower, node.upper, node.step)
                return slice(*(part and self.read(part) for part in parts))
            case ast.Tuple() | ast.List() | ast.Set():
                kind = {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)]
                return kind(map(self.read, node.elts))
            case ast.Call(keywords=[]):
                return self.call(node.func, list(map(self.read, node.args)))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp():
                holds = any if isinstance(node.op, ast.Or) else all
                return holds(self.is_true(one) for one in node.values)
            case ast.UnaryOp(op=ast.Not()):
                return not self.is_true(node.operand)
            case ast.UnaryOp():
                return OPERATORS[type(node.op)](require_plain(self.read(node.operand)))
            case ast.BinOp():
                left, right = self.read(node.left), self.read(node.right)
                return OPERATORS[type(node.op)](require_plain(left), require_plain(right))
        raise CannotRead(ast.dump(node))

    def is_true(self, node: ast.expr) -> bool:
        return bool(require_plain(self.read(node)))

    def compare(self, node: ast.Compare) -> bool:
        left = self.read(node.left)
        for kind, operand in zip(node.ops, node.comparators, strict=True):
            right = self.read(operand)
            if isinstance(kind, ast.Is | ast.IsNot):
                holds = (left is right) is isinstance(kind, ast.Is)
            elif isinstance(kind, ast.In | ast.NotIn):
                holds = has_key(right, left) is isinstance(kind, ast.In)
            else:
                holds = OPERATORS[type(kind)](require_plain(left), require_plain(right))
            if not holds:
                return False
            left = right
        return True

    def call(self, function: ast.expr, args: list):
        match function:
            case ast.Name(id="type") if len(args) == 1:
                return type(args[0])
            case ast.Name(id="isinstance"):
                return real_isinstance(args[0], *(args[1] if type(args[1]) is tuple else args[1:]))
            case ast.Name(id="len") if length(args[0]) is not MISSING:
                return length(args[0])
            case ast.Name(id="list" | "set" | "tuple" as name):
                return TYPES[name](elements(args[0]))
            case ast.Name(id="dict"):
                return dict(elements(dict.items(args[0])))
            case ast.Name(id="hasattr"):
                return has_attribute(*args)
            case ast.Name(id="getattr"):
                return attribute(*args)
            case ast.Name(id="___dict_contains"):
                return has_key(args[1], args[0])
            case ast.Name(id="__import__"):
                return sys.modules[args[0]]
            case ast.Name(id=name) if name in LOOK_ONLY:
                return self.names[name](*args)
        called = self.read(function)
        if called is dict.__getitem__:
            return item(*args)
        if type(called) is weakref.ref and not args:
            return called()
        is_method = type(called) is MethodDescriptorType or type(called) is WrapperDescriptorType
        if is_method and real_isinstance(args[0], called.__objclass__):
            return called(args[0], *map(require_plain, args[1:]))
        if is_exactly(called, *OF_C) or _is_torchs(called):
            return called(*map(require_plain, args))
        raise CannotRead(ast.dump(function))


def _is_torchs(called) -> bool:
    """Return whether a function or class is one of torch's or of `math`: for numbers."""
    return real_isinstance(called, FunctionType, type) and (
        str(called.__module__).partition(".")[0] in ("torch", "math", "builtins")
    )


def attribute(value, name: str):
    """Return an attribute as the default lookup finds it, or raise NeedsUsersCode."""
    if real_isinstance(value, ModuleType):
        return namespace(value)[name]
    kind = type(value)
    if issubclass(kind, type):
        found, of_type = inherited(value, name), inherited(kind, name)
        if found is None or _is_data(of_type):
            return _bound(of_type, value, kind)
        return found.__func__ if type(found) is staticmethod else _bound(found, None, value)
    if runs_users_method(value, "__getattribute__"):
        raise NeedsUsersCode
    found, own = inherited(kind, name), instance_dict(value)
    if own is not None and name in own and not _is_data(found):
        return own[name]
    if found is None:
        return _of_module(value, name)
    return _bound(found, value, kind)


def _is_data(found) -> bool:
    return found is not None and inherited(type(found), "__set__") is not None


def _bound(found, value, kind: type):
    """Return what the default lookup makes of a class's attribute for `value`, None for a class."""
    if found is None or real_isinstance(found, property):
        raise NeedsUsersCode
    if type(found) is FunctionType:
        return found if value is None else MethodType(found, value)
    if type(found) is staticmethod:
        return found.__func__
    if type(found) is classmethod and type(found.__func__) is FunctionType:
        return MethodType(found.__func__, kind)
    getter = inherited(type(found), "__get__")
    if getter is None:
        return found
    if type(getter) is WrapperDescriptorType and type(found) is not classmethod:
        return getter(found, value, kind)
    raise NeedsUsersCode


def _of_module(value, name: str):
    """Return what the `__getattr__` of torch's own modules would find."""
    import torch

    own = instance_dict(value) or {}
    if real_isinstance(value, torch.nn.Module):
        for place in ("_parameters", "_buffers", "_modules"):
            if name in own.get(place, ()):
                return own[place][name]
    raise NeedsUsersCode


def has_attribute(value, name: str) -> bool:
    """Return whether the default lookup finds an attribute."""
    if inherited(type(value), name) is not None:
        return True
    own = namespace(value) if real_isinstance(value, ModuleType) else instance_dict(value)
    if own is not None and name in own:
        return True
    if inherited(type(value), "__getattr__") is None:
        return False
    raise NeedsUsersCode


def item(value, key):
    """Return an item of one of Python's own containers, as that container keeps it."""
    if real_isinstance(value, dict):
        found = dict.get(value, require_plain(key), MISSING)  # `dict[…]` asks `__missing__`
        if found is MISSING:
            raise KeyError
        return found
    for kind in ITEMS:
        if real_isinstance(value, kind):
            return kind.__getitem__(value, key if type(key) is slice else require_plain(key))
    raise NeedsUsersCode


def has_key(container, key) -> bool:
    """Return whether one of Python's own containers has a key or an element."""
    for kind in CONTAINERS:
        if real_isinstance(container, kind):
            return kind.__contains__(container, require_plain(key))
    raise NeedsUsersCode


def length(value):
    """Return the length of one of Python's own containers or of a tensor, or MISSING."""
    for kind in CONTAINERS:
        if real_isinstance(value, kind):
            return kind.__len__(value)
    is_of_c = type(inherited(type(value), "__len__")) is WrapperDescriptorType
    return len(value) if is_of_c or tensors.is_tensor(value) else MISSING


def elements_left(value):
    """Return how many elements an iterator of Python's own has left, or MISSING."""
    is_of_c = type(inherited(type(value), "__length_hint__")) is MethodDescriptorType
    return operator.length_hint(value) if is_of_c else MISSING


def elements(value):
    """Return an iterator over one of Python's own containers."""
    for kind in (*CONTAINERS, type({}.keys()), type({}.values()), type({}.items())):
        if real_isinstance(value, kind):
            return kind.__iter__(value)
    raise NeedsUsersCode


def require_plain(value):
    """Return a value whose hash and comparisons are code of C; else raise NeedsUsersCode."""
    if is_exactly(value, tuple, list, set, frozenset):
        for part in value:
            require_plain(part)
    elif is_exactly(value, dict):
        for pair in dict.items(value):
            require_plain(pair)
    for name in ("__eq__", "__hash__", "__bool__", "__len__", "__float__", "__index__"):
        if runs_users_method(value, name):
            raise NeedsUsersCode
    return value


def is_same_backend(one, other) -> bool | None:
    """Return whether torch takes two backends for the same; None if only the user's code can tell.

    torch compares them by `==`. Around a backend is often an object of torch's own.
    """
    if one is other:
        return True
    try:
        for backend in (one, other):
            require_plain(backend)
            if _is_torchs(type(backend)):
                require_plain(instance_dict(backend))
    except NeedsUsersCode:
        return None
    return type(one) is type(other) and one == other


def runs_users_method(value, name: str) -> bool:
    """Return whether a special method of a value is Python code that is not torch's."""
    method = inherited(type(value), name)
    return type(method) is FunctionType and not _is_torchs(method)
