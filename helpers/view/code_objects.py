"""A code object with those inside of it -> its fields, and its bytes beside its instructions.
A code object contains those of the functions and classes that are defined in it, so they form a
tree.
"""

from dataclasses import dataclass, replace

from markupsafe import Markup

from ..model.code_records import CodeTree
from ..model.tables import Listing
from .ceilings import cut_text, limit_rows, list_source_lines
from .markup import render
from .plain_text import escape_to_one_line, join_nonempty, render_grid
from .table_view import table
from .widgets import make_widget

HEADINGS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
WHERE_ALL_ROWS = "the model has all of them (`.model.bytecode.rows`)"
WHERE_ALL_CODES = "the model has all of them (`.model.walk()`); show_code shows one of them"
OTHER_FIELDS = "The other fields are as in {}. The lines below count from its own first line."
MOST_INSTRUCTIONS = 2_000  # of one code object in the widget
MOST_CODES = 40
MOST_NAMED = 2_000  # code objects in the list of all


@dataclass(frozen=True)
class ShownCodes:
    """The code objects of a tree that are shown, and what is said about the others."""

    trees: list[CodeTree]
    """The first code objects, the outermost before those inside."""
    left_out_note: str
    """A sentence that counts the others; empty if there are none."""
    outline: str
    """All names, each indented below the code object that contains it; empty if there is one."""


def _choose_codes(model: CodeTree) -> ShownCodes:
    """Return the code objects of a tree that are shown, with an outline of all of them."""
    all_trees = list(model.walk())  # pairs of a depth and a code object
    trees, left_out_note = limit_rows(
        [tree for _, tree in all_trees], WHERE_ALL_CODES, "Code objects", MOST_CODES
    )
    outline = ""
    if model.nested:
        lines = [_format_outline_line(depth, tree) for depth, tree in all_trees[:MOST_NAMED]]
        outline = "\n".join(lines)
    return ShownCodes(trees, left_out_note, outline)


def _format_outline_line(depth: int, tree: CodeTree) -> str:
    """Return the name of a code object, indented below the one that contains it."""
    if depth == 0:
        return cut_text(tree.name)
    indent = "   " * (depth - 1)
    return cut_text(f"{indent}└─ {tree.name}")


def _list_instructions(tree: CodeTree) -> list[list[str]]:
    """Return the cells of each instruction, in the order of `HEADINGS`."""
    cells_by_row = []
    for row in tree.bytecode.rows:
        # `row.kept` is the instruction's own bytes. The inline caches behind it are empty in code
        # that has not run.
        cache_bytes = "00 00 " * row.caches
        cells = [str(row.offset), row.kept, cache_bytes]
        cells += [cut_text(row.words), row.where, cut_text(row.snippet)]
        cells_by_row.append(cells)
    return cells_by_row


def render_code_text(model: CodeTree) -> str:
    """Return fields and instructions of each code object as plain text.

    An inner code object lists only the fields that differ from those of the outermost one.
    """
    codes = _choose_codes(model)
    parts = [codes.outline]
    for tree in codes.trees:
        rows, left_out_note = limit_rows(_list_instructions(tree), WHERE_ALL_ROWS)
        is_outermost = tree is model
        fields = tree.fields if is_outermost else _list_other_fields(tree, model)
        parts.append(table.text(fields))
        grid = render_grid(HEADINGS, rows)
        parts.append(join_nonempty(grid, left_out_note, tree.note, tree.bytecode.cut))
    parts.append(codes.left_out_note)
    return "\n\n".join(join_nonempty(part) for part in parts if part)


def _list_other_fields(tree: CodeTree, first: CodeTree) -> Listing:
    """Return the fields of a code object that differ from those of the outermost one, `first`.

    The column of meanings is left out, because the table of the first one has it.
    """
    # Also a field with the same value differs if `used`, the instruction that uses it, is another.
    first_rows = {(row.name, row.value, row.used) for row in first.fields.rows}
    fields = tree.fields
    rows = [row for row in fields.rows if (row.name, row.value, row.used) not in first_rows]
    columns = [column for column in fields.columns if column.field != "meaning"]
    note = OTHER_FIELDS.format(first.name)
    return replace(fields, columns=tuple(columns), rows=tuple(rows), note=note)


def render_code_html(model: CodeTree) -> str:
    """Return fields and instructions of each code object as HTML.

    Each is a `CodeTree`: a code object with those inside of it. Of very many code objects, and of
    very many instructions, only the first are shown.
    """
    codes = _choose_codes(model)
    shown_trees = []  # (code object, HTML of its fields, cells of its instructions, note)
    for tree in codes.trees:
        rows, left_out_note = limit_rows(_list_instructions(tree), WHERE_ALL_ROWS)
        fields = Markup(table.html(replace(tree.fields, title="Fields")))
        note = join_nonempty(left_out_note, tree.note, tree.bytecode.cut)
        shown_trees.append((tree, fields, rows, note))
    return render(
        "code.html",
        model=model,
        trees=shown_trees,
        headings=HEADINGS,
        branches=codes.outline,
        left_out=codes.left_out_note,
    )


def make_code_widget(model: CodeTree):
    """Return the widget that shows one code object at a time, its bytes beside its source."""
    codes = _choose_codes(model)
    states = [_describe_code(tree) for tree in codes.trees]
    state = {"codes": states, "note": codes.left_out_note, "shown": 0, "picked": 0}
    return make_widget("code", "code", f"{len(states)} code objects", state)


def _describe_code(tree: CodeTree) -> dict:
    """Return what the script of the widget, `code.js`, needs of one code object, as plain data.

    Each item of `units` is an instruction: offset, bytes, number of inline caches, words, the part
    of the source that it comes from, and its line.
    """
    rows, left_out_note = limit_rows(
        tree.bytecode.rows, WHERE_ALL_ROWS, "Instructions", MOST_INSTRUCTIONS
    )
    units = []
    for row in rows:
        words = escape_to_one_line(row.words)
        units.append([row.offset, row.kept, row.caches, words, list(row.span), row.line])
    return {
        "name": escape_to_one_line(tree.name),
        "fields": table.html(tree.fields),
        "units": units,
        "lines": list_source_lines(tree.bytecode),
        "rest": join_nonempty(left_out_note, tree.note, tree.bytecode.cut),
    }
