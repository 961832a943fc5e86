"""The graphs of all moments of a run -> one picture in which only arrows move.

A moment is a state: which parts are there, new, or just gone (ghosts).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...model.graphs import Edge, Graph, Node
from ...model.torch_records import DynamoRun
from .. import diagram
from ..markup import render
from . import short
from .arrows import BESIDE_LOOP, LEAD, curve_across, curve_down, place_labels, points_along
from .graph_drawing import place_layers
from .layered_layout import make_layers

SHOWN, NEW, GHOST = "shown", "new", "ghost"
TAG, GAP, HEAD = 28, 52, 8  # pixels: height of a name's tag, between columns, of an arrow's head
STEP, CLOSE, ROOM = 20, (14, 14), (26, 26)  # pixels between rows; in a row; in a column
LINE = 14  # pixels from line to line of a label
BEGINS, ENDS = ("instruction", "again"), ("break", "graph")
EMPTY = Graph("", (), ())
FRAME, PAD, HEADED = "graph", 8, 20  # around a graph of its own; pixels in it, and for its heading


@dataclass(frozen=True)
class Picture:
    """An SVG whose groups bear `data-key`, and per moment the state of each part that is there."""

    svg: str
    states: list[dict[str, str]]

    def still(self, moment: int, style: str) -> str:
        """Return the SVG of one moment, usable alone: with its style, and its states written."""
        found = self.svg.replace("<title>", f"<style>{style}</style><title>", 1)
        for key, state in self.states[moment].items():
            name = f'data-key="{key}"'
            found = found.replace(name, f'{name} data-state="{state}"')
        return found


class Union:
    """All boxes and arrows; `keys`: theirs in the picture; `said`: words per moment."""

    def __init__(self, graphs: Sequence[Graph]):
        self.boxes, self.arrows, self.widths, self.keys, self.said = {}, {}, {}, {}, []
        for graph in graphs:
            said = {}
            for node in graph.nodes:
                self.boxes[node.key] = node
                key = self.keys.setdefault(node.key, f"n{len(self.boxes) - 1}")
                said[key] = short(node.label), short(node.detail)
                wide = diagram.box_width(node)
                self.widths[node.key] = max(self.widths.get(node.key, 0), wide)
            for edge in diagram.one_per_pair(graph.edges):
                ends = edge.source, edge.target
                self.arrows[ends] = edge
                key = self.keys.setdefault(ends, f"a{len(self.arrows) - 1}")
                said[key] = tuple(short(edge.label).split(" ", 1))  # a line each
            self.said.append(said)
        words = _all_words(self.said)  # those of a part: in the order in which it says them
        self.words = {thing: words[key] for thing, key in self.keys.items()}


def _all_words(said: list[dict]) -> dict[str, list[tuple[str, ...]]]:
    found = {}
    for moment in said:
        for key, words in moment.items():
            found.setdefault(key, {})[words] = None
    return {key: list(words) for key, words in found.items()}


def _keyed_words(key: str, words: list[tuple[str, ...]]) -> list[tuple[str, tuple[str, ...]]]:
    """Return what a part says, each with its key; what always says the same has no key."""
    return [(f"{key}.{n}" if len(words) > 1 else "", each) for n, each in enumerate(words)]


def _states(said: list[dict]) -> list[dict[str, str]]:
    """Return the state of each part, and of each of the things it says, in each moment."""
    all_words, found, before = _all_words(said), [], said[0]
    for now in said:
        state = {}
        for key, words in {**before, **now}.items():
            gone, told = key not in now, all_words[key]
            state[key] = GHOST if gone else SHOWN if key in before else NEW
            if len(told) > 1:
                same = GHOST if gone else SHOWN if before.get(key) == words else NEW
                state[f"{key}.{told.index(words)}"] = same
        found.append(state)
        before = now
    return found


def animated_graph(graphs: Sequence[Graph], title: str = "", down: bool = False) -> Picture:
    """Return the picture of graphs that share their keys; at least one has a node."""
    union = Union(graphs)
    keys, words = union.keys, union.words
    layout, spots = place_union(union, down)
    arrows = []
    for path in layout.paths:
        way = [spots[key] for key in path]
        arrows.append(_arrow(words[path[0], path[-1]], way, down))
    slots, lines, boxes, verb = {}, [], [], "leads to" if down else "refers to"
    lift = max((arrow["high"] for arrow in arrows if arrow["label"]), default=0) // 2 + 3
    placed = place_labels(arrows, spots.values(), lift, clear=True)
    top = min([0, *(arrow["y"] - lift for arrow in placed if arrow["label"])])
    for ends, arrow in zip(union.arrows, placed, strict=True):
        first, *_ = (words[end][-1] for end in ends)
        source, target = (" ".join(filter(None, words[end][-1])) for end in ends)
        told = {"key": keys[ends], "says": _keyed_words(keys[ends], words[ends])}
        told["part"] = ends[0].partition(" ")[0] * down  # its graph, of those of a run
        told["words"] = f"{source} {' '.join(words[ends][-1]) or verb} {target}"  # read to others
        told["name"] = first[0] if union.boxes[ends[0]].kind == "name" else ""
        told["slot"] = slots.setdefault((ends[0], union.arrows[ends].label), len(slots))
        lines.append(arrow | told | {"ends": (keys[ends[0]], keys[ends[1]])})
    for name, node in union.boxes.items():
        spot, key = spots[name], keys[name]
        box = {"key": key, "says": _keyed_words(key, words[name])}
        box["ink"] = diagram.drawn_as(node.kind)
        box["outline"] = diagram.outline(node.kind, spot.x, spot.y, spot.width, spot.height)
        box |= {"frame": node.kind == FRAME, "part": name.partition(" ")[0] * down}
        boxes.append(box | {"spot": spot, "centre": spot.centre - 4 * (node.kind == "name")})
    width, height = diagram.far_ends(spots.values(), lines)
    drawn = {"title": title, "width": width, "height": height - top, "top": top, "line": LINE}
    drawn |= {"boxes": boxes, "arrows": lines, "down": down}
    return Picture(render("union.svg", **drawn), _states(union.said))


def _apart(layout, spots: dict) -> dict:
    """Return the spots, each graph of a run beside the one before, and those of their frames."""
    parts, left = {}, diagram.MARGIN
    for path in (*layout.paths, *((key,) for key in spots if isinstance(key, str))):
        parts.setdefault(path[0].partition(" ")[0], {}).update((key, spots[key]) for key in path)
    for part, own in sorted(parts.items(), key=lambda one: int(one[0])):
        start, (right, low) = min(spot.x for spot in own.values()), diagram.far_ends(own.values())
        for key, spot in own.items():
            spots[key] = spot._replace(x=spot.x + left + PAD - start, y=spot.y + HEADED)
        size = right - start + 2 * PAD - diagram.MARGIN, low + HEADED + PAD - 2 * diagram.MARGIN
        spots[part] = diagram.Spot(left, diagram.MARGIN, *size)
        left = spots[part].right + PAD
    return spots


def place_union(union: Union, down: bool = False):
    """Return the layout, and a spot per key, with room for its labels after each column."""
    boxes = tuple(node for node in union.boxes.values() if node.kind != FRAME)
    layout = make_layers(Graph("", boxes, tuple(union.arrows.values())))
    heights = {k: TAG if n.kind == "name" else diagram.BOX for k, n in union.boxes.items()}
    if down:
        spots = place_layers(layout, union.widths, STEP, down, heights, CLOSE)()
        return layout, _apart(layout, spots)
    column = {key: at for at, keys in enumerate(layout.layers) for key in keys}
    rooms = Counter()  # of each column: pixels that the labels of the arrows out of it take
    for ends in union.arrows:
        at, loop = column[ends[0]], column[ends[0]] == column[ends[1]]
        wide = max(map(_plate, union.words[ends])) + BESIDE_LOOP * loop
        rooms[at] = max(rooms[at], wide + LEAD - GAP)
    return layout, place_layers(layout, union.widths, GAP, down, heights, ROOM)(rooms)


def _plate(label: tuple[str, ...]) -> int:
    return max(map(diagram.plate_width, label))


def _arrow(labels: list[tuple[str, ...]], way: list[diagram.Spot], down: bool) -> dict:
    start, end, label = way[0], way[-1], max(labels, key=_plate)
    plate = _plate(label)
    line, x, y = (
        curve_down(way) if down else curve_across(way, plate=plate * (start.x == end.x), tip=HEAD)
    )
    lift = 10 * (start == end)
    ends = (start.right, start.middle - lift), (end.x, end.middle), 0
    if down:
        ends = (start.centre, start.bottom), (end.centre, end.y), 90
    elif start.x == end.x:  # it leads out to the right and back
        ends = ends[0], (end.right, end.middle + lift), 180
    else:
        x, y = points_along(line)[len(points_along(line)) // 4]
    high = LINE * max(map(len, labels)) + 3
    arrow = {"line": line, "label": "".join(label), "plate": plate, "high": high, "x": x, "y": y}
    return arrow | dict(zip(("start", "tip", "turn"), ends, strict=True))


def growing_graphs(run: DynamoRun) -> list[Graph]:
    """Return all graphs there are at each step; one that was handed over stays.

    The key of a call is its number, for Dynamo gives it another name when it is stored.
    """
    found, kept, graph, part, over = [], EMPTY, EMPTY, 0, False
    for step in run.steps:
        if over and step.kind in BEGINS:
            kept, graph, over = _both(kept, graph), EMPTY, False
            part += any(node.key == str(part) for node in kept.nodes)
        for panel in step.panels:
            if isinstance(panel.content, Graph):
                ops = [node.key for node in panel.content.nodes if node.kind == "op"]
                keys = {node.key: f"{part} {node.key}" for node in panel.content.nodes}
                keys |= {key: f"{part} call {number}" for number, key in enumerate(ops)}
                nodes = tuple(node._replace(key=keys[node.key]) for node in panel.content.nodes)
                ends = ((keys[edge.source], keys[edge.target]) for edge in panel.content.edges)
                told = "handed over" * (step.kind in ENDS)
                frame = (Node(f"{part}", f"graph {part + 1}", FRAME, told),) * bool(nodes)
                graph = Graph("", frame + nodes, tuple(Edge(*each) for each in ends))
            elif panel.title == "graph so far":  # its content says that it is empty
                graph = EMPTY
        over = over or step.kind in ENDS
        found.append(_both(kept, graph))
    return found


def _both(one: Graph, other: Graph) -> Graph:
    return Graph("", one.nodes + other.nodes, one.edges + other.edges)
