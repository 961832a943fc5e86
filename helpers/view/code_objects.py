"""A code object with those inside of it -> its fields, and its bytes beside its instructions."""

from dataclasses import dataclass, replace

from markupsafe import Markup

from ..model.code_records import CodeTree
from ..model.tables import Listing
from .ceilings import cut_text, limit_rows, list_source_lines
from .markup import render
from .plain_text import join_parts, render_grid, spell_in_one_line
from .table_view import table
from .widgets import make_widget

HEADINGS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
ROWS = "the model has all of them (`.model.bytecode.rows`)"
CODES = "the model has all of them (`.model.walk()`); show_code shows one of them"
OTHER_FIELDS = "The other fields are as in {}. The lines below count from its own first line."
MOST_INSTRUCTIONS = 2_000  # of one code object in the widget
MOST_CODES = 40
MOST_NAMED = 2_000  # code objects in the list of all


@dataclass(frozen=True)
class ShownCodes:
    """The code objects that there is room for."""

    trees: list[CodeTree]
    """The first code objects, the outermost before those inside."""
    rest: str
    """A sentence that counts the others; empty if there are none."""
    outline: str
    """Which code object stands in which, as lines; empty if there is only one."""


def _choose_codes(model: CodeTree) -> ShownCodes:
    """Return the code objects of a tree that are shown, with an outline of all of them."""
    all_trees = list(model.walk())
    trees, rest = limit_rows([tree for _, tree in all_trees], CODES, "Code objects", MOST_CODES)
    outline = ""
    if model.nested:
        lines = [_format_outline_line(depth, tree) for depth, tree in all_trees[:MOST_NAMED]]
        outline = "\n".join(lines)
    return ShownCodes(trees, rest, outline)


def _format_outline_line(depth: int, tree: CodeTree) -> str:
    """Return the name of a code object, indented below the one that contains it."""
    if depth == 0:
        return cut_text(tree.name)
    indent = "   " * (depth - 1)
    return cut_text(f"{indent}└─ {tree.name}")


def _list_instructions(tree: CodeTree) -> list[list[str]]:
    """Return the cells of each instruction, in the order of `HEADINGS`."""
    rows = []
    for row in tree.bytecode.rows:
        cache_bytes = "00 00 " * row.caches  # inline caches are empty in code that has not run
        cells = [str(row.offset), row.kept, cache_bytes]
        cells += [cut_text(row.words), row.where, cut_text(row.snippet)]
        rows.append(cells)
    return rows


def render_code_text(model: CodeTree) -> str:
    """Return fields and instructions of each code object as plain text.

    Of the inner code objects only the fields are listed that differ from the first one's.
    """
    codes = _choose_codes(model)
    parts = [codes.outline]
    for tree in codes.trees:
        rows, rest = limit_rows(_list_instructions(tree), ROWS)
        is_outermost = tree is model
        fields = tree.fields if is_outermost else _list_other_fields(tree, model)
        parts.append(table.text(fields))
        parts.append(join_parts(render_grid(HEADINGS, rows), rest, tree.note, tree.bytecode.cut))
    parts.append(codes.rest)
    return "\n\n".join(join_parts(part) for part in parts if part)


def _list_other_fields(tree: CodeTree, first: CodeTree) -> Listing:
    """Return the fields of a code object that differ from those of the outermost one, `first`.

    The column of meanings is left out, because the table of the first one has it.
    """
    known = {(row.name, row.value, row.used) for row in first.fields.rows}
    fields = tree.fields
    rows = [row for row in fields.rows if (row.name, row.value, row.used) not in known]
    columns = [column for column in fields.columns if column.field != "meaning"]
    note = OTHER_FIELDS.format(first.name)
    return replace(fields, columns=tuple(columns), rows=tuple(rows), note=note)


def render_code_html(model: CodeTree) -> str:
    """Return fields and instructions of each code object as HTML."""
    codes = _choose_codes(model)
    shown_trees = []
    for tree in codes.trees:
        rows, rest = limit_rows(_list_instructions(tree), ROWS)
        fields = Markup(table.html(replace(tree.fields, title="Fields")))
        note = join_parts(rest, tree.note, tree.bytecode.cut)
        shown_trees.append((tree, fields, rows, note))
    return render(
        "code.html",
        model=model,
        trees=shown_trees,
        headings=HEADINGS,
        branches=codes.outline,
        left_out=codes.rest,
    )


def make_code_widget(model: CodeTree):
    """Return the widget that shows one code object at a time, its bytes beside its source."""
    codes = _choose_codes(model)
    states = [_describe_code(tree) for tree in codes.trees]
    state = {"codes": states, "note": codes.rest, "shown": 0, "picked": 0}
    return make_widget("code", "code", f"{len(states)} code objects", state)


def _describe_code(tree: CodeTree) -> dict:
    """Return what the widget's script `code` needs of one code object, as plain data."""
    rows, rest = limit_rows(tree.bytecode.rows, ROWS, "Instructions", MOST_INSTRUCTIONS)
    units = []
    for row in rows:
        words = spell_in_one_line(row.words)
        units.append([row.offset, row.kept, row.caches, words, list(row.span), row.line])
    return {
        "name": spell_in_one_line(tree.name),
        "fields": table.html(tree.fields),
        "units": units,
        "lines": list_source_lines(tree.bytecode),
        "rest": join_parts(rest, tree.note, tree.bytecode.cut),
    }
