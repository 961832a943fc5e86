"""A side by side -> two columns of code: fixed-width text, or an HTML table with numbered lines.

A line on the left that more lines on the right came from is written once; below it stands a mark
and its number.
"""

from helpers.model.side_by_side import Pair, SideBySide
from helpers.view.ink import one_line, render, visible

MARK = "″"
WIDEST = 60  # characters of the left column; a longer line pushes only its own row


def text(model: SideBySide) -> str:
    """Return both sides in columns, each line behind its number."""
    rows = [(_left(pair), _right(pair)) for pair in model.pairs]
    heads = (one_line(model.left_title), one_line(model.right_title))
    width = min(WIDEST, max(len(left) for left, _ in (heads, *rows)))
    lines = [f"{left:<{width}} │ {right}".rstrip() for left, right in (heads, *rows)]
    parts = (visible(model.title), *lines, visible(model.note))
    return "\n".join(part for part in parts if part)


def html(model: SideBySide) -> str:
    """Return both sides as one table, a row per line on the right."""
    return render("side_by_side.html", model=model, mark=MARK, code=code)


def code(line: str) -> str:
    """Return a line of code ready to show: tabs become blanks, controls are spelled out."""
    return one_line(line.expandtabs(4))


def _left(pair: Pair) -> str:
    if not pair.left:
        return ""
    return f"{pair.left:>3} {MARK}" if pair.again else f"{pair.left:>3} {code(pair.left_text)}"


def _right(pair: Pair) -> str:
    return f"{pair.right:>3} {code(pair.right_text)}" if pair.right else ""
