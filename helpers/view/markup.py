"""Faces and escaping: a template and its values -> markup in which no value is markup.

Text has the page's own colour, and what tells more that of `ink`, so light and dark follow the
reader's theme. Where a host strips colours, the words that stand beside each still say the same.
"""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from tabulate import tabulate

from helpers.view import ink
from helpers.view.line_width import columns_wrapped
from helpers.view.picture import inlining

_JOINT = re.compile(r"(?<=[^\s./][./])(?=[^\W\d]|<)")
_ANYWHERE = re.compile(rf"{_JOINT.pattern}|(?<=\w_)(?=[^\W_])")
_CODE = Markup("<code>{}</code>")
MONO = "ui-monospace,Menlo,Consolas,monospace"
_SHADE = f"color-mix(in srgb,{ink.TEXT} 34%,transparent)"
# A shade at each edge of what scrolls, and paper that goes along with the content and hides it at
# either end: where a shade is seen, there is more.
FADES = ",".join(
    f"linear-gradient({turn}deg,{colour},transparent) {at} 0/{wide}px 100% no-repeat {moves}"
    for colour, wide, moves in ((f"{ink.PAGE} 40%", 30, "local"), (_SHADE, 14, "scroll"))
    for turn, at in ((90, "0"), (270, "100%"))
)
TONE_MARKS = {"plain": "", "changed": "●", "failed": "✕", "refused": "⊘"}


def visible(value: object) -> object:
    """Return text with control characters and lone surrogates spelled out; line breaks stay.

    So do marks that turn the direction of writing: nothing of a text is shown in another place.
    Text of another kind than str is taken as str, so no method of its own is asked; the markup of
    our own templates stays.
    """
    kind = type(value)
    if kind is Markup or not issubclass(kind, str):
        return value
    words = str.__str__(value)
    if words.isprintable():
        return words
    lines = words.split("\n")
    return "\n".join(line if line.isprintable() else _spelled_out(line) for line in lines)


def one_line(text: str) -> str:
    """Return text with line breaks spelled out as well, for a cell of a text table."""
    return visible(text).replace("\n", "\\n")


def joined(*parts: str) -> str:
    """Return parts of a text form, one below the other; those that say nothing are left out."""
    return "\n".join(visible(part) for part in parts if part)


def coded(words: str) -> Markup:
    """Escape words; what stands between `backticks` becomes code."""
    parts = visible(words).split("`")
    if len(parts) % 2 == 0:  # one without its partner
        return escape(visible(words))
    return Markup("").join(_CODE.format(p) if i % 2 else escape(p) for i, p in enumerate(parts))


def jointed(words: str, names: bool = False) -> Markup:
    """Escape words that may go on in the next line after a dot or a slash between two of them.

    `names`: after an underscore too, as a name of capitals does; an arrow keeps its name.
    """
    parts = (_ANYWHERE if names or words.startswith("→ ") else _JOINT).split(visible(words))
    joined = Markup("<wbr/>").join(parts)
    return joined.replace("→ ", Markup("→&nbsp;")) if words.startswith("→ ") else joined


def _spelled_out(line: str) -> str:
    return "".join(c if c.isprintable() else _spelled(c) for c in line)


def _spelled(character: str) -> str:
    return character.encode("unicode_escape").decode()


_templates = Environment(
    loader=PackageLoader("helpers.view"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=visible,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {"visible": visible, "coded": coded, "jointed": jointed}
_templates.globals.update(
    MONO=MONO, TONE_MARKS=TONE_MARKS, EDGE=ink.EDGE, PALE=ink.PALE, colour=ink.colour
)
_templates.globals.update(FADES=FADES, INLINING=inlining(), fill=ink.fill, tint=ink.tint)


def render(template: str, **values) -> str:
    """Return the named template of `helpers/view/templates` filled in, every value escaped."""
    return _templates.get_template(template).render(**values).strip()


def grid(headings, rows) -> str:
    """Return rows of str as a plain text table under headings, no wider than a page."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    headings, cells = columns_wrapped([one_line(words) for words in headings], cells)
    return tabulate(
        cells,
        headers=headings,
        tablefmt="simple",
        disable_numparse=True,
    )
