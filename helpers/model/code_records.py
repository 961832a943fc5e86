"""Records of a code object: its instructions, its exception table, its fields."""

from collections.abc import Iterator
from dataclasses import dataclass

from .phrase import find_named
from .stage_records import Placed, Span
from .tables import Column, Listing


def build_columns(code: str, /, **headings: str) -> tuple[Column, ...]:
    """Return a Column for each keyword argument `field="heading"`, in the same order.

    `code` lists the fields whose cells are code as a whole, with spaces between them, as in
    `build_columns("source name", source="source", name="name", note="what it is")`.
    """
    code_fields = code.split()
    return tuple(
        Column(field, heading, code=field in code_fields) for field, heading in headings.items()
    )


@dataclass(frozen=True)
class Instruction:
    """One instruction of a code object, or one of its inline cache entries.

    Attributes
    ----------
    offset : int
        Where the instruction begins in `co_code`, in bytes.
    opname : str
        The name of the instruction as compiled.
    arg : int
        The argument as a number, -1 if the instruction takes none.
    argument : str
        What the number in `arg` means, such as a name or a constant.
    data : str
        The bytes of the instruction in hexadecimal digits.
    caches : int
        The number of cache entries after the instruction. Each entry has two bytes.
    line : int
        The line of the source, 0 if the compiler gave none.
    span : Span
        The text of the source for which the instruction was compiled.
    snippet : str
        That text itself.
    before : int
        The depth of the value stack before the instruction, -1 if no path leads to it.
    effect : str
        By how much the instruction changes that depth.
    target : int
        The offset to which the instruction may jump, -1 if it never jumps.
    running : str
        The name after specialisation, "" if that was not asked for.
    cache_index : int
        The position of this entry among the caches of its instruction, -1 for an instruction.
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
        """Return the line as text, "" if the compiler gave none."""
        return str(self.line) if self.line else ""

    @property
    def depth(self) -> str:
        """Return the depth before the instruction as text, "" if no path leads to it."""
        return str(self.before) if self.before >= 0 else ""

    @property
    def kept(self) -> str:
        """Return what is stored in memory: the two bytes of an instruction, such as `97 00`.

        For a cache entry, return "empty" if all its bytes are 0, otherwise "filled".
        """
        if self.cache_index < 0:  # an instruction; its caches have rows of their own
            return self.data[:5]
        return "empty" if set(self.data) <= {"0", " "} else "filled"

    @property
    def words(self) -> str:
        """Return name and argument as one phrase, such as `LOAD_FAST x`."""
        return f"{self.opname} {self.argument}".rstrip()


@dataclass(frozen=True, slots=True)
class Handler:
    """One row of an exception table, which says where to go on after an error.

    Attributes
    ----------
    start : int
        The offset of the first instruction that the row guards.
    end : int
        The offset after the last instruction that the row guards.
    target : int
        The offset of the handler's first instruction.
    depth : int
        The number of values that stay on the stack when the handler begins.
    lasti : bool
        Whether CPython also pushes the offset of the instruction that raised.
    """

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True)
class Sourced(Placed, Listing):
    """A listing that is shown below its source.

    Attributes
    ----------
    source : str
        The text that stands above the rows.
    places : tuple of str
        Where each line of the source is, such as `path.py:1207`. It is "" for a line of a cell.
    marked : tuple of (int, int)
        The row and the column of each cell to look at. Both count from 0.
    """

    source: str = ""
    places: tuple[str, ...] = ()
    marked: tuple[tuple[int, int], ...] = ()

    def jumps(self) -> tuple[tuple[int, int], ...]:
        """Return (from row, to row) of each arrow to draw beside the rows; none in this class."""
        return ()


@dataclass(frozen=True)
class Bytecode(Sourced):
    """The instructions of one code object.

    Attributes
    ----------
    handlers : tuple of Handler
        The exception table.
    cut : str
        Which instructions are not listed, as a sentence. It is "" if all of them are.
    """

    handlers: tuple[Handler, ...] = ()
    cut: str = ""

    def jumps(self) -> tuple[tuple[int, int], ...]:
        """Return (from row, to row), two positions in `rows`, of each jump with a listed target."""
        positions_by_offset: dict[int, int] = {}
        for position, row in enumerate(self.rows):
            # Several rows may have one offset. Then a jump leads to the first of them.
            positions_by_offset.setdefault(row.offset, position)

        jumps = []
        for position, row in enumerate(self.rows):
            if row.target in positions_by_offset:
                jumps.append((position, positions_by_offset[row.target]))
        return tuple(jumps)


@dataclass(frozen=True, slots=True)
class Field:
    """One attribute of a code object.

    Attributes
    ----------
    name : str
        The name of the attribute, such as `co_consts`.
    value : str
        Its value, in words.
    meaning : str
        What the attribute is for.
    used : str
        Who uses the attribute.
    """

    name: str
    value: str
    meaning: str
    used: str


@dataclass(frozen=True)
class CodeTree:
    """A code object at rest, with the code objects in its constants.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    name : str
        The name of the code object.
    fields : Listing
        Its attributes, one `Field` in a row.
    bytecode : Bytecode
        Its instructions.
    nested : tuple of CodeTree
        The code objects in its constants.
    note : str
        What is left out, as a sentence.
    """

    title: str
    name: str
    fields: Listing
    bytecode: Bytecode
    nested: tuple["CodeTree", ...] = ()
    note: str = ""

    def field(self, name: str) -> str:
        """Return the value of one field, in words; KeyError if no field has this name."""
        return find_named(self.fields.rows, name).value

    def walk(self, depth: int = 0) -> Iterator[tuple[int, "CodeTree"]]:
        """Yield (depth, tree) for this code object and all nested ones, outer ones first.

        The depth of this code object is `depth`, and that of the code objects in it is one more.
        """
        yield depth, self
        for inner in self.nested:
            yield from inner.walk(depth + 1)
