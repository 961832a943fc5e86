"""The guards of a cache entry -> Python conditions, which hold where the guards hold.

Torch's text beside a guard often says less than C++ checks: `L['n'] == 2` asks for the type as well
(torch/csrc/dynamo/guards.cpp). A guard that Python can say in full becomes one or more conditions.
For any other guard, the condition calls torch's live guard.
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
# In the written function, the locals that the guard tree is checked on.
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

    The globals are in `space`. Among them are `ids`, the ids that conditions compare with, and
    `in_cpp`, torch's own guards by name.
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
            """Return what a frame of `fn` sees at its start. The written function calls this."""
            return arguments | read_closure(fn)

        #: the globals of the written function; ids and guards in C++ are added as lines are written
        self.space = {
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
        """Yield the conditions for the guards of the entry."""
        if any(is_of_dict(node) for node in walk_nodes(self._root)):
            # Only C++ knows the size of such a dict, and it cannot be read from the tree. So the
            # whole tree is asked.
            condition = self._ask_cpp("DICT_SIZE", self._root.check, "L")
            yield WrittenLine(condition, kind="DICT_SIZE", is_python=False)

        for leaf in leaves:
            try:
                conditions = self._write_guard(leaf)
                is_python = True
            except Exception:  # not a kind, or not a text, that is known to say it all
                conditions = [self._ask_cpp(leaf.kind, leaf.check, leaf.source)]
                is_python = False
            for condition in conditions:
                yield WrittenLine(condition, leaf.kind, is_python)

    def _ask_cpp(self, kind: str, check: Callable, source: str) -> str:
        """Return a condition that calls torch's own guard for the value at a source.

        `check` is torch's function for the guard, which is called with the value. `source` is the
        value as torch writes it, such as `L['x']`.
        """
        value = ALL_LOCALS
        if source not in ("L", BETWEEN_VALUES):
            try:
                value = self._rewrite(source)
            except (LookupError, SyntaxError):
                # What it looks at has no name in Python. So the whole tree is asked.
                check = self._root.check
        if kind == "NO_TENSOR_ALIASING":  # it has a state of its own, so the whole tree is asked
            value = ALL_LOCALS
            check = self._root.check

        name = kind
        # `setdefault` stores the guard where the name is free. Else another guard of this kind has
        # it, and the next name is tried.
        while self.space["in_cpp"].setdefault(name, check) != check:
            name += "_"
        return f"in_cpp[{name!r}]({value})"

    def _rewrite(self, source: str) -> str:
        """Return an expression of torch's in the names of the function; LookupError if it has none.

        `L['x']` becomes `x`; `G['RATE']` stays, as G is a global of the written function.
        """
        text = ROOT_OF_SOURCE.sub(self._rename_root, source.strip())
        parsed = ast.parse(text, mode="eval")
        names = {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
        known_names = self.space.keys() | self._parameters.keys() | vars(builtins).keys()
        if names - known_names:
            raise LookupError(source)
        return ast.unparse(parsed)

    def _rename_root(self, match: re.Match) -> str:
        """Return what replaces `L['x']` or `G['RATE']` in an expression."""
        space, name = match.groups()
        if space == "G":
            return "builtins" if name.startswith("__builtins_dict__") else match[0]
        return name if name in self._parameters else "no_name"  # so that `_rewrite` refuses it

    def _write_guard(self, leaf: LeafGuard) -> list[str]:
        """Return a guard as conditions; an error means that Python cannot say all that it checks.

        Each kind of guard has its own text. `write_lines` treats every error in the same way, so a
        text of another form needs no test here.
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
        """Return the conditions of a guard such as `L['n'] == 2`, which asks for the type, too."""
        constant = ast.literal_eval(check.partition(" == ")[2])
        if not leaf.check(constant):
            raise CannotWrite("torch's text of the constant is not all that C++ checks")
        kind = type(constant)
        type_condition = self._write_id(f"type({value})", kind.__name__, id(kind))
        return [type_condition, f"{value} == {constant!r}"]

    def _write_identity(self, check: str, value: str) -> str:
        """Return the condition of a guard that compares an id, of an object or of its type."""
        what, number = IDENTITY_CHECK.fullmatch(check).groups()
        if what == "obj":
            return self._write_id(value, "", int(number))
        class_match = BUILTIN_CLASS.search(check)
        class_name = class_match[1] if class_match else ""
        return self._write_id(f"type({value})", class_name, int(number))

    def _write_id(self, value: str, class_name: str, number: int) -> str:
        """Return the condition that an expression is the object with this id.

        A class of Python itself is written by its name. Any other id is written as an item of a
        list, because ids differ from run to run and the text must not.
        """
        known_class = getattr(builtins, class_name, None)
        if known_class and number == id(known_class) and class_name not in self._parameters:
            return f"{value} is {class_name}"
        ids = self.space["ids"]
        if number not in ids:
            ids.append(number)
        return f"id({value}) == ids[{ids.index(number)}]"

    def _write_marks(self, leaf: LeafGuard, value: str) -> str:
        """Return the condition that no size of a tensor is marked dynamic or static."""
        groups = [DYNAMIC_MARK.fullmatch(strip_remarks(part)).groups() for part in leaf.parts]
        sources, marks = zip(*groups, strict=True)
        if set(sources) != {leaf.source}:
            raise CannotWrite("a mark of another value")
        if self.space.setdefault("marks", marks) != marks:
            raise CannotWrite("the written function has one list of marks")
        return f"not any(hasattr({value}, mark) for mark in marks)"


def _write_tensor(check: str, value: str) -> list[str]:
    """Return the conditions of a guard on a tensor; an error for a check of another form.

    `value` is the expression for the tensor.
    """
    kind, dtype, requires_grad, sizes, strides = TENSOR_CHECK.match(check).groups()
    keys, device = KEYS_AND_DEVICE.search(check).groups()
    if "None" in sizes + strides:
        raise CannotWrite("a size may vary; only C++ knows which")
    compares = "is" if device == "None" else "=="
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
