"""Stored bytecode of several Pythons, aligned by meaning, and the running one's -> one table.

The table is data: `tools/dump_rosetta.py` makes it.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

from ...model.code_records import Bytecode, Sourced
from ...model.tables import Column, make_row
from ..text.value import short_repr
from . import rosetta_programs
from .bytecode import list_bytecode

DATA = Path(__file__).with_name("rosetta_data") / "aligned.json"
STORED = ("3.8", "3.11", "3.12", "3.13")
SAME = "(fused with the one above)"
MARKED = "● not the same instruction as in the previous version"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


class StoredRow(NamedTuple):
    """One row of the stored table."""

    #: The instruction on each version of `STORED`, as text; "" for none.
    cells: list[str]
    #: The columns whose instruction is not that of the version before.
    changed: list[int]
    #: What has changed, as `3.12: words`; "" for nothing.
    note: str


def list_running_bytecode(name: str) -> Bytecode:
    """List the function of this name as compiled here; ValueError names those that there are."""
    functions = {fn.__name__: fn for fn in rosetta_programs.PROGRAMS}
    if type(name) is not str or name not in functions:
        raise ValueError(
            f"there is no stored bytecode of {short_repr(name)}; use one of {', '.join(functions)}"
        )
    return list_bytecode(functions[name])


def compare_versions(name: str = "current") -> Sourced:
    """Compare one function's bytecode on Python 3.8, 3.11, 3.12, 3.13 and the running Python."""
    listing = list_running_bytecode(name)
    # An iterator: each row below that has an instruction takes the next one.
    instructions = (f"{row.offset} {row.opname} {row.argument}".rstrip() for row in listing.rows)
    fields = [f"v{version.replace('.', '_')}" for version in STORED] + ["vhere"]
    headings = [f"Python {version}" for version in STORED] + [f"here: {HERE}"]

    rows = []
    marked = []
    notes = [MARKED]
    stored_rows = json.loads(DATA.read_text("utf-8"))[name]
    for number, stored in enumerate(StoredRow(*row) for row in stored_rows):
        # The running Python has an instruction in each row in which its stored version has one.
        stored_cell = stored.cells[STORED.index(HERE)]
        own_cell = stored_cell if stored_cell in ("", SAME) else next(instructions)
        _, _, change = stored.note.partition(": ")
        rows.append(make_row((*fields, "change"), (*stored.cells, own_cell, change)))
        marked += [(number, column) for column in stored.changed]
        if stored.note:
            notes.append(stored.note)

    columns = [
        Column(field, heading, code=True) for field, heading in zip(fields, headings, strict=True)
    ]
    source_lines = listing.source.split("\n")
    without_docstring = [line for line in source_lines if '"""' not in line]
    return Sourced(
        title=f"{name}, compiled by four Pythons and by this one",
        columns=tuple(columns),
        rows=tuple(rows),
        source="\n".join(without_docstring),
        marked=tuple(marked),
        note="\n".join(notes),
    )
