"""A code object that ran -> its instructions as rows, with their places in the run's source."""

from types import CodeType

from helpers.capture.cpython import disassembly, stack_effects
from helpers.capture.cpython.bytecode import argument
from helpers.capture.cpython.instruction_words import lane
from helpers.capture.cpython.opcode_recorder import Tables
from helpers.capture.cpython.own_words import own_words
from helpers.capture.text.source import NOWHERE, Pages
from helpers.capture.text.value import plain
from helpers.internals import interpreter_frame
from helpers.mini.versions import JUMPS
from helpers.model.phrase import counted
from helpers.model.stage import Code, Row

MOST_NAMED = 200  # variables of one function that are shown


class CodeRows:
    """What every step of one code object needs, looked up once. `place`: its number in the run."""

    def __init__(self, tables: Tables, pages: Pages, place: int):
        self.tables, self.place, code = tables, place, tables.code
        self.function = plain(code.co_name)
        self.instructions = {i.offset: i for i in disassembly.instructions(code)}
        places = disassembly.positions(code)
        self.lines = {o: pages.line(code, places[o // 2][0]) for o in self.instructions}
        self.handlers = {o: _handler(code, o) for o in self.instructions}
        self.named = _named(code)
        spans = {o: _span(pages, code, places[o // 2]) for o in self.instructions}
        rows = [
            Row(
                o,
                i.opname,
                argument(i, code),
                lane(i.opname),
                spans[o],
                i.argval if i.opcode in JUMPS else -1,
            )
            for o, i in self.instructions.items()
        ]
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


def _span(pages: Pages, code: CodeType, positions) -> tuple[int, int, int, int]:
    source, above = pages.place(code)
    line, column, end, end_column = source.span(positions)
    return (above + line, column, above + end, end_column) if line else NOWHERE


def _named(code: CodeType) -> tuple[str, ...]:
    """Return the names of the first slots; one that inner functions share says so."""
    shared = {*code.co_cellvars, *code.co_freevars}
    names = interpreter_frame.variables(code)[:MOST_NAMED]
    return tuple(f"{n} (cell)" if n in shared else n for n in names)


def _handler(code: CodeType, offset: int) -> str:
    """Say what the exception table does for an exception here; nothing where it has no row."""
    for row in stack_effects.handlers(code):
        if row.start <= offset < row.end:
            values = counted(row.depth, "value")
            return f"go to {row.target}, keep {values}{', push the offset' if row.lasti else ''}"
    return ""
