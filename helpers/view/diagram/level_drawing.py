"""A layered graph and a place for each key -> a drawing, with layers apart where labels need it.
A *key* stands for a box, or for a bend: a point where an arrow may turn in a layer that it passes.
A *level* is a graph without the bodies that its nodes call; each body is a level of its own.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from ...model.graphs import Edge, Graph
from .arrow_lines import ArrowCurve, curve_across, curve_down
from .coordinates import PlaceKeys
from .drawing import BOX_HEIGHT, Arrow, BodyFrame, Drawing, Rectangle, measure_size
from .label_placement import MANY_LABELS, place_labels
from .labels import make_arrow, make_box, measure_plate_width
from .layered_layout import Key, LayeredGraph

ARRIVAL = 12  # pixels between the heads of arrows at a box to which many names lead
LABEL_LIFT = 10  # pixels from a line to the middle of a label above it
CALLER_HEAD = 48  # pixels: the height of the words of a box with bodies in it
ROUNDS = 8  # how often layers move apart
EXTRA_GAP = 14  # how many pixels each time
CHANGES = ("gone", "new")


@dataclass(frozen=True)
class Level:
    """One level of a graph, ready to be drawn: with layers, and a place for each key."""

    graph: Graph
    """Its nodes and edges."""
    layered: LayeredGraph
    """Their layers, and the paths of the edges in the order of the graph."""
    place_keys: PlaceKeys
    """Returns the place of each key; takes pixels by which layers are farther apart."""
    down: bool = False
    """Layers follow each other downwards, not to the right."""
    inner: dict[str, Drawing] = field(default_factory=dict)
    """Key of a box -> the drawing of the bodies that its node calls."""
    has_lifted_labels: bool = False
    """Labels stand above their arrows, and no two arrows end in one point of a box."""


def draw_level(level: Level) -> Drawing:
    """Return a level as a drawing, the best of up to `ROUNDS`.

    A label is crowded if it covers something wherever it stands. After each drawing, the layers
    beside crowded labels move apart. The best drawing is the one with the fewest crowded labels.
    """
    best = None
    fewest = float("inf")
    extra_gaps = Counter()  # number of a layer -> further pixels after it
    for _ in range(ROUNDS):
        rectangles = level.place_keys(extra_gaps)
        drawing = _draw_once(level, rectangles)
        crowded = [arrow for arrow in drawing.arrows if arrow.is_crowded]
        if len(crowded) < fewest:
            best = drawing
            fewest = len(crowded)

        label_count = sum(1 for arrow in drawing.arrows if arrow.label)
        if not crowded or label_count > MANY_LABELS:  # many labels would take too long
            break
        for number in _find_crowded_layers(level, rectangles, crowded):
            extra_gaps[number] += EXTRA_GAP
    return best


def _find_crowded_layers(
    level: Level, rectangles: dict[Key, Rectangle], crowded: list[Arrow]
) -> set[int]:
    """Return the numbers of the layers in or after which a crowded label stands.

    `rectangles` has key -> place. `crowded` are the arrows whose labels cover something.
    """
    starts = []  # where each layer begins, in the direction in which layers follow each other
    for keys in level.layered.layers:
        starts.append(min(_get_start(rectangles[key], level.down) for key in keys))

    numbers = set()
    for arrow in crowded:
        position = arrow.label_y if level.down else arrow.label_x
        begun_count = sum(1 for start in starts if start <= position)
        numbers.add(begun_count - 1)  # the last layer that begins before the label
    return numbers


def _get_start(rectangle: Rectangle, down: bool) -> int:
    """Return where a box begins in the direction in which layers follow each other."""
    return rectangle.y if down else rectangle.x


def _draw_once(level: Level, rectangles: dict[Key, Rectangle]) -> Drawing:
    """Return a level as a drawing; `rectangles` are the places of its boxes and bends."""
    boxes = []
    frames = []
    inner_drawings = []
    for node in level.graph.nodes:
        rectangle = rectangles[node.key]
        box = make_box(node, rectangle, node.key in level.graph.found)
        if level.has_lifted_labels:  # its boxes may be higher than usual: words stay in the middle
            box = replace(box, baseline=box.baseline + (rectangle.height - BOX_HEIGHT) // 2)

        inner = level.inner.get(node.key)
        if inner:  # the box is a frame around the bodies, so only its words are drawn as a box
            box = replace(box, kind="caller")
            frames.append(BodyFrame(rectangle, kind=node.kind))
            inner_x = rectangle.centre_x - inner.width // 2
            inner_drawings.append((inner_x, rectangle.y + CALLER_HEAD, inner))
        boxes.append(box)

    arrows = _draw_level_arrows(level, rectangles)
    lift = LABEL_LIFT if level.has_lifted_labels else 0
    arrows = place_labels(arrows, rectangles.values(), lift)
    width, height = measure_size(rectangles.values(), arrows)
    return Drawing(width, height, tuple(boxes), arrows, tuple(frames), tuple(inner_drawings))


# -- arrows ----------------------------------------------------------------------------------------


def _draw_level_arrows(level: Level, rectangles: dict[Key, Rectangle]) -> list[Arrow]:
    """Return the arrows of a level, in the order of its edges.

    Each label stands where `place_labels` begins to look for its place. A fan is several arrows
    that leave one box.
    """
    fan_sizes = Counter(edge.source for edge in level.graph.edges)
    kinds = {node.key: node.kind for node in level.graph.nodes}
    arrivals = _find_arrivals(level, rectangles)
    draw_curve = curve_down if level.down else curve_across

    arrows = []
    for edge, path in zip(level.graph.edges, level.layered.paths, strict=True):
        passed_places = [rectangles[key] for key in path[:-1]]
        passed_places.append(arrivals[path[-2:]])
        is_fan = fan_sizes[edge.source] > 1
        has_bend = len(passed_places) > 2
        if level.has_lifted_labels and is_fan and has_bend:
            # The lines of the fan are apart at the bends, so the label stands at the first of them.
            first_bend = passed_places[1]
            line = draw_curve(passed_places).line
            curve = ArrowCurve(line, first_bend.centre_x, first_bend.centre_y)
        else:
            curve = draw_curve(passed_places, is_fan, measure_plate_width(edge.label))

        arrow = make_arrow(edge.label, curve.line, curve.label_x, curve.label_y)
        arrows.append(replace(arrow, change=_find_change(edge, kinds)))
    return arrows


def _find_change(edge: Edge, kinds: dict[str, str]) -> str:
    """Return `gone` or `new` for an edge of a picture that compares two graphs; empty for neither.

    The first word of the edge's label tells the change, or the kind of the node at one of its ends.
    `kinds` has node key -> kind.
    """
    words = {edge.label.partition(" ")[0], kinds[edge.source], kinds[edge.target]}
    for change in CHANGES:
        if change in words:
            return change
    return ""


def _find_arrivals(
    level: Level, rectangles: dict[Key, Rectangle]
) -> dict[tuple[Key, ...], Rectangle]:
    """Return the last two keys of an arrow's path -> the place at which the arrow ends.

    The place is that of the box. In a level with lifted labels, it is moved up or down, so that
    several arrows end at the box below each other.
    """
    arrivals = {path[-2:]: rectangles[path[-1]] for path in level.layered.paths}
    if not level.has_lifted_labels:
        return arrivals

    # key of a box -> the keys before it on the paths of its arrows, from top to bottom
    origins_by_key = {}
    for origin, key in sorted(arrivals, key=lambda ends: rectangles[ends[0]].centre_y):
        origins_by_key.setdefault(key, []).append(origin)
    for key, origins in origins_by_key.items():
        rectangle = rectangles[key]
        for number, origin in enumerate(origins):
            # So many pixels below the middle of the box; negative for above.
            shift = round(ARRIVAL * (number - (len(origins) - 1) / 2))
            arrivals[origin, key] = replace(rectangle, y=rectangle.y + shift)
    return arrivals
