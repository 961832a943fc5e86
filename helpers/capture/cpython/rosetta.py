"""Stored bytecode of several Pythons, and the running one's -> one table, aligned by meaning."""

import json
import sys
from collections import namedtuple
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from pathlib import Path

from helpers.capture.cpython import rosetta_programs
from helpers.capture.cpython.bytecode import bytecode
from helpers.capture.text.value import short_repr
from helpers.model.code_records import Sourced
from helpers.model.tables import Column

DATA = Path(__file__).with_name("rosetta_data")
STORED = ("3.8", "3.11", "3.12", "3.13")
SAME = "(fused with the one above)"
MARKED = "● another instruction than in the version before"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"

# What an instruction of one version does in another's words: rows are aligned by these keys.
_FAMILIES = {
    "BINARY": ("BINARY_", "INPLACE_", "BINARY_OP"),
    "ATTRIBUTE": ("LOAD_METHOD", "LOAD_ATTR"),
    "CALL": ("CALL_METHOD", "CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL", "CALL_KW"),
    "BRANCH": ("POP_JUMP_",),
    "BACK": ("JUMP_ABSOLUTE", "JUMP_BACKWARD"),
    "GUARD": ("SETUP_FINALLY",),
    "COMPARE": ("COMPARE_OP", "CHECK_EXC_MATCH"),
    "FOR_ITER": ("FOR_ITER",),
    "MAKE_FUNCTION": ("MAKE_FUNCTION",),
    "CAUGHT": ("DUP_TOP", "PUSH_EXC_INFO"),
}
_CHANGES = (
    ("RESUME", "since 3.11; here tracers are told of a call, or of a generator that goes on"),
    ("LOAD_FAST_LOAD_FAST", "3.13 fuses two loads into one instruction"),
    ("INPLACE_ADD", "since 3.11 one BINARY_OP; its number says which operator"),
    ("BINARY_ADD", "since 3.11 one BINARY_OP; its number says which operator"),
    ("BINARY_FLOOR_DIVIDE", "since 3.11 one BINARY_OP; its number says which operator"),
    ("LOAD_METHOD", "since 3.12 in the place of LOAD_METHOD: a bit says that a call follows"),
    ("CALL_METHOD", "since 3.11 one CALL for functions and methods"),
    ("CALL_KW", "keywords: CALL_FUNCTION_KW, then KW_NAMES and CALL, then CALL_KW"),
    ("KW_NAMES", "the keywords' names: a value on the stack, in 3.11 and 3.12 a side note to CALL"),
    ("PRECALL", "3.11 only: takes a bound method apart, so that its self fills the empty place"),
    ("PUSH_NULL", "a call's empty place for self: below the function, since 3.13 above it"),
    ("RETURN_CONST", "3.12 and 3.13: a constant returned at once, where the compiler sees one"),
    ("JUMP_ABSOLUTE", "since 3.11 every jump is relative: JUMP_BACKWARD"),
    ("END_FOR", "since 3.12 closes a for loop; 3.13 pops the iterator after it"),
    ("SETUP_FINALLY", "since 3.11 a table says it; a NOP is left"),
    ("POP_BLOCK", "gone in 3.11 with the block stack"),
    ("CHECK_EXC_MATCH", "3.8 compares exceptions with COMPARE_OP"),
    ("PUSH_EXC_INFO", "3.8 finds three values there: type, value, traceback"),
    ("RERAISE", "since 3.9 re-raising is its own instruction"),
    ("SET_FUNCTION_ATTRIBUTE", "3.13 attaches defaults, closure and the rest one by one"),
    ("COPY", "since 3.11 COPY and SWAP replace DUP_TOP, ROT_TWO, ROT_THREE"),
)


@cache
def stored(version: str) -> dict[str, list]:
    """Return name -> [[line after def, offset, name, argument], …] as dumped on that version."""
    return json.loads((DATA / f"{version}.json").read_text(encoding="utf-8"))["programs"]


def live(name: str) -> list:
    """Return the same for the running interpreter. ValueError for a name that is not stored."""
    rows = bytecode(program(name)).rows
    return [[r.line - 1 if r.line else -1, r.offset, r.opname, r.argument] for r in rows]


def program(name: str):
    """Return the function of this name; ValueError names those that there are."""
    known = {fn.__name__: fn for fn in rosetta_programs.PROGRAMS}
    if type(name) is not str or name not in known:
        there = f"use one of {', '.join(known)}"
        raise ValueError(f"there is no stored bytecode of {short_repr(name)}; {there}")
    return known[name]


def rosetta(name: str = "current") -> Sourced:
    """Set one function's bytecode on Python 3.8, 3.11, 3.12, 3.13 beside the running one's.

    `name`: add, current, shout, total, ordered, guarded or module; ValueError for another.
    """
    source = bytecode(program(name)).source
    sheets = {**{version: stored(version)[name] for version in STORED}, "here": live(name)}
    rows = _aligned({heading: _units(sheet) for heading, sheet in sheets.items()})
    fields = [f"v{heading.replace('.', '_')}" for heading in sheets]
    record = namedtuple("Row", [*fields, "change"])
    headings = [*(f"Python {version}" for version in STORED), f"here: {HERE}"]
    columns = [Column(*pair, code=True) for pair in zip(fields, headings, strict=True)]
    values, marked, notes, said = [], [], [MARKED], set()
    for number, row in enumerate(rows):
        change = _change(row)
        change = "" if change in said else change
        said.add(change)
        values.append(record(*(row.get(heading, "") for heading in sheets), change))
        # Marked are the cells whose instruction is not that of the version before.
        new = [
            column
            for column, (old, new) in enumerate(pairwise(STORED), 1)
            if row.get(new, SAME) != SAME and _name(row, new) != _name(row, old)
        ]
        marked += [(number, column) for column in new]
        if change:
            told = STORED[new[-1]] if new else next(iter(row))
            notes.append(f"{_name(row, told)}: {change}")
    return Sourced(
        f"{name}, compiled by four Pythons and by this one",
        tuple(columns),
        tuple(values),
        source="\n".join(line for line in source.split("\n") if '"""' not in line),
        marked=tuple(marked),
        note="\n".join(notes),
    )


def _name(row: dict[str, str], version: str) -> str:
    return "".join(row.get(version, "").split()[1:2])


def _units(sheet: list) -> list[tuple[tuple, str]]:
    """Return (key, words) per row to align; a fused instruction takes two rows."""
    units = []
    for _, offset, opname, argument in sheet:
        words = f"{offset} {opname} {argument}".rstrip()
        parts = opname.split("_FAST")[:-1]
        if len(parts) == 2:
            names = argument.split(", ")
            units.append((_key(f"{parts[0]}_FAST", names[0]), words))
            units.append((_key(f"{parts[1].strip('_')}_FAST", names[1]), SAME))
        else:
            units.append((_key(opname, argument), words))
    return units


def _key(opname: str, argument: str) -> tuple:
    for family, names in _FAMILIES.items():
        if opname.startswith(names):
            return (family,)
    if opname == "LOAD_GLOBAL":
        argument = argument.removeprefix("NULL + ").removesuffix(" + NULL")
    if opname == "KW_NAMES":
        opname = "LOAD_CONST"
    return (opname, argument)


def _aligned(sheets: dict[str, list]) -> list[dict[str, str]]:
    """Return rows of heading -> words; rows of equal keys meet, in every sheet's own order."""
    rows: list[tuple[tuple, dict]] = []
    for heading, units in sheets.items():
        keys = [key for key, _ in units]
        matcher = SequenceMatcher(None, [key for key, _ in rows], keys, autojunk=False)
        merged = []
        for _, a, b, c, d in matcher.get_opcodes():
            if b - a == d - c and [k for k, _ in rows[a:b]] == keys[c:d]:
                for (key, row), (_, words) in zip(rows[a:b], units[c:d], strict=True):
                    merged.append((key, {**row, heading: words}))
                continue
            merged += rows[a:b] + [(key, {heading: words}) for key, words in units[c:d]]
        rows = merged
    return [row for _, row in rows]


def _change(row: dict[str, str]) -> str:
    names = {words.split()[1] for words in row.values() if words != SAME}
    if "LOAD_METHOD" in row.get("3.8", "") and "LOAD_ATTR" in row.get("3.11", ""):
        return "since 3.11 a name imported at top level is taken for a module: no self to pass"
    if list(row) == ["3.8"] and "LOAD_CONST '" in row["3.8"]:
        return "the function's name; since 3.11 its code object has it (co_qualname)"
    for opname, words in _CHANGES:
        if any(name.startswith(opname) for name in names):
            return words
    cells = list(row.values())
    if any(" bool(" in c for c in cells):
        return "bool(…), in 3.13: the answer is made True or False at once"
    if any("NULL + " in c for c in cells) or any("+ NULL" in c for c in cells):
        return "the call's empty place for self: below the function (3.11, 3.12), above it (3.13)"
    return ""
