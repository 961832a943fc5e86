"""Files of one folder -> their numbered lines: plain text, or HTML in which Python is coloured."""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup, escape
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from ..model.file_records import File, Files
from ..model.phrase import format_count
from . import ink
from .ceilings import cut_lines
from .markup import render
from .plain_text import escape_invisible, escape_to_one_line

# Kind of a token of Pygments -> its CSS; the first kind that fits counts.
_STYLES = {
    Comment: f"color:{ink.format_colour('quiet')};font-style:italic",
    String: f"color:{ink.format_colour('tensor')}",
    Number: f"color:{ink.format_colour('name')}",
    Keyword: f"color:{ink.format_colour('function')};font-weight:600",
    Operator.Word: f"color:{ink.format_colour('function')};font-weight:600",
    Name.Function: f"color:{ink.format_colour('name')};font-weight:600",
    Name.Class: f"color:{ink.format_colour('name')};font-weight:600",
}
_SPAN = Markup('<span style="{}">{}</span>')


@dataclass(frozen=True)
class NumberedFile:
    """A file with a number for each of its lines."""

    name: str
    """Its name."""
    length: str
    """How many lines it has, in words."""
    lines: list[tuple[int, str]]
    """The number and the text of each line that is shown."""


def render_files_text(model: Files) -> str:
    """Return the files one below the other."""
    parts = [escape_to_one_line(model.title)]
    for file in model.files:
        parts.append(_render_file_text(_number_lines(file)))
    parts.append(model.note)
    return "\n\n".join(escape_invisible(part) for part in parts if part)


def _render_file_text(file: NumberedFile) -> str:
    """Return the name of a file and its numbered lines."""
    rows = [f"{escape_to_one_line(file.name)} ({file.length})"]
    rows += [f"{number:>5}   {escape_to_one_line(line)}" for number, line in file.lines]
    return "\n".join(row.rstrip() for row in rows)


def render_files_html(model: Files) -> str:
    """Return the files as HTML; a reader opens and closes each of them."""
    files = [_number_lines(file, _colour_python) for file in model.files]
    return render("files.html", model=model, files=files, rest="")


def _number_lines(
    file: File, colour_lines: Callable[[list[str]], list[str]] | None = None
) -> NumberedFile:
    """Return a file with numbered lines, cut if there are very many.

    `colour_lines` makes HTML of the lines that are shown. Without it, they stay text.
    """
    lines = file.text.split("\n")
    shown = cut_lines(lines)
    if colour_lines:
        shown = colour_lines(shown)
    return NumberedFile(
        name=file.name,
        length=format_count(len(lines), "line"),
        lines=list(enumerate(shown, start=1)),
    )


def _colour_python(lines: list[str]) -> list[Markup]:
    """Return lines of Python as HTML, one for each line."""
    lexer = PythonLexer(stripnl=False, ensurenl=False)  # it must neither drop nor add a line
    coloured = [Markup("")]
    for token, text in lexer.get_tokens("\n".join(lines)):
        style = _find_style(token)
        # A token, such as a long string, may go over several lines; each needs its own HTML.
        first_part, *other_parts = text.split("\n")
        coloured[-1] += _style_text(first_part, style)
        for part in other_parts:
            coloured.append(_style_text(part, style))
    return coloured


def _find_style(token) -> str:
    """Return the CSS of a kind of token of Pygments; an empty text for one without colour."""
    for kind, style in _STYLES.items():
        if token in kind:
            return style
    return ""


def _style_text(text: str, style: str) -> Markup:
    """Return a text as HTML, in a span of this style if there is anything to style."""
    escaped = escape(escape_invisible(text))
    if style and escaped:
        return _SPAN.format(style, escaped)
    return escaped
