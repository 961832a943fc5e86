"""Records of the ops that torch or TensorFlow ran, such as matmul, and a graph of their tensors."""

from dataclasses import dataclass

from .graphs import Edge, Graph, Node
from .tables import Listing

# The label of an arrow from a forward op to a backward op. The value had to be kept for so long.
AGAIN = "read again"


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
        """Return dtype and shape of each tensor that the op read, with its name if it has one."""
        return ", ".join(
            f"{value.name}: {value.words}" if value.name else value.words for value in self.reads
        )

    @property
    def outputs(self) -> str:
        """Return dtype and shape of each tensor that the op made."""
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
        """Return the number of the first row that updates a variable; 0 for none.

        A page never folds the rows up to this one.
        """
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
    """Return a graph with a node for each op of a log, and arrows from op to op.

    An arrow leads from the op that made a tensor to each op that read the tensor. A tensor that no
    op of the log made, such as an argument, has a node of its own if its name is known. If a
    backward op reads the tensor of a forward op, the arrow has the label AGAIN.
    """
    makers: dict[int, _Maker] = {}  # number of a tensor -> the node that made it
    nodes: dict[str, Node] = {}  # by key
    edges = []
    for row in log.rows:
        op_key = f"op {row.number}"
        for tensor in row.reads:
            # No op of the log has made this tensor. Without a name it gets no node.
            if tensor.number not in makers and tensor.name:
                input_key = f"value {tensor.number}"
                makers[tensor.number] = _Maker(input_key, "", "input")
                nodes[input_key] = Node(input_key, tensor.name, "input", tensor.words)
            if tensor.number in makers:
                maker = makers[tensor.number]
                is_again = row.stage == "backward" and maker.stage == "forward"
                edges.append(Edge(maker.key, op_key, AGAIN if is_again else maker.label))

        detail = f"{row.stage} {row.outputs}".rstrip()
        nodes[op_key] = Node(op_key, f"{row.number} {row.op}", row.stage, detail, op=row.op)
        for position, tensor in enumerate(row.makes):
            # Most ops have one output, whose arrow needs no label.
            label = f"output {position}" if position else ""
            makers[tensor.number] = _Maker(op_key, label, row.stage)
    return Graph(title or log.title, tuple(nodes.values()), tuple(edges))
