"""A run of Dynamo -> one picture of its graphs as they grow: a card each, guards beside the nodes.

The last graph of each recording is laid out once, as outlines without words; each step fills some.
Where a graph broke, the cards are cut apart, and the line stands there that Python runs itself.
"""

from dataclasses import replace

from helpers.model.dynamo import DynamoRun, DynamoStep
from helpers.model.graph import Edge, Graph
from helpers.model.phrase import counted
from helpers.view.diagram.animated_graph import OUTLINE, Part, Picture, Union, drawn_box, states
from helpers.view.diagram.graph_drawing import spots_down
from helpers.view.diagram.routing import curve_down
from helpers.view.diagram.shapes import MARGIN, Spot, short
from helpers.view.markup import render
from helpers.view.picture import drawn_width

EMPTY = Graph("", (), ())
BEGINS, ENDS = ("instruction", "again"), ("break", "graph")
LONGEST, LONGEST_GUARD = 30, 28  # characters of a box, of a guard
STEP, HEAD, LINE, CUT, APART = 64, 34, 17, 54, 28  # pixels


class Recording:
    """One graph while it is recorded. All lists have an entry per step of the whole run.

    `graphs`: what was recorded before the step; `guards`: the guards taken before it; `said`: what
    becomes of the graph. `first`: the step it begins with; `cut`: the line that ended it, if one.
    """

    def __init__(self, first: int):
        self.first, self.cut, self.over = first, "", False
        self.graphs, self.guards, self.said = [EMPTY] * first, [()] * first, [""] * first
        self.lines, self._taken = set(), {}
        self._ids, self._before = {}, {}  # key -> one that stays; before Dynamo started over
        self._ops, self._count = [], 0

    def add(self, step: DynamoStep | None):
        """Add a step; None for one that is about another graph."""
        graph = self.graphs[-1] if self.graphs else EMPTY
        if step is not None:
            if step.kind == "start over":
                self._before, self._ids, self._ops, self._taken = self._ids, {}, [], {}
            contents = [panel.content for panel in step.panels]
            found = [content for content in contents if isinstance(content, Graph)]
            graph = self._keyed(found[-1]) if found else EMPTY if "empty" in contents else graph
            self.lines |= {step.line} if step.line and step.made else set()
        self.graphs.append(graph)
        self.guards.append(tuple(self._taken))
        if step is not None:
            self._taken |= dict.fromkeys(step.guarded)
            self.over = self.over or step.kind in ENDS
        calls = counted(sum(node.kind == "op" for node in graph.nodes), "call")
        self.said.append(f"{calls}, handed over" if self.over else f"{calls} so far")

    def _keyed(self, graph: Graph) -> Graph:
        """Return the graph with keys that stay when Dynamo gives a node another name."""
        ops = [node.key for node in graph.nodes if node.kind == "op"]
        last = self._ops[-1:]
        if last and ops and last[0] not in ops and ops[-1] not in self._ids:
            self._ids[ops[-1]] = self._ids.pop(last[0])
        self._ops = ops
        keys = {node.key: node.key for node in graph.nodes} | {key: self._id(key) for key in ops}
        nodes = tuple(replace(node, key=keys[node.key]) for node in graph.nodes)
        edges = tuple(Edge(keys[e.source], keys[e.target], e.label) for e in graph.edges)
        return Graph(graph.title, nodes, edges)

    def _id(self, key: str) -> str:
        if key not in self._ids:
            self._count += 1
            self._ids[key] = self._before.get(key, f"op {self._count}")
        return self._ids[key]


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
    """Return the picture of a run, with a state per step. ValueError if nothing was recorded."""
    cards, top = [], MARGIN
    for number, recording in enumerate(recordings(run), 1):
        graph = 1 + sum(bool(card.boxes) for card in cards)
        cards.append(_Card(number, graph, recording, top))
        top = cards[-1].bottom + (CUT if recording.cut else 18)
    if not any(card.boxes for card in cards):
        raise ValueError("there is nothing to draw: no graph has a node")
    found = states({k: part for card in cards for k, part in card.parts.items()}, len(run.steps))
    for card in cards:
        for state in found[card.recording.first :]:
            state |= {key: state.get(key, OUTLINE) for key in card.keys.values()}
    width = max(card.right for card in cards) + MARGIN
    last = cards[-1]
    svg = render(
        "growing.svg",
        title=run.title,
        width=width,
        height=last.bottom + (CUT if last.recording.cut else 0) + MARGIN,
        smallest=11.5,
        cards=[card.drawn(width - 2 * MARGIN) for card in cards],
    )
    return Picture(svg, found)


class _Card:
    """One recording with the places of its nodes and guards, in pixels."""

    def __init__(self, number: int, graph: int, recording: Recording, top: int):
        self.number, self.recording, self.top = number, recording, top
        self._graph = graph
        self.union = Union(recording.graphs, LONGEST)
        self.keys = {key: f"n{number}.{at}" for at, key in enumerate(self.union.boxes)}
        self.guards = dict.fromkeys(guard for taken in recording.guards for guard in taken)
        self.boxes, self.lines = self._placed() if self.union.boxes else ({}, [])
        self.parts = self._parts()
        self.left = max((spot.right for spot in self.boxes.values()), default=160) + APART
        low = max((spot.bottom for spot in self.boxes.values()), default=top + HEAD + 20)
        self.bottom = max(low, top + HEAD + LINE * (len(self.guards) + 1)) + 12
        longest = max((drawn_width(short(g, LONGEST_GUARD)) for g in self.guards), default=0)
        head = 52 + 8 * len(self._title()) + max(map(drawn_width, recording.said))
        self.right = max(self.left + max(longest, 90) + 14, head)

    def _placed(self):
        layout = self.union.layout()
        spots = spots_down(layout, self.union.widths, STEP)()
        down = self.top + HEAD
        boxes = {
            key: Spot(spots[key].x + 10, spots[key].y + down, spots[key].width)
            for key in self.union.boxes
        }
        lines = [
            (
                curve_down([spots[key] for key in path])[0],
                (boxes[path[-1]].centre, boxes[path[-1]].y),
            )
            for path in layout.paths
        ]
        return boxes, lines

    def _parts(self) -> dict[str, Part]:
        """Return all that comes and goes, by key."""
        found = {key: self.union.boxes[name] for name, key in self.keys.items()}
        found |= {f"a{self.number}.{at}": p for at, p in enumerate(self.union.arrows.values())}
        head, cut, guards = Part(), Part(), {guard: Part() for guard in self.guards}
        for moment, words in enumerate(self.recording.said):
            if moment >= self.recording.first:
                head.add(None, (words,), moment)
            if self.recording.cut and words.endswith("handed over"):
                cut.add(None, (self.recording.cut,), moment)
            for guard in self.recording.guards[moment]:
                guards[guard].add(None, (guard,), moment)
        found |= {f"g{self.number}.{at}": part for at, part in enumerate(guards.values())}
        return found | {f"c{self.number}": head} | ({f"x{self.number}": cut} if cut.said else {})

    def _title(self) -> str:
        """Return the number of the graph, and the lines it comes from."""
        if not self.boxes:
            return "no graph"
        lines = sorted(self.recording.lines)
        if not lines:
            return f"graph {self._graph}"
        several = f"lines {lines[0]} to {lines[-1]}"
        return f"graph {self._graph} · {several if lines[1:] else f'line {lines[0]}'}"

    def drawn(self, wide: int) -> dict:
        """Return the card for the template, `wide` pixels wide."""
        number, guards = self.number, [short(guard, LONGEST_GUARD) for guard in self.guards]
        top = self.top + HEAD + LINE + 8
        return {
            "key": f"c{number}",
            "title": self._title(),
            "says": self.parts[f"c{number}"].says(f"c{number}"),
            "x": MARGIN,
            "y": self.top,
            "width": wide,
            "height": self.bottom - self.top,
            "shift": (10, self.top + HEAD),
            "boxes": [
                drawn_box(key, self.parts[key], self.boxes[name]) for name, key in self.keys.items()
            ],
            "arrows": [
                {"key": f"a{number}.{at}", "line": line, "tip": tip}
                for at, (line, tip) in enumerate(self.lines)
            ],
            "guards_at": self.left,
            "guards": [
                {"key": f"g{number}.{at}", "y": top + LINE * at, "words": guard}
                for at, guard in enumerate(guards)
            ],
            "cut": {"key": f"x{number}", "words": short(self.recording.cut, 60)},
        }
