"""The small OneFlow (helpers.mini.oneflow) -> its jobs, its registry and an op's files, as records.

A job is an op list, with the pass that each op belongs to. The registry is a graph: op, op type,
kernel, gradient rule, and the gaps. Files are texts whose new lines are known.
"""

from contextlib import suppress
from os.path import basename

from ...mini.oneflow import OpError
from ...mini.oneflow.global_function import JobFunction
from ...mini.oneflow.job import Job, Op
from ...mini.oneflow.kernels import named
from ...mini.oneflow.session import session
from ...model.framework_records import Blob, JobGraph, JobOp
from ...model.graphs import Edge, Graph, Node
from ...model.phrase import counted
from ...safety.arguments import quote_value, real_isinstance, require_str
from ..text.value import short_repr

OUTSIDE = ("input", "variable")  # op types of values from outside
EMPTY = "No op type has been registered yet with the course's own small OneFlow. The registries of "
EMPTY += "TensorFlow and PyTorch are not shown here."
OWN = " ◆ by you: a file of yours defines its op type."


def job_graph(job, part: str = "") -> JobGraph:
    """Draw the op list of a `flow.global_function` as it runs: forward, backward and update."""
    part, job = require_str(part, "part"), _job_of(job)
    if part not in ("", "forward", "backward", "update"):
        raise ValueError(f"a pass is forward, backward or update, not {quote_value(part)}")
    near = _find_neighbours(job)
    ops = [_record_op(op, near.get(op.name, "")) for op in job.ops]
    ops = tuple(op for op in ops if part in ("", op.part) or op.part in OUTSIDE)
    written = {blob.name for op in ops for _, blob in op.writes}
    note = ", ".join(
        counted(count, name if name in (*OUTSIDE, "update") else f"{name} op")
        for name, count in JobGraph("", ops).counts.items()
    )
    note += f".{OWN * any(op.own for op in ops)}"
    returns = tuple(name for name in job.returns if name in written)
    return JobGraph(f"Job {job.name} ({job.kind})", ops, note, returns)


def _job_of(thing) -> Job:
    if real_isinstance(thing, JobFunction):
        return thing.job
    if not real_isinstance(thing, Job):
        raise TypeError(f"this needs a @flow.global_function, not {short_repr(thing)}")
    return thing


def _record_op(op: Op, near: str) -> JobOp:
    part, attrs = op.type if op.type in OUTSIDE else op.part, ()
    writes = tuple((o.argument, Blob(o.blob, o.dtype, tuple(o.shape))) for o in op.outputs)
    if part in ("forward", "backward"):  # a switch that is off does not change the numbers
        given = [(name, value) for name, value in op.attrs if name != "device_sub_tag"]
        attrs = tuple((name, short_repr(value)) for name, value in given if value is not False)
    return JobOp(op.name, op.type, part, tuple(op.inputs), writes, near, bool(op.file), attrs)


def _find_neighbours(job: Job) -> dict[str, str]:
    """Return the op beside which each backward and update op belongs."""
    writer = {output.blob: op.name for op in job.ops for output in op.outputs}
    order = [op.name for op in job.forward]
    gradient_of = {}  # a gradient's blob -> the forward ops whose outputs it is the gradient of
    for blob, gradient in job.gradients:
        gradient_of.setdefault(gradient, []).append(writer[blob])
    near = {}
    for op in job.ops:
        sources = [writer[blob] for _, blob in op.inputs]
        if op.part == "update":
            near[op.name] = next((name for name in sources if name in order), "")
        if op.part != "backward":
            continue
        read = [name for _, blob in op.inputs for name in gradient_of.get(blob, ())]
        behind = [near[name] for name in sources if near.get(name)]
        made = [name for output in op.outputs for name in gradient_of.get(output.blob, ())]
        glue = op.type in ("add_n", "constant_like")
        found = (made or read or behind) if glue else (read or behind or made)
        own = [name for name in found if op.name.startswith(f"{name}_grad")]
        ranked = own or sorted(found, key=order.index, reverse=glue)
        near[op.name] = ranked[0] if ranked else ""
    return near


def registry_graph(*jobs) -> Graph:
    """Draw the op types that files have registered with the course's own small OneFlow."""
    registry, nodes, edges = session().registry, [], []
    own = [op for op in registry.ops.values() if op.file]
    ops = [op for job in map(_job_of, jobs) for op in job.ops if op.type in registry.ops]
    for op in {op.name: op for op in ops if op.file}.values():
        nodes.append(Node(f"op {op.name}", op.name, "op", "op of the job"))
        edges.append(Edge(f"op {op.name}", op.type, "of type"))
    for op in own:
        words = f"op type: {', '.join(op.inputs)} → {', '.join(op.outputs)} · in {op.front_end}"
        nodes.append(Node(op.name, op.name, "type", words))

    def add(op, key: str, words: str, *node) -> None:
        nodes.append(Node(key, *node))
        edges.append(Edge(op.name, key, words))

    for op in own:
        key, rule = f"kernel of {op.name}", registry.gradients.get(op.name)
        registered = registry.kernels(op.name)
        for number, one in enumerate(registered, 1):
            said = f"{one.kernel.name}() · {basename(one.kernel.file)}"
            add(op, f"{key} {number}", f"if {one.matches}", "kernel", "kernel", said)
        if not registered:
            node = "no kernel", "gone", "nothing computes it"
            with suppress(OpError):
                file = basename(named(registry, op.name).file)
                node = "kernel", "kernel", f"{op.name.rpartition('_')[2]}() · {file}"
            add(op, key, "computed by", *node)
        node = "no gradient rule", "gone", "gradients cannot pass"
        if rule is not None:
            node = "gradient rule", "backward", basename(rule.file)
        if rule is not None or op.name.endswith("_forward"):
            add(op, f"gradient of {op.name}", "gradient from", *node)
    notes = [] if own else [EMPTY]
    if missing := sum(not op.file for op in ops):
        are = "is" if missing == 1 else "are"
        notes.append(f"{counted(missing, 'op')} of built-in types {are} left out.")
    note = " ".join(notes)
    return Graph("What the registry knows", tuple(nodes), tuple(edges), note, wide=True)
