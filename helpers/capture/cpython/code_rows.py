"""The tables of one code object -> the rows and source lines that every step of it needs."""

from ...model.code_records import Handler
from ...model.stack_records import Row
from ...model.stage_records import NOWHERE
from ..text.source_pages import SourcePages
from ..text.value import format_text
from .disassembly import describe_handler
from .instruction_sentences import find_lane


class CodeRows:
    """What every step of one code object needs, looked up once.

    Parameters
    ----------
    tables : CodeTables or MachineTables
        What the recorder knew of the code object.
    pages : SourcePages
        The sources of the run, to which this code object's source is added.
    number : int
        The place of the code object among those of the run, from 0.
    """

    def __init__(self, tables, pages: SourcePages, number: int):
        """Look up rows, lines and handlers of all instructions."""
        self.tables = tables
        self.number = number
        self.function = format_text(tables.code.co_name)
        self.labels = tables.labels
        #: Offset -> the row of the listing.
        self.rows: dict[int, Row] = {}
        #: Offset -> the line in the text of `pages`, 0 for none.
        self.lines: dict[int, int] = {}
        #: Offset -> what the exception table does there, "" for nothing.
        self.handlers: dict[int, str] = {}
        self._add_instructions(pages)

    def _add_instructions(self, pages: SourcePages) -> None:
        """Add a row, a line and a handler for each instruction of the listing.

        `pages` shows the sources of all code objects one below the other. So the lines of a span
        are moved down by the lines above this source.
        """
        code = self.tables.code
        positions = list(code.co_positions())
        source, lines_above = pages.place(code)
        for entry in self.tables.listing:
            position = positions[entry.code_offset // 2]  # one for every two bytes
            line, column, end_line, end_column = source.span(position)
            span = NOWHERE
            if line:
                span = (lines_above + line, column, lines_above + end_line, end_column)
            self.rows[entry.offset] = Row(
                offset=entry.offset,
                opname=entry.opname,
                argument=entry.argument,
                lane=find_lane(entry.opname),
                span=span,
                target=entry.target,
            )
            self.lines[entry.offset] = pages.line(code, position[0])
            handler = self._find_handler(entry.offset)
            self.handlers[entry.offset] = describe_handler(handler) if handler else ""

    def _find_handler(self, offset: int) -> Handler | None:
        """Return the first row of the exception table that covers an offset, or None."""
        for handler in self.tables.handlers:
            if handler.start <= offset < handler.end:
                return handler
        return None
