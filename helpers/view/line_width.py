"""Text and tables of whatever width -> the same within `WIDEST` characters a line.

A table's widest columns are wrapped first, as far as the others need it; other lines go on below
themselves, further in. A long name goes on after a dot or a slash, or else after an underscore.
"""

import re
import textwrap

WIDEST = 110  # characters
BETWEEN = 2  # spaces between two columns
HEADING = 2  # more, at least, for what stands at the head of one (tabulate's MIN_PADDING)
NARROWEST = 8  # characters of a column that is wrapped
_MORE = "    "
_JOINTS = tuple(re.compile(rf"[^{ends}]*[{ends}]+|[^{ends}]+") for ends in ("./", "_"))


def wrapped(text: str) -> str:
    """Return text whose lines are at most `WIDEST` wide; what goes on stands further in.

    A line without a space where it could be broken is cut where it must.
    """
    if all(len(line) <= WIDEST for line in text.split("\n")):
        return text
    return "\n".join(part for line in text.split("\n") for part in _parts(line))


def columns_wrapped(headings: list[str], rows: list[list[str]]) -> tuple[list[str], list]:
    """Return a table's headings and cells, wrapped so that it fits, where that can be."""
    padded = [words + " " * HEADING for words in headings]
    widths = [max(map(len, column)) for column in zip(padded, *rows, strict=True)]
    most = _most(widths)
    if most is None:
        return headings, rows
    fitted = [[_cell(cell, most) for cell in row] for row in rows]
    return [_cell(words, most - HEADING) for words in headings], fitted


def _most(widths: list[int]) -> int | None:
    """Return how wide a column may be so that all of them fit; None if they do as they are."""
    room = WIDEST - BETWEEN * (len(widths) - 1)
    if sum(widths) <= room:
        return None
    narrow, left = 0, sorted(widths)
    while left and left[0] * len(left) <= room - narrow:
        narrow += left.pop(0)
    return max((room - narrow) // len(left), NARROWEST)


def _cell(words: str, most: int) -> str:
    if len(words) <= most:
        return words
    return "\n".join(_broken(words, most, ""))


def _parts(line: str) -> list[str]:
    if len(line) <= WIDEST:
        return [line]
    inset = line[: len(line) - len(line.lstrip())][: WIDEST // 2]
    return _broken(line, WIDEST, inset + _MORE)


def _broken(words: str, most: int, inset: str) -> list[str]:
    wrapper = _AtJoints(
        most,
        subsequent_indent=inset,
        drop_whitespace=True,
        replace_whitespace=False,
        expand_tabs=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(words) or [words]


def _with_their_arrows(chunks: list[str]) -> list[str]:
    """Return the chunks; an arrow is one with what it leads to, and never ends a line."""
    joined = []
    for chunk in chunks:
        if joined and joined[-1].rstrip() == "→":
            joined[-1] += chunk
        else:
            joined.append(chunk)
    return joined


class _AtJoints(textwrap.TextWrapper):
    """Wraps as `textwrap` does, and a word without a space where names have their joints."""

    def _split(self, text):
        chunks = super()._split(text)
        for joint in _JOINTS:
            chunks = [part for chunk in chunks for part in self._parts(chunk, joint)]
        return _with_their_arrows(chunks)

    def _parts(self, chunk, joint) -> list[str]:
        room = self.width - len(self.subsequent_indent)
        return joint.findall(chunk) if len(chunk) > room else [chunk]
