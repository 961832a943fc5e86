"""Records of the ops that a framework ran, and the graph of their values."""

from dataclasses import dataclass

from .graphs import Edge, Graph, Node
from .tables import Listing

AGAIN = "read again"  # by the backward half: what had to be kept alive


@dataclass(frozen=True, slots=True)
class OpTensor:
    """One tensor that an op read or made.

    Attributes
    ----------
    number : int
        The number of the tensor in this run.
    words : str
        Its dtype and its shape.
    name : str
        The name of the variable or argument, "" if none is known.
    """

    number: int
    words: str
    name: str = ""


@dataclass(frozen=True)
class Op:
    """One op that ran.

    Attributes
    ----------
    number : int
        Its place in the order of the run, from 1.
    op : str
        The name of the op.
    reads : tuple of Value
        The tensors that it read.
    makes : tuple of Value
        The tensors that it made.
    stage : str
        Which pass asked for the op. It is `forward`, `backward`, `recompute` (the backward pass
        needs what a checkpoint did not save), `after` (the op reads a gradient and no tape asked
        for it) or `update` (an optimizer asked for the op, or the op writes a variable).
    where : str
        Whether the op ran eagerly or in a graph.
    layer : str
        The path of the innermost module or Keras layer that ran it, as users write that path.
    """

    number: int
    op: str
    reads: tuple[OpTensor, ...]
    makes: tuple[OpTensor, ...]
    stage: str = "forward"
    where: str = "eager"
    layer: str = ""

    @property
    def inputs(self) -> str:
        """Return dtype and shape of what the op read, with the names that are known."""
        return ", ".join(
            f"{value.name}: {value.words}" if value.name else value.words for value in self.reads
        )

    @property
    def outputs(self) -> str:
        """Return dtype and shape of what the op made."""
        return ", ".join(value.words for value in self.makes)


@dataclass(frozen=True)
class OpLog(Listing):
    """A listing of ops, one `Op` in a row.

    Attributes
    ----------
    outcome : str
        What ended the run early, "" if nothing did.
    """

    outcome: str = ""

    @property
    def kept(self) -> int:
        """Return the number of the first row that updates a variable; 0 for none."""
        return next((row.number for row in self.rows if row.stage == "update"), 0)

    @property
    def ops(self) -> tuple[str, ...]:
        """Return the names of the ops, in order."""
        return tuple(row.op for row in self.rows)

    def stage(self, name: str) -> tuple[str, ...]:
        """Return the names of the ops of one stage, in order."""
        return tuple(row.op for row in self.rows if row.stage == name)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Where a value of a graph of ops comes from.

    Attributes
    ----------
    key : str
        The key of the node that makes the value.
    label : str
        What an arrow that leaves the node with this value says.
    stage : str
        The stage of the op that made the value, `input` for a value from outside.
    """

    key: str
    label: str
    stage: str


def build_op_graph(log: OpLog, title: str = "") -> Graph:
    """Return a graph with a node for each op and for each named value from outside.

    Arrows lead from the op that made a value to the ops that read the value. If a backward op
    reads the value of a forward op, the arrow is marked `read again`.
    """
    makers: dict[int, _Maker] = {}  # by the number of the value
    nodes: dict[str, Node] = {}
    edges = []
    for row in log.rows:
        key = f"op {row.number}"
        for value in row.reads:
            # What no op of the log has made is from outside. Without a name it has no node.
            if value.number not in makers and value.name:
                outside = f"value {value.number}"
                makers[value.number] = _Maker(outside, "", "input")
                nodes[outside] = Node(outside, value.name, "input", value.words)
            if value.number in makers:
                maker = makers[value.number]
                is_again = row.stage == "backward" and maker.stage == "forward"
                edges.append(Edge(maker.key, key, AGAIN if is_again else maker.label))

        detail = f"{row.stage} {row.outputs}".rstrip()
        nodes[key] = Node(key, f"{row.number} {row.op}", row.stage, detail, op=row.op)
        for position, value in enumerate(row.makes):
            label = f"output {position}" if position else ""  # the first output is the usual one
            makers[value.number] = _Maker(key, label, row.stage)
    return Graph(title or log.title, tuple(nodes.values()), tuple(edges))
