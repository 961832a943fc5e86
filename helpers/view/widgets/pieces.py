"""Markup of many panels -> numbered pieces, each stored once: what a stage keeps of its steps.

Two steps differ in a few rows, and two rows in a cell. So markup is cut at its lines, a very long
line every `LONGEST` characters, and the lines are gathered to groups, a table's row each. A panel
is a list of groups, and a group a list of lines: between two steps only what changed costs room.
`stage_panels.js` puts them together again.
"""

import base64
import re

IMAGE = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
LONGEST = 240  # characters of a piece
LARGEST = 24  # pieces of a group that is no row of a table


class Pieces:
    """A store of pieces (`strings`) and of groups of their numbers; `size`: bytes as JSON."""

    def __init__(self):
        self.strings: list[str] = []
        self.groups: list[list[int]] = []
        self.size = 0
        self._strings: dict[str, int] = {}
        self._groups: dict[tuple[int, ...], int] = {}

    def add(self, markup: str) -> list[list[int]]:
        """Return the numbers of groups: of markup, of an image in it as SVG, of markup, …"""
        parts = IMAGE.split(markup)
        for at in range(1, len(parts), 2):
            parts[at] = base64.b64decode(parts[at]).decode()
        told = [[self._group(group) for group in _groups(part)] for part in parts]
        self.size += sum(7 * len(numbers) + 4 for numbers in told)
        return told

    def _group(self, pieces: list[str]) -> int:
        numbers = tuple(self._string(piece) for piece in pieces)
        if numbers not in self._groups:
            self._groups[numbers] = len(self.groups)
            self.groups.append(list(numbers))
            self.size += 7 * len(numbers) + 3
        return self._groups[numbers]

    def _string(self, piece: str) -> int:
        if piece not in self._strings:
            self._strings[piece] = len(self.strings)
            self.strings.append(piece)
            self.size += len(piece.encode()) + piece.count('"') + piece.count("\n") + 4
        return self._strings[piece]


def whole(told: list[list[int]], strings: list[str], groups: list[list[int]]) -> str:
    """Return the markup that `add` has told the numbers of, put together as the page does it."""
    parts = ["".join(strings[n] for group in part for n in groups[group]) for part in told]
    for at in range(1, len(parts), 2):
        data = base64.b64encode(parts[at].encode()).decode()
        parts[at] = f"data:image/svg+xml;base64,{data}"
    return "".join(parts)


def _groups(markup: str):
    """Yield lists of pieces: a new one at each row of a table, and where one grows too large."""
    group = []
    for line in markup.splitlines(keepends=True):
        if group and (line.startswith("<tr") or len(group) >= LARGEST):
            yield group
            group = []
        group += [line[at : at + LONGEST] for at in range(0, len(line), LONGEST)]
    if group:
        yield group
