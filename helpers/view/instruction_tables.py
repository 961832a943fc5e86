"""Instructions and steps of a run -> tables below their source, as text or HTML.

Beside instructions stand their jumps, drawn as arrows; of the steps of a run, a row has what stood
on the value stack, and a stage steps through them.
"""

from itertools import pairwise

from helpers.model.bytecode import Sourced
from helpers.model.dynamo import DynamoRun
from helpers.model.stack import StackRun
from helpers.view import View, row_limit
from helpers.view.markup import joined, render
from helpers.view.panels import note_of, source_lines
from helpers.view.picture import as_image
from helpers.view.widgets.stage import stage_widget

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
EMPTY = "(empty)"
STACK = ("line", "instruction", "value stack, bottom to top", "locals")
STACK_OPTIONS = {"on an exception": "handler", "printed": "printed", "what came of it": "ending"}
DYNAMO_OPTIONS = {
    "symbolic stack, bottom to top": "stack",
    "added to the graph": "made",
    "guards taken": "guarded",
}


def _text(model, lines, headings, rows, where: str, note: str, legend: str = "", last="") -> str:
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(lines, 1)]
    body, rest = row_limit.text_table(headings, rows, where) if rows else ("", "")
    return joined(model.title, note, *numbered, body, legend, rest, last)


def _html(model, lines, headings, rows, note: str, **values) -> str:
    usual = {"drawn": False, "arcs": "", "marked": (), "pale": (), "legend": "", "rest": ""}
    usual |= {"left_out": "", "code": [True] * len(headings), "note_has_lines": False}
    given = {"model": model, "lines": lines, "headings": headings, "rows": rows, "note": note}
    return render("sourced_table.html", **usual | given | values)


# -- instructions and their jumps ------------------------------------------------------------------


def _bytecode_text(model: Sourced) -> str:
    """Return the source, then one row per instruction with a gutter of arrows."""
    headings, rows = instruction_table(model)
    lines, legend = source_lines(model), _legend(model)
    return _text(model, lines, headings, rows, INSTRUCTIONS, "", legend, model.note)


def _bytecode_html(model: Sourced) -> str:
    """Return the same with the arrows as a picture beside rows of one height."""
    headings, rows = instruction_table(model)
    shown, rest = row_limit.html_rows(headings, rows, INSTRUCTIONS)
    jumps, lanes = model.jumps(), _lanes(model.jumps())
    return _html(
        model,
        source_lines(model),
        headings,
        shown,
        model.note,
        left_out=rest,
        note_has_lines=True,
        drawn=bool(lanes),
        arcs=as_image(_arcs(lanes, len(rows))) if lanes and not rest else "",
        alt=", ".join(f"row {start + 1} → {target + 1}" for start, target in jumps[:MOST_SAID]),
        high=ROW,
        marked=frozenset(model.marked),
        legend=_legend(model),
        code=[*([True] if lanes else []), *(column.code for column in model.columns)],
    )


def _legend(model: Sourced) -> str:
    return ARROWS if model.jumps() else ""


def instruction_table(model: Sourced) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; the first column holds the arrows, if there are any."""
    arrows = draw_gutter(model.jumps(), len(model.rows))
    headings = [column.heading for column in model.columns]
    cells = row_limit.cut_cells(model.cells())
    for row, column in model.marked:
        cells[row][column] = f"{MARK} {cells[row][column]}"
    if model.marked:
        headings, cells = _without_twin(headings, cells, model.cells())
    if not any(arrows):
        return headings, cells
    return ["jumps", *headings], [[a, *row] for a, row in zip(arrows, cells, strict=True)]


def _without_twin(headings, cells, plain) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; a last column that repeats one goes, and its heading says so."""
    *columns, last = zip(*plain, strict=True)
    if last not in columns:
        return headings, cells
    twin, *rest = headings[columns.index(last) :]
    before = headings[: columns.index(last)]
    return [*before, f"{twin} ({rest.pop()} is the same)", *rest], [row[:-1] for row in cells]


def draw_gutter(jumps, count: int) -> list[str]:
    """Return `count` strings that draw the arrows (from row, to row), shorter ones further right.

    Equal targets share a lane.
    """
    lanes = _lanes(jumps)
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


def _lanes(jumps):
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


def _arcs(lanes, count: int) -> str:
    """Return the arrows beside `count` rows as SVG text; one back, for a loop, is thicker."""
    width = EDGE + LANE * (1 + max(lane for lane, *_ in lanes))
    arcs = [
        _arc(width - EDGE - LANE * lane, width - 2, start, target)
        for lane, _, _, sources, target in lanes
        for start in sources
    ]
    return render("arcs.svg", width=width, height=ROW * count, arcs=arcs)


def _arc(left: int, right: int, start: int, target: int) -> dict:
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


# -- a row per step --------------------------------------------------------------------------------


def steps_text(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return title, note and numbered source, and one row per step below them."""
    rows = row_limit.cut_cells(rows)
    lines = source_lines(model)
    return _text(model, lines, headings, rows, STEPS, note_of(model), _between(rows))


def steps_html(model, headings: list[str], rows: list[list[str]]) -> str:
    """Return the same as an HTML table; beyond `FOLDED_AFTER` rows it says what is left out."""
    shown = row_limit.cut_cells(rows[:FOLDED_AFTER])
    shown = shown[: row_limit.fold(row_limit.costs(shown)).head]
    pale = {  # row and column of each cell that says what the cell above it says
        (number, column)
        for number, (before, now) in enumerate(pairwise(shown), 1)
        for column, (above, words) in enumerate(zip(before, now, strict=True))
        if words and words == above
    }
    return _html(
        model,
        source_lines(model),
        headings,
        shown,
        note_of(model),
        left_out=_between(rows),
        pale=pale,
        legend=SAME if pale else "",
        rest=REST.format(len(shown) + 1, len(rows)) if len(shown) < len(rows) else "",
    )


def _between(rows: list[list[str]]) -> str:
    return LEGEND if any(BETWEEN in cell for row in rows for cell in row) else ""


def stack_table(model: StackRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a run; a column that no row needs is left out."""
    several = len({step.call for step in model.steps}) > 1
    used = _used(model, STACK_OPTIONS)
    rows = []
    for step in model.steps:
        call, cells = "", [str(step.line or ""), step.label, "", ""]
        if not step.left_out:
            call = f"{step.function} {step.call}"
            names = ", ".join(f"{name} = {words}" for name, words in step.names)
            cells[1:] = step.instruction, BETWEEN.join(step.stack) or EMPTY, names
        rest = [getattr(step, STACK_OPTIONS[heading]) for heading in used]
        rows.append([*([call] if several else []), *cells, *rest])
    return [*(["call"] if several else []), *STACK, *used], rows


def _used(model, options: dict[str, str]) -> list[str]:
    return [h for h, field in options.items() if any(getattr(s, field) for s in model.steps)]


def dynamo_table(model: DynamoRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a translation; a column that no row needs is left out."""
    used = _used(model, DYNAMO_OPTIONS)
    rows = []
    for step in model.steps:
        label = f"{step.label} ({step.ending})" if step.ending else step.label
        words = [BETWEEN.join(getattr(step, DYNAMO_OPTIONS[heading])) for heading in used]
        rows.append([str(step.line or ""), label, *words])
    return ["line", "step", *used], rows


def _steps_view(table) -> View:
    return View(
        lambda model: steps_text(model, *table(model)),
        lambda model: steps_html(model, *table(model)),
        stage_widget,
    )


bytecode = View(_bytecode_text, _bytecode_html)
stack = _steps_view(stack_table)
dynamo = _steps_view(dynamo_table)
