"""A job of the small OneFlow (helpers.mini.oneflow) -> its op list, as a record.

The record says for each op which pass it belongs to, and beside which forward op it is drawn.
"""

from collections.abc import Mapping

from ...mini.oneflow.global_function import JobFunction
from ...mini.oneflow.job import PASSES, Job, Op
from ...model.job_records import Blob, JobGraph, JobOp
from ...model.phrase import format_count
from ...safety.arguments import quote_value, real_isinstance, require_str
from ..text.value import short_repr

OUTSIDE_OPS = ("input", "variable")  # op types of values that come from outside the job
GLUE_OPS = ("add_n", "constant_like")  # op types that autodiff puts between gradients
OWN_OPS_NOTE = " ◆ by you: a file of yours defines its op type."


def build_job_graph(job: object, part: str = "") -> JobGraph:
    """Return the op list of a `flow.global_function` as it runs, or of one pass (`part`) of it."""
    part = require_str(part, "part")
    job = require_job(job)
    if part and part not in PASSES:
        raise ValueError(f"a pass is forward, backward or update, not {quote_value(part)}")

    neighbours = _find_neighbours(job)
    ops = [_record_op(op, neighbours.get(op.name, "")) for op in job.ops]
    if part:
        ops = [op for op in ops if op.part == part or op.part in OUTSIDE_OPS]
    ops = tuple(ops)

    written_blobs = {blob.name for op in ops for _, blob in op.writes}
    return JobGraph(
        title=f"Job {job.name} ({job.kind})",
        ops=ops,
        note=_describe_op_counts(ops),
        returns=tuple(blob for blob in job.returns if blob in written_blobs),
    )


def require_job(value: object) -> Job:
    """Return the Job of what `flow.global_function` returned, recorded if it was not yet."""
    if real_isinstance(value, JobFunction):
        return value.job
    if real_isinstance(value, Job):
        return value
    raise TypeError(f"this needs a @flow.global_function, not {short_repr(value)}")


def _describe_op_counts(ops: tuple[JobOp, ...]) -> str:
    """Return the note of a job: how many ops each pass has, and how to tell the learner's own."""
    counts = []
    for name, count in JobGraph("", ops).counts.items():
        is_noun = name in OUTSIDE_OPS or name == "update"
        counts.append(format_count(count, name if is_noun else f"{name} op"))
    note = f"{', '.join(counts)}."
    if any(op.own for op in ops):
        note += OWN_OPS_NOTE
    return note


def _record_op(op: Op, neighbour: str) -> JobOp:
    """Return the record of an op; `neighbour` is the name of the op beside which it is drawn."""
    part = op.type if op.type in OUTSIDE_OPS else op.part
    writes = []
    for output in op.outputs:
        blob = Blob(output.blob, output.dtype, tuple(output.shape))
        writes.append((output.argument, blob))
    return JobOp(
        name=op.name,
        type=op.type,
        part=part,
        reads=tuple(op.inputs),
        writes=tuple(writes),
        near=neighbour,
        own=bool(op.file),
        attrs=_format_attributes(op) if part in ("forward", "backward") else (),
    )


def _format_attributes(op: Op) -> tuple[tuple[str, str], ...]:
    """Return name and text of the attributes that change the numbers which the op computes."""
    # `device_sub_tag` is a device, and a switch that is off, such as `transpose_a`, does nothing.
    return tuple(
        (name, short_repr(value))
        for name, value in op.attrs
        if name != "device_sub_tag" and value is not False
    )


def _find_neighbours(job: Job) -> dict[str, str]:
    """Return, for the name of each backward and update op, the op beside which it is drawn.

    An update op belongs to the variable that it updates, and a backward op to the forward op whose
    gradient rule has made it. The name of a neighbour is "" if none is found.
    """
    writers = {output.blob: op.name for op in job.ops for output in op.outputs}
    forward_order = [op.name for op in job.forward]
    gradient_sources = _find_gradient_sources(job, writers)

    neighbours: dict[str, str] = {}
    for op in job.ops:
        source_ops = [writers[blob] for _, blob in op.inputs]
        if op.part == "update":
            variables = [name for name in source_ops if name in forward_order]
            neighbours[op.name] = variables[0] if variables else ""
        elif op.part == "backward":
            # Ops run in this order, so the neighbours of the sources are known already.
            source_neighbours = [neighbours[name] for name in source_ops if neighbours.get(name)]
            candidates = _find_candidates(op, gradient_sources, source_neighbours)
            neighbours[op.name] = _choose_neighbour(op, candidates, forward_order)
    return neighbours


def _find_gradient_sources(job: Job, writers: Mapping[str, str]) -> dict[str, list[str]]:
    """Return, for the blob of each gradient, the forward ops that write what it is a gradient of.

    `writers` maps the name of a blob to the name of the op that writes it.
    """
    sources: dict[str, list[str]] = {}
    for blob, gradient in job.gradients:
        sources.setdefault(gradient, []).append(writers[blob])
    return sources


def _find_candidates(
    op: Op, gradient_sources: Mapping[str, list[str]], source_neighbours: list[str]
) -> list[str]:
    """Return the forward ops to which a backward op may belong.

    `gradient_sources` maps the blob of a gradient to forward ops. `source_neighbours` are the
    neighbours of the ops that write the inputs of `op`.
    """
    read = [name for _, blob in op.inputs for name in gradient_sources.get(blob, ())]
    written = [name for output in op.outputs for name in gradient_sources.get(output.blob, ())]
    if op.type in GLUE_OPS:
        # It sums or begins the gradient of an op's output, so it belongs to that op.
        return written or read or source_neighbours
    # It turns the gradient of an op's output into those of its inputs.
    return read or source_neighbours or written


def _choose_neighbour(op: Op, candidates: list[str], forward_order: list[str]) -> str:
    """Return the candidate whose name `op` has, else the first in order; "" for no candidates."""
    # The name of an op may say which forward op it was made for.
    namesakes = [name for name in candidates if op.name.startswith(f"{name}_grad")]
    if namesakes:
        return namesakes[0]
    if not candidates:
        return ""
    # Glue belongs to the last of them, which the backward pass meets first.
    choose = max if op.type in GLUE_OPS else min
    return choose(candidates, key=forward_order.index)
