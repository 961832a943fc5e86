"""Code objects of one run -> one text with the sources of all of them, one below the other.

An exhibit shows this text, and marks a line of it at each step of the run.
"""

from types import CodeType

from ...model.stage_records import BETWEEN
from .source import Source, find_source


class SourcePages:
    """The sources of several functions in one text.

    A function that is defined inside another one has no source of its own here: its lines are part
    of the outer function's source.
    """

    def __init__(self):
        """Start without sources. `place` adds the source of a code object at its first use."""
        # id of a code object -> (the code object, its source, how many lines of `text` are above
        # the source). Ids, because the hash of a code object may run `__hash__` of its constants.
        self._places_by_code: dict[int, tuple[CodeType, Source, int]] = {}
        self._texts: list[str] = []
        # The place of each line of `text`, as "path.py:1207", or "" for a line of a cell.
        self.places: list[str] = []

    def line(self, code: CodeType, lineno: int | None) -> int:
        """Return which line of `text`, from 1, shows line `lineno` of the code's file.

        Return 0 if none does. `lineno` is None for an instruction without a line.
        """
        source, lines_above = self.place(code)
        line = source.line(lineno)
        return lines_above + line if line else 0

    def place(self, code: CodeType) -> tuple[Source, int]:
        """Return (source, number of lines of `text` above it) for a code object.

        The source is added to the text if it is not part of a source that is there already.
        """
        if id(code) not in self._places_by_code:
            source, lines_above = self._find_outer_source(code) or self._add(code)
            self._places_by_code[id(code)] = code, source, lines_above
        _, source, lines_above = self._places_by_code[id(code)]
        return source, lines_above

    def _find_outer_source(self, code: CodeType) -> tuple[Source, int] | None:
        """Return (source, number of lines above it) of a source in the text that contains the code.

        Return None if the code is in none of them.
        """
        for other, source, lines_above in self._places_by_code.values():
            if other.co_filename == code.co_filename and source.line(code.co_firstlineno):
                return source, lines_above
        return None

    def _add(self, code: CodeType) -> tuple[Source, int]:
        """Add the source of a code object; return (source, number of lines of `text` above it)."""
        # A source of n lines has n - 1 line feeds, and one empty line follows it.
        lines_above = sum(text.count("\n") + 2 for text in self._texts)
        source = find_source(code).folded()
        if source.text:
            self._texts.append(source.text)
            if self.places:  # not the first source, so an empty line is above it
                self.places.append(BETWEEN)
            self.places += source.places or [""] * len(source.lines)
        return source, lines_above

    @property
    def text(self) -> str:
        """All sources so far, with an empty line between two of them."""
        return "\n\n".join(self._texts)

    def number(self, line: int) -> str:
        """Return the number that a reader sees for a line of `text`.

        It is the number in the file, or the number in `text` if the line is of a cell. Return ""
        for line 0, which stands for no line.
        """
        place = "".join(self.places[line - 1 : line])  # "" if there is no such line
        _, _, number_in_file = place.rpartition(":")
        return number_in_file or str(line or "")
