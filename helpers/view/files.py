"""Files -> their lines under their names: text, or HTML in which each folds and is coloured.

Which words of a line are what, Pygments says: keywords, names, strings, numbers, comments.
"""

from itertools import groupby
from operator import itemgetter

from markupsafe import Markup, escape
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from helpers.model.files import File, Files
from helpers.model.phrase import counted
from helpers.view import ink, row_limit
from helpers.view.markup import joined, one_line, render, visible

_SPAN = Markup('<span style="{}">{}</span>')
MOST_LINES = 400  # of all files together
ALL = "the model has all of them (`.model.files`)"
# kind of word -> its style; the first that fits
_STYLES = {
    Comment: f"color:{ink.colour('quiet')};font-style:italic",
    String: f"color:{ink.colour('tensor')}",
    Number: f"color:{ink.colour('name')}",
    Keyword: f"color:{ink.colour('function')};font-weight:600",
    Operator.Word: f"color:{ink.colour('function')};font-weight:600",
    Name.Function: f"color:{ink.colour('name')};font-weight:600",
    Name.Class: f"color:{ink.colour('name')};font-weight:600",
}


def text(model: Files) -> str:
    """Return each file's name with its lines below it, numbered; a new line bears a plus."""
    parts, (shown, rest) = [one_line(model.title)], _shown(model)
    for file, lines in shown:
        rows = [f"{n:>5} {_mark(file, n)} {one_line(line)}" for n, line in enumerate(lines, 1)]
        head = f"{one_line(file.name)} ({_length(file)})"
        parts.append("\n".join(row.rstrip() for row in (head, *rows)))
    return "\n\n".join(part for part in (*parts, joined(rest, model.note)) if part)


def html(model: Files) -> str:
    """Return the same: each file under its name, which folds it, the first open."""
    shown, rest = _shown(model)
    files = [
        (
            file.name,
            _length(file),
            [(n, _mark(file, n), line) for n, line in enumerate(_coloured("\n".join(lines)), 1)],
        )
        for file, lines in shown
    ]
    return render("files.html", model=model, files=files, rest=rest)


def _length(file: File) -> str:
    return counted(len(file.text.split("\n")), "line")


def _mark(file: File, number: int) -> str:
    return "+" if number in file.new else " "


def _shown(model: Files) -> tuple[list[tuple[File, list[str]]], str]:
    """Return each file with the lines there is room for, and a sentence on the others."""
    room, shown, whole = MOST_LINES, [], 0
    for file in model.files:
        lines = file.text.split("\n")
        shown.append((file, [row_limit.cut(line) for line in lines[: max(room, 0)]]))
        room, whole = room - len(lines), whole + len(lines)
    return shown, row_limit.Part(min(whole, MOST_LINES), 0, whole).says(ALL, "Lines")


def _coloured(words: str) -> list[Markup]:
    """Return the markup of each line of Python; what is none is told as well as may be."""
    lines = [[]]  # of each line its pieces: (style, words)
    for token, piece in PythonLexer(stripnl=False, ensurenl=False).get_tokens(words):
        style = next((style for kind, style in _STYLES.items() if token in kind), "")
        for n, part in enumerate(piece.split("\n")):
            lines += [[]] if n else []
            lines[-1].append((style, part))
    return [_styled(line) for line in lines]


def _styled(line: list[tuple[str, str]]) -> Markup:
    parts = [
        (style, escape(visible("".join(words for _, words in pieces))))
        for style, pieces in groupby(line, key=itemgetter(0))
    ]
    return Markup("").join(_SPAN.format(*part) if all(part) else part[1] for part in parts)
