"""A graph whose nodes call bodies -> a drawing in which each body is inside its caller's box.
A *body* is a function with a graph of its own, such as a branch of a conditional op. A *nest* is a
graph with the bodies that its nodes call.
"""

from dataclasses import replace

from ...model.graph_bodies import Body, Nest
from ..shapes import LETTER, measure_text
from .coordinates import place_layers
from .drawing import BOX_HEIGHT, BodyFrame, Drawing, Rectangle
from .labels import PADDING, measure_box_width, merge_parallel_edges, shorten_label
from .layered_layout import make_layers
from .level_drawing import CALLER_HEAD, Level, draw_level

ROW_STEP = 100  # pixels from row to row
CLOSE_ROW_STEP = 64  # where no arrow has words
BODY_GAP = 12  # pixels between bodies, and around them
TITLE_HEIGHT = 26  # pixels: of a body's name
WIDEST_CALLER = 940  # pixels: bodies that are wider together stand below each other


def draw_nest(nest: Nest) -> Drawing:
    """Return the drawing of a nest, with the bodies that a node calls inside the node's box."""
    graph = replace(nest.graph, edges=merge_parallel_edges(nest.graph.edges))
    widths = {}
    heights = {}  # only of callers; other boxes have the usual height
    inner = {}  # key of a caller -> the drawing of its bodies
    for node in graph.nodes:
        widths[node.key] = measure_box_width(node)
        bodies = nest.called_by(node.key)
        if bodies:
            drawing = _join_bodies([_draw_body(body) for body in bodies])
            inner[node.key] = drawing
            widths[node.key] = max(widths[node.key], drawing.width + 2 * BODY_GAP)
            heights[node.key] = CALLER_HEAD + drawing.height + BODY_GAP

    layered = make_layers(graph)
    has_labels = any(edge.label for edge in graph.edges)
    step = ROW_STEP if has_labels else CLOSE_ROW_STEP
    place_keys = place_layers(layered, widths, step - BOX_HEIGHT, down=True, heights=heights)
    return draw_level(Level(graph, layered, place_keys, down=True, inner=inner))


def _join_bodies(drawings: list[Drawing]) -> Drawing:
    """Return the drawings of bodies as one: beside each other, or below each other if too wide."""
    total_width = sum(drawing.width + BODY_GAP for drawing in drawings)
    is_stacked = total_width > WIDEST_CALLER - 2 * BODY_GAP

    inner = []
    offset = 0  # where the next body begins, to the right or below
    for drawing in drawings:
        if is_stacked:
            inner.append((0, offset, drawing))
            offset += drawing.height + BODY_GAP
        else:
            inner.append((offset, 0, drawing))
            offset += drawing.width + BODY_GAP

    length = offset - BODY_GAP  # there is no gap after the last body
    if is_stacked:
        width = max(drawing.width for drawing in drawings)
        return Drawing(width, length, inner=tuple(inner))
    height = max(drawing.height for drawing in drawings)
    return Drawing(length, height, inner=tuple(inner))


def _draw_body(body: Body) -> Drawing:
    """Return a body in its frame, under its name."""
    title = shorten_label(body.label)
    drawing = draw_nest(body.nest)
    width = max(drawing.width, measure_text(title, LETTER) + PADDING)
    height = TITLE_HEIGHT + drawing.height

    frame = BodyFrame(Rectangle(0, 0, width, height), title=title)
    left = (width - drawing.width) // 2
    return Drawing(width, height, frames=(frame,), inner=((left, TITLE_HEIGHT, drawing),))
