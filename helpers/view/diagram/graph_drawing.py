"""A graph -> its picture, in the direction and with the gaps that make it fit a page.
Layers of boxes follow each other to the right, as *columns*, or downwards, as rows. A *fan* is
several arrows that leave one box. A *plate* is the ground behind an arrow's label.
"""

from collections import Counter
from dataclasses import replace

from ...model.graph_bodies import Nest, nest_bodies
from ...model.graphs import Graph
from ..images import SMALLEST
from ..shapes import SMALL, measure_text
from .arrow_lines import BESIDE_LOOP, LEAD
from .coordinates import PlaceKeys, place_layers
from .drawing import BOX_HEIGHT, MARGIN, Drawing, render_svg
from .labels import (
    measure_box_width,
    measure_plate_width,
    merge_parallel_edges,
    shorten_label,
)
from .layered_layout import LayeredGraph, make_layers
from .level_drawing import ARRIVAL, Level, draw_level
from .nest_drawing import ROW_STEP, draw_nest
from .tree_drawing import draw_tree

COLUMN_GAP = 70  # pixels between two columns, at least
CLOSE_COLUMN_GAP = 40
WIDER_GAP = 50  # pixels more in a graph with long arrows
TIGHT_ROOM = (7, 8)  # pixels: between two boxes and beside a bend, in a row that is too wide
MOST_COLUMNS = 12  # a graph with more columns leads downwards, if it has no cycle
# Pixels: a wider graph leads downwards too. Beside its list of files, JupyterLab shows 830 pixels.
WIDEST = 940
FITS = 828  # pixels: JupyterLab's page


def draw_graph(model: Graph, page: bool = False) -> str:
    """Return a graph as SVG text.

    With `page`, the picture leads downwards and is as narrow as possible, because it stands beside
    another one. Bodies, such as the branches of a conditional op, are drawn inside the box of the
    node that calls them.
    """
    nest = nest_bodies(model)
    if nest.bodies and is_acyclic(nest):
        drawing = draw_nest(nest)
    else:
        flat = replace(model, edges=merge_parallel_edges(model.edges))
        drawing = _draw_flat(flat, page)
    return render_svg(model.title, drawing, (node.kind for node in model.nodes))


def is_acyclic(nest: Nest) -> bool:
    """Return whether neither the graph nor one of its bodies, at any depth, has a cycle."""
    import networkx

    edges = [(edge.source, edge.target) for edge in nest.graph.edges]
    if not networkx.is_directed_acyclic_graph(networkx.DiGraph(edges)):
        return False
    return all(is_acyclic(body.nest) for body in nest.bodies)


def _draw_flat(graph: Graph, page: bool) -> Drawing:
    """Return the drawing of a graph without bodies, in a form that fits a page.

    The forms are tried in this order. A graph that begins with names is a map of names. Another
    graph has its layers from left to right. If that is too wide, a tree without labels is indented
    like an outline, and any other graph has its layers from top to bottom.

    A `page` is never a map, and its layers go from top to bottom if it has no cycle.
    """
    widths = {node.key: measure_box_width(node) for node in graph.nodes}
    if not page:
        drawing = _draw_name_map(graph, widths)
        if drawing:  # None for a graph that does not begin with names
            return drawing

    layered = make_layers(graph)
    label_gaps = _measure_label_gaps(graph, layered)
    place_across = place_layers(layered, widths, COLUMN_GAP, down=False, extra_gaps=label_gaps)
    width_across = _measure_width(place_across)
    if width_across > FITS and not _has_visible_label(graph):
        drawing = draw_tree(graph, widths)
        if drawing:  # None for a graph that is no tree
            return drawing

    is_too_wide = width_across > WIDEST or len(layered.layers) > MOST_COLUMNS
    if not layered.has_cycle and (page or is_too_wide):  # an arrow of a cycle cannot lead down
        place_down = _place_downwards(layered, widths)
        if page or width_across > _measure_width(place_down):
            return draw_level(Level(graph, layered, place_down, down=True))
        # Downwards it would be no narrower, so the columns move closer to each other.
        place_across = place_layers(
            layered, widths, CLOSE_COLUMN_GAP, down=False, extra_gaps=label_gaps
        )
    return draw_level(Level(graph, layered, place_across))


def _has_visible_label(graph: Graph) -> bool:
    """Return whether some arrow has words, which a tree has no room for."""
    return any(measure_text(shorten_label(edge.label), SMALL) for edge in graph.edges)


def _place_downwards(layered: LayeredGraph, widths: dict[str, int]) -> PlaceKeys:
    """Return the function that places layers below each other.

    If a row would be too wide for a page, the boxes of all rows stand closer to each other.
    """
    gap = ROW_STEP - BOX_HEIGHT
    place_keys = place_layers(layered, widths, gap, down=True)
    if _fits_page(place_keys):
        return place_keys
    return place_layers(layered, widths, gap, down=True, room=TIGHT_ROOM)


def _measure_width(place_keys: PlaceKeys) -> int:
    """Return how far the boxes reach to the right, in pixels."""
    return max(rectangle.right for rectangle in place_keys().values())


def _fits_page(place_keys: PlaceKeys) -> bool:
    """Return whether the picture fits a page if it is scaled down to `SMALLEST`."""
    return _measure_width(place_keys) * SMALLEST <= FITS - MARGIN


def _measure_label_gaps(graph: Graph, layered: LayeredGraph) -> dict[int, int]:
    """Return number of a column -> further pixels after it, so that the labels there have room."""
    fan_sizes = Counter(edge.source for edge in graph.edges)
    columns = _number_columns(layered)
    gaps = {}
    for edge in graph.edges:
        column = columns[edge.source]
        gap = measure_plate_width(edge.label)
        if column == columns[edge.target]:  # a loop, which has its label beside it
            gap += BESIDE_LOOP
        elif fan_sizes[edge.source] > 1:  # the label of a fan's arrow stands near its end
            column = columns[edge.target] - 1
        if graph.wide:  # the model asks for room for long arrows
            gap += WIDER_GAP
        gaps[column] = max(gaps.get(column, 0), gap)
    return gaps


def _number_columns(layered: LayeredGraph) -> dict[object, int]:
    """Return key of a box or bend -> number of its column."""
    columns = {}
    for number, keys in enumerate(layered.layers):
        columns |= dict.fromkeys(keys, number)
    return columns


# -- a map of names --------------------------------------------------------------------------------


def _draw_name_map(graph: Graph, widths: dict[str, int]) -> Drawing | None:
    """Return a map of names: names at the left, and all boxes that no arrow leaves at the right.

    The result is None for a graph that does not begin with names only, for a graph with a cycle,
    and for a map that is too wide for a page.
    """
    targets = {edge.target for edge in graph.edges}
    roots = [node for node in graph.nodes if node.key not in targets]
    if not roots or any(node.kind != "name" for node in roots):
        return None
    layered = make_layers(graph, ends_last=True)
    if layered.has_cycle:
        return None

    arrivals = Counter(edge.target for edge in graph.edges)
    heights = {}
    for key in widths:  # a box is high enough that the arrows to it end apart
        heights[key] = max(BOX_HEIGHT, ARRIVAL * (arrivals[key] + 1))

    gaps = _measure_name_gaps(graph, layered)
    place_keys = place_layers(
        layered, widths, CLOSE_COLUMN_GAP, down=False, heights=heights, extra_gaps=gaps
    )
    if not _fits_page(place_keys):
        return None
    return draw_level(Level(graph, layered, place_keys, has_lifted_labels=True))


def _measure_name_gaps(graph: Graph, layered: LayeredGraph) -> dict[int, int]:
    """Return number of a column of a map of names -> further pixels after it, for its labels.

    An arrow to the next column has its label between the two columns, and so has an arrow that
    leaves its box alone. Other arrows, the long ones of a fan, have their labels at bends.
    """
    fan_sizes = Counter(edge.source for edge in graph.edges)
    columns = _number_columns(layered)
    gaps = {}
    for edge in graph.edges:
        column = columns[edge.source]
        is_short = columns[edge.target] - column == 1
        if is_short or fan_sizes[edge.source] == 1:
            gap = measure_plate_width(edge.label) + LEAD
            gaps[column] = max(gaps.get(column, 0), gap)
    return gaps
