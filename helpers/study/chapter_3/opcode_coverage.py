"""Steps of a machine -> how many of the standard library's functions their opcodes can express."""

import inspect
import math
import opcode
import os
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

from helpers.capture.text.value import brief
from helpers.exhibit import Exhibit
from helpers.mini import vm
from helpers.model.listing import Column, Listing
from helpers.view.table_view import table

WIDTH = 20
PARTS, EMPTY = "▏▎▍▌▋▊▉█", "·"  # of one character of a bar: eighths


@dataclass(frozen=True)
class Reach:
    """After one step: its opcodes, all so far, functions that need no other, share in percent."""

    step: str
    opcodes: str
    so_far: int
    functions: int
    share: str
    bar: str


def show_opcode_coverage(*steps: type) -> Exhibit:
    """Show, step by step, the share of the library's functions whose every opcode has a handler.

    A step is a class with methods that are named for opcodes; a stub counts as no handler. The
    library is the one of the running Python: its top-level modules, read from their files.
    TypeError for a step that is no class.
    """
    for step in steps:
        if not isinstance(step, type):
            raise TypeError(f"show_opcode_coverage needs classes of handlers, not {brief(step)}")
    known, rows, functions = set(), [], needs()
    total = sum(functions.values())
    for step in steps:
        own = vm.written(step)
        known |= own
        able = sum(count for needed, count in functions.items() if needed <= known)
        rows.append(_reach(step, own, known, able, total))
    columns = (
        Column("step", "step", code=True),
        Column("opcodes", "its opcodes"),
        Column("so_far", "opcodes so far"),
        Column("share", "share"),
        Column("bar", "of the functions", code=True),
    )
    title = f"What the machine can express of {total} functions in the standard library"
    return Exhibit(Listing(title, columns, tuple(rows), _most_wanted(known, functions)), table)


def _reach(step, own, known, able, total):
    full, part = divmod(math.ceil(WIDTH * len(PARTS) * able / total), len(PARTS))
    bar = (PARTS[-1] * full + (PARTS[part - 1] if part else "")).ljust(WIDTH, EMPTY)
    return Reach(step.__name__, str(len(own)), len(known), able, f"{100 * able / total:.1f} %", bar)


def _most_wanted(known, functions) -> str:
    """Say which missing opcode would let most further functions through."""
    lacking = Counter()
    for needed, count in functions.items():
        if len(needed - known) == 1:
            lacking[min(needed - known)] += count
    if not lacking:
        return ""
    name, count = min(lacking.items(), key=lambda item: (-item[1], item[0]))
    return f"The one handler that would help most is {name}: {count} functions lack nothing else."


@cache
def needs() -> Counter:
    """Return how many functions of the library need which set of plain instructions."""
    found = Counter()
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        for code in _functions(SourceFileLoader(path.stem, str(path)).get_code(path.stem)):
            found[_plain_set(code)] += 1
    return found


def _functions(code: CodeType):
    if code.co_flags & inspect.CO_OPTIMIZED:
        yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _functions(constant)


def _plain_set(code) -> frozenset[str]:
    used = {opcode.opname[byte] for byte in code.co_code[::2]}
    return frozenset(plain for name in used for plain in vm.plain_names(name))
