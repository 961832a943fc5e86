"""The fields of a code object, the code objects inside it, and its bytes."""

from dataclasses import dataclass

from helpers.model.bytecode import Bytecode
from helpers.model.listing import Listing


@dataclass(frozen=True)
class Field:
    """One attribute of a code object: its value in words, what it is for, who uses it."""

    name: str
    value: str
    meaning: str
    used: str


@dataclass(frozen=True)
class CodeTree:
    """A code object at rest: `fields`, `bytecode`, and the code objects among its constants.

    `note` says what was left out of these, if anything was.
    """

    title: str
    name: str
    fields: Listing
    bytecode: Bytecode
    nested: tuple["CodeTree", ...] = ()
    note: str = ""

    def field(self, name: str) -> str:
        """Return the value of one field, as words; KeyError if there is none of this name."""
        for row in self.fields.rows:
            if row.name == name:
                return row.value
        raise KeyError(name)

    def walk(self, depth: int = 0):
        """Yield (depth, tree) for this code object and all inside it, outer ones first."""
        yield depth, self
        for inner in self.nested:
            yield from inner.walk(depth + 1)
