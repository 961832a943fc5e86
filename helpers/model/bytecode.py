"""Instructions of one code object -> a listing with jumps, places in the source, stack depths."""

from dataclasses import dataclass

from helpers.model.listing import Listing


@dataclass(frozen=True)
class Instruction:
    """One instruction. Offsets and sizes are bytes of `co_code`; -1 stands for none.

    `data`: its bytes in hex, `caches` of them (two bytes each) as inline cache. `argument`: what
    the number `arg` stands for. `line`, `span` and `snippet`: its place in `source`; (line, column,
    end line, end column), all 0 for none. `before` and `effect`: stack depth before it, and how it
    changes (`+1`, or `+1, or -1 if it jumps`). `target`: where it may jump. `entry` says what kind
    of place jumps lead to it from. `running`: the name after specialisation.
    """

    offset: int
    opname: str
    arg: int
    argument: str
    data: str
    caches: int
    line: int
    span: tuple[int, int, int, int]
    snippet: str
    before: int
    effect: str
    target: int = -1
    running: str = ""
    cache_index: int = -1

    @property
    def where(self) -> str:
        """Return the line as text, nothing where the compiler gave none."""
        return str(self.line) if self.line else ""

    @property
    def depth(self) -> str:
        """Return the depth before as text, nothing where no path leads here."""
        return str(self.before) if self.before >= 0 else ""

    @property
    def place(self) -> str:
        """Return the offset as text."""
        return str(self.offset)

    @property
    def kept(self) -> str:
        """Return the bytes of an instruction; of a cache entry only whether it is in use.

        What a cache holds are counters and version numbers of this process.
        """
        if self.cache_index < 0:
            return self.data[:5]
        return "empty" if set(self.data) <= {"0", " "} else "filled"

    @property
    def words(self) -> str:
        """Return name and argument as one phrase."""
        return f"{self.opname} {self.argument}".rstrip()


@dataclass(frozen=True)
class Handler:
    """One row of the exception table; `end` is the offset after the last one it guards."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True)
class Sourced(Listing):
    """A listing that stands below the source that it is about.

    `marked`: the cells to look at, as (row, column), both from 0.
    """

    source: str = ""
    marked: tuple[tuple[int, int], ...] = ()

    def jumps(self) -> tuple[tuple[int, int], ...]:
        """Return (from row, to row) of arrows to draw beside the rows."""
        return ()


@dataclass(frozen=True)
class Bytecode(Sourced):
    """The instructions of one code object over its source, with its exception table.

    `cut` says which of very many instructions are not listed.
    """

    handlers: tuple[Handler, ...] = ()
    version: str = ""
    cut: str = ""

    def at(self, offset: int) -> Instruction:
        """Return the instruction at this offset; KeyError if none begins there."""
        for row in self.rows:
            if row.offset == offset and row.cache_index < 0:
                return row
        raise KeyError(offset)

    def jumps(self) -> tuple[tuple[int, int], ...]:
        """Return (from row, to row) of every jump, as positions in `rows`."""
        rows = {row.offset: n for n, row in reversed(list(enumerate(self.rows)))}
        pairs = ((n, rows.get(row.target, -1)) for n, row in enumerate(self.rows))
        return tuple((n, to) for n, to in pairs if to >= 0)

    def covering(self, line: int, column: int) -> tuple[int, ...]:
        """Return the offsets whose span covers a place of the source, the narrowest first."""
        spans = [(row.span, row.offset) for row in self.rows if row.line and row.cache_index < 0]
        hits = [s for s in spans if s[0][:2] <= (line, column) < s[0][2:]]
        return tuple(offset for _, offset in sorted(hits, key=_width))


def _width(hit) -> tuple[int, int, int]:
    (line, column, end, end_column), offset = hit
    return end - line, end_column - column, offset
