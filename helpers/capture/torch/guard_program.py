"""A cache entry -> its guards as one Python function that runs, and that answers as torch's tree.

Torch writes a text beside each guard; what C++ checks is often more (`L['n'] == 2` asks for the
type as well; torch/csrc/dynamo/guards.cpp). A text that is not known to say it all is not used:
the line then asks torch's live guard; every other line is plain Python.
"""

import ast
import builtins
import inspect
import math
import re
import sys
from types import FunctionType

from helpers.capture.cpython.objects import named
from helpers.capture.text.value import label
from helpers.capture.torch import guard_tree as tree
from helpers.internals import torch_private
from helpers.model import torch_records
from helpers.model.phrase import clipped
from helpers.safety.arguments import real_isinstance, require_int

LONGEST = 400
NAME = "holds"
SOURCE = re.compile(r"\b([LG])\['(\w+)'\]")
IDENTITY = re.compile(r"(___check_(?:obj|type)_id)\((.*), (\d+)\)(?:, type=.*)?", re.DOTALL)
CLASS_TEXT = re.compile(r"type=<class '([\w.]+)'>")
MARK = re.compile(r"hasattr\((.*), '(\w+)'\) == False", re.DOTALL)
PLAIN_TENSORS = {"Tensor": "torch.Tensor", "Parameter": "torch.nn.Parameter"}
OURS = {"G", "cells", "ids", "in_cpp", "keys", "marks", "seen", "torch", "type", "len", "id"}
OURS |= {"any", "hasattr", "isinstance", "locals", "Exception"}


def guard_function(fn, entry: int = 1) -> FunctionType:
    """Return the guards of a cache entry of `fn` as a Python function of the same arguments.

    It says True or False, as torch's own tree would. LookupError if nothing was compiled for `fn`;
    ValueError for an `entry` that there is not.
    """
    return WrittenGuards(fn, entry).function


def guard_program(fn, call, entry: int = 1) -> torch_records.GuardProgram:
    """Return the same function as text, a row per guard, and which row refuses a call."""
    written = WrittenGuards(fn, entry)
    args, kwargs = tree.given(fn, *_split_call(call))
    seen = tree.frame_locals(written.behind, args, kwargs)
    answers = zip(written.lines, written.ask(args, kwargs), strict=True)
    rows = tuple(
        torch_records.GuardLine(clipped(line, LONGEST), kind, own, word)
        for (line, kind, own), word in answers
    )
    accepts, asked = written.entry.guard_manager.root.check(seen), sum(not row.own for row in rows)
    note = (
        f"{len(rows) - asked} of {len(rows)} are Python, {asked} ask torch's guard in C++. torch's "
        f"own tree {'accepts' if accepts else 'refuses'} this call."
    )
    return torch_records.GuardProgram(
        f"The guards of {named(written.behind)}(), entry {written.number}, as Python",
        (*torch_records.LINE_COLUMNS, torch_records.ASKED_COLUMN),
        rows,
        " ".join((note, *written.told)),
        source=written.source,
        accepts=written.function(*args, **kwargs),
        torch_accepts=accepts,
    )


def _split_call(call) -> tuple[tuple, dict]:
    if real_isinstance(call, tuple, list):
        return tuple(call), {}
    if real_isinstance(call, dict) and all(real_isinstance(name, str) for name in call):
        return (), dict(call)
    raise TypeError(f"call is a tuple of arguments, or a dict of them by name, not {label(call)}")


class _NoPython(Exception):
    """A guard, or the way to its value, that cannot be said in Python."""


class WrittenGuards:
    """The guards of entry number `entry` of `fn`, from 1 in the order of compilation, as Python.

    `source` is one function, and `function` is it, made; `lines` are what it asks, in order, each
    with the kind of its guard and whether it is Python of its own. `space`: the names they use.
    """

    def __init__(self, fn, entry: int = 1):
        self.behind, self.told = tree.behind(fn, compiled=True)
        kept = tree.entries(self.behind.__code__)
        if not kept:
            raise LookupError(f"Dynamo keeps no compiled code for {named(self.behind)}()")
        self.number = require_int(entry, "entry", len(kept))
        self.entry = kept[self.number - 1]
        self.parameters = inspect.signature(self.behind, follow_wrapped=False).parameters
        if taken := OURS & self.parameters.keys():
            raise ValueError(
                f"the guards of {named(self.behind)}() are not shown as Python, because they use "
                f"the name {min(taken)}, which is an argument's: give the argument another name"
            )
        self.space = self._names()
        self.lines = tuple(dict.fromkeys(self._lines()))
        self.source = self._source()
        space = dict(self.space)
        exec(compile(self.source, "<guards>", "exec"), space)
        self.function = space[NAME]
        self.function.__defaults__ = self.behind.__defaults__
        self.function.__kwdefaults__ = self.behind.__kwdefaults__

    def _names(self) -> dict:
        import torch

        fn = self.behind
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        own = {"G": fn.__globals__, "builtins": vars(builtins), "cells": cells, "torch": torch}
        own |= {"seen": lambda arguments: arguments | tree.closure_values(fn), "math": math}
        own |= {"ids": [], "in_cpp": {}, "keys": torch_private.keys_now}
        return {**torch_private.guard_names(), **own}

    def _lines(self):
        """Yield (expression, kind of guard, whether it is Python of its own) of every guard."""
        root = self.entry.guard_manager.root
        if any(hasattr(manager, "get_key_value_managers") for manager in tree.managers(root)):
            # The size of a dict is kept in C++ alone, and it cannot be asked by itself.
            yield self._ask_cpp("DICT_SIZE", root.check, "L"), "DICT_SIZE", False
        for leaf in tree.leaves(self.entry):
            try:
                for part in _WRITTEN.get(leaf.kind, _refuse)(self, leaf):
                    yield part, leaf.kind, True
            except (_NoPython, SyntaxError):
                try:
                    asked = self._ask_cpp(leaf.kind, leaf.check, leaf.source)
                except (_NoPython, SyntaxError):  # what it looks at has no name in Python
                    asked = self._ask_cpp(leaf.kind, root.check, "L")
                yield asked, leaf.kind, False

    def _ask_cpp(self, kind: str, check, source: str) -> str:
        """Return an expression that asks torch's own guard about what stands at a source."""
        value = "seen(locals())" if source in ("L", tree.BETWEEN) else self.rewrite(source)
        if kind == "NO_TENSOR_ALIASING" and source != "L":  # it has a state of its own
            raise _NoPython
        while self.space["in_cpp"].setdefault(kind, check) != check:
            kind += "_"
        return f"in_cpp[{kind!r}]({value})"

    def rewrite(self, source: str) -> str:
        """Return an expression of torch's in the names of the function; _NoPython if it cannot."""
        parsed = ast.parse(SOURCE.sub(self._rename, source.strip()), mode="eval")
        names = {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
        if names - self.space.keys() - self.parameters.keys() - vars(builtins).keys():
            raise _NoPython
        return ast.unparse(parsed)

    def _rename(self, found: re.Match) -> str:
        space, name = found.groups()
        if space == "G":
            return "builtins" if name.startswith("__builtins_dict__") else found[0]
        if name in self.parameters:
            return name
        if name in self.space["cells"]:
            return f"cells[{name!r}].cell_contents"
        raise _NoPython

    def say_id(self, number: int) -> str:
        """Return how it says an id that torch kept; the numbers differ from run to run."""
        ids = self.space["ids"]
        if number not in ids:
            ids.append(number)
        return f"ids[{ids.index(number)}]"

    def _source(self) -> str:
        shown = []  # of a default that has no plain form, an ellipsis
        for one in self.parameters.values():
            plain = isinstance(one.default, (int, float, str, type(None), type))
            default = one.default if plain else ...
            shown.append(one.replace(annotation=one.empty, default=default))
        checks = [
            f"{line}  # {kind}{'' if own else ', asked of C++'}" for line, kind, own in self.lines
        ]
        body = "\n            and ".join(checks) or "True"
        return (
            f"def {NAME}{inspect.Signature(shown)}:\n    try:\n        return (\n"
            f"            {body}\n        )\n    except Exception:\n"
            "        return False  # a value that is gone fails\n"
        )

    def ask(self, args, kwargs) -> list[str]:
        """Return for each line whether it holds for a call; after one that refuses, no more."""
        words, seen = [], tree.first_call(self.behind, args, kwargs)
        for line, _, _ in self.lines:
            if torch_records.REFUSES in words:
                words.append(torch_records.NOT_ASKED)
                continue
            try:
                holds = eval(line, self.space | seen, dict(seen))
            except Exception:
                holds = False
            words.append(torch_records.HOLDS if holds else torch_records.REFUSES)
        return words


# ------------------------------------------------------------------ one guard, as expressions


def _refuse(written, leaf):
    raise _NoPython


def _copy_text(written, leaf):
    return [written.rewrite(tree.check_of(part)) for part in leaf.parts]


def _write_constant(written, leaf):
    """`==` between values of one type, as C++ asks; the constant must be one that can be read."""
    compared = ast.parse(tree.check_of(leaf.parts[0]), mode="eval").body
    if not (isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ast.Eq)):
        raise _NoPython
    right = ast.unparse(compared.comparators[0])
    try:
        constant = eval(right, dict(torch_private.guard_names()))
    except Exception:
        raise _NoPython from None
    if not leaf.check(constant):
        raise _NoPython
    value, kind = written.rewrite(ast.unparse(compared.left)), type(constant).__name__
    if vars(builtins).get(kind) is not type(constant):
        raise _NoPython
    return [f"type({value}) is {kind}", f"{value} == {written.rewrite(right)}"]


def _write_singleton(written, leaf):
    word = {"TRUE_MATCH": "True", "FALSE_MATCH": "False", "NONE_MATCH": "None"}[leaf.kind]
    return [f"{written.rewrite(leaf.source)} is {word}"]


def _write_identity(written, leaf):
    found = IDENTITY.fullmatch(tree.check_of(leaf.parts[0]))
    if found is None:
        raise _NoPython
    value, number = written.rewrite(found[2]), int(found[3])
    if found[1] == "___check_type_id":
        told = CLASS_TEXT.search(leaf.parts[0])
        home, _, name = told[1].rpartition(".") if told else ("", "", "")
        kind = getattr(sys.modules.get(home or "builtins"), name, None)
        is_free = name not in written.parameters
        if id(kind) == number and is_free and written.space.setdefault(name, kind) is kind:
            return [f"type({value}) is {name}"]
        value = f"type({value})"
    return [f"id({value}) == {written.say_id(number)}"]


def _write_length(written, leaf):
    """Torch writes `not x` for a length of none, and does not ask for a dict where it means one."""
    length, many = ast.parse(tree.check_of(leaf.parts[0]), mode="eval").body, 0
    if isinstance(length, ast.Compare) and isinstance(length.comparators[0], ast.Constant):
        many = length.comparators[0].value
    elif not isinstance(length, ast.UnaryOp):
        raise _NoPython
    value = written.rewrite(leaf.source)
    is_dict = [f"isinstance({value}, dict)"] if leaf.kind == "DICT_LENGTH" else []
    return [*is_dict, f"len({value}) == {many}"]


def _write_tensor(written, leaf):
    found = tree.TENSOR.match(tree.check_of(leaf.parts[0]))
    keys = re.search(r"DispatchKeySet\((.*?)\)", leaf.parts[0])
    device = re.search(r"device=(\w+)", leaf.parts[0])
    if not found or not keys or found[1] not in PLAIN_TENSORS:
        raise _NoPython
    kind, dtype, grad, size, stride = found.groups()
    value = written.rewrite(leaf.source)
    return [
        f"type({value}) is {PLAIN_TENSORS[kind]}",
        f"keys({value}) == {keys[1]!r}",
        f"{value}.dtype == torch.{dtype}",
        f"{value}.device.index {'is' if device[1] == 'None' else '=='} {device[1]}",
        f"{value}.requires_grad is {grad}",
        *_write_sizes(f"{value}.shape", size),
        *_write_sizes(f"{value}.stride()", stride),
    ]


def _write_sizes(value: str, expected: str) -> list[str]:
    """Return checks of a size or a stride; a number that torch gives as None may be any."""
    numbers = [number.strip() for number in expected.split(",") if number.strip()]
    if "None" not in numbers:
        return [f"{value} == ({', '.join(numbers)}{',' * (len(numbers) == 1)})"]
    known = [f"{value}[{at}] == {n}" for at, n in enumerate(numbers) if n != "None"]
    return [f"len({value}) == {len(numbers)}", *known]


def _write_marks(written, leaf):
    """None of the marks is there. Where one was, at compilation, the guard in C++ is asked."""
    found = [MARK.fullmatch(tree.check_of(part)) for part in leaf.parts]
    if not all(one and one[1] == leaf.source for one in found):
        raise _NoPython
    marks = tuple(one[2] for one in found)
    if written.space.setdefault("marks", marks) != marks:
        raise _NoPython
    return [f"not any(hasattr({written.rewrite(leaf.source)}, mark) for mark in marks)"]


_WRITTEN = {
    "EQUALS_MATCH": _write_constant,
    "TYPE_MATCH": _write_identity,
    "ID_MATCH": _write_identity,
    "TENSOR_MATCH": _write_tensor,
    "DIMENSION_DYNAMIC_MARKING_GUARD": _write_marks,
    **dict.fromkeys(("TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH"), _write_singleton),
    **dict.fromkeys(("LENGTH_CHECK", "DICT_LENGTH"), _write_length),
    **dict.fromkeys(
        ("NO_HASATTR", "FLOAT_IS_NAN", "DEFAULT_DEVICE", "SHAPE_ENV", "OBJECT_ALIASING"), _copy_text
    ),
}
