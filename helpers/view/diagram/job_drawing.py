"""The op list of a job -> its picture: forward ops down, backward ops up beside them."""

from collections import defaultdict

from ...model.framework_records import JobGraph, JobOp
from ...model.graphs import Edge, Node
from ..markup import one_line
from ..shapes import LETTER, measure_text
from .arrow_lines import list_points
from .drawing import MARGIN, Arrow, Box, Drawing, Rectangle, measure_size, render_svg
from .labels import make_arrow, make_box, measure_box_width
from .straight_lines import Way, find_way

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

Cells = dict[tuple[int, int], list[str]]  # (lane, row) -> the keys there


def draw_job(model: JobGraph) -> str:
    """Return the picture of a job with at least one op as SVG text."""
    writers = find_writers(model)
    nodes = _make_nodes(model)
    cells = _fill_cells(model, _assign_rows(model, writers))
    rectangles = _place_boxes(nodes, cells)

    arrows = _route_arrows(list_edges(model, writers), rectangles)
    headings = _make_headings(cells, rectangles)
    boxes = [make_box(node, rectangles[key], longest=LONGEST_NAME) for key, node in nodes.items()]

    reached = [*rectangles.values(), *(heading.rectangle for heading in headings)]
    for arrow in arrows:
        reached += [Rectangle(x, y, 0, 0) for x, y in list_points(arrow.line)]
    width, height = measure_size(reached)
    drawing = Drawing(width, height, (*headings, *boxes), arrows)
    return render_svg(model.title, drawing, (node.kind for node in nodes.values()))


def find_writers(model: JobGraph) -> dict[str, str]:
    """Return for each blob the op that writes it."""
    writers = {}
    for op in model.ops:
        for _, blob in op.writes:
            writers[blob.name] = op.name
    return writers


def list_edges(model: JobGraph, writers: dict[str, str]) -> list[Edge]:
    """Return an edge for each pair of ops of which one reads what the other writes."""
    ends = []
    for op in model.ops:
        ends += [(writers[name], op.name) for _, name in op.reads if name in writers]
    ends += [(writers[name], RETURNED) for name in model.returns]
    return [Edge(source, target) for source, target in dict.fromkeys(ends)]


def _make_nodes(model: JobGraph) -> dict[str, Node]:
    """Return the node of each op, and of what is returned."""
    nodes = {op.name: _make_node(op) for op in model.ops}
    if model.returns:
        nodes[RETURNED] = Node(RETURNED, "returned", "output")
    return nodes


def _make_node(op: JobOp) -> Node:
    details = [str(list(blob.shape)) for _, blob in op.writes]
    if LANES[op.part] != STACKED_LANE:
        details.insert(0, op.type)
    label = f"◆ {op.name}" if op.own else op.name
    kind = f"{op.part} own" if op.own else op.part
    return Node(op.name, label, kind, " ".join(details))


# -- places of boxes -------------------------------------------------------------------------------


def _assign_rows(model: JobGraph, writers: dict[str, str]) -> dict[str, int]:
    """Return a row per op: forward ops one below the other, all others beside one of them."""
    rows = {name: row for row, name in enumerate(model.names("forward"))}
    for op in model.ops:
        if op.part == "forward":
            for _, name in op.reads:
                if name in writers:
                    rows.setdefault(writers[name], rows[op.name])

    for op in model.ops:
        rows.setdefault(op.name, rows.get(op.near, 0))
    return rows


def _fill_cells(model: JobGraph, rows: dict[str, int]) -> Cells:
    """Return the keys of each lane and row."""
    cells = defaultdict(list)
    for op in model.ops:
        cells[LANES[op.part], rows[op.name]].append(op.name)
    if model.returns:
        cells[LANES["forward"], max(rows.values()) + 1].append(RETURNED)
    return cells


def _place_boxes(nodes: dict[str, Node], cells: Cells) -> dict[str, Rectangle]:
    """Return a place per key; those of one cell are side by side, in the first lane stacked."""
    tops, heights = _measure_rows(cells)
    columns = _list_columns(cells)
    rectangles = {}
    left = MARGIN
    for (lane, _), column in sorted(columns.items()):
        widths = {key: measure_box_width(nodes[key], LONGEST_NAME) for key, _, _ in column}
        column_width = max(widths.values())
        is_only_column = sum(1 for other, _ in columns if other == lane) == 1
        if is_only_column:
            column_width = max(column_width, HEADING_WIDTHS[lane])

        for key, row, depth in column:
            stacked_count = len(cells[lane, row]) if lane == STACKED_LANE else 1
            x = left + (column_width - widths[key]) // 2
            y = tops[row] + (heights[row] - STACK_STEP * stacked_count) // 2 + STACK_STEP * depth
            rectangles[key] = Rectangle(x, y, widths[key])
        left += column_width + COLUMN_GAP
    return rectangles


def _measure_rows(cells: Cells) -> tuple[list[int], list[int]]:
    """Return the top and the height of each row."""
    tops = []
    heights = []
    top = MARGIN + HEADING_HEIGHT
    for row in range(1 + max(row for _, row in cells)):
        stacked_count = len(cells.get((STACKED_LANE, row), ()))
        height = max(ROW_HEIGHT, STACK_STEP * stacked_count + STACK_STEP // 2)
        tops.append(top)
        heights.append(height)
        top += height
    return tops, heights


def _list_columns(cells: Cells) -> dict[tuple[int, int], list[tuple[str, int, int]]]:
    """Return the columns by lane and number: each key with its row and its depth in a stack."""
    columns = defaultdict(list)
    for (lane, row), keys in cells.items():
        for place, key in enumerate(keys):
            if lane == STACKED_LANE:
                columns[lane, 0].append((key, row, place))
            else:
                columns[lane, place].append((key, row, 0))
    return columns


def _make_headings(cells: Cells, rectangles: dict[str, Rectangle]) -> list[Box]:
    """Return a heading above the middle of each lane that has boxes."""
    rectangles_by_lane = defaultdict(list)
    for (lane, _), keys in cells.items():
        rectangles_by_lane[lane] += [rectangles[key] for key in keys]

    headings = []
    for lane, own_rectangles in sorted(rectangles_by_lane.items()):
        left = min(rectangle.x for rectangle in own_rectangles)
        right = max(rectangle.right for rectangle in own_rectangles)
        width = HEADING_WIDTHS[lane]
        place = Rectangle((left + right) // 2 - width // 2, MARGIN, width)
        headings.append(make_box(Node("", HEADINGS[lane], "heading"), place))
    return headings


# -- arrows ----------------------------------------------------------------------------------------


def _route_arrows(edges: list[Edge], rectangles: dict[str, Rectangle]) -> tuple[Arrow, ...]:
    """Return the arrows round the boxes; what travels on one is named in the box that it leaves."""

    def measure_distance(edge: Edge) -> int:
        start = rectangles[edge.source]
        end = rectangles[edge.target]
        return abs(start.centre_x - end.centre_x) + abs(start.y - end.y)

    ways: dict[Edge, Way] = {}
    for edge in sorted(edges, key=measure_distance):
        ends = (edge.source, edge.target)
        obstacles = [rectangle for key, rectangle in rectangles.items() if key not in ends]
        start = rectangles[edge.source]
        end = rectangles[edge.target]
        ways[edge] = find_way(start, end, obstacles, list(ways.values()))

    arrows = []
    for edge in edges:
        line = "M" + " L".join(f"{x} {y}" for x, y in ways[edge])
        tip = f"{one_line(edge.source)} → {one_line(edge.target)}"
        arrows.append(make_arrow("", line, 0, 0, tip))
    return tuple(arrows)
