"""The ops of a job -> its picture: forward ops down, backward ops up beside them.
A job is OneFlow's graph: its ops read and write blobs, which are arrays with a name.
"""

from collections import defaultdict

from ...model.graphs import Edge, Node
from ...model.job_records import JobGraph, JobOp
from ..plain_text import escape_to_one_line
from .arrow_lines import list_points
from .drawing import MARGIN, Arrow, Box, Drawing, Rectangle, measure_size, render_svg
from .job_places import (
    HEADING_WIDTHS,
    HEADINGS,
    LANES,
    LONGEST_NAME,
    RETURNED,
    STACKED_LANE,
    Cells,
    fill_cells,
    place_boxes,
)
from .labels import make_arrow, make_box
from .straight_lines import Way, find_way


def draw_job(model: JobGraph) -> str:
    """Return the picture of a job with at least one op as SVG text.

    Inputs and variables, forward ops, backward ops and updates each have a lane, with a heading.
    """
    writers = find_writers(model)
    nodes = _make_nodes(model)
    cells = fill_cells(model, writers)
    rectangles = place_boxes(nodes, cells)

    headings = _make_headings(cells, rectangles)
    boxes = []
    for key, node in nodes.items():
        boxes.append(make_box(node, rectangles[key], longest=LONGEST_NAME))

    edges = list_edges(model, writers)
    arrows = _draw_job_arrows(edges, rectangles)

    # An arrow may lead round the outermost box, so its points count for the size too.
    drawn_places = list(rectangles.values())
    drawn_places += [heading.rectangle for heading in headings]
    for arrow in arrows:
        drawn_places += [Rectangle(x, y, width=0, height=0) for x, y in list_points(arrow.line)]
    width, height = measure_size(drawn_places)

    drawing = Drawing(width, height, (*headings, *boxes), arrows)
    kinds = [node.kind for node in nodes.values()]
    return render_svg(model.title, drawing, kinds)


def find_writers(model: JobGraph) -> dict[str, str]:
    """Return name of a blob -> name of the op that writes it."""
    writers = {}
    for op in model.ops:
        for _, blob in op.writes:
            writers[blob.name] = op.name
    return writers


def list_edges(model: JobGraph, writers: dict[str, str]) -> list[Edge]:
    """Return an edge from each op to each op that reads one of its blobs, each edge once.

    Further edges lead to the box of what the job returns. `writers` is that of `find_writers`.
    """
    edges = {}  # a dict without values: each edge once, in order
    for op in model.ops:
        for _, blob_name in op.reads:
            if blob_name in writers:  # else no op of the job writes it, so no box is its source
                edge = Edge(writers[blob_name], op.name)
                edges[edge] = None

    for blob_name in model.returns:
        edge = Edge(writers[blob_name], RETURNED)
        edges[edge] = None
    return list(edges)


def _make_nodes(model: JobGraph) -> dict[str, Node]:
    """Return key -> node, for each op and for what the job returns; an op's key is its name."""
    nodes = {op.name: _make_node(op) for op in model.ops}
    if model.returns:
        nodes[RETURNED] = Node(RETURNED, "returned", "output")
    return nodes


def _make_node(op: JobOp) -> Node:
    """Return the node of an op: its name, and below it its type and the shapes of what it writes.

    The type of an input or a variable is left out, because the heading of its lane says the type.
    """
    details = [str(list(blob.shape)) for _, blob in op.writes]
    if LANES[op.part] != STACKED_LANE:
        details.insert(0, op.type)
    detail = " ".join(details)

    if op.own:  # the learner has defined this op type, so its box stands out
        return Node(op.name, f"◆ {op.name}", f"{op.part} own", detail)
    return Node(op.name, op.name, op.part, detail)


def _make_headings(cells: Cells, rectangles: dict[str, Rectangle]) -> list[Box]:
    """Return a heading above the middle of each lane that has boxes.

    `cells` has (lane, row) -> keys, and `rectangles` key -> place.
    """
    rectangles_by_lane = defaultdict(list)
    for (lane, _), keys in cells.items():
        rectangles_by_lane[lane] += [rectangles[key] for key in keys]

    headings = []
    for lane, own_rectangles in sorted(rectangles_by_lane.items()):
        left = min(rectangle.x for rectangle in own_rectangles)
        right = max(rectangle.right for rectangle in own_rectangles)
        middle = (left + right) // 2
        width = HEADING_WIDTHS[lane]
        place = Rectangle(middle - width // 2, MARGIN, width)
        node = Node("", HEADINGS[lane], "heading")
        headings.append(make_box(node, place))
    return headings


def _draw_job_arrows(edges: list[Edge], rectangles: dict[str, Rectangle]) -> tuple[Arrow, ...]:
    """Return the arrows, which lead round the boxes and have a tip instead of a label.

    A label is not needed, because the box that an arrow leaves says which shape travels along it.
    """
    ways = _route_edges(edges, rectangles)
    arrows = []
    for edge in edges:
        corners = [f"{x} {y}" for x, y in ways[edge]]
        line = "M" + " L".join(corners)
        source = escape_to_one_line(edge.source)
        target = escape_to_one_line(edge.target)
        arrows.append(make_arrow("", line, label_x=0, label_y=0, tip=f"{source} → {target}"))
    return tuple(arrows)


def _route_edges(edges: list[Edge], rectangles: dict[str, Rectangle]) -> dict[Edge, Way]:
    """Return edge -> its way: the corners of its line.

    Edges between near boxes get their ways first, and the edges that follow avoid these ways.
    """

    def measure_distance(edge: Edge) -> int:
        """Return how far the two boxes are from each other, in pixels."""
        start = rectangles[edge.source]
        end = rectangles[edge.target]
        return abs(start.centre_x - end.centre_x) + abs(start.y - end.y)

    ways = {}
    for edge in sorted(edges, key=measure_distance):
        ends = (edge.source, edge.target)
        obstacles = [box for key, box in rectangles.items() if key not in ends]
        start = rectangles[edge.source]
        end = rectangles[edge.target]
        earlier_ways = list(ways.values())
        ways[edge] = find_way(start, end, obstacles, earlier_ways)
    return ways
