"""Colours, faces and escaping: a template and its values -> markup in which no value is markup.

Colours are JupyterLab's own theme variables, so light and dark follow the reader's theme. Where a
host strips them, the words that stand beside every colour still say the same.
"""

import base64

from jinja2 import Environment, PackageLoader, StrictUndefined
from tabulate import tabulate

MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
TEXT = "var(--jp-content-font-color0,CanvasText)"
# A theme's own green and red are too faint on a striped row; mixed with its text they are not.
INKS = {
    "changed": f"color-mix(in srgb,var(--jp-success-color0,#1b5e20) 55%,{TEXT})",
    "failed": f"color-mix(in srgb,var(--jp-error-color0,#b71c1c) 55%,{TEXT})",
}
TONE_MARKS = {"plain": "", "changed": "●", "failed": "✕"}


def visible(value: object) -> object:
    """Return text with control characters and lone surrogates spelled out; line breaks stay."""
    if not isinstance(value, str) or hasattr(value, "__html__") or value.isprintable():
        return value
    return "".join(c if c.isprintable() or c == "\n" else _spelled(c) for c in value)


def one_line(text: str) -> str:
    """Return text with line breaks spelled out as well, for a cell of a text table."""
    return visible(text).replace("\n", "\\n")


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
_templates.filters["visible"] = visible
_templates.globals.update(MONO=MONO, TONE_MARKS=TONE_MARKS, INKS=INKS)


def render(template: str, **values) -> str:
    """Return the named template of `helpers/view/templates` filled in, every value escaped."""
    return _templates.get_template(template).render(**values).strip()


def as_image(svg: str) -> str:
    """Return the address of a picture that holds all of it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def grid(headings, rows) -> str:
    """Return rows of str as a plain text table under headings."""
    cells = [[one_line(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=headings, tablefmt="simple", disable_numparse=True)
