"""A recorded run of Dynamo -> the graphs that there are at each of its steps.

Dynamo adds nodes to a graph while it translates. At a graph break, and at the end, it hands the
graph over to the backend, and then goes on to another one. A graph that was handed over stays.
"""

from dataclasses import replace

from ...model.dynamo_records import DynamoRun, DynamoStep
from ...model.graphs import Edge, Graph, Node

BEGINS = ("instruction", "again")  # kinds of steps with which Dynamo goes on to a further graph
ENDS = ("break", "graph")  # kinds of steps with which a graph is handed over
GRAPH_PANEL = "graph so far"
FRAME = "graph"  # the kind of a node that stands for a whole graph
EMPTY = Graph("", (), ())


class _Growth:
    """The graphs of a run up to a step: those that were handed over, and the one that grows."""

    def __init__(self):
        self._finished = EMPTY  # all graphs before the one that grows, as one
        self._growing = EMPTY
        self._is_handed_over = False  # the one that grows; it stays until a step begins another
        self._number = 0  # of the graph that grows

    def add_step(self, step: DynamoStep) -> Graph:
        """Return all graphs that there are after this step, as one."""
        if self._is_handed_over and step.kind in BEGINS:
            self._begin_graph()

        is_end = step.kind in ENDS
        for panel in step.panels:
            if isinstance(panel.content, Graph):
                self._growing = _rename_keys(panel.content, self._number, is_end)
            elif panel.title == GRAPH_PANEL:  # its content says that it is empty
                self._growing = EMPTY

        if is_end:
            self._is_handed_over = True
        return _join_graphs(self._finished, self._growing)

    def _begin_graph(self) -> None:
        """Put the graph that was handed over to the finished ones, and begin an empty one."""
        self._finished = _join_graphs(self._finished, self._growing)
        self._growing = EMPTY
        self._is_handed_over = False
        # An empty graph has no frame, and leaves its number to the next one.
        frame_key = str(self._number)
        if any(node.key == frame_key for node in self._finished.nodes):
            self._number += 1


def list_growing_graphs(run: DynamoRun) -> list[Graph]:
    """Return all graphs that there are at each step; one that was handed over stays."""
    growth = _Growth()
    return [growth.add_step(step) for step in run.steps]


def _rename_keys(graph: Graph, number: int, is_handed_over: bool) -> Graph:
    """Return graph `number` of the run in its frame, with keys that no other graph of it has.

    Every key begins with the number. A call is then known by its place among the calls, not by its
    name, because Dynamo renames a call when its result is stored.
    """
    if not graph.nodes:
        return EMPTY

    keys = {}
    call_count = 0
    for node in graph.nodes:
        if node.kind == "op":
            keys[node.key] = f"{number} call {call_count}"
            call_count += 1
        else:
            keys[node.key] = f"{number} {node.key}"

    detail = "handed over" if is_handed_over else ""
    frame = Node(f"{number}", f"graph {number + 1}", FRAME, detail)
    nodes = [replace(node, key=keys[node.key]) for node in graph.nodes]
    edges = [Edge(keys[edge.source], keys[edge.target]) for edge in graph.edges]
    return Graph("", (frame, *nodes), tuple(edges))


def _join_graphs(first: Graph, second: Graph) -> Graph:
    return Graph("", first.nodes + second.nodes, first.edges + second.edges)
