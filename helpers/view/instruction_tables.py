"""Instructions and steps of a run -> tables below their source, with jumps drawn as arrows."""

from dataclasses import replace
from functools import partial

from markupsafe import Markup

from ..model.code_records import CodeTree, Sourced
from ..model.stage_records import StackRun
from ..model.torch_records import DynamoRun
from . import View
from .images import encode_image
from .markup import cut, cut_cells, fit, grid, joined, one_line, render, source_lines
from .table_view import table
from .widgets import make_widget
from .widgets.stage import note_of, stage_widget

MARK = "●"
ARROWS = "jumps: an arrow leads from a jump to its target; an arrow that leads up is a loop"
MOST_SAID = 40  # jumps in the words of the picture
INSTRUCTIONS = "the model has all of them (`.model.rows`)"
ROW, LANE, EDGE, TURN = 24, 11, 16, 7  # of arcs: a row, a lane, room for heads, a corner: pixels
BETWEEN = "  |  "
LEGEND = "| separates two values in one cell"
STEPS = "the model has all of them (`.model.steps`)"
STACK = ("line", "instruction", "value stack, bottom to top", "locals")
STACK_OPTIONS = {"on an exception": "handler", "printed": "printed", "outcome": "ending"}
DYNAMO_OPTIONS = {"symbolic stack, bottom to top": "stack", "added to the graph": "made"}
DYNAMO_OPTIONS["guards added"] = "guarded"
UNITS = ("offset", "bytes", "inline cache", "instruction", "line", "source")
ALL = "the model has all of them (`.model.bytecode.rows`)"
NESTED = "the model has all of them (`.model.walk()`); show_code shows one of them"
OTHERS = "The other fields are as in {}. The lines below count from its own first line."
MOST_UNITS, MOST_CODES, MOST_LISTED = 2_000, 40, 2_000  # instructions of one; code objects; names


def _text(model, headings, rows, where: str, note: str, legend: str, last="") -> str:
    lines = zip(model.numbers, source_lines(model), strict=False)
    numbered = [f"{number:>3}  {line}" for number, line in lines]
    shown, rest = fit(rows, where)
    body = grid(headings, shown) if rows else ""
    return joined(model.title, note, *numbered, body, legend, rest, last)


def _html(model, headings, rows, note: str, **values) -> str:
    usual = {"drawn": False, "arcs": "", "marked": (), "legend": "", "rest": ""}
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
    values = {"drawn": bool(lanes), "high": ROW, "legend": ARROWS if jumps else ""}
    values |= {"marked": frozenset(model.marked), "left_out": rest, "note_has_lines": True}
    values["arcs"] = encode_image(_draw_arcs(lanes, len(rows))) if lanes and not rest else ""
    values["alt"] = ", ".join(f"row {a + 1} → {b + 1}" for a, b in jumps[:MOST_SAID])
    values["code"] = [*([True] if lanes else []), *(column.code for column in model.columns)]
    return _html(model, headings, shown, model.note, **values)


def instruction_table(model: Sourced) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; the first column holds the arrows, if there are any."""
    headings, plain = [column.heading for column in model.columns], model.cells()
    cells = cut_cells(plain)
    for row, column in model.marked:
        cells[row][column] = f"{MARK} {cells[row][column]}"
    columns = list(zip(*plain, strict=True))
    if model.marked and columns[-1] in columns[:-1]:  # the last one goes, a heading says so
        headings[columns.index(columns[-1])] += f" ({headings[-1]} is the same)"
        headings, cells = headings[:-1], [row[:-1] for row in cells]
    if not model.jumps():
        return headings, cells
    arrows = draw_gutter(model.jumps(), len(model.rows))
    return ["jumps", *headings], [[a, *row] for a, row in zip(arrows, cells, strict=True)]


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
    width, arcs = EDGE + LANE * (1 + max(lane for lane, *_ in lanes)), []
    right = width - 2
    for lane, _, _, sources, target in lanes:
        left, end = width - EDGE - LANE * lane, ROW * target + ROW // 2 - 3
        for start in sources:
            begin = ROW * start + ROW // 2 + 3
            begin, low = (begin - 6, end + 6) if start == target else (begin, end)
            down, turn = (1 if low > begin else -1), min(TURN, abs(low - begin) // 2)
            path = (
                f"M{right} {begin}H{left + turn}Q{left} {begin} {left} {begin + down * turn}"
                f"V{low - down * turn}Q{left} {low} {left + turn} {low}H{right - 6}"
            )
            kind, words = "back" if target <= start else "on", f"row {start + 1} → {target + 1}"
            head = f"M{right} {low}l-8 -4.5v9z"
            arcs.append({"kind": kind, "path": path, "head": head, "words": words})
    return render("arcs.svg", width=width, height=ROW * count, arcs=arcs)


def stack_table(model: StackRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a run; a column that no row needs is left out."""
    several = ["call"] if len({step.call for step in model.steps}) > 1 else []
    used, rows, numbers = _used(model, STACK_OPTIONS), [], ["", *model.numbers]
    for step in model.steps:
        call, cells = "", [numbers[step.line], step.label, "", ""]
        if not step.left_out:
            call = f"{step.function} {step.call}"
            names = ", ".join(f"{name} = {words}" for name, words in step.names)
            cells[1:] = step.instruction, BETWEEN.join(step.stack) or "(empty)", names
        rows.append([*[call] * len(several), *cells, *(getattr(step, f) for f in used.values())])
    return [*several, *STACK, *used], rows


def dynamo_table(model: DynamoRun) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a translation; a column that no row needs is left out."""
    used, rows, numbers = _used(model, DYNAMO_OPTIONS), [], ["", *model.numbers]
    for step in model.steps:
        label = f"{step.label} ({step.ending})" if step.ending else step.label
        words = (BETWEEN.join(getattr(step, field)) for field in used.values())
        rows.append([numbers[step.line], label, *words])
    return ["line", "step", *used], rows


def _used(model, options: dict[str, str]) -> dict[str, str]:
    return {h: field for h, field in options.items() if any(getattr(s, field) for s in model.steps)}


def _steps_view(make_table) -> View:
    """Return the view of a run's steps; in HTML, very many rows are left out, which it says."""
    return View(partial(_steps_text, make_table), partial(_steps_html, make_table), stage_widget)


def _steps_text(make_table, model) -> str:
    headings, rows = make_table(model)
    return _text(model, headings, cut_cells(rows), STEPS, note_of(model), _steps_legend(rows))


def _steps_html(make_table, model) -> str:
    headings, rows = make_table(model)
    shown, rest = fit(rows, f"run the cell to step through them; {STEPS}")
    said = {"left_out": _steps_legend(rows), "rest": rest}
    return _html(model, headings, cut_cells(shown), note_of(model), **said)


def _steps_legend(rows: list[list[str]]) -> str:
    return LEGEND if any(BETWEEN in cell for row in rows for cell in row) else ""


# -- code objects ----------------------------------------------------------------------------------


def _code_text(model: CodeTree) -> str:
    """Of the inner code objects only the fields are listed that differ from the first one's."""
    trees, left_out, branches = _fit_codes(model)
    parts = [branches]
    known = {(row.name, row.value, row.used) for row in model.fields.rows}
    for tree in trees:
        rows, rest = fit(_units(tree), ALL)
        body, fields = grid(UNITS, rows), tree.fields
        if tree is not model:
            differ = tuple(r for r in fields.rows if (r.name, r.value, r.used) not in known)
            columns = tuple(column for column in fields.columns if column.field != "meaning")
            note = OTHERS.format(model.name)
            fields = replace(fields, columns=columns, rows=differ, note=note)
        parts += [table.text(fields), joined(body, rest, tree.note, tree.bytecode.cut)]
    return "\n\n".join(joined(part) for part in (*parts, left_out) if part)


def _code_html(model: CodeTree) -> str:
    (trees, left_out, branches), drawn = _fit_codes(model), []
    for tree in trees:
        shown, rest = fit(_units(tree), ALL)
        fields = Markup(table.html(replace(tree.fields, title="Fields")))
        drawn.append((tree, fields, shown, joined(rest, tree.note, tree.bytecode.cut)))
    values = {"branches": branches, "left_out": left_out}
    return render("code.html", model=model, trees=drawn, headings=UNITS, **values)


def _code_widget(model: CodeTree):
    (trees, left_out, _), codes = _fit_codes(model), []
    for tree in trees:
        rows, rest = fit(tree.bytecode.rows, ALL, "Instructions", MOST_UNITS)
        units = [
            [row.offset, row.kept, row.caches, one_line(row.words), list(row.span), row.line]
            for row in rows
        ]
        code = {"name": one_line(tree.name), "fields": table.html(tree.fields), "units": units}
        code["lines"] = source_lines(tree.bytecode)
        codes.append(code | {"rest": joined(rest, tree.note, tree.bytecode.cut)})
    state = {"codes": codes, "note": left_out, "shown": 0, "picked": 0}
    return make_widget("code", "code", f"{len(trees)} code objects", state)


def _fit_codes(model: CodeTree) -> tuple[list[CodeTree], str, str]:
    """Return the first code objects, how many others there are, and which stands in which."""
    found = fit([tree for _, tree in model.walk()], NESTED, "Code objects", MOST_CODES)
    lines = [f"{'   ' * (n - 1)}{'└─ ' if n else ''}{tree.name}" for n, tree in model.walk()]
    return *found, "\n".join(map(cut, lines[:MOST_LISTED])) if model.nested else ""


def _units(tree: CodeTree) -> list[list[str]]:
    """Return a row per instruction: which bytes it has, how many of them cache, and its source."""
    return [
        [str(r.offset), r.kept, "00 " * 2 * r.caches, cut(r.words), r.where, cut(r.snippet)]
        for r in tree.bytecode.rows
    ]


bytecode = View(_bytecode_text, _bytecode_html)
stack = _steps_view(stack_table)
dynamo = _steps_view(dynamo_table)
code = View(_code_text, _code_html, _code_widget)
