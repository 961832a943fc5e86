"""A tree of code objects -> its fields and bytes: text, folded HTML, or a widget to select in.

Where there are too many bytes or code objects for a page, what is left out is said.
"""

from dataclasses import replace

from markupsafe import Markup

from helpers.model.code import CodeTree
from helpers.model.listing import Listing
from helpers.view import bytecode, row_limit, table
from helpers.view.markup import grid, joined, one_line, render, visible
from helpers.view.widgets.base import widget_class

HEADINGS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
ALL = "the model has all of them (`.model.bytecode.rows`)"
NESTED = "the model has all of them (`.model.walk()`), and show_code shows one of them alone"
MOST_UNITS = 2_000  # of one code object in the widget, which lets each be picked


def text(model: CodeTree) -> str:
    """Return the tree of code objects, then each one's fields and bytes.

    Of the inner ones only the fields are listed that differ from those of the first.
    """
    parts, room = [branches(model)] if model.nested else [], row_limit.TEXT_ROOM
    trees = [tree for _, tree in model.walk()]
    for number, tree in enumerate(trees):
        if room < 0:
            parts.append(row_limit.Part(number, 0, len(trees)).says(NESTED, "Code objects"))
            break
        rows = units(tree)
        part = row_limit.text_fold(HEADINGS, rows, room)
        body = grid(HEADINGS, part.of(rows, lambda: row_limit.dots(HEADINGS)))
        fields = _parted(tree, model) if number else tree.fields
        parts += [table.text(fields), joined(body, part.says(ALL), _rest(tree))]
        room -= len(parts[-1]) + len(parts[-2])
    return "\n\n".join(visible(part) for part in parts)


def html(model: CodeTree) -> str:
    """Return the same, every code object but the first folded."""
    trees, room = [tree for _, tree in model.walk()], row_limit.ROOM
    drawn = []
    for tree in trees:
        fields, rows = table.html(replace(tree.fields, title="Fields")), units(tree)
        room -= len(fields.encode()) + 600
        if drawn and room < 0:
            break
        part = row_limit.fold(row_limit.costs(rows), max(room, row_limit.PANEL_ROOM))
        shown = part.of(rows, lambda: row_limit.dots(HEADINGS))
        room -= sum(row_limit.costs(shown))
        drawn.append((tree, Markup(fields), shown, joined(part.says(ALL), _rest(tree))))
    return render(
        "code.html",
        model=model,
        trees=drawn,
        headings=HEADINGS,
        branches=branches(model) if model.nested else "",
        left_out=row_limit.Part(len(drawn), 0, len(trees)).says(NESTED, "Code objects"),
    )


def widget(model: CodeTree):
    """Return an anywidget: select bytes and see the source, or a piece of source and its bytes."""
    trees, room, codes = [tree for _, tree in model.walk()], row_limit.ROOM, []
    for tree in trees:
        state = _state(tree, room if codes else row_limit.ROOM)
        room -= len(repr(state).encode())
        if codes and room < 0:
            break
        codes.append(state)
    rest = row_limit.Part(len(codes), 0, len(trees)).says(NESTED, "Code objects")
    return _widget_class()(codes=codes, note=rest)


def branches(model: CodeTree) -> str:
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


def _rest(tree: CodeTree) -> str:
    """Return what the capture says that it has left out of this code object, if anything."""
    return joined(*(part for part in (tree.note, tree.bytecode.cut) if part))


def units(tree: CodeTree) -> list[list[str]]:
    """Return a row per instruction: which bytes it has, how many of them cache, and its source."""
    return [
        [
            row.place,
            row.kept,
            "00 " * 2 * row.caches if row.caches else "",
            row_limit.cut(row.words),
            row.where,
            row_limit.cut(row.snippet),
        ]
        for row in tree.bytecode.rows
    ]


def _state(tree: CodeTree, room: int) -> dict:
    rows = tree.bytecode.rows
    spent = [70 + len(row.words.encode(errors="replace")) for row in rows[:MOST_UNITS]]
    shown = rows[: row_limit.fold(spent, max(room // 2, 1)).head]
    part = row_limit.Part(len(shown), 0, len(rows))
    return {
        "name": one_line(tree.name),
        "fields": table.html(tree.fields),
        "lines": bytecode.lines(tree.bytecode),
        "units": [
            [row.offset, row.kept, row.caches, one_line(row.words), list(row.span), row.line]
            for row in shown
        ],
        "rest": joined(part.says(ALL, "Instructions"), _rest(tree)),
    }


_widget_class = widget_class(
    __file__,
    styles=("code.css",),
    says=lambda w: f"{len(w.codes)} code objects",
    traits=lambda t: {
        "codes": t.List(),
        "note": t.Unicode(),
        "shown": t.Int(0),
        "picked": t.Int(0),
    },
)
