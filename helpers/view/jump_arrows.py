"""Jumps between rows of a table -> arrows beside the table, drawn with letters or as an SVG.
Each arrow runs in a *lane*, an upright strip left of the table. Lane 0 is next to the table.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from .markup import render

ROW_HEIGHT = 24  # pixels
LANE_WIDTH = 11  # pixels
EDGE_WIDTH = 16  # pixels: room for the heads of arrows
CORNER = 7  # pixels: the radius of a corner
HEAD_LENGTH = 8  # pixels

# What a line of letters becomes where a level line crosses it.
CROSSINGS = {" ": "─", "│": "┼"}


@dataclass(frozen=True)
class JumpArrow:
    """All jumps to one row, which share a line."""

    lane: int
    """The lane of its upright line; 0 is next to the table."""
    first: int
    """The first row that it passes."""
    last: int
    """The last row that it passes."""
    sources: list[int]
    """The rows that jump."""
    target: int
    """The row that they jump to."""


def place_jumps(jumps: Iterable[tuple[int, int]]) -> list[JumpArrow]:
    """Return one arrow for each target of the jumps, which are pairs (from row, to row) from 0.

    Shorter arrows are nearer to the table. Arrows whose rows overlap get different lanes. This is a
    greedy colouring of an interval graph, with the shortest interval first.
    """
    sources_by_target: dict[int, list[int]] = {}  # target row -> the rows that jump to it
    for source, target in jumps:
        sources_by_target.setdefault(target, []).append(source)

    spans = []  # (first row, last row, sources, target) of each arrow
    for target, sources in sources_by_target.items():
        spans.append((min(target, *sources), max(target, *sources), sources, target))
    spans.sort(key=lambda span: (span[1] - span[0], span[0]))

    arrows = []
    for first, last, sources, target in spans:
        overlapping = [arrow for arrow in arrows if arrow.first <= last and first <= arrow.last]
        taken_lanes = {arrow.lane for arrow in overlapping}
        lane = 0
        while lane in taken_lanes:
            lane += 1
        arrows.append(JumpArrow(lane, first, last, sources, target))
    return arrows


def draw_gutter(jumps: Iterable[tuple[int, int]], count: int) -> list[str]:
    """Return for each of the `count` rows a text with its part of all arrows, such as `│ ╰─▶`.

    Each lane takes two columns of letters: its upright line, and room for level lines.
    """
    arrows = place_jumps(jumps)
    lane_count = max((arrow.lane + 1 for arrow in arrows), default=0)
    rows = [[" "] * (2 * lane_count + 1) for _ in range(count)]
    for arrow in arrows:
        column = 2 * (lane_count - 1 - arrow.lane)  # lane 0 is next to the table, at the right
        for row in range(arrow.first, arrow.last + 1):
            # If there is a level line of an arrow further left, it is not drawn over.
            if rows[row][column] == " ":
                rows[row][column] = "│"
        for row in {*arrow.sources, arrow.target}:
            _draw_level_line(rows[row], column, row, arrow)
    return ["".join(cells).rstrip() for cells in rows]


def _draw_level_line(cells: list[str], column: int, row: int, arrow: JumpArrow) -> None:
    """Draw the level line from an arrow's lane to the table into `cells`, the letters of a row.

    `column` is the column of the lane. The letter there is a corner, or a branch between the first
    and the last row of the arrow.
    """
    if row == arrow.first:
        cells[column] = "╭"
    elif row == arrow.last:
        cells[column] = "╰"
    else:
        cells[column] = "├"

    for position in range(column + 1, len(cells) - 1):
        cells[position] = CROSSINGS.get(cells[position], cells[position])
    if cells[-1] != "▶":  # a row may be the target of one arrow and a source of another
        cells[-1] = "▶" if row == arrow.target else "─"


def draw_arcs(arrows: list[JumpArrow], count: int) -> str:
    """Return the arrows beside a table of `count` rows as SVG text."""
    lane_count = 1 + max(arrow.lane for arrow in arrows)
    width = EDGE_WIDTH + LANE_WIDTH * lane_count
    arcs = []
    for arrow in arrows:
        left = width - EDGE_WIDTH - LANE_WIDTH * arrow.lane
        for source in arrow.sources:
            arcs.append(_draw_arc(source, arrow.target, left, width - 2))
    return render("arcs.svg", width=width, height=ROW_HEIGHT * count, arcs=arcs)


def _draw_arc(source: int, target: int, left: int, right: int) -> dict[str, str]:
    """Return one arrow for the template: out to the left, along its lane, and back.

    `source` and `target` are numbers of rows. `left` is the x of the lane, `right` that of the tip.
    """
    # Arrows leave a row below its middle and end above it, so that both can be seen in one row.
    start = ROW_HEIGHT * source + ROW_HEIGHT // 2 + 3
    end = ROW_HEIGHT * target + ROW_HEIGHT // 2 - 3
    # A jump to its own row leaves above the middle: the line needs more height to turn.
    if source == target:
        start -= 6
        end += 6

    turn = min(CORNER, abs(end - start) // 2)
    down = turn if end > start else -turn
    path = (
        f"M{right} {start}H{left + turn}"
        f"Q{left} {start} {left} {start + down}"
        f"V{end - down}"
        f"Q{left} {end} {left + turn} {end}"
        f"H{right - 6}"
    )
    return {
        "kind": "back" if target <= source else "on",
        "path": path,
        "head": f"M{right} {end}l-{HEAD_LENGTH} -4.5v9z",
        "words": f"row {source + 1} → {target + 1}",
    }
