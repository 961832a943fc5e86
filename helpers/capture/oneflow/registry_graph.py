"""The registry of the small OneFlow (helpers.mini.oneflow) -> a graph of what it knows. A registry
maps the name of an op type, such as "relu", to its definition, its kernels and its gradient rule.
Arrows lead from the ops of a job to their op types, and from an op type to its kernels and its
gradient rule. A kernel or a rule that is missing has a box of its own, a *gap*.
"""

from contextlib import suppress
from os.path import basename

from ...mini.oneflow import OpError
from ...mini.oneflow.job import Op
from ...mini.oneflow.kernels import find_python_kernel as find_python_kernel
from ...mini.oneflow.registry import Registry
from ...mini.oneflow.session import session
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import format_count
from .job_graph import require_job

EMPTY = (
    "No op type has been registered yet with the course's own small OneFlow. The registries of "
    "TensorFlow and PyTorch are not shown here."
)


def build_registry_graph(*jobs: object) -> Graph:
    """Return the graph of the op types that the learner has registered.

    An op type of the learner has a `file`, a built-in one has none. The graph also has those ops of
    the `jobs` that are of the learner's op types. The other ops are only counted, in the note.
    """
    registry = session().registry
    own_types = [op_type for op_type in registry.ops.values() if op_type.file]
    job_ops = [op for job in map(require_job, jobs) for op in job.ops if op.type in registry.ops]

    builder = _RegistryGraphBuilder(registry)
    own_ops_by_name = {op.name: op for op in job_ops if op.file}  # two jobs may share an op
    for op in own_ops_by_name.values():
        builder.add_job_op(op)
    for op_type in own_types:
        builder.add_op_type(op_type)
    for op_type in own_types:
        builder.add_kernels(op_type.name)
        builder.add_gradient_rule(op_type.name)

    return Graph(
        title="What the registry knows",
        nodes=tuple(builder.nodes),
        edges=tuple(builder.edges),
        note=_describe_left_out(job_ops, is_empty=not own_types),
        wide=True,
    )


def _describe_left_out(job_ops: list[Op], is_empty: bool) -> str:
    """Return the note under the graph: on an empty registry, and on built-in ops that are left out.

    `is_empty` says that the learner has registered no op type.
    """
    sentences = []
    if is_empty:
        sentences.append(EMPTY)
    built_in_count = sum(not op.file for op in job_ops)
    if built_in_count:
        verb = "is" if built_in_count == 1 else "are"
        sentences.append(f"{format_count(built_in_count, 'op')} of built-in types {verb} left out.")
    return " ".join(sentences)


class _RegistryGraphBuilder:
    """Builds the boxes (nodes) and the arrows (edges) of the graph, one after the other."""

    def __init__(self, registry: Registry):
        """Start without boxes. Kernels and gradient rules are looked up in `registry`."""
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self._registry = registry

    def add_job_op(self, op: Op) -> None:
        """Add an op of a job, and the arrow to its op type."""
        key = f"op {op.name}"
        self.nodes.append(Node(key, op.name, "op", "op of the job"))
        self.edges.append(Edge(key, op.type, "of type"))

    def add_op_type(self, op_type) -> None:
        """Add an op type (an OpDef of the registry), with what it reads and writes."""
        signature = f"{', '.join(op_type.inputs)} → {', '.join(op_type.outputs)}"
        detail = f"op type: {signature} · in {op_type.front_end}"
        self.nodes.append(Node(op_type.name, op_type.name, "type", detail))

    def add_kernels(self, type_name: str) -> None:
        """Add a box for each kernel of an op type, or one box that says that there is none.

        A kernel is registered, or it is a Python function in a kernel file with the name of the op
        type. The second kind is used only if no kernel is registered.
        """
        key = f"kernel of {type_name}"
        registered = self._registry.kernels(type_name)
        for number, registration in enumerate(registered, 1):
            kernel = registration.kernel
            self._add_part(
                type_name,
                Node(
                    key=f"{key} {number}",
                    label="kernel",
                    kind="kernel",
                    detail=f"{kernel.name}() · {basename(kernel.file)}",
                ),
                arrow=f"if {registration.matches}",
            )
        if registered:
            return

        node = Node(key, "no kernel", "gone", "nothing computes it")
        with suppress(OpError):  # no kernel file has a function of this name
            file = basename(find_python_kernel(self._registry, type_name).file)
            function_name = type_name.rpartition("_")[2]
            node = Node(key, "kernel", "kernel", f"{function_name}() · {file}")
        self._add_part(type_name, node, arrow="computed by")

    def add_gradient_rule(self, type_name: str) -> None:
        """Add a box for the gradient rule of an op type, or for the gap if a rule is missing."""
        key = f"gradient of {type_name}"
        rule = self._registry.gradients.get(type_name)
        if rule is not None:
            node = Node(key, "gradient rule", "backward", basename(rule.file))
        elif type_name.endswith("_forward"):  # gradients need a rule to pass this op
            node = Node(key, "no gradient rule", "gone", "gradients cannot pass")
        else:  # the op type of a backward pass needs no rule
            return
        self._add_part(type_name, node, arrow="gradient from")

    def _add_part(self, type_name: str, node: Node, arrow: str) -> None:
        """Add a box, and an arrow with the label `arrow` from the op type to the box."""
        self.nodes.append(node)
        self.edges.append(Edge(type_name, node.key, arrow))
