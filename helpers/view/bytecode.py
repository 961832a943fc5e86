"""Instructions -> a table with the jumps drawn as arrows beside it, as text or HTML."""

from bisect import bisect

from helpers.model.bytecode import Sourced
from helpers.view import row_limit
from helpers.view.diagram import arcs
from helpers.view.markup import grid, joined, one_line, render
from helpers.view.picture import as_image

MARK = "●"
ARROWS = "jumps: an arrow leads from a jump to what it may run next; one that leads up is a loop"
MOST_LANES = 12
MOST_SAID = 40  # jumps in the words of the picture
MOST_NOTE_LINES = 60
ALL = "the model has all of them (`.model.rows`)"


def text(model: Sourced) -> str:
    """Return the source, then one row per instruction with a gutter of arrows."""
    model = row_limit.trimmed(model)
    headings, rows = table(model)
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(lines(model), 1)]
    part = row_limit.text_fold(headings, rows, row_limit.TEXT_ROOM)
    body = grid(headings, part.of(rows, lambda: row_limit.dots(headings)))
    return joined(model.title, *numbered, body, legend(model), part.says(ALL), note(model))


def html(model: Sourced) -> str:
    """Return the same with the arrows as a picture beside rows of one height."""
    model = row_limit.trimmed(model)
    headings, rows = table(model)
    part = row_limit.fold(row_limit.costs(rows))
    jumps = model.jumps()
    lanes = _lanes(jumps)
    drawn = bool(lanes)
    picture = arcs.arcs(lanes, len(rows)) if drawn and not part.left_out else ""
    return render(
        "sourced_table.html",
        model=model,
        note=note(model),
        lines=lines(model),
        headings=headings,
        rows=part.of(rows, lambda: row_limit.dots(headings)),
        left_out=part.says(ALL),
        rest="",
        note_has_lines=True,
        drawn=drawn,
        arcs=as_image(picture) if picture else "",
        alt=", ".join(f"row {start + 1} → {target + 1}" for start, target in jumps[:MOST_SAID]),
        high=arcs.ROW,
        marked=frozenset(model.marked),
        pale=(),
        legend=legend(model),
        code=[*([True] if drawn else []), *(column.code for column in model.columns)],
    )


def legend(model: Sourced) -> str:
    """Return what the arrows say, if there are any."""
    return ARROWS if model.jumps() else ""


def lines(model: Sourced) -> list[str]:
    """Return the source's lines, ready to show."""
    source = model.source.split("\n") if model.source else []
    return row_limit.source([one_line(line.expandtabs(4)) for line in source])


def note(model: Sourced) -> str:
    """Return the note; of very many lines the first, and what else is not drawn."""
    said = model.note.split("\n")
    more = len(said) - MOST_NOTE_LINES
    if more > 0:
        rest = f"… and {more:,} more such lines; the model has them all (`.model.note`)"
        said = [*said[:MOST_NOTE_LINES], rest]
    jumps = model.jumps()
    missing = len(jumps) - sum(len(sources) for *_, sources, _ in _lanes(jumps))
    if missing:
        words = "1 arrow is" if missing == 1 else f"{missing:,} arrows are"
        said.append(f"{words} not drawn, for want of room; the arguments name their targets.")
    return "\n".join(line for line in said if line)


def table(model: Sourced) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; the first column holds the arrows, if there are any."""
    arrows = gutter(model.jumps(), len(model.rows))
    headings = [column.heading for column in model.columns]
    cells = [[row_limit.cut(cell) for cell in row] for row in model.cells()]
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


def gutter(jumps, count: int) -> list[str]:
    """Return `count` strings that draw the arrows (from row, to row), shorter ones further right.

    Equal targets share a lane where they can. Lanes beyond `MOST_LANES` are not drawn; the
    argument column names every target all the same.
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
            corner = "╭" if row == start else "╰" if row == end else "├"
            grids[row][column] = corner
            for right in range(column + 1, 2 * width):
                grids[row][right] = (
                    "─"
                    if grids[row][right] == " "
                    else ("┼" if grids[row][right] == "│" else grids[row][right])
                )
            if grids[row][2 * width] != "▶":
                grids[row][2 * width] = "▶" if row == target else "─"
    return ["".join(cells).rstrip() for cells in grids]


def _lanes(jumps):
    """Return (lane, first row, last row, rows that jump, target), lane 0 next to the table."""
    arrows: dict[int, list[int]] = {}
    for start, target in jumps:
        arrows.setdefault(target, []).append(start)
    spans = [(min(t, *s), max(t, *s), s, t) for t, s in arrows.items()]
    taken: list[list[tuple[int, int]]] = []
    placed = []
    for start, end, sources, target in sorted(spans, key=lambda a: (a[1] - a[0], a[0])):
        lane = 0
        while lane < len(taken) and _meets(taken[lane], start, end):
            lane += 1
        if lane >= MOST_LANES:
            continue
        if lane == len(taken):
            taken.append([])
        taken[lane].insert(bisect(taken[lane], (start, end)), (start, end))
        placed.append((lane, start, end, sources, target))
    return placed


def _meets(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether one of the spans, in order and apart from each other, meets start to end."""
    at = bisect(spans, (end, float("inf")))
    return at > 0 and spans[at - 1][1] >= start
