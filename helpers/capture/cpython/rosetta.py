"""Show the bytecode of one function on several versions of Python side by side, in one table.
The bytecode of other versions is stored in a JSON file, which `tools/dump_rosetta.py` makes. In the
file the instructions with the same purpose on different versions are in the same row.
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
# Stored cell of a version in which one instruction does the work of this row and of the row above.
SAME = "(fused with the one above)"
MARKED = "● not the same instruction as in the previous version"
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


class StoredRow(NamedTuple):
    """One row of the stored table."""

    #: The instruction on each version of `STORED`, as text. "" if the version has none here.
    cells: list[str]
    #: The numbers of the columns whose instruction differs from that of the version before.
    changed: list[int]
    #: What has changed, such as "3.12: one instruction for two"; "" for nothing.
    note: str


def list_running_bytecode(name: str) -> Bytecode:
    """Return the bytecode of a function of `rosetta_programs`, as compiled by the running Python.

    Raise ValueError, which lists the names of the functions, if none has this name.
    """
    functions = {fn.__name__: fn for fn in rosetta_programs.PROGRAMS}
    if type(name) is not str or name not in functions:
        raise ValueError(
            f"there is no stored bytecode of {short_repr(name)}; use one of {', '.join(functions)}"
        )
    return list_bytecode(functions[name])


def compare_versions(name: str = "current") -> Sourced:
    """Return a table of one function's bytecode on four stored versions of Python and this one.

    `name` is the name of a function of `rosetta_programs`.
    """
    listing = list_running_bytecode(name)
    # An iterator over the running Python's instructions. The rows below take one after another.
    running_cells = (f"{row.offset} {row.opname} {row.argument}".rstrip() for row in listing.rows)
    fields = [f"v{version.replace('.', '_')}" for version in STORED] + ["vhere"]
    headings = [f"Python {version}" for version in STORED] + [f"here: {HERE}"]

    rows = []
    marked = []
    notes = [MARKED]
    stored_rows = json.loads(DATA.read_text("utf-8"))[name]
    for number, stored in enumerate(StoredRow(*row) for row in stored_rows):
        # The running Python has an instruction in the same rows as the same version in the file.
        stored_cell = stored.cells[STORED.index(HERE)]
        has_instruction = stored_cell not in ("", SAME)
        running_cell = next(running_cells) if has_instruction else stored_cell
        _, _, change = stored.note.partition(": ")  # without the version
        rows.append(make_row((*fields, "change"), (*stored.cells, running_cell, change)))
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
