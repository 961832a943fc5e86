"""The guards of a cache entry -> Python conditions, such as `type(n) is int` and `n == 2`.

A condition is true where the guard holds. The text that torch has for a guard often says less than
C++ checks: for `L['n'] == 2` it checks the type as well (torch/csrc/dynamo/guards.cpp). A guard
that Python can express in full becomes one or more conditions. For any other guard, the condition
is a call of torch's live guard, such as `in_cpp['SHAPE_ENV'](seen(locals()))`.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType

from ...internals import torch_modes, torch_private
from .frame_arguments import read_closure
from .guard_leaves import LeafGuard, is_of_dict, walk_nodes
from .guard_words import BETWEEN_VALUES, TENSOR_CHECK, strip_remarks

ROOT_OF_SOURCE = re.compile(r"\b([LG])\['(\w+)'\]")  # L['x'], G['RATE']
# ___check_obj_id(L['fn'], 139872), type=<class 'function'>
IDENTITY_CHECK = re.compile(r"___check_(obj|type)_id\(.*, (\d+)\)(?:, type=.*)?", re.DOTALL)
LENGTH_TEXT = re.compile(r"len\(.*\) == (\d+)")  # for a length of none, torch writes `not x`
BUILTIN_CLASS = re.compile(r"type=<class '(\w+)'>")  # type=<class 'list'>, without a module
# hasattr(L['x'], '_dynamo_dynamic_indices') == False
DYNAMIC_MARK = re.compile(r"hasattr\((.*), '(\w+)'\) == False", re.DOTALL)
# DispatchKeySet(CPU, …), torch.float32, device=None
KEYS_AND_DEVICE = re.compile(r"DispatchKeySet\((.*?)\), .*?device=(\w+)")
# the classes whose guards can be written, as text -> their name in Python
TENSOR_CLASSES = {"Tensor": "torch.Tensor", "Parameter": "torch.nn.Parameter"}
# In the written function, the expression for the locals that torch's whole guard tree checks.
ALL_LOCALS = "seen(locals())"


class CannotWrite(Exception):
    """Python cannot say all that a guard checks."""


@dataclass(frozen=True)
class WrittenLine:
    """One condition of the written function."""

    #: a Python expression, which is true where the guard holds
    condition: str
    #: torch's name for the kind of guard
    kind: str
    #: False if the condition calls torch's own guard in C++
    is_python: bool


class GuardWriter:
    """Writes guards as conditions, and collects the globals that the conditions need.

    The globals are in `function_globals`. Among them are `ids`, a list of the ids that conditions
    compare with, and `in_cpp`, a dict of torch's own guards by name.
    """

    def __init__(self, fn: FunctionType, root, parameters):
        """Begin to write.

        Parameters
        ----------
        fn : function
            The function that Dynamo compiled.
        root : torch's guard manager
            The root of the guard tree.
        parameters : mapping of str to inspect.Parameter
            The parameters of `fn`.
        """
        import torch

        self._root = root
        self._parameters = parameters

        def add_closure(arguments: dict) -> dict:
            """Return the arguments and the closure variables of `fn`, by name.

            The written function calls this as `seen(locals())`.
            """
            return arguments | read_closure(fn)

        #: the globals of the written function; `write_lines` adds ids and guards in C++
        self.function_globals = {
            **torch_private.guard_names(),
            "torch": torch,
            "builtins": vars(builtins),
            "G": fn.__globals__,
            "ids": [],
            "in_cpp": {},
            "keys": torch_modes.format_dispatch_keys,
            "seen": add_closure,
        }

    def write_lines(self, leaves: list[LeafGuard]) -> Iterator[WrittenLine]:
        """Yield the conditions for all guards of the cache entry; `leaves` are these guards."""
        if any(is_of_dict(node) for node in walk_nodes(self._root)):
            # Torch also checks the length of such a dict, but no leaf guard has that length and
            # Python cannot read it. So the condition checks torch's whole tree.
            condition = self._ask_cpp("DICT_SIZE", self._root.check, "L")
            yield WrittenLine(condition, kind="DICT_SIZE", is_python=False)

        for leaf in leaves:
            try:
                conditions = self._write_guard(leaf)
                is_python = True
            except Exception:  # Python cannot express this kind of guard, or a guard of this text
                conditions = [self._ask_cpp(leaf.kind, leaf.check, leaf.source)]
                is_python = False
            for condition in conditions:
                yield WrittenLine(condition, leaf.kind, is_python)

    def _ask_cpp(self, kind: str, check: Callable, source: str) -> str:
        """Return a condition that calls torch's own guard, such as `in_cpp['HASATTR'](x)`.

        Parameters
        ----------
        kind : str
            Torch's name for the kind of guard, which becomes the key in `in_cpp`.
        check : callable
            Torch's guard, which is called with the value.
        source : str
            The value as torch writes it, such as `L['x']`.
        """
        value = ALL_LOCALS
        if source not in ("L", BETWEEN_VALUES):  # these two guards are about all locals
            try:
                value = self._rewrite(source)
            except (LookupError, SyntaxError):
                # The value has no expression in Python. So the condition checks the whole tree.
                check = self._root.check
        # This guard compares a tensor with those that it was called with before. It works only
        # inside the whole tree.
        if kind == "NO_TENSOR_ALIASING":
            value = ALL_LOCALS
            check = self._root.check

        guards_by_name = self.function_globals["in_cpp"]
        name = kind
        # `setdefault` stores the guard if the name is free. If another guard has the name, a name
        # with one more underscore is tried.
        while guards_by_name.setdefault(name, check) != check:
            name += "_"
        return f"in_cpp[{name!r}]({value})"

    def _rewrite(self, source: str) -> str:
        """Return torch's expression as one that the written function can evaluate.

        `L['x']` becomes `x`. `G['RATE']` stays, because `G` is a global of the written function.
        LookupError if the expression has a name that the written function does not know.
        """
        text = ROOT_OF_SOURCE.sub(self._rename_root, source.strip())
        parsed = ast.parse(text, mode="eval")
        names = {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
        known_names = self.function_globals.keys() | self._parameters.keys() | vars(builtins).keys()
        if names - known_names:
            raise LookupError(source)
        return ast.unparse(parsed)

    def _rename_root(self, match: re.Match) -> str:
        """Return what replaces `L['x']` or `G['RATE']` in an expression."""
        scope, name = match.groups()
        if scope == "G":
            # Dynamo adds the builtins to the globals under such a name.
            return "builtins" if name.startswith("__builtins_dict__") else match[0]
        if name in self._parameters:
            return name
        return "no_name"  # a local that is no argument; `_rewrite` refuses this unknown name

    def _write_guard(self, leaf: LeafGuard) -> list[str]:
        """Return the conditions for a guard, or raise any error if Python cannot express it.

        Each kind of guard has a text of its own form. A text of another form leads to an error
        somewhere below, such as that None has no groups. `write_lines` catches every error.
        """
        check = strip_remarks(leaf.parts[0])
        if leaf.kind == "DEFAULT_DEVICE":
            return [self._rewrite(check)]

        value = self._rewrite(leaf.source)
        match leaf.kind:
            case "TRUE_MATCH" | "FALSE_MATCH" | "NONE_MATCH":
                constant = leaf.kind.removesuffix("_MATCH").capitalize()
                return [f"{value} is {constant}"]
            case "LENGTH_CHECK":
                return [f"len({value}) == {LENGTH_TEXT.fullmatch(check)[1]}"]
            case "EQUALS_MATCH":
                return self._write_equality(leaf, check, value)
            case "TYPE_MATCH" | "ID_MATCH":
                return [self._write_identity(check, value)]
            case "DIMENSION_DYNAMIC_MARKING_GUARD":
                return [self._write_marks(leaf, value)]
        return _write_tensor(check, value)  # raises for any other kind

    def _write_equality(self, leaf: LeafGuard, check: str, value: str) -> list[str]:
        """Return two conditions for a guard such as `L['n'] == 2`, on its type and value."""
        constant = ast.literal_eval(check.partition(" == ")[2])
        # The constant read from torch's text must itself pass torch's guard. If it does not, C++
        # checks more than the text says.
        if not leaf.check(constant):
            raise CannotWrite("torch's text of the constant is not all that C++ checks")
        kind = type(constant)
        type_condition = self._write_id(f"type({value})", kind.__name__, id(kind))
        return [type_condition, f"{value} == {constant!r}"]

    def _write_identity(self, check: str, value: str) -> str:
        """Return the condition for a guard that compares the id of an object or of its type.

        `check` is torch's text, such as `___check_obj_id(L['fn'], 139872)`, and `value` is the
        expression for the object in the written function.
        """
        compared, object_id = IDENTITY_CHECK.fullmatch(check).groups()
        if compared == "obj":
            return self._write_id(value, "", int(object_id))
        class_match = BUILTIN_CLASS.search(check)
        class_name = class_match[1] if class_match else ""
        return self._write_id(f"type({value})", class_name, int(object_id))

    def _write_id(self, value: str, class_name: str, object_id: int) -> str:
        """Return the condition that an expression is the object with this id.

        For a builtin class, it is `type(n) is int`. For any other object it is `id(f) == ids[0]`,
        because ids differ from run to run and the text must not. `class_name` may be "".
        """
        builtin_class = getattr(builtins, class_name, None)
        is_that_class = builtin_class is not None and object_id == id(builtin_class)
        # An argument of the same name would hide the class.
        if is_that_class and class_name not in self._parameters:
            return f"{value} is {class_name}"
        ids = self.function_globals["ids"]
        if object_id not in ids:
            ids.append(object_id)
        return f"id({value}) == ids[{ids.index(object_id)}]"

    def _write_marks(self, leaf: LeafGuard, value: str) -> str:
        """Return the condition that no size of a tensor is marked dynamic or static.

        Torch marks a size by an attribute of the tensor, such as `_dynamo_dynamic_indices`. Each
        part of the guard is about one such attribute.
        """
        groups = [DYNAMIC_MARK.fullmatch(strip_remarks(part)).groups() for part in leaf.parts]
        sources, marks = zip(*groups, strict=True)
        if set(sources) != {leaf.source}:
            raise CannotWrite("a mark of another value")
        # The names are in the global `marks`, which is the same for all tensors.
        if self.function_globals.setdefault("marks", marks) != marks:
            raise CannotWrite("the written function has one list of marks")
        return f"not any(hasattr({value}, mark) for mark in marks)"


def _write_tensor(check: str, value: str) -> list[str]:
    """Return the conditions of a guard on a tensor: class, dispatch keys, dtype, sizes and others.

    `check` is torch's text `check_tensor(…)`, and `value` the expression for the tensor. A text of
    another form raises an error.
    """
    kind, dtype, requires_grad, sizes, strides = TENSOR_CHECK.match(check).groups()
    keys, device = KEYS_AND_DEVICE.search(check).groups()
    if "None" in sizes + strides:
        raise CannotWrite("a size may vary; only C++ knows which")
    compares = "is" if device == "None" else "=="  # a device such as cpu has no index
    return [
        f"type({value}) is {TENSOR_CLASSES[kind]}",
        f"keys({value}) == {keys!r}",
        f"{value}.dtype == torch.{dtype}",
        f"{value}.device.index {compares} {device}",
        f"{value}.requires_grad is {requires_grad}",
        f"{value}.shape == {_parse_numbers(sizes)}",
        f"{value}.stride() == {_parse_numbers(strides)}",
    ]


def _parse_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a text such as `3, 1`; no number for an empty text."""
    return ast.literal_eval(f"({text},)") if text else ()
