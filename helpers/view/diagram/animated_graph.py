"""The graphs of all moments of a run -> one picture in which only arrows move.

A moment is a state: which parts are there, new, or just gone (ghosts). Dynamo's graphs grow in a
card each, as outlines of which each step fills some; a graph break cuts the cards apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from helpers.model.graphs import Edge, Graph
from helpers.model.phrase import counted
from helpers.model.torch_records import DynamoRun, DynamoStep
from helpers.view import diagram
from helpers.view.diagram import MARGIN, short
from helpers.view.diagram.arrows import LOOP, curve_across, curve_down, place_labels, points_along
from helpers.view.diagram.graph_drawing import place_layers
from helpers.view.diagram.layered_layout import make_layers
from helpers.view.ink import drawn_width
from helpers.view.markup import render

SHOWN, NEW, GHOST, OUTLINE = "shown", "new", "ghost", "outline"
TAG, GAP, HEAD = 28, 60, 8  # pixels: height of a name's tag, between columns, of an arrow's head
BEGINS, ENDS = ("instruction", "again"), ("break", "graph")
LONGEST, LONGEST_GUARD = 30, 28  # characters of a box in a card, of a guard
STEP, TOP, LINE, CUT, APART = 24, 34, 17, 54, 28  # pixels, in and between cards
EMPTY = Graph("", (), ())


@dataclass(frozen=True)
class Picture:
    """An SVG whose groups bear `data-key`, and per moment the state of each part that is there."""

    svg: str
    states: list[dict[str, str]]

    def still(self, moment: int, style: str) -> str:
        """Return the SVG of one moment, to stand alone: with its style, and its states written."""
        found = self.svg.replace("<title>", f"<style>{style}</style><title>", 1)
        for key, state in self.states[moment].items():
            name = f'data-key="{key}"'
            found = found.replace(name, f'{name} data-state="{state}"')
        return found


class Union:
    """All boxes and arrows; `keys`: theirs in the picture; `said`: words per moment."""

    def __init__(self, graphs: Sequence[Graph], longest: int = diagram.LONGEST_LABEL, card=""):
        self.boxes, self.arrows, self.widths, self.keys, self.said = {}, {}, {}, {}, []
        for graph in graphs:
            said = {}
            for node in graph.nodes:
                self.boxes[node.key] = node
                key = self.keys.setdefault(node.key, f"n{card}{len(self.boxes) - 1}")
                said[key] = short(node.label, longest), short(node.detail, longest)
                wide = diagram.box_width(node, longest)
                self.widths[node.key] = max(self.widths.get(node.key, 0), wide)
            for edge in diagram.one_per_pair(graph.edges):
                ends = edge.source, edge.target
                self.arrows[ends] = edge
                key = self.keys.setdefault(ends, f"a{card}{len(self.arrows) - 1}")
                said[key] = (short(edge.label),)
            self.said.append(said)
        words = _all_words(self.said)  # those of a part: in the order in which it says them
        self.words = {thing: words[key] for thing, key in self.keys.items()}

    def make_layout(self):
        """Return the layout of all of it."""
        return make_layers(Graph("", tuple(self.boxes.values()), tuple(self.arrows.values())))

    def draw_box(self, thing, spot: diagram.Spot) -> dict:
        """Return a box for the template, at this spot."""
        key, kind = self.keys[thing], self.boxes[thing].kind
        outline = diagram.outline(kind, spot.x, spot.y, spot.width, spot.height)
        box = {"key": key, "says": _keyed_words(key, self.words[thing]), "outline": outline}
        centre = spot.centre - (4 if kind == "name" else 0)
        return box | {"spot": spot, "centre": centre, "ink": diagram.drawn_as(kind)}


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


def animated_graph(graphs: Sequence[Graph], title: str = "") -> Picture:
    """Return the picture of graphs that share their keys; at least one has a node."""
    union = Union(graphs)
    keys, words = union.keys, union.words
    layout, spots = place_union(union)
    arrows = [_arrow(words[path[0], path[-1]], path, layout, spots) for path in layout.paths]
    slots, lines = {}, []
    for ends, arrow in zip(union.arrows, place_labels(arrows, spots.values()), strict=True):
        first, *_ = (words[end][-1] for end in ends)
        source, target = (" ".join(filter(None, words[end][-1])) for end in ends)
        told = {"key": keys[ends], "says": _keyed_words(keys[ends], words[ends])}
        told["words"] = f"{source} {words[ends][-1][0] or 'refers to'} {target}"  # read to others
        told["name"] = first[0] if union.boxes[ends[0]].kind == "name" else ""
        told["slot"] = slots.setdefault((ends[0], union.arrows[ends].label), len(slots))
        lines.append(arrow | told | {"ends": (keys[ends[0]], keys[ends[1]])})
    width, height = diagram.far_ends(spots.values())
    width += LOOP * layout.has_cycle
    boxes = [union.draw_box(key, spots[key]) for key in union.boxes]
    drawn = {"title": title, "width": width, "height": height, "boxes": boxes, "arrows": lines}
    return Picture(render("union.svg", **drawn), _states(union.said))


def place_union(union: Union):
    """Return the layout, and a spot per key, with room for the longest label between columns."""
    layout, labels = union.make_layout(), [union.words[ends] for ends in union.arrows]
    heights = {k: TAG if n.kind == "name" else diagram.BOX for k, n in union.boxes.items()}
    most = max((drawn_width(label) for words in labels for (label,) in words), default=0)
    return layout, place_layers(layout, union.widths, GAP + most, False, heights)()


def _arrow(words, path, layout, spots) -> dict:
    """Return the line of an arrow; those that reach one box reach it side by side."""
    start, end = spots[path[0]], spots[path[-1]]
    come = [each for each in layout.paths if each[-1] == path[-1]]
    come.sort(key=lambda each: spots[each[-2]].middle)
    shift = round((end.height - 12) * ((come.index(path) + 1) / (len(come) + 1) - 0.5))
    line, x, y = curve_across([spots[key] for key in path], tip=HEAD, shift=shift)
    begins, tip, turn = (start.right, start.middle), (end.x, end.middle + shift), 0
    if start.x == end.x:  # it leads out to the right and back
        lift = 10 * (start == end)
        begins, tip, turn = (start.right, start.middle - lift), (end.right, end.middle + lift), 180
    else:
        x, y = points_along(line)[len(points_along(line)) // 4]
    label = max((label for (label,) in words), key=len)
    arrow = {"line": line, "label": label, "plate": diagram.plate_width(label), "x": x, "y": y}
    return {**arrow, "start": begins, "tip": tip, "turn": turn}


# -- graphs that grow ------------------------------------------------------------------------------


class Recording:
    """One graph while it is recorded: `graphs`, `guards`, what it `says` per step."""

    def __init__(self, first: int):
        self.first, self.cut, self.over = first, "", False
        self.graphs, self.guards, self.says = [EMPTY] * first, [()] * first, [""] * first
        self.lines, self._taken = set(), {}
        self._ids, self._ops = {}, []  # key -> one that stays

    def add(self, step: DynamoStep | None):
        """Add a step; None for one that is about another graph."""
        graph = self.graphs[-1] if self.graphs else EMPTY
        if step is not None:
            self._taken = {} if step.kind == "start over" else self._taken
            for panel in step.panels:
                if isinstance(panel.content, Graph):
                    graph = self._keyed(panel.content)
                elif panel.content == "empty":
                    graph = EMPTY
            self.lines |= {step.line} if step.line and step.made else set()
        self.graphs.append(graph)
        self.guards.append(tuple(self._taken))
        if step is not None:
            self._taken |= dict.fromkeys(step.guarded)
            self.over = self.over or step.kind in ENDS
        calls = counted(sum(node.kind == "op" for node in graph.nodes), "call")
        self.says.append(f"{calls}, handed over" if self.over else f"{calls} so far")

    def _keyed(self, graph: Graph) -> Graph:
        """Return the graph with keys that stay when Dynamo gives a node another name."""
        ops = [node.key for node in graph.nodes if node.kind == "op"]
        last, self._ops = self._ops[-1:], ops
        if last and ops and last[0] not in ops and ops[-1] not in self._ids:
            self._ids[ops[-1]] = self._ids.pop(last[0])
        for key in ops:
            self._ids.setdefault(key, f"op {len(self._ids) + 1}")
        keys = {node.key: node.key for node in graph.nodes} | {key: self._ids[key] for key in ops}
        nodes = tuple(node._replace(key=keys[node.key]) for node in graph.nodes)
        edges = tuple(Edge(keys[e.source], keys[e.target], e.label) for e in graph.edges)
        return Graph(graph.title, nodes, edges)


def recordings(run: DynamoRun) -> list[Recording]:
    """Return the recordings of a run, in order; one begins where Dynamo begins another graph."""
    found, breaks = [], list(run.breaks)
    for at, step in enumerate(run.steps):
        if step.kind in BEGINS and (not found or found[-1].over):
            found.append(Recording(at))
        for each in found:
            each.add(step if each is found[-1] else None)
        if found and step.kind == "break" and breaks:
            ending = breaks.pop(0)
            found[-1].cut = f"line {ending.line}: {ending.code}" if ending.line else ending.cause
    return found


def growing_graph(run: DynamoRun) -> Picture:
    """Return the picture of a run in which a node was recorded, with a state per step."""
    cards, said, graphs, top = [], [{} for _ in run.steps], 0, MARGIN
    for number, recording in enumerate(recordings(run), 1):
        union = Union(recording.graphs, LONGEST, f"{number}.")
        graphs += bool(union.boxes)
        title = f"graph {graphs}" if union.boxes else "no graph"
        cards.append(_card(number, title, recording, union, said, top))
        top = cards[-1]["bottom"] + (CUT if recording.cut else 18)
    states = _states(said)
    for card in cards:
        for state in states[card["first"] :]:
            state |= {box["key"]: state.get(box["key"], OUTLINE) for box in card["boxes"]}
    width = max(card["right"] for card in cards)
    size = {"width": width + MARGIN, "height": top + MARGIN, "smallest": 11.5}
    cards = [{**card, "width": width - MARGIN} for card in cards]
    return Picture(render("growing.svg", title=run.title, cards=cards, **size), states)


def _card(number: int, title: str, recording: Recording, union: Union, said, top: int) -> dict:
    """Return the card of a recording, in pixels, and add what it says in each moment to `said`."""
    guards = list(dict.fromkeys(guard for taken in recording.guards for guard in taken))
    for moment, words in enumerate(recording.says):
        taken = recording.guards[moment]
        said[moment] |= union.said[moment]
        said[moment] |= {f"g{number}.{guards.index(guard)}": (guard,) for guard in taken}
        if moment >= recording.first:
            said[moment][f"c{number}"] = (words,)
        if recording.cut and words.endswith("handed over"):
            said[moment][f"x{number}"] = (recording.cut,)
    boxes, arrows, inner = [], [], top + TOP
    if union.boxes:
        layout = union.make_layout()
        spots = place_layers(layout, union.widths, STEP, True)()
        for key in union.boxes:
            spot = replace(spots[key], x=spots[key].x + 10, y=spots[key].y + inner)
            boxes.append(union.draw_box(key, spot))
        for ends, path in zip(union.arrows, layout.paths, strict=True):
            tip = spots[path[-1]].centre + 10, spots[path[-1]].y + inner
            line = curve_down([spots[key] for key in path])[0]
            arrows.append({"key": union.keys[ends], "line": line, "tip": tip})
        if lines := sorted(recording.lines):
            several = f"lines {lines[0]} to {lines[-1]}"
            title += f" · {several if len(lines) > 1 else f'line {lines[0]}'}"
    shown = [short(guard, LONGEST_GUARD) for guard in guards]
    left = max((box["spot"].right for box in boxes), default=160) + APART
    low = max((box["spot"].bottom for box in boxes), default=inner + 20)
    bottom = max(low, inner + LINE * (len(guards) + 1)) + 12
    head = 52 + 8 * len(title) + max(map(drawn_width, recording.says))
    told = list(dict.fromkeys((words,) for words in recording.says[recording.first :]))
    card = {"key": f"c{number}", "title": title, "says": _keyed_words(f"c{number}", told)}
    card |= {"first": recording.first, "boxes": boxes, "arrows": arrows, "shift": (10, inner)}
    card |= {"x": MARGIN, "y": top, "height": bottom - top, "bottom": bottom, "guards_at": left}
    card["right"] = max(left + max([90, *map(drawn_width, shown)]) + 14, head)
    card["cut"] = {"key": f"x{number}", "words": short(recording.cut, 60)}
    card["guards"] = [
        {"key": f"g{number}.{at}", "y": inner + LINE + 8 + LINE * at, "words": guard}
        for at, guard in enumerate(shown)
    ]
    return card
