"""A recorded run of Dynamo -> for each step, one graph with all graphs that there are by then.
Dynamo adds nodes to a graph while it translates bytecode. At a graph break, and at the end, it
hands the graph over to the backend, and then begins another one. A graph that was handed over
stays in the picture.
"""

from dataclasses import replace

from ...model.dynamo_records import DynamoRun, DynamoStep
from ...model.graphs import Edge, Graph, Node

BEGINS = ("instruction", "again")  # kinds of steps at which Dynamo may begin a further graph
ENDS = ("break", "graph")  # kinds of steps at which a graph is handed over
GRAPH_PANEL = "graph so far"  # the title of the panel of a step that shows the growing graph
FRAME = "graph"  # the kind of a node that stands for a whole graph
EMPTY = Graph("", (), ())


class _Growth:
    """The graphs of a run up to a step: those that were handed over, and the one that grows."""

    def __init__(self):
        """Begin before the first step, without any graph."""
        self._finished = EMPTY  # all graphs before the growing one, joined into one
        self._growing = EMPTY
        # Whether the growing graph was handed over; it stays here until a step begins another one.
        self._is_handed_over = False
        self._number = 0  # of the growing graph, from 0

    def add_step(self, step: DynamoStep) -> Graph:
        """Return all graphs that there are after this step, joined into one."""
        # A graph that was handed over stays the growing one until Dynamo translates on.
        if self._is_handed_over and step.kind in BEGINS:
            self._begin_graph()

        is_end = step.kind in ENDS
        for panel in step.panels:
            if isinstance(panel.content, Graph):
                self._growing = _rename_keys(panel.content, self._number, is_end)
            elif panel.title == GRAPH_PANEL:  # a text, which says that the graph has no node yet
                self._growing = EMPTY

        if is_end:
            self._is_handed_over = True
        return _join_graphs(self._finished, self._growing)

    def _begin_graph(self) -> None:
        """Add the graph that was handed over to the finished ones, and begin an empty one."""
        self._finished = _join_graphs(self._finished, self._growing)
        self._growing = EMPTY
        self._is_handed_over = False
        # The key of a frame is the number of its graph. A graph without a node has no frame, and
        # leaves its number to the next graph.
        frame_key = str(self._number)
        if any(node.key == frame_key for node in self._finished.nodes):
            self._number += 1


def list_growing_graphs(run: DynamoRun) -> list[Graph]:
    """Return for each step one graph, in which all graphs that there are by then are joined."""
    growth = _Growth()
    return [growth.add_step(step) for step in run.steps]


def _rename_keys(graph: Graph, number: int, is_handed_over: bool) -> Graph:
    """Return graph `number` of a run with a frame, and with keys that no other graph of it has.

    Every new key begins with the number: `0 x` for the input `x`, `0 call 2` for the third call. A
    call is known by its position among the calls, because Dynamo renames a call when its result is
    stored, and the picture should not take it for another box then.
    """
    if not graph.nodes:
        return EMPTY

    keys = {}  # old key -> new key
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
    """Return a graph with the nodes and edges of both, which have no key in common."""
    return Graph("", first.nodes + second.nodes, first.edges + second.edges)
