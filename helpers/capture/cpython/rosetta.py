"""Stored bytecode of several Pythons, aligned by meaning, and the running one's -> one table.

The table is data: `tools/dump_rosetta.py` makes it.
"""

import json
import sys
from pathlib import Path

from ...model.code_records import Bytecode, Sourced
from ...model.tables import Column, make_row
from ..text.value import short_repr
from . import rosetta_programs
from .bytecode import bytecode

DATA = Path(__file__).with_name("rosetta_data") / "aligned.json"
STORED = ("3.8", "3.11", "3.12", "3.13")
SAME = "(fused with the one above)"
MARKED = "● not the same instruction as in the previous version"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


def live(name: str) -> Bytecode:
    """List the function of this name as compiled here; ValueError names those that there are."""
    known = {fn.__name__: fn for fn in rosetta_programs.PROGRAMS}
    if type(name) is not str or name not in known:
        there = f"use one of {', '.join(known)}"
        raise ValueError(f"there is no stored bytecode of {short_repr(name)}; {there}")
    return bytecode(known[name])


def rosetta(name: str = "current") -> Sourced:
    """Compare one function's bytecode on Python 3.8, 3.11, 3.12, 3.13 and the running Python."""
    here = live(name)
    own = (f"{row.offset} {row.opname} {row.argument}".rstrip() for row in here.rows)
    fields = (*(f"v{version.replace('.', '_')}" for version in STORED), "vhere")
    headings = [*(f"Python {version}" for version in STORED), f"here: {HERE}"]
    values, marked, notes = [], [], [MARKED]
    for number, (cells, new, note) in enumerate(json.loads(DATA.read_text("utf-8"))[name]):
        cell = cells[STORED.index(HERE)]
        mine = next(own) if cell not in ("", SAME) else cell
        values.append(make_row((*fields, "change"), (*cells, mine, note.partition(": ")[2])))
        # Marked are the cells whose instruction is not that of the version before.
        marked += [(number, column) for column in new]
        notes += filter(None, [note])
    return Sourced(
        f"{name}, compiled by four Pythons and by this one",
        tuple(Column(*pair, code=True) for pair in zip(fields, headings, strict=True)),
        tuple(values),
        source="\n".join(line for line in here.source.split("\n") if '"""' not in line),
        marked=tuple(marked),
        note="\n".join(notes),
    )
