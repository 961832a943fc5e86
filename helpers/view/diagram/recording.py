"""A run of Dynamo -> the steps of its graphs: one recording per graph, the same keys throughout."""

from dataclasses import dataclass, field, replace

from helpers.model.dynamo import DynamoRun, DynamoStep
from helpers.model.graph import Edge, Graph
from helpers.model.phrase import counted

EMPTY = Graph("", (), ())
BEGINS, ENDS = ("instruction", "again"), ("break", "graph")


@dataclass
class Recording:
    """One graph while it is recorded. All lists have an entry per step of the whole run.

    `graphs`: what was recorded before the step; `guards`: the guards taken before it; `said`: what
    becomes of the graph. `first`: the step it begins with; `cut`: the line that ended it, if one.
    """

    first: int
    graphs: list[Graph] = field(default_factory=list)
    guards: list[tuple[str, ...]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    cut: str = ""
    over: bool = False

    def __post_init__(self):
        self.graphs += [EMPTY] * self.first
        self.guards += [()] * self.first
        self.said += [""] * self.first
        self._ids: dict[str, str] = {}
        self._before: dict[str, str] = {}  # the same, before Dynamo started over
        self._ops: list[str] = []
        self._taken: dict[str, None] = {}
        self._count = 0

    def add(self, step: DynamoStep | None):
        """Add a step; None for one that is about another graph."""
        graph = self.graphs[-1] if self.graphs else EMPTY
        if step is not None:
            if step.kind == "start over":
                self._before, self._ids, self._ops, self._taken = self._ids, {}, [], {}
            graph = self._keyed(_graph_in(step)) or graph
            self.lines |= {step.line} if step.line and step.made else set()
        self.graphs.append(graph)
        self.guards.append(tuple(self._taken))
        if step is not None:
            self._taken |= dict.fromkeys(step.guarded)
            self.over = self.over or step.kind in ENDS
        self.said.append(self._says(graph))

    def _says(self, graph: Graph) -> str:
        calls = counted(sum(node.kind == "op" for node in graph.nodes), "call")
        return f"{calls}, handed over" if self.over else f"{calls} so far"

    def _keyed(self, graph: Graph | None) -> Graph | None:
        """Return the graph with keys that stay when Dynamo gives a node another name."""
        if graph is None:
            return None
        ops = [node.key for node in graph.nodes if node.kind == "op"]
        last = self._ops[-1:]
        if last and ops and last[0] not in ops and ops[-1] not in self._ids:
            self._ids[ops[-1]] = self._ids.pop(last[0])
        self._ops = ops
        keys = {
            node.key: self._id(node.key) if node.kind == "op" else node.key for node in graph.nodes
        }
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


def _graph_in(step: DynamoStep) -> Graph | None:
    contents = [panel.content for panel in step.panels if isinstance(panel.content, Graph)]
    if contents:
        return contents[-1]
    return EMPTY if any(panel.content == "empty" for panel in step.panels) else None
