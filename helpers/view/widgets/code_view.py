"""A tree of code objects -> its fields and bytes: text, folded HTML, or a widget to select in.

Where there are too many bytes or code objects for a page, what is left out is said.
"""

from dataclasses import replace

from markupsafe import Markup

from helpers.model.code import CodeTree
from helpers.model.listing import Listing
from helpers.view import View, row_limit
from helpers.view.markup import joined, one_line, render, visible
from helpers.view.panels import source_lines
from helpers.view.table_view import table
from helpers.view.widgets.make_widget import make_widget

HEADINGS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
ALL = "the model has all of them (`.model.bytecode.rows`)"
NESTED = "the model has all of them (`.model.walk()`), and show_code shows one of them alone"
MOST_UNITS, MOST_CODES = 2_000, 40  # instructions of one code object; code objects


def _text(model: CodeTree) -> str:
    """Return the tree of code objects, then each one's fields and bytes.

    Of the inner ones only the fields are listed that differ from those of the first.
    """
    (trees, left_out), parts = _shown(model), [_branches(model)] if model.nested else []
    for tree in trees:
        body, rest = row_limit.text_table(HEADINGS, _units(tree), ALL)
        fields = tree.fields if tree is model else _parted(tree, model)
        parts += [table.text(fields), joined(body, rest, _cut(tree))]
    return "\n\n".join(visible(part) for part in (*parts, left_out) if part)


def _html(model: CodeTree) -> str:
    """Return the same, every code object but the first folded."""
    (trees, left_out), drawn = _shown(model), []
    for tree in trees:
        shown, rest = row_limit.html_rows(HEADINGS, _units(tree), ALL)
        fields = Markup(table.html(replace(tree.fields, title="Fields")))
        drawn.append((tree, fields, shown, joined(rest, _cut(tree))))
    return render(
        "code.html",
        model=model,
        trees=drawn,
        headings=HEADINGS,
        branches=_branches(model) if model.nested else "",
        left_out=left_out,
    )


def _widget(model: CodeTree):
    """Return an anywidget: select bytes and see the source, or a piece of source and its bytes."""
    trees, left_out = _shown(model)
    state = {"codes": list(map(_state, trees)), "note": left_out, "shown": 0, "picked": 0}
    return make_widget("code", "code", f"{len(trees)} code objects", state)


def _shown(model: CodeTree) -> tuple[list[CodeTree], str]:
    """Return the code objects there is room for, and a sentence on the others."""
    trees = [tree for _, tree in model.walk()]
    return trees[:MOST_CODES], row_limit.first(MOST_CODES, len(trees)).says(NESTED, "Code objects")


def _branches(model: CodeTree) -> str:
    """Return the code objects as an indented list."""
    lines = [
        f"{'   ' * (depth - 1)}{'└─ ' if depth else ''}{tree.name}" for depth, tree in model.walk()
    ]
    return "\n".join(row_limit.source(lines))


def _parted(tree: CodeTree, first: CodeTree) -> Listing:
    """Return the fields of an inner code object that differ from the first one's."""
    known = {(row.name, row.value, row.used) for row in first.fields.rows}
    rows = [row for row in tree.fields.rows if (row.name, row.value, row.used) not in known]
    columns = [column for column in tree.fields.columns if column.field != "meaning"]
    note = f"The other fields read as in {first.name}. The lines below count from its own first."
    return replace(tree.fields, columns=tuple(columns), rows=tuple(rows), note=note)


def _cut(tree: CodeTree) -> str:
    """Return what the capture says that it has left out of this code object, if anything."""
    return joined(tree.note, tree.bytecode.cut)


def _units(tree: CodeTree) -> list[list[str]]:
    """Return a row per instruction: which bytes it has, how many of them cache, and its source."""
    return [
        [
            r.place,
            r.kept,
            "00 " * 2 * r.caches,
            row_limit.cut(r.words),
            r.where,
            row_limit.cut(r.snippet),
        ]
        for r in tree.bytecode.rows
    ]


def _state(tree: CodeTree) -> dict:
    rows = tree.bytecode.rows
    return {
        "name": one_line(tree.name),
        "fields": table.html(tree.fields),
        "lines": source_lines(tree.bytecode),
        "units": [
            [row.offset, row.kept, row.caches, one_line(row.words), list(row.span), row.line]
            for row in rows[:MOST_UNITS]
        ],
        "rest": joined(
            row_limit.first(MOST_UNITS, len(rows)).says(ALL, "Instructions"), _cut(tree)
        ),
    }


code = View(_text, _html, _widget)
