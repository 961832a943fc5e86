"""The graphs among the steps of a timeline -> one picture of all, and the state of each step."""

from collections.abc import Sequence
from dataclasses import replace

from helpers.model.graph import Edge, Graph
from helpers.model.timeline import Step
from helpers.view.diagram import union
from helpers.view.markup import one_line

MOST_NODES = 400  # in all steps together; more have no place for each of their own
HANDED_OVER = ("graph",)  # kinds of step after which another graph begins
_LETTERS = {"": "0", union.SHOWN: "1", union.NEW: "2", union.GHOST: "3"}


class StagePicture:
    """One SVG, and a letter per part and step: 0 hidden, 1 shown, 2 new, 3 just gone."""

    def __init__(self, picture: union.Picture, titles: dict[str, None]):
        self.titles, self._picture = titles, picture
        self._keys = list(dict.fromkeys(key for state in picture.states for key in state))

    def told(self) -> dict:
        """Return what all steps share."""
        return {"svg": self._picture.svg, "keys": self._keys, "title": next(iter(self.titles))}

    def state(self, n: int) -> str:
        """Return a letter for each key at a step."""
        state = self._picture.states[n]
        return "".join(_LETTERS[state.get(key, "")] for key in self._keys)


def of(steps: Sequence[Step]) -> StagePicture | None:
    """Return the picture of steps that have a graph each, or None where none is to be drawn."""
    titles = {}
    for step in steps:
        for panel in step.panels:
            if type(panel.content) is Graph:
                titles[panel.title] = None
    if not titles or _nodes(steps) > MOST_NODES:
        return None
    return StagePicture(union.picture(_moments(steps), one_line(next(iter(titles)))), titles)


def _moments(steps: Sequence[Step]) -> list[Graph]:
    """Return a graph per step, an empty one where it has none; those of one attempt share keys."""
    moments, number = [], 0
    for step in steps:
        found = (panel.content for panel in step.panels if type(panel.content) is Graph)
        moments.append(_numbered(next(found, Graph("", (), ())), number))
        number += getattr(step, "kind", "") in HANDED_OVER
    return moments


def _numbered(graph: Graph, number: int) -> Graph:
    if not number:
        return graph
    nodes = tuple(replace(node, key=f"{number} {node.key}") for node in graph.nodes)
    edges = (Edge(f"{number} {e.source}", f"{number} {e.target}", e.label) for e in graph.edges)
    return Graph(graph.title, nodes, tuple(edges))


def _nodes(steps: Sequence[Step]) -> int:
    keys = set()
    for step in steps:
        for panel in step.panels:
            if type(panel.content) is Graph:
                keys |= {node.key for node in panel.content.nodes}
    return len(keys)
