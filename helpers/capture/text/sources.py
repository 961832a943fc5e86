"""Code objects of one run -> one source text to step through, and the line of each in it."""

from types import CodeType

from helpers.capture.text.source import Source, source_of


class Pages:
    """Sources of several functions, one below the other; an inner function has its outer's."""

    def __init__(self):
        self._places: dict[int, tuple[CodeType, Source, int]] = {}  # by id: see `decoded`
        self._texts: list[str] = []
        self._lines = 0

    def line(self, code: CodeType, lineno: int | None) -> int:
        """Return the 1-based line of `text` for a line of this code's file, 0 for none."""
        source, above = self.place(code)
        line = source.line(lineno)
        return above + line if line else 0

    def place(self, code: CodeType) -> tuple[Source, int]:
        """Return the code's source and how many lines of `text` stand above it."""
        if id(code) not in self._places:
            self._places[id(code)] = (code, *(self._known(code) or self._added(code)))
        return self._places[id(code)][1:]

    @property
    def text(self) -> str:
        """All sources so far, an empty line between them."""
        return "\n\n".join(self._texts)

    def _known(self, code: CodeType):
        for other, source, above in self._places.values():
            same_file = other.co_filename == code.co_filename
            if same_file and source.text and source.line(code.co_firstlineno):
                return source, above
        return None

    def _added(self, code: CodeType):
        source = source_of(code)
        above = self._lines
        if source.text:
            self._texts.append(source.text)
            self._lines += len(source.lines) + 1
        return source, above
