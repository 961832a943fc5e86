"""Code objects of one run -> the sources of them all as one text."""

from types import CodeType

from ...model.stage_records import BETWEEN
from .source import Source, find_source


class SourcePages:
    """Sources of several functions, one below the other; an inner function has its outer's."""

    def __init__(self):
        """Start without sources; `place` adds each when it is first asked for."""
        # By id, because a code's hash asks its constants: the code, its source, lines above it.
        self._places_by_code: dict[int, tuple[CodeType, Source, int]] = {}
        self._texts: list[str] = []
        self.places: list[str] = []  # of each line of `text`, as `path.py:1207`; "" of a cell's

    def line(self, code: CodeType, lineno: int | None) -> int:
        """Return the 1-based line of `text` that shows line `lineno` of the code's file; 0 if none.

        `lineno` may be None, as it is for an instruction without a line.
        """
        source, lines_above = self.place(code)
        line = source.line(lineno)
        return lines_above + line if line else 0

    def place(self, code: CodeType) -> tuple[Source, int]:
        """Return the code's source and how many lines of `text` are above it."""
        if id(code) not in self._places_by_code:
            source, lines_above = self._find_outer(code) or self._add(code)
            self._places_by_code[id(code)] = code, source, lines_above
        _code, source, lines_above = self._places_by_code[id(code)]
        return source, lines_above

    def _find_outer(self, code: CodeType) -> tuple[Source, int] | None:
        """Return a source that contains the code, and the lines above it; None for none."""
        for other, source, lines_above in self._places_by_code.values():
            if other.co_filename == code.co_filename and source.line(code.co_firstlineno):
                return source, lines_above
        return None

    def _add(self, code: CodeType) -> tuple[Source, int]:
        """Add the source of a code to the text; return it and how many lines are above it."""
        # Each text is followed by one empty line.
        lines_above = sum(text.count("\n") + 2 for text in self._texts)
        source = find_source(code).folded()
        if source.text:
            self._texts.append(source.text)
            if self.places:
                self.places.append(BETWEEN)
            self.places += source.places or [""] * len(source.lines)
        return source, lines_above

    @property
    def text(self) -> str:
        """All sources so far, an empty line between them."""
        return "\n\n".join(self._texts)

    def number(self, line: int) -> str:
        """Return what the line of `text` is called: its number in its file, or in `text`."""
        place = "".join(self.places[line - 1 : line])
        _file, _, number = place.rpartition(":")
        return number or str(line or "")
