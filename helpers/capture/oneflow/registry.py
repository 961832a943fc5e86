"""The small OneFlow's registry -> a graph: op, op type, kernel, gradient rule, and the gaps."""

from os.path import basename

from helpers.capture.oneflow.jobs import job_of
from helpers.mini.oneflow import OpError
from helpers.mini.oneflow.autodiff import ForwardOp
from helpers.mini.oneflow.kernels import named
from helpers.mini.oneflow.registry import OpDef, Registry
from helpers.mini.oneflow.session import session
from helpers.model.graph import Edge, Graph, Node
from helpers.model.phrase import counted


def registry_graph(*jobs) -> Graph:
    """Return what learners' files have registered: a box per op type, and what belongs to it.

    The ops of the given job functions stand before the op type that they are of. What is missing
    has a box of its own; the note counts the ops of types that have none.
    """
    registry = session().registry
    own = [op for op in registry.ops.values() if op.file]
    nodes, edges, jobs = {}, [], [job_of(job) for job in jobs]
    for job in jobs:
        for op in job.ops:
            if op.file and op.type in registry.ops:
                _add(nodes, Node(f"op {op.name}", op.name, "op", "op of the job"))
                edges.append(Edge(f"op {op.name}", op.type, "of type"))
    for op in own:
        _add(nodes, Node(op.name, op.name, "type", _signature(op)))
    for op in own:
        _kernel(op, registry, nodes, edges)
        if op.name.endswith("_forward") or op.name in registry.gradients:
            _gradient(op, registry, nodes, edges)
    notes = [] if own else ["No op type has been registered yet."]
    notes += _not_drawn([op for job in jobs for op in job.ops], registry)
    drawn = tuple(nodes.values()), tuple(edges)
    return Graph("What the registry knows", *drawn, " ".join(notes), wide=True)


def _not_drawn(ops, registry: Registry) -> list[str]:
    """Say how many ops are of a type that has no box."""
    built_in = sum(not op.file and op.type in registry.ops for op in ops)
    gone = sum(bool(op.file) and op.type not in registry.ops for op in ops)
    told = (built_in, "of built-in types"), (gone, "of types that are registered no more")
    return [
        f"{counted(count, 'op')} {words} {'are' if count != 1 else 'is'} left out."
        for count, words in told
        if count
    ]


def _add(nodes, node: Node) -> None:
    nodes.setdefault(node.key, node)


def _signature(op: OpDef) -> str:
    """Return an op type's arguments, and the language it is defined in."""
    return f"op type: {', '.join(op.inputs)} → {', '.join(op.outputs)} · in {op.front_end}"


def _kernel(op: OpDef, registry: Registry, nodes, edges) -> None:
    key = f"kernel of {op.name}"
    if registered := registry.kernels(op.name):
        for number, kernel in enumerate(registered, 1):
            said = f"{kernel.kernel.name}() · {basename(kernel.kernel.file)}"
            _add(nodes, Node(f"{key} {number}", "kernel", "kernel", said))
            edges.append(Edge(op.name, f"{key} {number}", f"if {kernel.matches}"))
        return
    try:
        kernel = named(registry, op.name)
    except OpError:
        _add(nodes, Node(key, "no kernel", "gone", "nobody computes it"))
    else:
        said = f"{op.name.rpartition('_')[2]}() · {basename(kernel.file)}"
        _add(nodes, Node(key, "kernel", "kernel", said))
    edges.append(Edge(op.name, key, "computed by"))


def _gradient(op: OpDef, registry: Registry, nodes, edges) -> None:
    """Add the rule of a forward op type, and the op types of the backward ops that it asks for."""
    key = f"gradient of {op.name}"
    rule = registry.gradients.get(op.name)
    if rule is None:
        _add(nodes, Node(key, "no gradient rule", "gone", "nobody goes back through it"))
    else:
        _add(nodes, Node(key, "gradient rule", "backward", basename(rule.file)))
        asked = [name for name in _asked(op, rule) if name in nodes]
        edges += [Edge(key, name, "appends op of") for name in asked]
    edges.append(Edge(op.name, key, "derived by"))


def _asked(op: OpDef, rule) -> tuple[str, ...]:
    """Return the op types that the rule asks for; none where it fails."""
    inputs = {(name, 0): f"in/{name}" for name in op.inputs}
    outputs = {(name, 0): f"out/{name}" for name in op.outputs}
    grads = {key: f"grad/{name}" for key, name in outputs.items()}
    attrs = {name: attr.default for name, attr in op.attrs.items()}
    types = {name: attr.type for name, attr in op.attrs.items()}
    asked = {"inputs": inputs, "outputs": outputs, "output_grads": grads, "attrs": attrs}
    forward = ForwardOp(
        name="op", type=op.name, wanted=frozenset(inputs), specs={}, attr_types=types, **asked
    )
    try:
        return tuple(dict.fromkeys(request.type for request in rule.generate(forward).requests))
    except OpError:
        return ()
