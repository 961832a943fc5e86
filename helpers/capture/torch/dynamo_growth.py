"""Dynamo's translation of a function, read again and again -> new graph nodes and new guards.

After each instruction the growth is one line a node, such as `mul = x * 2`, and one a guard, such
as `x: TENSOR_MATCH`.
"""

from ...model.graphs import Graph
from .dynamo_events import GRAPH_SO_FAR, RENAMED
from .dynamo_messages import format_source, group_guards
from .fx_graph import build_last_nodes, build_node_box


class TranslationGrowth:
    """The graph and the guards of one translation, as they were when last read."""

    def __init__(self, output):
        """Begin with nothing read; `output` is Dynamo's `OutputGraph` of the translation."""
        # The recorder finds this object by the id of `output`. As long as `output` is kept alive
        # here, no other object gets the same id.
        self._output = output
        self._names_by_node: dict = {}  # fx node -> its name when last read
        self._guards_by_id: dict[int, object] = {}  # id -> guard read before, also kept alive
        self.guards: list[str] = []  # a line for each guard read so far
        self.graph = Graph(GRAPH_SO_FAR, (), ())  # the graph when last read

    def read_new_lines(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return lines on the nodes and on the guards that are new since the last call.

        The first tuple has a line for each added or renamed node, the second has the guards.
        """
        node_lines = self._read_new_nodes()
        new_guards = self._read_new_guards()
        return tuple(node_lines), tuple(group_guards(new_guards))

    def _read_new_nodes(self) -> list[str]:
        """Return a line for each node that was added or renamed; update `graph`."""
        graph = self._output.graph
        # An output node is left out: Dynamo adds it only when the graph ends.
        names_by_node = {node: node.name for node in graph.nodes if node.op != "output"}
        if names_by_node == self._names_by_node:
            return []

        lines = []
        for node, name in names_by_node.items():
            name_before = self._names_by_node.get(node)
            if name_before is None:
                box = build_node_box(node, "")
                lines.append(f"{box.label}  {box.detail}".rstrip())
            elif name_before != name:
                lines.append(f"{name_before}{RENAMED}{name}")

        self.graph = build_last_nodes(graph, GRAPH_SO_FAR)
        self._names_by_node = names_by_node
        return lines

    def _read_new_guards(self) -> list[str]:
        """Return the guards that were added, such as `x: TENSOR_MATCH`; add them to `guards`."""
        lines = []
        for guard in self._output.guards:
            if id(guard) in self._guards_by_id:
                continue
            self._guards_by_id[id(guard)] = guard
            name = format_source(guard.name) if guard.name else "torch's global state"
            lines.append(f"{name}: {guard.create_fn_name()}")

        # different guards may have the same line
        new_lines = [line for line in lines if line not in self.guards]
        self.guards += new_lines
        return new_lines
