"""The graphs of all moments of a run -> one picture in which only arrows move.
A moment is a step of the run, with one graph. Every box and arrow that some moment has is drawn
once, and a script shows, hides or highlights it at each moment. A run of Dynamo makes several
graphs one after the other: each of them is a *part* of the picture, in a frame of its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ...model.graphs import Graph, Node
from ..markup import render
from .arrow_lines import (
    BESIDE_LOOP,
    LEAD,
    LOOP_LIFT,
    Point,
    curve_across,
    curve_down,
    list_points,
)
from .box_kinds import draw_outline, find_ink_kind
from .coordinates import place_layers
from .drawing import BOX_HEIGHT, MARGIN, Arrow, Rectangle, measure_size
from .graph_union import Ends, GraphUnion, Words
from .growing_graphs import FRAME
from .label_placement import place_labels
from .labels import measure_plate_width
from .layered_layout import Key, LayeredGraph, make_layers

TAG_HEIGHT = 28  # pixels: of a name
COLUMN_GAP = 52  # pixels between columns
ROW_GAP = 20  # pixels between rows
ROW_ROOM = (14, 14)  # pixels in a row: between two boxes, and beside a bend
COLUMN_ROOM = (26, 26)  # pixels in a column
HEAD_LENGTH = 8  # pixels: of an arrow
LINE_HEIGHT = 14  # pixels from line to line of a label
LABEL_GAP = 3  # pixels from a line to the label above it
LOOP_TURN = 180  # degrees: the head of an arrow that comes back from the right
DOWN_TURN = 90  # degrees: the head of an arrow that leads downwards

FRAME_PADDING = 8  # pixels in the frame of a graph of its own
FRAME_HEADING = 20  # pixels for its heading


@dataclass(frozen=True)
class Picture:
    """An SVG whose groups bear `data-key`, and the states of its parts."""

    svg: str
    """The SVG text."""
    states: list[dict[str, str]]
    """For each moment: `data-key` -> state, such as `shown`, of the boxes and arrows there."""

    def still(self, moment: int, style: str) -> str:
        """Return the SVG of one moment, usable without a script: each part has its state in it.

        `style` is CSS that shows or hides a part by its attribute `data-state`.
        """
        svg = self.svg.replace("<title>", f"<style>{style}</style><title>", 1)
        for key, state in self.states[moment].items():
            name = f'data-key="{key}"'
            svg = svg.replace(name, f'{name} data-state="{state}"')
        return svg


@dataclass(frozen=True)
class UnionArrow:
    """An arrow of the picture, of all moments in which it is there."""

    drawn: Arrow
    """Its line and the place of its label."""
    start: Point
    """Where it leaves a box."""
    tip: Point
    """Where its head is."""
    turn: int
    """The direction of its head, in degrees clockwise from the right."""
    key: str
    """Its `data-key` in the picture, such as `a0`."""
    ends: tuple[str, str]
    """The `data-key` of the box it leaves and of the box it reaches."""
    says: list[tuple[str, Words]]
    """Each label that it has at some moment, as (`data-key`, lines); see `_number_texts`."""
    spoken: str
    """Its sentence for a screen reader."""
    name: str
    """The label of the name that it leaves; empty if it leaves a box of another kind."""
    slot: int
    """The number of the reference that it shows, which later may lead elsewhere."""
    part: str
    """The graph to which it belongs, of those of a run."""


@dataclass(frozen=True)
class UnionBox:
    """A box of the picture, of all moments in which it is there."""

    rectangle: Rectangle
    """Its place."""
    text_x: int
    """The middle of its words, in pixels from the left."""
    outline: str
    """Its outline as an SVG path."""
    ink_kind: str
    """The kind of `ink` that it is drawn as."""
    is_frame: bool
    """It is the frame of a graph of its own."""
    key: str
    """Its `data-key` in the picture, such as `n3`."""
    says: list[tuple[str, Words]]
    """What it says at each moment, as (`data-key`, label and detail); see `_number_texts`."""
    part: str
    """The graph to which it belongs, of those of a run."""


def draw_animated_graph(graphs: Sequence[Graph], title: str = "", down: bool = False) -> Picture:
    """Return the picture of graphs in which the same key means the same node.

    At least one of the graphs has a node. With `down`, the graphs are those of a run of Dynamo:
    their arrows lead downwards, and each graph of the run has a frame.
    """
    union = GraphUnion(graphs)
    layered, rectangles = place_union(union, down)
    arrows = _draw_union_arrows(union, layered, rectangles, down)
    boxes = []
    for key, node in union.boxes.items():
        boxes.append(_draw_union_box(union, node, rectangles[key], _find_part(key, down)))

    drawn_arrows = [arrow.drawn for arrow in arrows]
    width, height = measure_size(rectangles.values(), drawn_arrows)
    label_lift = _measure_label_lift(drawn_arrows)
    label_tops = [arrow.label_y - label_lift for arrow in drawn_arrows if arrow.label]
    top = min([0, *label_tops])  # a label above the first row reaches above the boxes
    svg = render(
        "union.svg",
        title=title,
        width=width,
        height=height - top,
        top=top,
        line=LINE_HEIGHT,
        boxes=boxes,
        arrows=arrows,
        down=down,
    )
    return Picture(svg, union.list_states())


def _find_part(key: str, down: bool) -> str:
    """Return the number of the graph to which a node belongs, as text; empty without `down`.

    In a run of Dynamo, a node's key begins with that number: `1 call 0` belongs to graph 1.
    """
    return key.partition(" ")[0] if down else ""


# -- places ----------------------------------------------------------------------------------------


def place_union(union: GraphUnion, down: bool = False) -> tuple[LayeredGraph, dict[Key, Rectangle]]:
    """Return the layers, and the place of each box and bend, with room for labels.

    `down` is that of `draw_animated_graph`. A frame has no layer, because it is put around the
    boxes of its graph after these have their places.
    """
    nodes = tuple(node for node in union.boxes.values() if node.kind != FRAME)
    layered = make_layers(Graph("", nodes, tuple(union.arrows.values())))
    heights = {}
    for key, node in union.boxes.items():
        heights[key] = TAG_HEIGHT if node.kind == "name" else BOX_HEIGHT

    if down:
        place_keys = place_layers(layered, union.widths, ROW_GAP, down, heights, ROW_ROOM)
        return layered, _frame_graphs(layered, place_keys())
    place_keys = place_layers(layered, union.widths, COLUMN_GAP, down, heights, COLUMN_ROOM)
    return layered, place_keys(_measure_union_gaps(union, layered))


def _measure_union_gaps(union: GraphUnion, layered: LayeredGraph) -> Counter:
    """Return number of a column -> further pixels after it, so that its labels have room.

    A column is a layer, because layers follow each other to the right here.
    """
    columns = {}  # key -> the number of its column
    for number, keys in enumerate(layered.layers):
        columns |= dict.fromkeys(keys, number)

    gaps = Counter()
    for source, target in union.arrows:
        column = columns[source]
        width = max(_measure_widest_line(words) for words in union.words[source, target])
        if column == columns[target]:  # the label is beside the loop of an arrow that comes back
            width += BESIDE_LOOP
        gaps[column] = max(gaps[column], width + LEAD - COLUMN_GAP)
    return gaps


def _frame_graphs(layered: LayeredGraph, rectangles: dict[Key, Rectangle]) -> dict[Key, Rectangle]:
    """Return new places, in which the graphs of a run stand beside each other, each in a frame.

    The result also has the places of the frames, whose key is the number of the graph as text.
    """
    framed = {}
    left = MARGIN  # of the frame that comes next
    for part, keys in sorted(_group_by_part(layered, rectangles).items()):
        own_rectangles = {key: rectangles[key] for key in keys}
        first_x = min(rectangle.x for rectangle in own_rectangles.values())
        right, bottom = measure_size(own_rectangles.values())
        for key, rectangle in own_rectangles.items():
            x = rectangle.x + left + FRAME_PADDING - first_x
            framed[key] = replace(rectangle, x=x, y=rectangle.y + FRAME_HEADING)

        # `right` and `bottom` include a margin, which a frame has outside, not inside.
        width = right - first_x + 2 * FRAME_PADDING - MARGIN
        height = bottom + FRAME_HEADING + FRAME_PADDING - 2 * MARGIN
        frame = Rectangle(left, MARGIN, width, height)
        framed[str(part)] = frame
        left = frame.right + FRAME_PADDING
    return framed


def _group_by_part(
    layered: LayeredGraph, rectangles: dict[Key, Rectangle]
) -> dict[int, dict[Key, None]]:
    """Return number of a graph -> the keys of its boxes and bends, as a dict without values.

    A dict keeps the order of the keys, and has each once.
    """
    keys_by_part = {}
    # The key of a bend does not tell its graph, but a bend is on a path that begins at a box.
    for path in layered.paths:
        source = path[0]
        part = int(_find_part(source, down=True))
        keys_by_part.setdefault(part, {}).update(dict.fromkeys(path))
    for key in rectangles:  # boxes without an arrow are on no path
        is_bend = not isinstance(key, str)
        if not is_bend:
            part = int(_find_part(key, down=True))
            keys_by_part.setdefault(part, {})[key] = None
    return keys_by_part


# -- arrows ----------------------------------------------------------------------------------------


def _draw_union_arrows(
    union: GraphUnion, layered: LayeredGraph, rectangles: dict[Key, Rectangle], down: bool
) -> list[UnionArrow]:
    """Return all arrows that some moment has, with their labels in place."""
    drawn_arrows = []
    for path in layered.paths:  # in the order of `union.arrows`
        passed_places = [rectangles[key] for key in path]
        ends = (path[0], path[-1])
        drawn_arrows.append(_draw_line(union.words[ends], passed_places, down))
    lift = _measure_label_lift(drawn_arrows)
    labelled_arrows = place_labels(drawn_arrows, rectangles.values(), lift, clear=True)

    # A reference is a pair (source, label), such as the name `x`. The arrows of one reference show
    # where it leads at different moments. They get the same number, a slot, by which the page moves
    # one arrow into the other.
    slots = {}  # reference -> its number
    arrows = []
    for ends, drawn in zip(union.arrows, labelled_arrows, strict=True):
        source, target = ends
        start, tip, turn = _find_ends(rectangles[source], rectangles[target], down)
        key = union.picture_keys[ends]
        reference = (source, union.arrows[ends].label)
        is_name = union.boxes[source].kind == "name"
        last_label, _ = union.words[source][-1]
        arrow = UnionArrow(
            drawn=drawn,
            start=start,
            tip=tip,
            turn=turn,
            key=key,
            ends=(union.picture_keys[source], union.picture_keys[target]),
            says=_number_texts(key, union.words[ends]),
            spoken=_describe_arrow(union, ends, down),
            name=last_label if is_name else "",
            slot=slots.setdefault(reference, len(slots)),
            part=_find_part(source, down),
        )
        arrows.append(arrow)
    return arrows


def _draw_line(labels: list[Words], passed_places: list[Rectangle], down: bool) -> Arrow:
    """Return an arrow with room for the longest of its `labels`, which it has at different moments.

    `passed_places` are the places of its source, its bends and its target.
    """
    start = passed_places[0]
    end = passed_places[-1]
    longest = max(labels, key=_measure_widest_line)
    plate_width = _measure_widest_line(longest)
    most_lines = max(map(len, labels))

    label_point = None
    if down:
        curve = curve_down(passed_places)
    elif start.x == end.x:  # a line that comes back to its own column has its label beside it
        curve = curve_across(passed_places, plate_width=plate_width, tip=HEAD_LENGTH)
    else:
        # Without the width of its label, the line gets no level piece for it, and the label begins
        # its search for a place at a quarter of the line.
        curve = curve_across(passed_places, tip=HEAD_LENGTH)
        points = list_points(curve.line)
        label_point = points[len(points) // 4]
    label_x, label_y = label_point or (curve.label_x, curve.label_y)

    return Arrow(
        line=curve.line,
        label="".join(longest),
        label_x=label_x,
        label_y=label_y,
        plate_width=plate_width,
        plate_height=LINE_HEIGHT * most_lines + 3,
    )


def _find_ends(start: Rectangle, end: Rectangle, down: bool) -> tuple[Point, Point, int]:
    """Return the point where an arrow leaves its box, the point of its head, and its direction.

    `start` and `end` are the places of its boxes. The direction is that of the head, in degrees
    clockwise from the right.
    """
    if down:
        return (start.centre_x, start.bottom), (end.centre_x, end.y), DOWN_TURN

    lift = LOOP_LIFT if start == end else 0  # the two ends of a loop must lie apart
    leave = (start.right, start.centre_y - lift)
    if start.x == end.x:  # in one column, an arrow comes back from the right
        return leave, (end.right, end.centre_y + lift), LOOP_TURN
    return leave, (end.x, end.centre_y), 0


def _measure_widest_line(label: Words) -> int:
    """Return the width of the plate behind a label of one or several lines, in pixels."""
    return max(map(measure_plate_width, label))


def _measure_label_lift(arrows: Iterable[Arrow]) -> int:
    """Return how far the middle of each label is above its line, in pixels.

    All labels get the same distance, which is enough for the highest of them.
    """
    heights = [arrow.plate_height for arrow in arrows if arrow.label]
    return max(heights, default=0) // 2 + LABEL_GAP


# -- words -----------------------------------------------------------------------------------------


def _draw_union_box(union: GraphUnion, node: Node, rectangle: Rectangle, part: str) -> UnionBox:
    """Return the box of a node at this place, with all texts that it has in the run.

    `part` is the number of the graph to which the node belongs, as text.
    """
    text_x = rectangle.centre_x
    if node.kind == "name":  # the point of a tag has no room for words
        text_x -= 4

    place = (rectangle.x, rectangle.y, rectangle.width, rectangle.height)
    key = union.picture_keys[node.key]
    return UnionBox(
        rectangle=rectangle,
        text_x=text_x,
        outline=draw_outline(node.kind, *place),
        ink_kind=find_ink_kind(node.kind),
        is_frame=node.kind == FRAME,
        key=key,
        says=_number_texts(key, union.words[node.key]),
        part=part,
    )


def _number_texts(key: str, words: list[Words]) -> list[tuple[str, Words]]:
    """Return what a box or an arrow says at different moments, each with a `data-key` of its own.

    For the key `n3`: `[("n3.0", ("x", "int")), ("n3.1", ("x", "float"))]`. A script shows one of
    them at each moment. What always says the same gets an empty key, because it is always shown.
    """
    if len(words) == 1:
        return [("", words[0])]
    return [(f"{key}.{number}", text) for number, text in enumerate(words)]


def _describe_arrow(union: GraphUnion, ends: Ends, down: bool) -> str:
    """Return the sentence that a screen reader says for an arrow: source, label, target.

    The words of a box or an arrow may change in the run; the sentence has the last ones.
    """
    names = []
    for end in ends:
        last_words = filter(None, union.words[end][-1])  # the label, and the detail if there is one
        names.append(" ".join(last_words))
    source, target = names
    verb = " ".join(union.words[ends][-1])
    if not verb:
        verb = "leads to" if down else "refers to"
    return f"{source} {verb} {target}"
