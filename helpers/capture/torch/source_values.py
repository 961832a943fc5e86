"""A torch expression, such as `L['d']['k'] == 1` -> its value, without running the user's code.

Torch writes what a guard looks at, and often what it checks, as a Python expression. `eval` would
run properties, `__missing__` and `__eq__` of the user's classes. Here the syntax tree is evaluated
node by node, with the functions of `lookup`, which run no such code. The result is MISSING if only
the user's code could compute it.
"""

import ast
import functools
import operator
import sys
import weakref
from types import (
    BuiltinFunctionType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)

from ...internals import torch_private
from ...safety.arguments import is_exactly, real_isinstance
from ..text import tensors
from .lookup import (
    MISSING,
    has_attribute,
    has_key,
    is_from_torch,
    iterate_elements,
    read_attribute,
    read_item,
    read_length,
    require_safe_operand,
)

# The classes of functions and methods that are written in C.
CALLABLES_IN_C = (
    BuiltinFunctionType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
_NAMED_TYPES = (
    dict,
    list,
    tuple,
    set,
    frozenset,
    str,
    bytes,
    range,
    int,
    float,
    complex,
    bool,
    object,
)
#: name -> the class of Python that a guard's text means by it
TYPES_BY_NAME = {kind.__name__: kind for kind in _NAMED_TYPES}
# Functions that guards name. They only compare addresses, or read what C stores.
HARMLESS_FUNCTIONS = frozenset(
    {
        "___check_type_id",
        "___check_obj_id",
        "___dict_version",
        "___tuple_iterator_len",
        "___tuple_iterator_getitem",
        "___normalize_count_iter",
        "___normalize_range_iter",
        "___dataclass_fields",
        "___namedtuple_fields",
        "___get_torch_function_mode_stack_at",
        "___get_current_stream",
        "__load_module",
    }
)
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Invert: operator.invert,
}


class CannotRead(Exception):
    """The expression has a form that is not known here."""


def evaluate_source(text: str, scope: dict):
    """Return the value of a Python expression that torch wrote, or MISSING.

    Parameters
    ----------
    text : str
        A source, such as `L['x']`, or a check, such as `L['n'] == 2`.
    scope : dict
        `L` and `G`: the locals and globals that the guards are about.
    """
    try:
        return evaluate_source_or_raise(text, scope)
    except Exception:  # also NeedsUsersCode
        return MISSING


def evaluate_source_or_raise(text: str, scope: dict):
    """Return the value of a Python expression that torch wrote, or raise an error.

    The arguments are those of `evaluate_source`, which returns MISSING instead of an error.

    Raises
    ------
    NeedsUsersCode
        Only a call of the user's code could tell the value.
    Exception
        There is no such value, or the expression has a form that is not known here.
    """
    # In this block, torch calls no `__torch_function__` of the user's for a look at a tensor.
    with tensors.disable_torch_function():
        return ExpressionReader(scope).read(_parse(text))


@functools.lru_cache(maxsize=2000)  # each call of a compiled function evaluates the same texts
def _parse(text: str) -> ast.expr:
    """Return the syntax tree of an expression."""
    return ast.parse(text, mode="eval").body


class ExpressionReader:
    """Evaluates the syntax tree of an expression, or raises an error.

    The error is NeedsUsersCode if only the user's code could compute a value.
    """

    def __init__(self, scope: dict):
        """Prepare to read; `scope` has the locals of a call as `L` and its globals as `G`."""
        # name in an expression -> its value: `L`, `G`, and functions that torch's texts call
        self._names = {**torch_private.shape_names, **torch_private.guard_names(), **scope}

    def read(self, node: ast.expr):
        """Return the value of a node of the syntax tree."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._read_name(node.id)
            case ast.Attribute():
                return read_attribute(self.read(node.value), node.attr)
            case ast.Subscript():
                return read_item(self.read(node.value), self.read(node.slice))
            case ast.Slice():
                return self._read_slice(node)
            case ast.Tuple():
                return tuple(self._read_all(node.elts))
            case ast.List():
                return self._read_all(node.elts)
            case ast.Set():
                return set(self._read_all(node.elts))
            case ast.Call(keywords=[]):
                return self._call(node.func, self._read_all(node.args))
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(op=ast.Or()):
                return any(self._is_true(value) for value in node.values)
            case ast.BoolOp():  # and
                return all(self._is_true(value) for value in node.values)
            case ast.UnaryOp(op=ast.Not()):
                return not self._is_true(node.operand)
            case ast.UnaryOp():
                operand = require_safe_operand(self.read(node.operand))
                return OPERATORS[type(node.op)](operand)
            case ast.BinOp():
                left = self.read(node.left)
                right = self.read(node.right)
                return _compute_operation(node.op, left, right)
        raise CannotRead(ast.dump(node))

    def _read_all(self, nodes: list[ast.expr]) -> list:
        """Return the values of several nodes."""
        return [self.read(node) for node in nodes]

    def _read_name(self, name: str):
        """Return the value of a name: `L`, `G`, a function of torch's guards, or a class."""
        if name in self._names:
            return self._names[name]
        return TYPES_BY_NAME[name]

    def _read_slice(self, node: ast.Slice) -> slice:
        """Return the slice that `1:n` in square brackets means."""
        bounds = (node.lower, node.upper, node.step)
        values = [None if bound is None else self.read(bound) for bound in bounds]
        return slice(*values)

    def _is_true(self, node: ast.expr) -> bool:
        """Return the truth of the value of a node."""
        return bool(require_safe_operand(self.read(node)))

    def _compare(self, node: ast.Compare) -> bool:
        """Return whether each step of a comparison such as `2 <= n < 5` holds."""
        left = self.read(node.left)
        for comparison, operand in zip(node.ops, node.comparators, strict=True):
            right = self.read(operand)
            if not _evaluate_comparison(comparison, left, right):
                return False
            left = right
        return True

    def _call(self, function: ast.expr, args: list):
        """Return the result of a call, if the called function runs no code of the user's.

        `function` is the syntax tree of what is called, and `args` are the values of the arguments.
        Functions that would run methods of the user's are replaced: `len` by `read_length`, for
        example.
        """
        match function:
            case ast.Name(id="type") if len(args) == 1:
                return type(args[0])
            case ast.Name(id="isinstance"):
                kinds = args[1] if type(args[1]) is tuple else args[1:]
                return real_isinstance(args[0], *kinds)
            case ast.Name(id="len") if read_length(args[0]) is not MISSING:
                return read_length(args[0])
            case ast.Name(id="list" | "set" | "tuple" as name):
                return TYPES_BY_NAME[name](iterate_elements(args[0]))
            case ast.Name(id="dict"):  # the items as the dict stores them
                return dict(iterate_elements(dict.items(args[0])))
            case ast.Name(id="hasattr"):
                return has_attribute(*args)
            case ast.Name(id="getattr"):
                return read_attribute(*args)
            case ast.Name(id="___dict_contains"):
                key = args[0]
                container = args[1]
                return has_key(container, key)
            case ast.Name(id="__import__"):  # no import runs: Dynamo has imported the module
                return sys.modules[args[0]]
            case ast.Name(id=name) if name in HARMLESS_FUNCTIONS:
                return self._names[name](*args)
        return _call_in_c(self.read(function), args, function)


def _compute_operation(operation: ast.operator | ast.cmpop, left, right):
    """Return the result of an operator such as `+` or `==`.

    NeedsUsersCode if an operand is of a class that defines such a method in Python.
    """
    return OPERATORS[type(operation)](require_safe_operand(left), require_safe_operand(right))


def _evaluate_comparison(comparison: ast.cmpop, left, right) -> bool:
    """Return whether one comparison holds between two values."""
    match comparison:
        case ast.Is():
            return left is right
        case ast.IsNot():
            return left is not right
        case ast.In():
            return has_key(right, left)
        case ast.NotIn():
            return not has_key(right, left)
    return _compute_operation(comparison, left, right)


def _call_in_c(called, args: list, function: ast.expr):
    """Return `called(*args)` if that runs only C code or torch's code, else raise CannotRead.

    `function` is the syntax tree of what is called, for the message of the error.
    """
    if called is dict.__getitem__:  # it would call `__missing__` of a user's subclass
        return read_item(*args)
    if type(called) is weakref.ref and not args:  # the object that the weak reference points to
        return called()
    if is_exactly(called, MethodDescriptorType, WrapperDescriptorType):
        owner = args[0]
        if real_isinstance(owner, called.__objclass__):
            # The method in C reads its own object directly, so that need not be a safe operand.
            return called(owner, *map(require_safe_operand, args[1:]))
    if is_exactly(called, *CALLABLES_IN_C) or is_from_torch(called):
        return called(*map(require_safe_operand, args))
    raise CannotRead(ast.dump(function))
