"""A layered graph and a place for each key -> a drawing, with layers apart where labels need it."""

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
FATES = ("gone", "new")


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
    """What is drawn inside of some boxes, by key."""
    has_lifted_labels: bool = False
    """Labels stand above their arrows, and no two arrows end in one point of a box."""


def draw_level(level: Level) -> Drawing:
    """Return a level as a drawing, of several the one with the fewest labels that cover something.

    After each of them, layers move apart where a label had no room.
    """
    best = None
    fewest = float("inf")
    extra_gaps = Counter()
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
    """Return the numbers of the layers in or after which a crowded label stands."""
    starts = []
    for keys in level.layered.layers:
        starts.append(min(_get_start(rectangles[key], level.down) for key in keys))

    numbers = set()
    for arrow in crowded:
        position = arrow.label_y if level.down else arrow.label_x
        numbers.add(sum(1 for start in starts if start <= position) - 1)
    return numbers


def _get_start(rectangle: Rectangle, down: bool) -> int:
    """Return where a box begins in the direction in which layers follow each other."""
    return rectangle.y if down else rectangle.x


def _draw_once(level: Level, rectangles: dict[Key, Rectangle]) -> Drawing:
    """Return a level as a drawing with its boxes and bends in these places."""
    boxes = []
    frames = []
    inner_drawings = []
    for node in level.graph.nodes:
        rectangle = rectangles[node.key]
        box = make_box(node, rectangle, node.key in level.graph.found)
        if level.has_lifted_labels:  # such a level has higher boxes; their words stay in the middle
            box = replace(box, baseline=box.baseline + (rectangle.height - BOX_HEIGHT) // 2)

        inner = level.inner.get(node.key)
        if inner:
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
    """Return the arrows of a level, with their labels where they stand before they are placed."""
    fan_sizes = Counter(edge.source for edge in level.graph.edges)
    kinds = {node.key: node.kind for node in level.graph.nodes}
    arrivals = _find_arrivals(level, rectangles)
    curve = curve_down if level.down else curve_across

    arrows = []
    for edge, path in zip(level.graph.edges, level.layered.paths, strict=True):
        passed_places = [rectangles[key] for key in path[:-1]]
        passed_places.append(arrivals[path[-2:]])
        is_fan = fan_sizes[edge.source] > 1
        has_bend = len(passed_places) > 2
        if level.has_lifted_labels and is_fan and has_bend:
            first_bend = passed_places[1]  # the label stands on the level piece there
            line = curve(passed_places).line
            drawn = ArrowCurve(line, first_bend.centre_x, first_bend.centre_y)
        else:
            drawn = curve(passed_places, is_fan, measure_plate_width(edge.label))

        arrow = make_arrow(edge.label, drawn.line, drawn.label_x, drawn.label_y)
        arrows.append(replace(arrow, fate=_find_fate(edge, kinds)))
    return arrows


def _find_fate(edge: Edge, kinds: dict[str, str]) -> str:
    """Return `gone` or `new` for an edge of a picture of two graphs, or an empty text for neither.

    The label of an edge says so, or the kind of the node at one of its ends.
    """
    words = {edge.label.partition(" ")[0], kinds[edge.source], kinds[edge.target]}
    for fate in FATES:
        if fate in words:
            return fate
    return ""


def _find_arrivals(
    level: Level, rectangles: dict[Key, Rectangle]
) -> dict[tuple[Key, ...], Rectangle]:
    """Return the place at which an arrow ends, by the last two keys of its path.

    It is the place of the box, but in a level with lifted labels it is moved up or down, so that
    several arrows end at the box below each other.
    """
    arrivals = {path[-2:]: rectangles[path[-1]] for path in level.layered.paths}
    if not level.has_lifted_labels:
        return arrivals

    origins_by_key = {}  # in their order from top to bottom
    for origin, key in sorted(arrivals, key=lambda ends: rectangles[ends[0]].centre_y):
        origins_by_key.setdefault(key, []).append(origin)
    for key, origins in origins_by_key.items():
        rectangle = rectangles[key]
        for number, origin in enumerate(origins):
            lift = round(ARRIVAL * (number - (len(origins) - 1) / 2))
            arrivals[origin, key] = replace(rectangle, y=rectangle.y + lift)
    return arrivals
