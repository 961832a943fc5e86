"""The graphs among the steps of a timeline -> one picture of all, and the state of each step."""

from collections.abc import Sequence
from dataclasses import replace

from helpers.model.dynamo import DynamoRun
from helpers.model.graph import Graph
from helpers.model.timeline import Step, Timeline
from helpers.view.diagram import moments, union
from helpers.view.markup import one_line

MOST_NODES = 400  # in all steps together; more have no place for each of their own
_EMPTY = Graph("", (), ())
_LETTERS = {"": "0", moments.SHOWN: "1", moments.NEW: "2", moments.GHOST: "3", moments.OUTLINE: "4"}


class StagePicture:
    """One SVG, and a letter per part and step: 0 hidden, 1 shown, 2 new, 3 gone, 4 an outline.

    `titles`: of the panels that it stands for.
    """

    def __init__(self, picture: moments.Picture, titles: Sequence[str]):
        self.titles, self._picture = titles, picture
        self._keys = list(dict.fromkeys(key for state in picture.states for key in state))

    def told(self) -> dict:
        """Return what all steps share."""
        return {"svg": self._picture.svg, "keys": self._keys, "title": one_line(self.titles[0])}

    def state(self, n: int) -> str:
        """Return a letter for each key at a step."""
        state = self._picture.states[n]
        return "".join(_LETTERS[state.get(key, "")] for key in self._keys)


def of(model: Timeline, steps: Sequence[Step]) -> StagePicture | None:
    """Return the picture of the steps of a model, or None where none is to be drawn."""
    graphs = [_graph(step) for step in steps]
    keys = {node.key for graph in graphs for node in graph.nodes}
    if not 0 < len(keys) <= MOST_NODES:
        return None
    if isinstance(model, DynamoRun):
        from helpers.view.diagram import growing  # for this one alone

        titles = ("graph so far", "guards so far", "the graph that is handed over", "why")
        return StagePicture(growing.growing(replace(model, steps=tuple(steps))), titles)
    titles = list(dict.fromkeys(p.title for s in steps for p in s.panels if _is_drawn(p)))
    return StagePicture(union.picture(graphs, one_line(titles[0])), titles)


def _graph(step: Step) -> Graph:
    return next((panel.content for panel in step.panels if _is_drawn(panel)), _EMPTY)


def _is_drawn(panel) -> bool:
    return type(panel.content) is Graph
