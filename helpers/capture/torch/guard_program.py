"""A cache entry -> its guards as one Python function that runs, and that answers as torch's tree.

Torch writes a text beside each guard; what C++ checks is often more (`L['n'] == 2` asks for the
type as well; torch/csrc/dynamo/guards.cpp). A text that is not known to say it all is not used:
the line then asks torch's live guard; every other line is plain Python.
"""

import ast
import builtins
import inspect
import re
from types import FunctionType

from helpers.capture.cpython.objects import named
from helpers.capture.text.value import label
from helpers.capture.torch import guard_tree as tree
from helpers.internals import torch_private
from helpers.model import torch_records
from helpers.model.phrase import clipped
from helpers.model.torch_records import HOLDS, NOT_ASKED, REFUSES
from helpers.safety.arguments import real_isinstance, require_int

LONGEST = 400
SOURCE = re.compile(r"\b([LG])\['(\w+)'\]")
IDENTITY = re.compile(r"(___check_(?:obj|type)_id)\((.*), (\d+)\)(?:, type=.*)?", re.DOTALL)
CLASS_TEXT = re.compile(r"type=<class '(\w+)'>")
MARK = re.compile(r"hasattr\((.*), '(\w+)'\) == False", re.DOTALL)
PLAIN_TENSORS = {"Tensor": "torch.Tensor", "Parameter": "torch.nn.Parameter"}
OURS = {"G", "cells", "ids", "in_cpp", "keys", "marks", "seen", "torch", "type", "len", "id"}
OURS |= {"any", "hasattr", "locals", "Exception"}


def guard_function(fn, entry: int = 1) -> FunctionType:
    """Return the guards of a cache entry of `fn` as a Python function of the same arguments.

    It says True or False, as torch's own tree would. LookupError if nothing was compiled for `fn`;
    ValueError for an `entry` that there is not.
    """
    return WrittenGuards(fn, entry).function


def guard_program(fn, call, entry: int = 1) -> torch_records.GuardProgram:
    """Return the same function as text, a row per guard, and which row refuses a call."""
    written = WrittenGuards(fn, entry)
    if real_isinstance(call, tuple, list):
        args, kwargs = tree.given(fn, tuple(call), {})
    elif real_isinstance(call, dict) and all(real_isinstance(name, str) for name in call):
        args, kwargs = tree.given(fn, (), dict(call))
    else:
        words = "call is a tuple of arguments, or a dict of them by name, not"
        raise TypeError(f"{words} {label(call)}")
    seen, rows, word = tree.frame_locals(written.behind, args, kwargs), [], HOLDS
    for line, kind, own in written.lines:
        if word == HOLDS:
            try:
                word = HOLDS if eval(line, written.space | seen, dict(seen)) else REFUSES
            except Exception:
                word = REFUSES
        who = "Python" if own else "asks C++"
        rows.append(torch_records.GuardLine(clipped(line, LONGEST), kind, who, word))
        word = HOLDS if word == HOLDS else NOT_ASKED
    accepts, asked = written.root.check(seen), sum(row.written != "Python" for row in rows)
    note = (
        f"{len(rows) - asked} of {len(rows)} are Python, {asked} ask torch's guard in C++. torch's "
        f"own tree {'accepts' if accepts else 'refuses'} this call."
    )
    title = f"The guards of {named(written.behind)}(), entry {entry}, as Python"
    note, holds = " ".join((note, *written.told)), written.function(*args, **kwargs)
    listing = title, torch_records.LINE_COLUMNS, tuple(rows), note
    return torch_records.GuardProgram(*listing, written.source, holds, accepts)


class WrittenGuards:
    """The guards of an entry, as Python: `function` and its `source`, which asks the `lines`."""

    def __init__(self, fn, entry: int = 1):
        import torch

        self.behind, self.told = tree.behind(fn, compiled=True)
        kept, code = tree.entries(self.behind.__code__), self.behind.__code__
        if not kept:
            raise LookupError(f"Dynamo keeps no compiled code for {named(self.behind)}()")
        self.entry = kept[require_int(entry, "entry", len(kept)) - 1]
        self.root = self.entry.guard_manager.root
        self.parameters = inspect.signature(self.behind, follow_wrapped=False).parameters
        if taken := OURS & self.parameters.keys():
            words = f"the guards of {named(self.behind)}() are not shown as Python: {min(taken)} is"
            raise ValueError(f"{words} a name of theirs; give the argument another name")
        self.space = {**torch_private.guard_names(), "torch": torch, "builtins": vars(builtins)}
        self.space |= {"G": self.behind.__globals__, "ids": [], "in_cpp": {}}
        cells = zip(code.co_freevars, self.behind.__closure__ or (), strict=True)
        self.space |= {"cells": dict(cells), "keys": torch_private.keys_now}
        self.space["seen"] = lambda arguments: arguments | tree.closure_values(self.behind)
        self.lines = tuple(dict.fromkeys(self._lines()))
        self.source, space = self._source(), dict(self.space)
        exec(compile(self.source, "<guards>", "exec"), space)
        self.function = space["holds"]
        self.function.__defaults__ = self.behind.__defaults__
        self.function.__kwdefaults__ = self.behind.__kwdefaults__

    def _lines(self):
        """Yield (expression, kind of guard, whether it is Python of its own) of every guard."""
        if any(hasattr(manager, "get_key_value_managers") for manager in tree.managers(self.root)):
            # The size of a dict is kept in C++ alone, and it cannot be asked by itself.
            yield self._ask_cpp("DICT_SIZE", self.root.check, "L"), "DICT_SIZE", False
        for leaf in tree.leaves(self.entry):
            try:
                for part in _WRITTEN[leaf.kind](self, leaf):
                    yield part, leaf.kind, True
            except Exception:  # not a kind, or not a text, that is known to say it all
                yield self._ask_cpp(leaf.kind, leaf.check, leaf.source), leaf.kind, False

    def _ask_cpp(self, kind: str, check, source: str) -> str:
        """Return an expression that asks torch's own guard about what stands at a source."""
        value = "seen(locals())"
        if source not in ("L", tree.BETWEEN):
            try:
                value = self.rewrite(source)
            except (LookupError, SyntaxError):  # what it looks at has no name in Python
                check = self.root.check
        if kind == "NO_TENSOR_ALIASING":  # it has a state of its own
            value, check = "seen(locals())", self.root.check
        while self.space["in_cpp"].setdefault(kind, check) != check:
            kind += "_"
        return f"in_cpp[{kind!r}]({value})"

    def rewrite(self, source: str) -> str:
        """Return an expression of torch's in the names of the function; LookupError if none."""
        parsed = ast.parse(SOURCE.sub(self._rename, source.strip()), mode="eval")
        names = {node.id for node in ast.walk(parsed) if isinstance(node, ast.Name)}
        if names - self.space.keys() - self.parameters.keys() - vars(builtins).keys():
            raise LookupError(source)
        return ast.unparse(parsed)

    def _rename(self, found: re.Match) -> str:
        space, name = found.groups()
        if space == "G":
            return "builtins" if name.startswith("__builtins_dict__") else found[0]
        if name in self.parameters:
            return name
        return f"cells[{name!r}].cell_contents" if name in self.space["cells"] else "no_name"

    def say_type(self, value: str, kind: str, number: int | None = None) -> str:
        """Return a check of a value's type: a built-in one by its name, others by their id."""
        known = getattr(builtins, kind, None)
        if known and number in (None, id(known)) and kind not in self.parameters:
            return f"type({value}) is {kind}"
        return self.say_id(f"type({value})", number)

    def say_id(self, value: str, number: int) -> str:
        """Return a check of an id that torch kept; the numbers differ from run to run."""
        ids = self.space["ids"]
        if number not in ids:
            ids.append(int(number))
        return f"id({value}) == ids[{ids.index(number)}]"

    def _source(self) -> str:
        defaults = {True: inspect.Parameter.empty, False: ...}  # the function itself has them
        shown = [
            one.replace(annotation=one.empty, default=defaults[one.default is one.empty])
            for one in self.parameters.values()
        ]
        asked = {True: "", False: ", asked of C++"}
        checks = [f"{line}  # {kind}{asked[own]}" for line, kind, own in self.lines]
        body = "\n            and ".join(checks) or "True"
        return (
            f"def holds{inspect.Signature(shown)}:\n    try:\n        return (\n"
            f"            {body}\n        )\n    except Exception:\n"
            "        return False  # a value that is gone fails\n"
        )


# ------------------------------------------------------------------ one guard, as expressions
# What a writer cannot say, it raises; the guard in C++ is asked then.


def _write_constant(written, leaf):
    """`==` between values of one type, as C++ asks; the constant must be one that can be read."""
    compared = ast.parse(tree.check_of(leaf.parts[0]), mode="eval").body
    constant = ast.literal_eval(compared.comparators[0])
    if not isinstance(compared.ops[0], ast.Eq) or not leaf.check(constant):
        raise ValueError
    value = written.rewrite(ast.unparse(compared.left))
    return [written.say_type(value, type(constant).__name__), f"{value} == {constant!r}"]


def _write_singleton(written, leaf):
    return [f"{written.rewrite(leaf.source)} is {leaf.kind.partition('_')[0].capitalize()}"]


def _write_identity(written, leaf):
    asked, value, number = IDENTITY.fullmatch(tree.check_of(leaf.parts[0])).groups()
    value, told = written.rewrite(value), CLASS_TEXT.search(leaf.parts[0])
    if asked == "___check_type_id":
        return [written.say_type(value, told[1] if told else "", int(number))]
    return [written.say_id(value, int(number))]


def _write_length(written, leaf):
    """Torch writes `not x` for a length of none."""
    check, value = tree.check_of(leaf.parts[0]), written.rewrite(leaf.source)
    many = 0 if check.startswith("not ") else int(re.fullmatch(r"len\(.*\) == (\d+)", check)[1])
    return [f"len({value}) == {many}"]


def _write_tensor(written, leaf):
    kind, dtype, grad, size, stride = tree.TENSOR.match(tree.check_of(leaf.parts[0])).groups()
    keys = re.search(r"DispatchKeySet\((.*?)\)", leaf.parts[0])[1]
    device = re.search(r"device=(\w+)", leaf.parts[0])[1]
    value = written.rewrite(leaf.source)
    if "None" in size + stride:
        raise ValueError("a size that may be any: C++ alone knows which")
    return [
        f"type({value}) is {PLAIN_TENSORS[kind]}",
        f"keys({value}) == {keys!r}",
        f"{value}.dtype == torch.{dtype}",
        f"{value}.device.index {'is' if device == 'None' else '=='} {device}",
        f"{value}.requires_grad is {grad}",
        f"{value}.shape == {ast.literal_eval(f'({size},)' if size else '()')}",
        f"{value}.stride() == {ast.literal_eval(f'({stride},)' if stride else '()')}",
    ]


def _write_marks(written, leaf):
    """None of the marks is there. Where one was, at compilation, the guard in C++ is asked."""
    found = [MARK.fullmatch(tree.check_of(part)).groups() for part in leaf.parts]
    sources, marks = zip(*found, strict=True)
    if {*sources} != {leaf.source} or written.space.setdefault("marks", marks) != marks:
        raise ValueError
    return [f"not any(hasattr({written.rewrite(leaf.source)}, mark) for mark in marks)"]


_WRITTEN = {
    "DEFAULT_DEVICE": lambda written, leaf: [written.rewrite(tree.check_of(leaf.parts[0]))],
    "EQUALS_MATCH": _write_constant,
    "TYPE_MATCH": _write_identity,
    "ID_MATCH": _write_identity,
    "TENSOR_MATCH": _write_tensor,
    "DIMENSION_DYNAMIC_MARKING_GUARD": _write_marks,
    "LENGTH_CHECK": _write_length,
    **dict.fromkeys(("TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH"), _write_singleton),
}
