"""Instructions -> a table with the jumps drawn as arrows beside it, as text or HTML."""

from helpers.model.bytecode import Sourced
from helpers.view.ink import grid, one_line, render, visible

MOST_LANES = 12


def text(model: Sourced) -> str:
    """Return the source, then one row per instruction with a gutter of arrows."""
    headings, rows = table(model)
    numbered = [f"{n:3d}  {line}" for n, line in enumerate(lines(model), 1)]
    parts = [visible(model.title), *numbered, grid(headings, rows), visible(model.note)]
    return "\n".join(part for part in parts if part)


def html(model: Sourced) -> str:
    """Return the same with the gutter in a fixed-width face."""
    headings, rows = table(model)
    drawn = len(headings) > len(model.columns)
    return render(
        "bytecode.html",
        model=model,
        lines=lines(model),
        headings=headings,
        rows=rows,
        drawn=drawn,
        code=[*([True] if drawn else []), *(column.code for column in model.columns)],
    )


def lines(model: Sourced) -> list[str]:
    """Return the source's lines, ready to show."""
    source = model.source.split("\n") if model.source else []
    return [one_line(line.expandtabs(4)) for line in source]


def table(model: Sourced) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells; the first column holds the arrows, if there are any."""
    arrows = gutter(model.jumps(), len(model.rows))
    headings = [column.heading for column in model.columns]
    cells = [list(row) for row in model.cells()]
    if not any(arrows):
        return headings, cells
    return ["jumps", *headings], [[a, *row] for a, row in zip(arrows, cells, strict=True)]


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
        while lane < len(taken) and any(s <= end and start <= e for s, e in taken[lane]):
            lane += 1
        if lane >= MOST_LANES:
            continue
        if lane == len(taken):
            taken.append([])
        taken[lane].append((start, end))
        placed.append((lane, start, end, sources, target))
    return placed
