"""Look up, for one code object, what each step of a recorded run shows of an instruction.
A *step* is one instruction that ran. It shows the row of the instruction in the listing, its line
of the source, and the handler to which an exception would go.
"""

from ...model.code_records import Handler
from ...model.stack_records import Row
from ...model.stage_records import NOWHERE
from ..text.source_pages import SourcePages
from ..text.value import format_text
from .disassembly import describe_handler
from .instruction_sentences import find_lane


class CodeRows:
    """Rows, lines and handlers of the instructions of one code object, looked up once.

    Parameters
    ----------
    tables : CodeTables or MachineTables
        The code object's instructions, variable names and exception handlers.
    pages : SourcePages
        The sources of all code objects that ran, one below the other. This code object's source is
        added.
    number : int
        The position of the code object among those that ran, from 0.
    """

    def __init__(self, tables, pages: SourcePages, number: int):
        """Look up the row, the line and the handler of each instruction."""
        #: A `CodeTables` or a `MachineTables`: instructions, variable names, exception handlers.
        self.tables = tables
        #: The position of the code object among those that ran, from 0.
        self.number = number
        self.function = format_text(tables.code.co_name)
        #: The names of the frame's variables, in the order of their slots.
        self.labels = tables.labels
        #: Offset of an instruction -> its row of the listing.
        self.rows: dict[int, Row] = {}
        #: Offset of an instruction -> its line in the text of `pages`, 0 for none.
        self.lines: dict[int, int] = {}
        #: Offset of an instruction -> where the exception table sends an exception, "" for nowhere.
        self.handlers: dict[int, str] = {}
        self._add_instructions(pages)

    def _add_instructions(self, pages: SourcePages) -> None:
        """Add a row, a line and a handler for each instruction of the listing."""
        code = self.tables.code
        positions = list(code.co_positions())
        # `lines_above`: how many lines of other sources are above this one in the text of `pages`.
        source, lines_above = pages.place(code)
        for entry in self.tables.listing:
            position = positions[entry.code_offset // 2]  # there is one for every two bytes
            line, column, end_line, end_column = source.span(position)
            span = NOWHERE  # four zeros
            if line:  # not 0: the compiler gave this instruction a place in the source
                span = (lines_above + line, column, lines_above + end_line, end_column)
            self.rows[entry.offset] = Row(
                offset=entry.offset,
                opname=entry.opname,
                argument=entry.argument,
                lane=find_lane(entry.opname),  # load, store, operate, call or jump
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
