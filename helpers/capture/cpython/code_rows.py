"""A code object that ran -> its instructions as rows, with their places in the run's source."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.instruction_words import lane
from helpers.capture.text.source import Pages
from helpers.capture.text.value import plain
from helpers.model.stage import NOWHERE, Code, Row

MOST_NAMED = 200  # variables of one function that are shown
WRITTEN = ("break", "continue")  # jumps that somebody wrote
RETURNS = ("RETURN_VALUE", "RETURN_CONST")


class CodeRows:
    """What every step of one code object needs, looked up once. `place`: its number in the run.

    `tables` tells of a code object: `listing()` gives the offset of each instruction, its name, its
    argument in words, the offset that it jumps to, and the offset of its place in the source.
    """

    def __init__(self, tables, pages: Pages, place: int):
        self.tables, self.place, code = tables, place, tables.code
        self.function, self.named = plain(code.co_name), tables.named()[:MOST_NAMED]
        places, handlers = disassembly.positions(code), tables.handlers()
        source, above = pages.place(code)
        rows, self.lines, self.handlers = [], {}, {}
        for offset, opname, argument, target, written in tables.listing():
            position = places[written // 2]
            line, column, end, end_column = source.span(position)
            span = (above + line, column, above + end, end_column) if line else NOWHERE
            rows.append(Row(offset, opname, argument, lane(opname), span, target))
            self.lines[offset] = pages.line(code, position[0])
            self.handlers[offset] = disassembly.handler_words(handlers, offset)
        if not self.function.startswith("<"):  # a lambda and the like are no statements
            rows = own_words(rows, pages.snippet(code))
        self.rows = {row.offset: row for row in rows}

    def listed(self) -> Code:
        """Return the rows as a record."""
        depth = self.tables.code.co_stacksize
        return Code(self.function, tuple(self.rows.values()), self.named, depth)

    def origin(self, offset: int) -> str:
        """Say which instruction put a value there."""
        if offset < 0:
            return "put there by the interpreter"
        row = self.rows[offset]
        return f"from {offset} {row.opname} {row.argument}".rstrip()


def own_words(rows: Iterable[Row], snippet: Callable[[tuple], str]) -> list[Row]:
    """Return the rows of a function, without the places that they only borrow.

    The compiler gives every instruction a place. One that goes back to a loop's head, or returns
    None at the end of a function, has no words of its own; it bears those of what ran before it.
    `snippet`: the text of a place.
    """
    rows = list(rows)
    borrowed = set()
    for at, row in enumerate(rows):
        before = rows[at - 1] if at else None
        words = snippet(row.span)
        goes_on = row.opname.startswith("JUMP") and "_IF_" not in row.opname
        if goes_on and before and row.span == before.span and words not in WRITTEN:
            borrowed.add(at)
        if row.opname in RETURNS and _is_unwritten(row, before, words):
            borrowed |= {at} if row.argument else {at - 1, at}
    return [replace(row, span=NOWHERE) if at in borrowed else row for at, row in enumerate(rows)]


def _is_unwritten(row: Row, before: Row | None, words: str) -> bool:
    """Tell whether nobody wrote this return: it gives None, and stands at a statement."""
    if words.partition(" ")[0] in ("return", "None", ""):
        return False
    if row.opname == "RETURN_CONST":
        return row.argument == "None"
    gave = before is not None and (before.opname, before.argument) == ("LOAD_CONST", "None")
    return gave and before.span == row.span
