"""Parts of a text form -> lines no wider than a page, without invisible characters.
A control character is written as its escape, such as `\\x1b`. A long name may be wrapped at its
*joints*, which are after dots, slashes and underscores.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence

from markupsafe import Markup
from tabulate import tabulate

WIDEST = 110  # characters of a line of text
START = 46  # lines on the screen before those that are left out
END = 12  # lines after those; with a line between and a line below, at most 60
COLUMN_GAP = 2  # spaces between columns
HEADING_PADDING = 2  # spaces more that a heading needs (tabulate's MIN_PADDING)
NARROWEST = 8  # characters of a column that is wrapped
CONTINUED = "    "  # the further indent of a line that goes on
# Two patterns that find the pieces of a name: `a.b/c` -> `a.`, `b/`, `c`, and `a_b` -> `a_`, `b`.
_JOINTS = tuple(re.compile(rf"[^{ends}]*[{ends}]+|[^{ends}]+") for ends in ("./", "_"))


def escape_invisible(value: object) -> object:
    """Return text with each invisible character as its escape, such as `\\x1b`.

    Control characters are invisible, and so are marks that turn the direction of writing. A line
    break stays, because its effect is visible. A value that is no text is returned as it is,
    because templates pass values of any type. Markup is returned as it is too, because the texts in
    it have passed through this function already.
    """
    if not isinstance(value, str) or value.isprintable() or isinstance(value, Markup):
        return value
    if value.replace("\n", "").isprintable():  # a quick answer for most texts of several lines
        return value
    return "".join(_escape_character(character) for character in value)


def _escape_character(character: str) -> str:
    """Return a character, or its escape such as `\\x1b` if it cannot be seen."""
    if character.isprintable() or character == "\n":
        return character
    return ascii(character)[1:-1]  # without the quotation marks


def escape_to_one_line(text: str) -> str:
    """Return text with each invisible character, and each line break too, as its escape."""
    return escape_invisible(text).replace("\n", "\\n")


def join_nonempty(*parts: str) -> str:
    """Return the parts as one text, each on a new line; empty parts are left out."""
    return "\n".join(escape_invisible(part) for part in parts if part)


# -- tables ----------------------------------------------------------------------------------------


def render_grid(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows of str as a plain text table under headings, at most `WIDEST` wide.

    The table is wider only if it has very many columns.
    """
    cells = [[escape_to_one_line(cell) for cell in row] for row in rows]
    heading_cells = [escape_to_one_line(heading) for heading in headings]
    heading_cells, cells = wrap_columns(heading_cells, cells)
    return tabulate(cells, headers=heading_cells, tablefmt="simple", disable_numparse=True)


def wrap_columns(headings: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return a table's headings and cells, wrapped where the table would be wider than a page.

    Only the widest columns are wrapped, at spaces and at the joints of names.
    """
    padded_headings = [heading + " " * HEADING_PADDING for heading in headings]
    columns = zip(padded_headings, *rows, strict=True)
    widths = [max(map(len, column)) for column in columns]
    room = WIDEST - COLUMN_GAP * (len(widths) - 1)
    if sum(widths) <= room:
        return headings, rows

    width = max(_share_room(widths, room), NARROWEST)
    wrapped_headings = [_wrap_cell(heading, width - HEADING_PADDING) for heading in headings]
    wrapped_rows = [[_wrap_cell(cell, width) for cell in row] for row in rows]
    return wrapped_headings, wrapped_rows


def _share_room(widths: list[int], room: int) -> int:
    """Return how wide each wide column may be if narrow columns take only what they need.

    `widths` are the natural widths of the columns, which together need more than `room`.
    """
    remaining = sorted(widths)
    # A column that needs less than an equal share leaves the rest of the share to the others.
    while remaining and remaining[0] * len(remaining) <= room:
        room -= remaining.pop(0)
    return room // len(remaining)


def _wrap_cell(text: str, width: int) -> str:
    """Return the text of a cell with line breaks, so that no line is wider than `width`."""
    return "\n".join(_wrap_line(text, width))


# -- lines -----------------------------------------------------------------------------------------


def wrap_text(text: str) -> str:
    """Return text whose lines are at most `WIDEST` wide; continued lines are indented."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        indent = indent[: WIDEST // 2]  # a very deep line needs room for its words
        lines += _wrap_line(line, WIDEST, indent + CONTINUED)
    return "\n".join(lines)


def cut_to_screen(text: str, more: str) -> str:
    """Return a text that fits a screen; lines in the middle of a longer one are left out.

    `more` is then the last line: it says where the whole text is, with `{}` for its number of
    lines. Both cuts are before a block of lines if one begins near by, else before a line that is
    not indented.
    """
    lines = text.split("\n")
    count = len(lines)
    if count <= START + END + 2:
        return text

    def rank_break(index: int) -> int:
        """Return how good a cut before this line is.

        2 means that a block begins here, 1 that the line is not indented, and 0 neither.
        """
        follows_empty_line = not lines[index - 1]
        if follows_empty_line:
            return 2
        is_indented = lines[index][:1] == " "
        return 0 if is_indented else 1

    # Of equally good cuts, the one that leaves more lines on the screen is taken.
    places_to_stop = range(START * 2 // 3, START + 1)
    stop = max(places_to_stop, key=lambda index: (rank_break(index), index))
    places_to_go_on = range(count - END, count)
    go_on = max(places_to_go_on, key=lambda index: (rank_break(index), -index))

    between = f"… {go_on - stop:,} lines are left out here …"
    return "\n".join([*lines[:stop], between, *lines[go_on:], more.format(count)])


def _wrap_line(text: str, width: int, indent: str = "") -> list[str]:
    """Return a line as several lines, each at most `width` wide.

    `indent` stands at the beginning of each line but the first.
    """
    if len(text) <= width:
        return [text]

    wrapper = _JointWrapper(
        width,
        subsequent_indent=indent,
        replace_whitespace=False,
        expand_tabs=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(text) or [text]  # of nothing but spaces, `wrap` returns no line


class _JointWrapper(textwrap.TextWrapper):
    """Wraps a long name at its joints, such as dots; an arrow `→` never ends a line."""

    def _split(self, text: str) -> list[str]:
        """Return the pieces of a text, which are never divided further.

        `TextWrapper` calls this method, and puts as many pieces into each line as fit.
        """
        room = self.width - len(self.subsequent_indent)
        chunks = super()._split(text)
        for joint in _JOINTS:
            chunks = _split_long_chunks(chunks, joint, room)
        return _join_after_arrows(chunks)


def _split_long_chunks(chunks: list[str], joint: re.Pattern, room: int) -> list[str]:
    """Return the chunks, those longer than `room` divided into the pieces that `joint` finds."""
    parts = []
    for chunk in chunks:
        if len(chunk) > room:
            parts += joint.findall(chunk)
        else:
            parts.append(chunk)
    return parts


def _join_after_arrows(chunks: list[str]) -> list[str]:
    """Return the chunks, with each arrow, its space and the next word joined into one chunk."""
    joined = []
    for chunk in chunks:
        if joined and joined[-1].rstrip() == "→":
            joined[-1] += chunk
        else:
            joined.append(chunk)
    return joined
