"""The graphs of all steps of a timeline -> one picture, and a state for each of its parts per step.
A part is a box or an arrow. At a step it is not there, `shown`, `new`, or a `ghost` that has gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...model.dynamo_records import DynamoRun
from ...model.graphs import Graph
from ...model.stage_records import Panel, Step, Timeline
from ..plain_text import escape_to_one_line

if TYPE_CHECKING:
    from ..diagram.animated_graph import Picture

MOST_NODES = 400  # in all steps together; one picture has no room for more
NO_GRAPH = Graph("", (), ())
STATE_LETTERS = {"": "0", "shown": "1", "new": "2", "ghost": "3"}


@dataclass(frozen=True)
class StepsPicture:
    """One picture of the graphs of all steps."""

    picture: "Picture"
    """The picture, with the states of its parts at each step."""
    titles: list[str]
    """The titles of the panels whose graphs it shows."""
    keys: list[str]
    """The keys of its parts, in the order in which a step tells their states."""

    def describe(self) -> dict:
        """Return what the page needs of it, besides the states."""
        title = escape_to_one_line(self.titles[0])
        return {"svg": self.picture.svg, "title": title, "keys": self.keys}

    def encode_states(self, step_number: int) -> str:
        """Return the states at a step, one letter for each part."""
        states = self.picture.states[step_number]
        return "".join(STATE_LETTERS[states.get(key, "")] for key in self.keys)


def draw_steps(model: Timeline, steps: Sequence[Step]) -> StepsPicture | None:
    """Return one picture of the graphs of all steps; None if they have no node, or too many.

    `steps` are those steps of the timeline that are shown. If a step has several panels with a
    graph, the first graph is drawn. In a run of Dynamo, all graphs that there are at a step are
    joined into one.
    """
    panels_by_step = [_list_graph_panels(step) for step in steps]
    graphs = [panels[0].content if panels else NO_GRAPH for panels in panels_by_step]
    node_keys = {node.key for graph in graphs for node in graph.nodes}
    if not 0 < len(node_keys) <= MOST_NODES:
        return None

    # Imported only here, because most timelines have no graph and need not wait for the import.
    from ..diagram.animated_graph import draw_animated_graph
    from ..diagram.growing_graphs import list_growing_graphs

    titles = []
    for panels in panels_by_step:
        titles += [panel.title for panel in panels if panel.title not in titles]

    is_growing = isinstance(model, DynamoRun)
    if is_growing:
        graphs = list_growing_graphs(replace(model, steps=tuple(steps)))
    picture = draw_animated_graph(graphs, escape_to_one_line(titles[0]), is_growing)
    # The keys of all parts, each once, in the order in which they appear.
    keys = dict.fromkeys(key for states in picture.states for key in states)
    return StepsPicture(picture, titles, list(keys))


def _list_graph_panels(step: Step) -> list[Panel]:
    """Return the panels of a step with a plain graph; a subclass of Graph has a view of its own."""
    return [panel for panel in step.panels if type(panel.content) is Graph]
