"""A template and its values -> markup in which no value is markup; text no wider than a page.

Each view has a ceiling: of very many rows the first are shown, a sentence counts the others.
"""

import re
import textwrap
from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from tabulate import tabulate

from . import ink
from .images import read_script

_JOINT = re.compile(r"(?<=[^\s./][./])(?=[^\W\d]|<)")
_ANYWHERE = re.compile(rf"{_JOINT.pattern}|(?<=\w_)(?=[^\W_])")
_ADDRESS = re.compile(r"https://[\w./#-]*\w")
_LINK = r'<a href="\g<0>" style="display:inline-block;text-decoration:underline">\g<0></a>'
_CODE = Markup("<code>{}</code>")
MONO = "Menlo,Consolas,monospace"
# A shade at the right of what scrolls, and paper that goes along with the content and hides it at
# the end: where a shade is seen, there is more.
FADES = ",".join(
    f"linear-gradient(270deg,{colour},transparent) 100% 0/{wide}px 100% no-repeat {moves}"
    for colour, wide, moves in ((f"{ink.PAGE} 40%", 30, "local"), (ink.EDGE, 14, "scroll"))
)
TONE_MARKS = {"plain": "", "good": "✓", "changed": "●", "refused": "⊘", "failed": "✕"}
WIDEST = 110  # characters of a line of text
START, END = 46, 12  # lines of a screen: with one between them, and one below, at most 60
COLUMN_GAP, HEADING = 2, 2  # spaces between columns; more for a heading (tabulate's MIN_PADDING)
NARROWEST = 8  # characters of a column that is wrapped
_JOINTS = tuple(re.compile(rf"[^{ends}]*[{ends}]+|[^{ends}]+") for ends in ("./", "_"))
MOST_ROWS, MOST_LINES = 400, 2_000  # of a table; of source above it
LONGEST_CELL = 1_500  # characters


def visible(value: object) -> object:
    """Return text with control characters, and marks that turn its direction, spelled out."""
    if not isinstance(value, str) or value.isprintable() or isinstance(value, Markup):
        return value
    if value.replace("\n", "").isprintable():
        return value
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in value)


def one_line(text: str) -> str:
    """Return text with line breaks spelled out as well, for a cell of a text table."""
    return visible(text).replace("\n", "\\n")


def joined(*parts: str) -> str:
    """Return parts of a text form, one below the other; those that say nothing are left out."""
    return "\n".join(visible(part) for part in parts if part)


def coded(words: str, joints: bool = False) -> Markup:
    """Escape words; what is between `backticks` becomes code, and an address a link.

    `joints`: names may wrap after a dot, a slash or an underscore.
    """
    parts = visible(words).split("`")
    if len(parts) % 2 == 0:  # one without its partner
        return escape(visible(words))
    for at, part in enumerate(parts):
        inner = jointed(part, True) if joints and "://" not in part else escape(part)
        parts[at] = _CODE.format(inner) if at % 2 else Markup(_ADDRESS.sub(_LINK, str(inner)))
    return Markup("").join(parts)


def jointed(words: str, names: bool = False) -> Markup:
    """Escape words that may wrap after a dot or slash; `names`: after an underscore too."""
    leads = words.startswith("→ ")
    found = Markup("<wbr/>").join((_ANYWHERE if names or leads else _JOINT).split(visible(words)))
    return found.replace("→ ", Markup("→&nbsp;")) if leads else found


_templates = Environment(
    loader=PackageLoader(__package__),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=visible,
    trim_blocks=True,
    lstrip_blocks=True,
    optimized=False,  # templates have no constants to fold, and compile faster
)
_templates.filters |= {"visible": visible, "coded": coded, "jointed": jointed}
_templates.globals |= {"MONO": MONO, "TONE_MARKS": TONE_MARKS, "EDGE": ink.EDGE, "FADES": FADES}
_templates.globals |= {"PAGE": ink.PAGE, "INLINING": read_script("inline.js")}
_templates.globals |= {
    "colour": ink.format_colour,
    "fill": ink.format_fill,
    "tint": ink.format_tint,
}


def render(template: str, **values) -> str:
    """Return the named template of `helpers/view/templates` filled in, every value escaped."""
    return _templates.get_template(template).render(**values).strip()


def grid(headings, rows) -> str:
    """Return rows of str as a plain text table under headings, no wider than a page."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    headings, cells = wrap_columns([one_line(words) for words in headings], cells)
    return tabulate(cells, headers=headings, tablefmt="simple", disable_numparse=True)


def wrapped(text: str) -> str:
    """Return text whose lines are at most `WIDEST` wide; continued lines are indented."""
    lines = []
    for line in text.split("\n"):
        inset = line[: len(line) - len(line.lstrip())][: WIDEST // 2]
        lines += _broken(line, WIDEST, f"{inset}    ")
    return "\n".join(lines)


def first_screen(text: str, more: str) -> str:
    """Return text that fits a screen; of a longer one start, end, and `more` (for its lines).

    It is parted before a block if one begins near by, else before a line that is not set in.
    """
    lines = text.split("\n")
    if len(lines) <= START + END + 2:
        return text
    blocks = {at: 2 * (not lines[at - 1]) or lines[at][:1] != " " for at in range(1, len(lines))}
    end = max(range(START * 2 // 3, START + 1), key=lambda at: (blocks[at], at))
    on = max(range(len(lines) - END, len(lines)), key=lambda at: (blocks[at], -at))
    between = f"… {on - end:,} lines are left out here …"
    return "\n".join((*lines[:end], between, *lines[on:], more.format(len(lines))))


def wrap_columns(headings: list[str], rows: list[list[str]]) -> tuple[list[str], list]:
    """Return a table's headings and cells, the widest wrapped at their joints so that it fits."""
    padded = [words + " " * HEADING for words in headings]
    widths = [max(map(len, column)) for column in zip(padded, *rows, strict=True)]
    room = WIDEST - COLUMN_GAP * (len(widths) - 1)
    if sum(widths) <= room:
        return headings, rows
    left = sorted(widths)
    while left and left[0] * len(left) <= room:
        room -= left.pop(0)
    most = max(room // len(left), NARROWEST)
    fitted = [["\n".join(_broken(cell, most)) for cell in row] for row in rows]
    return ["\n".join(_broken(words, most - HEADING)) for words in headings], fitted


def _broken(words: str, most: int, inset: str = "") -> list[str]:
    if len(words) <= most:
        return [words]
    whole = {"replace_whitespace": False, "expand_tabs": False, "break_on_hyphens": False}
    return _AtJoints(most, subsequent_indent=inset, **whole).wrap(words) or [words]


class _AtJoints(textwrap.TextWrapper):
    """Wraps a word without a space where names have their joints; an arrow never ends a line."""

    def _split(self, text):
        chunks, kept = super()._split(text), []
        room = self.width - len(self.subsequent_indent)
        for joint in _JOINTS:
            parts = [joint.findall(chunk) if len(chunk) > room else [chunk] for chunk in chunks]
            chunks = sum(parts, [])
        for chunk in chunks:
            after = bool(kept) and kept[-1].rstrip() == "→"
            kept[len(kept) - after :] = [kept[-1] + chunk] if after else [chunk]
        return kept


def fit(rows: Sequence, where: str, what: str = "Rows", most: int = MOST_ROWS) -> tuple:
    """Return the first rows, and a sentence that counts the others and says where all are."""
    total = len(rows)
    rest = f"{what} {most + 1:,} to {total:,} of {total:,} are left out here: {where}."
    return rows[:most], rest if total > most else ""


def cut(words: str, most: int = LONGEST_CELL) -> str:
    """Return the words; of very many the first, and how many characters follow."""
    if len(words) <= most:
        return words
    return f"{words[:most]}… ({len(words) - most:,} more characters; the model has them)"


def cut_cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of cells, each cut."""
    return [list(map(cut, row)) for row in rows]


def cut_lines(lines: list[str]) -> list[str]:
    """Return lines, each cut; of very many the first, and one line that counts the others."""
    rest = len(lines) - MOST_LINES
    more = [f"… {rest:,} more lines; the model has them all"] if rest > 0 else []
    return [*map(cut, lines[:MOST_LINES]), *more]


def source_lines(model) -> list[str]:
    """Return the lines of the source of a model; line n of the source is item n - 1."""
    lines = model.source.rstrip("\n").split("\n") if model.source.strip("\n") else []
    return cut_lines([one_line(line.expandtabs(4)) for line in lines])
