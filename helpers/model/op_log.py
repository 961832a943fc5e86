"""The ops of one run, in order -> a listing, and the graph of who reads whose result."""

from dataclasses import dataclass, replace

from helpers.model.graph import Edge, Graph, Node
from helpers.model.listing import Listing

STAGES = {  # stage -> kind of box
    "forward": "forward",
    "backward": "backward",
    "after": "after",  # with a gradient, and asked for by no tape
    "update": "update",
}
AGAIN = "read again"  # by the backward half: what had to be kept alive


@dataclass(frozen=True)
class Value:
    """One tensor that an op read or made: its number in this run, what it is, and its name."""

    number: int
    words: str
    name: str = ""


@dataclass(frozen=True)
class Op:
    """One op that ran. `stage` is one of STAGES; `layer` is the layer that asked for it."""

    number: int
    op: str
    reads: tuple[Value, ...]
    makes: tuple[Value, ...]
    stage: str = "forward"
    layer: str = ""
    where: str = "eager"

    def __post_init__(self):
        if self.stage not in STAGES:
            raise ValueError(f"stage {self.stage!r} is unknown; use one of {', '.join(STAGES)}")

    @property
    def inputs(self) -> str:
        """Return dtype and shape of what it read, with the names that are known."""
        return ", ".join(f"{v.name}: {v.words}" if v.name else v.words for v in self.reads)

    @property
    def outputs(self) -> str:
        """Return dtype and shape of what it made."""
        return ", ".join(value.words for value in self.makes)


@dataclass(frozen=True)
class OpLog(Listing):
    """A listing of ops. `outcome` says what ended the run early, if anything did."""

    outcome: str = ""

    @property
    def ops(self) -> tuple[str, ...]:
        """Return the names of the ops, in order."""
        return tuple(row.op for row in self.rows)

    def stage(self, name: str) -> tuple[str, ...]:
        """Return the names of the ops of one stage, in order."""
        return tuple(row.op for row in self.rows if row.stage == name)


def op_graph(log: OpLog, title: str = "", unnamed: bool = True) -> Graph:
    """Return a box per op and per value that came from outside; arrows carry results onwards.

    What a backward op reads of the forward ones is marked `read again`.

    `unnamed=False` leaves out the values from outside that have no name.
    """
    makers, nodes, edges = {}, {}, []
    stages = {f"op {row.number}": row.stage for row in log.rows}
    for row in log.rows:
        key = f"op {row.number}"
        for value in row.reads:
            if value.number not in makers:
                if not (value.name or unnamed):
                    continue
                makers[value.number] = f"value {value.number}", ""
                nodes[f"value {value.number}"] = _outside(value)
            source, label = makers[value.number]
            again = (row.stage, stages.get(source)) == ("backward", "forward")
            edges.append(Edge(source, key, AGAIN if again else label))
        made = f" {row.outputs}" if row.outputs else ""
        nodes[key] = Node(
            key, f"{row.number} {row.op}", STAGES[row.stage], f"{row.stage}{made}", op=row.op
        )
        for at, value in enumerate(row.makes):
            makers[value.number] = key, f"output {at}" if at else ""
    return Graph(title or log.title, tuple(nodes.values()), tuple(edges))


def together(title: str, graphs: dict[str, Graph], note: str = "") -> Graph:
    """Return several graphs as one picture, each under a box with its name."""
    nodes, edges = [], []
    for name, graph in graphs.items():
        head = f"{name}|"
        nodes.append(Node(head, name, "group"))
        nodes += [replace(node, key=head + node.key) for node in graph.nodes]
        edges += [Edge(head + e.source, head + e.target, e.label) for e in graph.edges]
        reached = {edge.target for edge in graph.edges}
        edges += [Edge(head, head + n.key) for n in graph.nodes if n.key not in reached]
    return Graph(title, tuple(nodes), tuple(edges), note)


def apart(graph: Graph) -> dict[str, Graph]:
    """Return the graphs that `together` put into one, by name; any other graph under ""."""
    heads = {node.key: node.label for node in graph.nodes if node.kind == "group"}
    if not heads:
        return {"": graph}
    return {name: _part(graph, head, name) for head, name in heads.items()}


def _part(graph: Graph, head: str, name: str) -> Graph:
    nodes = tuple(n for n in graph.nodes if n.key.startswith(head) and n.key != head)
    edges = tuple(e for e in graph.edges if e.source.startswith(head) and e.source != head)
    return Graph(name, nodes, edges)


def _outside(value: Value) -> Node:
    key = f"value {value.number}"
    if value.name:
        return Node(key, value.name, "input", value.words)
    return Node(key, "a value", "constant", value.words)
