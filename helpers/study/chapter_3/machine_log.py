"""A learner's machine and a program -> a table of what lay on its stack before each instruction."""

from dataclasses import dataclass

from helpers.model.listing import Column, Listing
from helpers.study.chapter_3.compare_runs import Trail, watched
from helpers.study.chapter_3.run_words import called

MOST = 40  # rows
COLUMNS = (
    Column("function", "in"),
    Column("offset", "offset"),
    Column("opname", "about to run", code=True),
    Column("stack", "your stack (top at the right)", code=True),
)


@dataclass(frozen=True)
class Row:
    """The machine before one instruction."""

    function: str
    offset: int
    opname: str
    stack: str


def machine_log(machine: type, program, *args) -> Listing:
    """Run `program(*args)` on the machine and return what it did. What it raises is raised."""
    trail, machine = Trail(), watched(machine)
    machine.begin(trail, program.__globals__)
    machine().run(program, *args)
    rows = [
        Row(place.function, place.offset, place.opname, f"[{', '.join(place.stack)}]")
        for place in trail.places
    ]
    rest = f"{len(rows) - MOST} more instructions ran." if len(rows) > MOST else ""
    title = f"What your machine did in {called(program, args)}"
    return Listing(title, COLUMNS, tuple(rows[:MOST]), rest)
