"""A tree of code objects -> its fields and bytes: text, folded HTML, or a widget to select in."""

from functools import cache
from pathlib import Path

from markupsafe import Markup

from helpers.model.code import CodeTree
from helpers.view import bytecode, table
from helpers.view.ink import grid, one_line, render, visible

HEADINGS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
_HERE = Path(__file__)


def text(model: CodeTree) -> str:
    """Return the tree of code objects, then each one's fields and bytes."""
    parts = [branches(model)] if model.nested else []
    for _, tree in model.walk():
        parts += [table.text(tree.fields), grid(HEADINGS, units(tree))]
    return "\n\n".join(visible(part) for part in parts)


def html(model: CodeTree) -> str:
    """Return the same, every code object but the first folded."""
    trees = [(tree, Markup(table.html(tree.fields)), units(tree)) for _, tree in model.walk()]
    return render(
        "code.html",
        model=model,
        trees=trees,
        headings=HEADINGS,
        branches=branches(model) if model.nested else "",
    )


def widget(model: CodeTree):
    """Return an anywidget: select bytes and see the source, or a piece of source and its bytes."""
    return _widget_class()(codes=[_state(tree) for _, tree in model.walk()])


def branches(model: CodeTree) -> str:
    """Return the code objects as an indented list."""
    lines = [
        f"{'   ' * (depth - 1)}{'└─ ' if depth else ''}{tree.name}" for depth, tree in model.walk()
    ]
    return "\n".join(lines)


def units(tree: CodeTree) -> list[list[str]]:
    """Return a row per instruction: which bytes it has, how many of them cache, and its source."""
    return [
        [
            row.place,
            row.kept,
            "00 " * 2 * row.caches if row.caches else "",
            row.words,
            row.where,
            row.snippet,
        ]
        for row in tree.bytecode.rows
    ]


def _state(tree: CodeTree) -> dict:
    rows = tree.bytecode.rows
    return {
        "name": one_line(tree.name),
        "fields": table.html(tree.fields),
        "lines": bytecode.lines(tree.bytecode),
        "units": [
            [row.offset, row.kept, row.caches, one_line(row.words), list(row.span), row.line]
            for row in rows
        ],
    }


@cache
def _widget_class():
    import anywidget
    import traitlets

    class CodeWidget(anywidget.AnyWidget):
        _esm = _HERE.with_suffix(".js").read_text(encoding="utf-8")
        _css = _HERE.with_suffix(".css").read_text(encoding="utf-8")
        codes = traitlets.List().tag(sync=True)
        shown = traitlets.Int(0).tag(sync=True)
        picked = traitlets.Int(0).tag(sync=True)

        def __repr__(self):
            return f"CodeWidget({len(self.codes)} code objects)"

    return CodeWidget
