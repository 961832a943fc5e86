"""Parts of a text form -> lines no wider than a page, with nothing in them that cannot be seen."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from markupsafe import Markup
from tabulate import tabulate

WIDEST = 110  # characters of a line of text
START = 46  # lines of a screen before what is left out
END = 12  # lines after it: with one line between and one below, at most 60
COLUMN_GAP = 2  # spaces between columns
HEADING_PADDING = 2  # spaces more that a heading needs (tabulate's MIN_PADDING)
NARROWEST = 8  # characters of a column that is wrapped
CONTINUED = "    "  # how much further in a line goes on
# Matches a piece of a name up to a dot or slash, or up to an underscore: the joints of names.
_JOINTS = tuple(re.compile(rf"[^{ends}]*[{ends}]+|[^{ends}]+") for ends in ("./", "_"))


def spell_out(value: object) -> object:
    """Return text with control characters, and marks that turn its direction, spelled out.

    Other values come back as they are, because templates pass values of any type. So does markup,
    whose texts were spelled out before it was made.
    """
    if not isinstance(value, str) or value.isprintable() or isinstance(value, Markup):
        return value
    if value.replace("\n", "").isprintable():  # a quick answer for most texts of several lines
        return value
    return "".join(_spell_character(character) for character in value)


def _spell_character(character: str) -> str:
    """Return a character, or its escape such as `\\x1b` if it cannot be seen."""
    if character.isprintable() or character == "\n":
        return character
    return ascii(character)[1:-1]  # without the quotation marks


def spell_in_one_line(text: str) -> str:
    """Return text with line breaks spelled out as well, for a cell of a text table."""
    return spell_out(text).replace("\n", "\\n")


def join_parts(*parts: str) -> str:
    """Return parts of a text form, one below the other; empty parts are left out."""
    return "\n".join(spell_out(part) for part in parts if part)


# -- tables ----------------------------------------------------------------------------------------


def render_grid(headings: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows of str as a plain text table under headings, no wider than a page."""
    cells = [[spell_in_one_line(cell) for cell in row] for row in rows]
    heading_cells = [spell_in_one_line(heading) for heading in headings]
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
    """Return how wide each wide column may be, if narrow ones take only what they need.

    `widths` are the columns' natural widths, which together need more than `room`.
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
    """Return a text that fits a screen; a longer one is cut in its middle.

    `more` is then the last line; it says where the whole text is, with `{}` for its number of
    lines. The cut is before a block of lines if one begins near by, else before a line that is not
    indented.
    """
    lines = text.split("\n")
    count = len(lines)
    if count <= START + END + 2:
        return text

    def rank_break(index: int) -> int:
        """Return how good a cut before this line is: 2 before a block, 0 inside of one."""
        follows_empty_line = not lines[index - 1]
        if follows_empty_line:
            return 2
        is_indented = lines[index][:1] == " "
        return 0 if is_indented else 1

    # The best cuts with as many lines as can be on the screen: the latest of equally good places
    # to stop, and the earliest to go on.
    places_to_stop = range(START * 2 // 3, START + 1)
    stop = max(places_to_stop, key=lambda index: (rank_break(index), index))
    places_to_go_on = range(count - END, count)
    go_on = max(places_to_go_on, key=lambda index: (rank_break(index), -index))

    between = f"… {go_on - stop:,} lines are left out here …"
    return "\n".join([*lines[:stop], between, *lines[go_on:], more.format(count)])


def _wrap_line(text: str, width: int, indent: str = "") -> list[str]:
    """Return a line as lines that are at most `width` wide; all but the first are indented."""
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
    """Wraps a word without a space where names have their joints; an arrow never ends a line."""

    def _split(self, text: str) -> list[str]:
        """Return the chunks of a text that never break; `TextWrapper` puts them into lines."""
        room = self.width - len(self.subsequent_indent)
        chunks = super()._split(text)
        for joint in _JOINTS:
            chunks = _split_long_chunks(chunks, joint, room)
        return _join_after_arrows(chunks)


def _split_long_chunks(chunks: list[str], joint: re.Pattern, room: int) -> list[str]:
    """Return the chunks, with those longer than `room` divided into the pieces `joint` finds."""
    parts = []
    for chunk in chunks:
        if len(chunk) > room:
            parts += joint.findall(chunk)
        else:
            parts.append(chunk)
    return parts


def _join_after_arrows(chunks: list[str]) -> list[str]:
    """Return the chunks with each arrow and what follows it as one chunk."""
    joined = []
    for chunk in chunks:
        if joined and joined[-1].rstrip() == "→":
            joined[-1] += chunk
        else:
            joined.append(chunk)
    return joined
