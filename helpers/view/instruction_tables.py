"""Instructions and steps of a run -> tables below their source, as text or HTML.

Beside instructions stand their jumps, drawn as arrows; of the steps of a run, a row has what stood
on the value stack, and a stage steps through them. A code object has its fields and bytes, and a
widget to select in.
"""

from dataclasses import replace
from itertools import pairwise

from markupsafe import Markup

from helpers.model.code_records import CodeTree, Sourced
from helpers.model.stage_records import StackRun
from helpers.model.tables import Listing
from helpers.model.torch_records import DynamoRun
from helpers.view import View
from helpers.view.ink import as_image
from helpers.view.markup import (
    cut,
    cut_cells,
    cut_lines,
    fit,
    grid,
    joined,
    one_line,
    render,
    source_lines,
    visible,
)
from helpers.view.table_view import table
from helpers.view.widgets import make_widget
from helpers.view.widgets.stage import note_of, stage_widget

MARK = "●"
ARROWS = "jumps: an arrow leads from a jump to what it may run next; one that leads up is a loop"
MOST_SAID = 40  # jumps in the words of the picture
INSTRUCTIONS = "the model has all of them (`.model.rows`)"
ROW, LANE, EDGE, TURN = 24, 11, 16, 7  # of arcs: a row, a lane, room for heads, a corner: pixels
FOLDED_AFTER = 400
BETWEEN = "  |  "
LEGEND = "| stands between two in one cell"
SAME = "pale: as in the row above"
REST = (
    "Rows {} to {} are left out here. Run the cell to step through all of them, or read the text "
    "form: print the exhibit."
)
STEPS = "run the cell to step through them; the model has all of them (`.model.steps`)"
STACK = ("line", "instruction", "value stack, bottom to top", "locals")
STACK_OPTIONS = {"on an exception": "handler", "printed": "printed", "what came of it": "ending"}
DYNAMO_OPTIONS = {
    "symbolic stack, bottom to top": "stack",
    "added to the graph": "made",
    "guards taken": "guarded",
}
UNITS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
ALL = "the model has all of them (`.model.bytecode.rows`)"
NESTED = "the model has all of them (`.model.walk()`), and show_code shows one of them alone"
MOST_UNITS, MOST_CODES = 2_000, 40  # instructions of one code object; code objects


def _text(model, headings, rows, where: str, note: str, legend: str, last="") -> str:
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(source_lines(model), 1)]
    shown, rest = fit(rows, where)
    body = grid(headings, shown) if rows else ""
    return joined(model.title, note, *numbered, body, legend, rest, last)


def _html(model, headings, rows, note: str, **values) -> str:
    usual = {"drawn": False, "arcs": "", "marked": (), "pale": (), "legend": "", "rest": ""}
    usual |= {"left_out": "", "code": [True] * len(headings), "note_has_lines": False}
    given = {"model": model, "lines": source_lines(model), "headings": headings, "rows": rows}
    return render("sourced_table.html", **usual | given | {"note": note} | values)


def _bytecode_text(model: Sourced) -> str:
    legend = ARROWS if model.jumps() else ""
    return _text(model, *instruction_table(model), INSTRUCTIONS, "", legend, model.note)


def _bytecode_html(model: Sourced) -> str:
    headings, rows = instruction_table(model)
    shown, rest = fit(rows, INSTRUCTIONS)
    jumps, lanes = model.jumps(), _place_jumps(model.jumps())
    return _html(
        model,
        headings,
        shown,
        model.note,
        left_out=rest,
        note_has_lines=True,
        drawn=bool(lanes),
        arcs=as_image(_draw_arcs(lanes, len(rows))) if lanes and not rest else "",
        alt=", ".join(f"row {start + 1} → {target + 1}" for start, target in jumps[:MOST_SAID]),
        high=ROW,
        marked=frozenset(model.marked),
        legend=ARROWS if jumps else "",
        code=[*([True] if lanes else []), *(column.code for column in model.columns)],
    )


def instruction_table(model: Sourced) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; the first column holds the arrows, if there are any."""
    arrows = draw_gutter(model.jumps(), len(model.rows))
    headings = [column.heading for column in model.columns]
    cells = cut_cells(model.cells())
    for row, column in model.marked:
        cells[row][column] = f"{MARK} {cells[row][column]}"
    if model.marked:
        headings, cells = _drop_twin(headings, cells, model.cells())
    if not any(arrows):
        return headings, cells
    return ["jumps", *headings], [[a, *row] for a, row in zip(arrows, cells, strict=True)]


def _drop_twin(headings, cells, plain) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; a last column that repeats one goes, and its heading says so."""
    *columns, last = zip(*plain, strict=True)
    if last not in columns:
        return headings, cells
    at = columns.index(last)
    twin = f"{headings[at]} ({headings[-1]} is the same)"
    return [*headings[:at], twin, *headings[at + 1 : -1]], [row[:-1] for row in cells]


def draw_gutter(jumps, count: int) -> list[str]:
    """Return `count` strings that draw the arrows, shorter ones further right."""
    lanes = _place_jumps(jumps)
    width = max((lane for lane, *_ in lanes), default=-1) + 1
    grids = [[" "] * (2 * width + 1) for _ in range(count)]
    for lane, start, end, sources, target in lanes:
        column = 2 * (width - 1 - lane)
        for row in range(start, end + 1):
            if grids[row][column] == " ":
                grids[row][column] = "│"
        for row in {*sources, target}:
            cells = grids[row]
            cells[column] = "╭" if row == start else "╰" if row == end else "├"
            for right in range(column + 1, 2 * width):
                cells[right] = {" ": "─", "│": "┼"}.get(cells[right], cells[right])
            if cells[-1] != "▶":
                cells[-1] = "▶" if row == target else "─"
    return ["".join(cells).rstrip() for cells in grids]


def _place_jumps(jumps):
    """Return (lane, first row, last row, rows that jump, target), lane 0 next to the table."""
    arrows: dict[int, list[int]] = {}
    for start, target in jumps:
        arrows.setdefault(target, []).append(start)
    spans = [(min(t, *s), max(t, *s), s, t) for t, s in arrows.items()]
    placed = []
    for start, end, sources, target in sorted(spans, key=lambda a: (a[1] - a[0], a[0])):
        taken = {lane for lane, other, last, *_ in placed if other <= end and start <= last}
        lane = next(n for n in range(len(placed) + 1) if n not in taken)
        placed.append((lane, start, end, sources, target))
    return placed


def _draw_arcs(lanes, count: int) -> str:
    width = EDGE + LANE * (1 + max(lane for lane, *_ in lanes))
    arcs = [
        _draw_arc(width - EDGE - LANE * lane, width - 2, start, target)
        for lane, _, _, sources, target in lanes
        for start in sources
    ]
    return render("arcs.svg", width=width, height=ROW * count, arcs=arcs)


def _draw_arc(left: int, right: int, start: int, target: int) -> dict:
    begin, end = (ROW * row + ROW // 2 + shift for row, shift in ((start, 3), (target, -3)))
    if start == target:
        begin, end = end, begin
    down = 1 if end > begin else -1
    turn = min(TURN, abs(end - begin) // 2)
    path = (
        f"M{right} {begin}H{left + turn}Q{left} {begin} {left} {begin + down * turn}"
        f"V{end - down * turn}Q{left} {end} {left + turn} {end}H{right - 6}"
    )
    head = f"M{right} {end}l-8 -4.5v9z"
    kind = "back" if target <= start else "on"
    return {"kind": kind, "path": path, "head": head, "words": f"row {start + 1} → {target + 1}"}


def steps_text(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return title, note and numbered source, and one row per step below them."""
    return _text(model, headings, cut_cells(rows), STEPS, note_of(model), _legend(rows))


def steps_html(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return the same as an HTML table; beyond `FOLDED_AFTER` rows it says what is left out."""
    shown = cut_cells(rows[:FOLDED_AFTER])
    pale = {  # row and column of each cell that says what the cell above it says
        (number, column)
        for number, (before, now) in enumerate(pairwise(shown), 1)
        for column, (above, words) in enumerate(zip(before, now, strict=True))
        if words and words == above
    }
    return _html(
        model,
        headings,
        shown,
        note_of(model),
        left_out=_legend(rows),
        pale=pale,
        legend=SAME if pale else "",
        rest=REST.format(len(shown) + 1, len(rows)) if len(shown) < len(rows) else "",
    )


def _legend(rows: list[list[str]]) -> str:
    return LEGEND if any(BETWEEN in cell for row in rows for cell in row) else ""


def stack_table(model: StackRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a run; a column that no row needs is left out."""
    several = ["call"] if len({step.call for step in model.steps}) > 1 else []
    used = _used(model, STACK_OPTIONS)
    rows = []
    for step in model.steps:
        call, cells = "", [str(step.line or ""), step.label, "", ""]
        if not step.left_out:
            call = f"{step.function} {step.call}"
            names = ", ".join(f"{name} = {words}" for name, words in step.names)
            cells[1:] = step.instruction, BETWEEN.join(step.stack) or "(empty)", names
        rest = [getattr(step, STACK_OPTIONS[heading]) for heading in used]
        rows.append([*([call] if several else []), *cells, *rest])
    return [*several, *STACK, *used], rows


def dynamo_table(model: DynamoRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a translation; a column that no row needs is left out."""
    used = _used(model, DYNAMO_OPTIONS)
    rows = []
    for step in model.steps:
        label = f"{step.label} ({step.ending})" if step.ending else step.label
        words = [BETWEEN.join(getattr(step, DYNAMO_OPTIONS[heading])) for heading in used]
        rows.append([str(step.line or ""), label, *words])
    return ["line", "step", *used], rows


def _used(model, options: dict[str, str]) -> list[str]:
    return [h for h, field in options.items() if any(getattr(s, field) for s in model.steps)]


def _steps_view(make_table) -> View:
    return View(
        lambda model: steps_text(model, *make_table(model)),
        lambda model: steps_html(model, *make_table(model)),
        stage_widget,
    )


# -- code objects ----------------------------------------------------------------------------------


def _code_text(model: CodeTree) -> str:
    """Of the inner code objects only the fields are listed that differ from the first one's."""
    (trees, left_out), parts = _fit_codes(model), [_list_codes(model)]
    for tree in trees:
        rows, rest = fit(_units(tree), ALL)
        body = grid(UNITS, rows)
        fields = tree.fields if tree is model else _differing_fields(tree, model)
        parts += [table.text(fields), joined(body, rest, tree.note, tree.bytecode.cut)]
    return "\n\n".join(visible(part) for part in (*parts, left_out) if part)


def _code_html(model: CodeTree) -> str:
    (trees, left_out), drawn = _fit_codes(model), []
    for tree in trees:
        shown, rest = fit(_units(tree), ALL)
        fields = Markup(table.html(replace(tree.fields, title="Fields")))
        drawn.append((tree, fields, shown, joined(rest, tree.note, tree.bytecode.cut)))
    values = {"branches": _list_codes(model), "left_out": left_out}
    return render("code.html", model=model, trees=drawn, headings=UNITS, **values)


def _code_widget(model: CodeTree):
    trees, left_out = _fit_codes(model)
    state = {"codes": list(map(_code_state, trees)), "note": left_out, "shown": 0, "picked": 0}
    return make_widget("code", "code", f"{len(trees)} code objects", state)


def _fit_codes(model: CodeTree) -> tuple[list[CodeTree], str]:
    return fit([tree for _, tree in model.walk()], NESTED, "Code objects", MOST_CODES)


def _list_codes(model: CodeTree) -> str:
    lines = [
        f"{'   ' * (depth - 1)}{'└─ ' if depth else ''}{tree.name}" for depth, tree in model.walk()
    ]
    return "\n".join(cut_lines(lines)) if model.nested else ""


def _differing_fields(tree: CodeTree, first: CodeTree) -> Listing:
    known = {(row.name, row.value, row.used) for row in first.fields.rows}
    rows = [row for row in tree.fields.rows if (row.name, row.value, row.used) not in known]
    columns = [column for column in tree.fields.columns if column.field != "meaning"]
    note = f"The other fields read as in {first.name}. The lines below count from its own first."
    return replace(tree.fields, columns=tuple(columns), rows=tuple(rows), note=note)


def _units(tree: CodeTree) -> list[list[str]]:
    """Return a row per instruction: which bytes it has, how many of them cache, and its source."""
    return [
        [str(r.offset), r.kept, "00 " * 2 * r.caches, cut(r.words), r.where, cut(r.snippet)]
        for r in tree.bytecode.rows
    ]


def _code_state(tree: CodeTree) -> dict:
    rows, rest = fit(tree.bytecode.rows, ALL, "Instructions", MOST_UNITS)
    return {
        "name": one_line(tree.name),
        "fields": table.html(tree.fields),
        "lines": source_lines(tree.bytecode),
        "units": [
            [row.offset, row.kept, row.caches, one_line(row.words), list(row.span), row.line]
            for row in rows
        ],
        "rest": joined(rest, tree.note, tree.bytecode.cut),
    }


bytecode = View(_bytecode_text, _bytecode_html)
stack = _steps_view(stack_table)
dynamo = _steps_view(dynamo_table)
code = View(_code_text, _code_html, _code_widget)
