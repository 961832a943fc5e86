"""The ops of a job -> the place of each box: in a lane by its pass, in a row by what it reads.
A job is OneFlow's graph: its ops read and write blobs, which are arrays with a name. A *lane* is a
group of columns, such as all backward ops. A *cell* is where a lane and a row meet.

The lanes are: inputs and variables, forward, backward, update. Forward ops have a row each, and
other ops share the row of a forward op. So a cell may have several boxes. They stand below each
other in the first lane, and beside each other in the others.
"""

from collections import defaultdict
from dataclasses import dataclass

from ...model.graphs import Node
from ...model.job_records import JobGraph
from ..shapes import LETTER, measure_text
from .drawing import MARGIN, Rectangle
from .labels import measure_box_width

LANES = {"input": 0, "variable": 0, "forward": 1, "backward": 2, "update": 3}
STACKED_LANE = 0  # the ops of one row of this lane are below each other
HEADINGS = ("inputs, variables", "forward ↓", "backward ↑", "update")
HEADING_WIDTHS = [measure_text(heading, LETTER) + 16 for heading in HEADINGS]
RETURNED = "→ returned"  # no op can bear this name

ROW_HEIGHT = 92  # pixels
STACK_STEP = 48  # pixels to a further box in a row
HEADING_HEIGHT = 44
COLUMN_GAP = 25
LONGEST_NAME = 26  # characters of a name or of what is below it

Cells = dict[tuple[int, int], list[str]]  # (lane, row) -> the keys of its boxes: names of ops


@dataclass(frozen=True)
class _JobRow:
    """Where a row is in the picture."""

    top: int
    """Its upper side, in pixels."""
    height: int
    """Its height, in pixels."""


@dataclass(frozen=True)
class _PlacedKey:
    """A box, and where it is in its column."""

    key: str
    """Its key."""
    row: int
    """The number of its row."""
    depth: int
    """How many boxes of the same row and lane are above it."""


def fill_cells(model: JobGraph, writers: dict[str, str]) -> Cells:
    """Return the names of the ops in each cell: (lane, row) -> names.

    `writers` has the name of a blob -> the name of the op that writes it. What the job returns is
    in the forward lane, in a row below all others.
    """
    rows = _assign_rows(model, writers)
    cells = defaultdict(list)
    for op in model.ops:
        lane = LANES[op.part]
        row = rows[op.name]
        cells[lane, row].append(op.name)

    if model.returns:
        last_row = max(rows.values()) + 1
        cells[LANES["forward"], last_row].append(RETURNED)
    return cells


def _assign_rows(model: JobGraph, writers: dict[str, str]) -> dict[str, int]:
    """Return name of an op -> its row.

    A forward op has a row of its own. An op whose blob a forward op reads, such as a variable, is
    in the row of the first op that reads it. Any other op is in the row of `op.near`: the op for
    which the job appended it, such as the forward op of a backward op.
    """
    rows = {}
    for row, name in enumerate(model.names("forward")):
        rows[name] = row

    for op in model.ops:
        if op.part == "forward":
            for _, blob_name in op.reads:
                if blob_name in writers:
                    # Without effect if the writer has a row, from an earlier reader or as a
                    # forward op.
                    rows.setdefault(writers[blob_name], rows[op.name])

    for op in model.ops:
        row_beside = rows.get(op.near, 0)
        rows.setdefault(op.name, row_beside)
    return rows


def place_boxes(nodes: dict[str, Node], cells: Cells) -> dict[str, Rectangle]:
    """Return key -> the place of its box; `nodes` has each node by its key."""
    rows = _measure_rows(cells)
    columns = _list_columns(cells)  # (lane, number in the lane) -> its boxes
    column_lanes = [lane for lane, _ in columns]
    rectangles = {}
    left = MARGIN
    for (lane, _), column in sorted(columns.items()):
        widths = {}
        for box in column:
            widths[box.key] = measure_box_width(nodes[box.key], LONGEST_NAME)

        column_width = max(widths.values())
        if column_lanes.count(lane) == 1:  # the heading has only this column to stand above
            column_width = max(column_width, HEADING_WIDTHS[lane])

        for box in column:
            width = widths[box.key]
            x = left + (column_width - width) // 2
            stack_size = len(cells[lane, box.row]) if lane == STACKED_LANE else 1
            y = _find_y(rows[box.row], stack_size, box.depth)
            rectangles[box.key] = Rectangle(x, y, width)
        left += column_width + COLUMN_GAP
    return rectangles


def _find_y(row: _JobRow, stack_size: int, depth: int) -> int:
    """Return the upper side of a box in a stack that stands in the middle of its row.

    The stack has `stack_size` boxes, and `depth` of them are above this one.
    """
    stack_height = STACK_STEP * stack_size
    stack_top = row.top + (row.height - stack_height) // 2
    return stack_top + STACK_STEP * depth


def _measure_rows(cells: Cells) -> list[_JobRow]:
    """Return the place of each row, which is high enough for its stack of inputs and variables."""
    rows = []
    top = MARGIN + HEADING_HEIGHT
    last_row = max(row for _, row in cells)
    for row in range(last_row + 1):
        stack = cells.get((STACKED_LANE, row), [])
        stack_height = STACK_STEP * len(stack) + STACK_STEP // 2
        height = max(ROW_HEIGHT, stack_height)
        rows.append(_JobRow(top, height))
        top += height
    return rows


def _list_columns(cells: Cells) -> dict[tuple[int, int], list[_PlacedKey]]:
    """Return (lane, number of the column in the lane) -> the boxes of the column.

    The first lane is one column, because its boxes are stacked. Another lane has as many columns as
    it has boxes in one row.
    """
    columns = defaultdict(list)
    for (lane, row), keys in cells.items():
        for position, key in enumerate(keys):
            if lane == STACKED_LANE:
                columns[lane, 0].append(_PlacedKey(key, row, depth=position))
            else:
                columns[lane, position].append(_PlacedKey(key, row, depth=0))
    return columns
