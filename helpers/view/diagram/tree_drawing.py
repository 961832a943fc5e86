"""A graph that is a tree -> a drawing with a line for each box, indented below its parent."""

from ...model.graphs import Edge, Graph
from .arrow_lines import TIP
from .drawing import MARGIN, Arrow, Drawing, Rectangle, measure_size
from .labels import make_arrow, make_box

ROW = 46  # pixels from line to line
INSET = 30  # pixels between a parent and its children


def draw_tree(graph: Graph, widths: dict[str, int]) -> Drawing | None:
    """Return the drawing of a graph that is a tree, or None for a graph that is no tree.

    The first child of a box is beside it, and the others are below that child. `widths` has the
    width of each box by its key.
    """
    import networkx

    tree = networkx.DiGraph([(edge.source, edge.target) for edge in graph.edges])
    is_connected = len(tree) == len(graph.nodes)  # `tree` has only nodes with an edge
    if len(tree) < 2 or not is_connected or not networkx.is_arborescence(tree):
        return None

    rectangles = _place_boxes(tree, widths)
    boxes = []
    for node in graph.nodes:
        boxes.append(make_box(node, rectangles[node.key], node.key in graph.found))
    arrows = [_draw_arrow(edge, rectangles) for edge in graph.edges]
    width, height = measure_size(rectangles.values())
    return Drawing(width, height, tuple(boxes), tuple(arrows))


def _place_boxes(tree, widths: dict[str, int]) -> dict[str, Rectangle]:
    """Return key -> place of its box; `tree` is a DiGraph of networkx.

    A first child stands at the right of its parent, in the same line. Each other child begins a new
    line below all boxes before it.
    """
    import networkx

    rectangles = {}
    y = MARGIN
    previous_key = None
    for key in networkx.dfs_preorder_nodes(tree):
        parent_key = next(tree.predecessors(key), None)
        if parent_key is None:
            x = MARGIN
        else:
            x = rectangles[parent_key].right + INSET
            if parent_key != previous_key:  # not a first child, which shares its parent's line
                y += ROW
        rectangles[key] = Rectangle(x, y, widths[key])
        previous_key = key
    return rectangles


def _draw_arrow(edge: Edge, rectangles: dict[str, Rectangle]) -> Arrow:
    """Return an arrow that leaves a parent to the right, turns down, and turns to its child."""
    parent = rectangles[edge.source]
    child = rectangles[edge.target]
    turn = parent.right + INSET // 2
    line = f"M{parent.right} {parent.centre_y} H{turn} V{child.centre_y} H{child.x - TIP}"
    return make_arrow(edge.label, line, child.x - INSET // 2, child.centre_y)
