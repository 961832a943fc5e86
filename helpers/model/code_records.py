"""Records of a code object: its instructions, its exception table, its fields."""

from collections import namedtuple
from dataclasses import dataclass

from .phrase import find_named
from .stage_records import Placed, Span
from .tables import Column, Listing


def columns(code: str, /, **headings: str) -> tuple[Column, ...]:
    """Return a column for each field=heading; `code` names the fields all of which is code."""
    return tuple(Column(name, words, name in code.split()) for name, words in headings.items())


@dataclass(frozen=True)
class Instruction:
    """One instruction: offsets in bytes of `co_code`, -1 for none.

    `data` is hex, `caches` counts entries of two bytes; `argument` is what `arg` means, and
    `running` the name after specialisation. `before`: stack depth before it; `effect`: its change.
    """

    offset: int
    opname: str
    arg: int
    argument: str
    data: str
    caches: int
    line: int
    span: Span
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
    def kept(self) -> str:
        """Return the bytes of an instruction; of a cache entry only whether it is in use."""
        if self.cache_index < 0:
            return self.data[:5]
        return "empty" if set(self.data) <= {"0", " "} else "filled"

    @property
    def words(self) -> str:
        """Return name and argument as one phrase."""
        return f"{self.opname} {self.argument}".rstrip()


# One row of the exception table; `end` is the offset after the last instruction that it guards.
Handler = namedtuple("Handler", "start end target depth lasti")


@dataclass(frozen=True)
class Sourced(Placed, Listing):
    """A listing below its source. `marked`: cells to look at, as (row, column), both from 0."""

    source: str = ""
    places: tuple[str, ...] = ()
    marked: tuple[tuple[int, int], ...] = ()

    def jumps(self) -> tuple[tuple[int, int], ...]:
        """Return (from row, to row) of arrows to draw beside the rows."""
        return ()


@dataclass(frozen=True)
class Bytecode(Sourced):
    """The instructions of one code object; `cut` says which of very many are not listed."""

    handlers: tuple[Handler, ...] = ()
    cut: str = ""

    def jumps(self) -> tuple[tuple[int, int], ...]:
        """Return (from row, to row) of every jump, as positions in `rows`."""
        rows = {row.offset: n for n, row in reversed(list(enumerate(self.rows)))}
        pairs = ((n, rows.get(row.target, -1)) for n, row in enumerate(self.rows))
        return tuple((n, to) for n, to in pairs if to >= 0)


# One attribute of a code object: its value in words, what it is for, who uses it.
Field = namedtuple("Field", "name value meaning used")


@dataclass(frozen=True)
class CodeTree:
    """A code object at rest, and the code objects in its constants; `note`: what is left out."""

    title: str
    name: str
    fields: Listing
    bytecode: Bytecode
    nested: tuple["CodeTree", ...] = ()
    note: str = ""

    def field(self, name: str) -> str:
        """Return the value of one field, as words; KeyError if there is none of this name."""
        return find_named(self.fields.rows, name).value

    def walk(self, depth: int = 0):
        """Yield (depth, tree) for this code object and all inside it, outer ones first."""
        yield depth, self
        for inner in self.nested:
            yield from inner.walk(depth + 1)
