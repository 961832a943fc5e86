"""One translation of Dynamo's -> what its graph and its guards gained since the last reading."""

from ...model.graphs import Graph
from .dynamo_events import GRAPH_SO_FAR, RENAMED
from .dynamo_messages import format_source, group_guards
from .fx_graph import build_last_nodes, build_node_box


class TranslationGrowth:
    """The graph and the guards of one translation, as they were when last read."""

    def __init__(self, output):
        """Begin with nothing read; `output` is the translation's `OutputGraph`."""
        self._output = output  # kept alive, so that no other object gets its id
        self._names_by_node: dict = {}  # of the graph, when last read
        self._guards_by_id: dict[int, object] = {}  # those read, kept alive for the same reason
        self.guards: list[str] = []
        self.graph = Graph(GRAPH_SO_FAR, (), ())

    def read_new_lines(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return lines for the new or renamed nodes, and lines for the new guards."""
        node_lines = self._read_new_nodes()
        new_guards = self._read_new_guards()
        return tuple(node_lines), tuple(group_guards(new_guards))

    def _read_new_nodes(self) -> list[str]:
        """Return a line for each node that was added or got another name; draw the graph again."""
        graph = self._output.graph
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
        """Return the guards that were added, such as `x: TENSOR_MATCH`, and keep them."""
        lines = []
        for guard in self._output.guards:
            if id(guard) in self._guards_by_id:
                continue
            self._guards_by_id[id(guard)] = guard
            name = format_source(guard.name) if guard.name else "torch's global state"
            lines.append(f"{name}: {guard.create_fn_name()}")

        new_lines = [line for line in lines if line not in self.guards]
        self.guards += new_lines
        return new_lines
