"""Nodes and edges -> their labels, cut to fit, and the boxes and arrows that bear the labels.
A box has a label and may have a *detail*, a second line in smaller letters. The *plate* of an
arrow's label is the ground behind it. A *tip* is shown while the mouse is over a box or an arrow.
"""

from collections.abc import Iterable
from functools import lru_cache

from ...model.graphs import Edge, Node
from ...model.op_records import AGAIN
from ..ceilings import cut_text
from ..plain_text import escape_to_one_line
from ..shapes import LETTER, SMALL, measure_text
from .box_kinds import find_shape
from .drawing import Arrow, Box, Rectangle

LONGEST_LABEL = 52  # characters in a picture
LONGEST_IN_TEXT = 400  # characters in the text form
NARROWEST = 24  # pixels for the words of a box
PADDING = 24  # pixels beside the words of a box, on both sides together
PLATE_PADDING = 8  # pixels beside a label, on both sides together
BASELINE = 25  # pixels from the top of a box to the line on which its label stands
BASELINE_OVER_DETAIL = 17

# How many pixels the sides of a shape take from the words in it.
SIDES = {
    "pill": 14,
    "round ends": 10,
    "hexagon": 10,
    "slanted box": 8,
    "double slanted box": 14,
    "tag": 6,
}


@lru_cache(maxsize=4_000)  # the pictures of a run say the same words at most steps
def shorten_label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return a text in one line, with at most `longest` characters.

    A longer text is cut in its middle, because the ends of a path or a name tell most.
    """
    text = escape_to_one_line(text)
    if len(text) <= longest:
        return text

    half = (longest - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def format_in_one_line(text: str) -> str:
    """Return a text as the text form says it: in one line, and not too long."""
    return cut_text(escape_to_one_line(text), LONGEST_IN_TEXT)


def format_node(node: Node) -> str:
    """Return the name of a node in the text form: its label, and its detail in brackets."""
    if node.detail:
        return format_in_one_line(f"{node.label} ({node.detail})")
    return format_in_one_line(node.label)


def measure_box_width(node: Node, longest: int = LONGEST_LABEL) -> int:
    """Return how wide the box of a node is, in pixels; a longer text than `longest` is cut."""
    label_width = measure_text(shorten_label(node.label, longest), LETTER)
    detail_width = measure_text(shorten_label(node.detail, longest), SMALL)
    sides = SIDES.get(find_shape(node.kind), 0)
    return max(label_width, detail_width, NARROWEST) + PADDING + sides


def measure_plate_width(label: str) -> int:
    """Return how wide the plate of an arrow's label is, in pixels; 0 without a label."""
    if not label:
        return 0
    return measure_text(shorten_label(label), SMALL) + PLATE_PADDING


def make_box(
    node: Node, rectangle: Rectangle, is_found: bool = False, longest: int = LONGEST_LABEL
) -> Box:
    """Return the box of a node at this place.

    `is_found` says that a search found the node, which its label and its kind then show. A text
    with more than `longest` characters is cut, and then the tip of the box has the whole text.
    """
    label = shorten_label(node.label, longest)
    detail = shorten_label(node.detail, longest)
    is_cut = label != escape_to_one_line(node.label) or detail != escape_to_one_line(node.detail)
    return Box(
        rectangle=rectangle,
        label=f"▸ {label}" if is_found else label,
        detail=detail,
        kind=f"{node.kind} found" if is_found else node.kind,
        baseline=rectangle.y + (BASELINE_OVER_DETAIL if node.detail else BASELINE),
        tip=format_node(node) if is_cut else "",
    )


def make_arrow(label: str, line: str, label_x: int, label_y: int, tip: str | None = None) -> Arrow:
    """Return an arrow along `line`, an SVG path; (`label_x`, `label_y`) is the middle of its label.

    An arrow whose label says `read again` is marked. `tip` is None for an arrow that does not react
    to the mouse.
    """
    return Arrow(
        line=line,
        label=shorten_label(label),
        label_x=label_x,
        label_y=label_y,
        plate_width=measure_plate_width(label),
        is_marked=AGAIN in label,
        tip=tip,
    )


def merge_parallel_edges(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return one edge for all edges from one box to another; it has their labels, with commas."""
    labels_by_ends = {}  # (source, target) -> the labels of its edges
    for edge in edges:
        labels_by_ends.setdefault((edge.source, edge.target), []).append(edge.label)

    merged = []
    for (source, target), labels in labels_by_ends.items():
        written_labels = [label for label in labels if label]
        # A picture shows `LONGEST_LABEL` characters, so it would cut further labels away.
        merged_label = ", ".join(written_labels[: 2 * LONGEST_LABEL])
        merged.append(Edge(source, target, merged_label))
    return tuple(merged)
