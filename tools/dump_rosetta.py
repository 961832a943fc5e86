"""Write the bytecode of the rosetta's functions on several Pythons, and the table that aligns it.

    python3.8 tools/dump_rosetta.py      and the same with 3.11, 3.12, 3.13: one dump each
    python tools/dump_rosetta.py table   aligns the dumps by meaning, for helpers/capture/cpython

Only the standard library is used, so that a bare interpreter can run it.
"""

from __future__ import annotations  # as 3.8 cannot read them

import dis
import importlib.util
import json
import sys
from difflib import SequenceMatcher
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOUSE = HERE.parent / "helpers" / "capture" / "cpython"
DUMPS, TABLE = HERE / "rosetta_dumps", HOUSE / "rosetta_data" / "aligned.json"
STORED = ("3.8", "3.11", "3.12", "3.13")
SAME = "(fused with the one above)"

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
    (
        "RESUME",
        "since 3.11; CPython calls a tracer here when a call starts or a generator continues",
    ),
    ("LOAD_FAST_LOAD_FAST", "3.13 fuses two loads into one instruction"),
    ("INPLACE_ADD", "since 3.11 one BINARY_OP; its number says which operator"),
    ("BINARY_ADD", "since 3.11 one BINARY_OP; its number says which operator"),
    ("BINARY_FLOOR_DIVIDE", "since 3.11 one BINARY_OP; its number says which operator"),
    ("LOAD_METHOD", "since 3.12 in the place of LOAD_METHOD: a bit says that a call follows"),
    ("CALL_METHOD", "since 3.11 one CALL for functions and methods"),
    ("CALL_KW", "keywords: CALL_FUNCTION_KW, then KW_NAMES and CALL, then CALL_KW"),
    ("KW_NAMES", "the keywords' names: a value on the stack, in 3.11 and 3.12 a side note to CALL"),
    ("PRECALL", "3.11 only: splits a bound method, so that its self fills the empty place"),
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


def programs():
    """Load the functions by path, without the house around them."""
    spec = importlib.util.spec_from_file_location("programs", str(HOUSE / "rosetta_programs.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAMS


def argument(i, consts):
    """Return what an instruction's number stands for, in the words of helpers/capture."""
    if i.arg is None:
        return ""
    if i.opcode in dis.hasconst:
        value = consts[i.arg]
        return "code of " + value.co_name if hasattr(value, "co_name") else repr(value)
    if i.opcode in dis.hasjrel or i.opcode in dis.hasjabs:
        return f"to {i.argval}"
    if i.argrepr:
        return i.argrepr
    return "" if i.opname in ("RESUME", "PRECALL", "CACHE") else str(i.arg)


def rows(fn):
    """Return [offset, name, argument] per instruction."""
    consts = fn.__code__.co_consts
    return [[i.offset, i.opname, argument(i, consts)] for i in dis.get_instructions(fn)]


def dump():
    """Write what this interpreter compiles the functions to."""
    version = "{}.{}".format(*sys.version_info[:2])
    write(DUMPS / f"{version}.json", {fn.__name__: rows(fn) for fn in programs()})


def write(target, tables):
    """Write name -> rows, a row a line."""
    body = ",\n".join(
        "  {}: [\n    {}\n  ]".format(json.dumps(name), ",\n    ".join(map(dumped, listing)))
        for name, listing in tables.items()
    )
    target.write_text(f"{{\n{body}\n}}\n", encoding="utf-8")


def dumped(row):
    """Return a row as JSON."""
    return json.dumps(row, ensure_ascii=False)


def table(name, dumps):
    """Return [words for each version, where another instruction begins, note] per row."""
    found, said = [], set()
    for row in _aligned({version: _units(dumps[version][name]) for version in STORED}):
        change = _change(row)
        change = "" if change in said else change
        said.add(change)
        pairs = zip(STORED[1:], STORED, strict=False)
        moved = [row.get(v, SAME) != SAME and _name(row, v) != _name(row, w) for v, w in pairs]
        new = [column for column, is_new in enumerate(moved, 1) if is_new]
        told = STORED[new[-1]] if new else next(iter(row))
        note = f"{_name(row, told)}: {change}" if change else ""
        found.append([[row.get(version, "") for version in STORED], new, note])
    return found


def _name(row: dict[str, str], version: str) -> str:
    return "".join(row.get(version, "").split()[1:2])


def _units(sheet: list) -> list[tuple[tuple, str]]:
    """Return (key, words) per row to align; a fused instruction takes two rows."""
    units = []
    for offset, opname, argument in sheet:
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
        return "since 3.11 a name imported at top level is treated as a module: no self to pass"
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


if __name__ == "__main__":
    if sys.argv[1:] == ["table"]:
        read = {v: json.loads((DUMPS / f"{v}.json").read_text(encoding="utf-8")) for v in STORED}
        write(TABLE, {name: table(name, read) for name in read[STORED[0]]})
    else:
        dump()
