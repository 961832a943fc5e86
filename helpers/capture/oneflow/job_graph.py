"""A job of the small OneFlow (helpers.mini.oneflow) -> its op list, as a record. A *job* is a list
of ops that a function has written down, and a *blob* is a value that an op writes. The ops of the
*forward* pass compute the result, those of the *backward* pass the gradients, and those of the
*update* pass change the variables. In the picture, each backward op is drawn beside the forward op
to which it belongs, its *neighbour*.
"""

from collections.abc import Mapping

from ...mini.oneflow.global_function import JobFunction
from ...mini.oneflow.job import PASSES, Job, Op
from ...model.job_records import Blob, JobGraph, JobOp
from ...model.phrase import format_count
from ...safety.arguments import quote_value, real_isinstance, require_str
from ..text.value import short_repr

OUTSIDE_OPS = ("input", "variable")  # op types of values that come from outside the job
# Op types that autodiff adds to gradients: a sum of several, and the first gradient of all, a 1.
GLUE_OPS = ("add_n", "constant_like")
OWN_OPS_NOTE = " ◆ by you: a file of yours defines its op type."


def build_job_graph(job: object, part: str = "") -> JobGraph:
    """Return the op list of a `flow.global_function`, in the order in which the ops run.

    `part` is "forward", "backward" or "update", to see the ops of one pass only, or "" for all.
    """
    part = require_str(part, "part")
    job = require_job(job)
    if part and part not in PASSES:
        raise ValueError(f"a pass is forward, backward or update, not {quote_value(part)}")

    neighbours = _find_neighbours(job)
    ops = [_record_op(op, neighbours.get(op.name, "")) for op in job.ops]
    if part:  # inputs and variables belong to no pass, and are always shown
        ops = [op for op in ops if op.part == part or op.part in OUTSIDE_OPS]
    ops = tuple(ops)

    # A single pass may not contain the ops that write what the job returns.
    written_blobs = {blob.name for op in ops for _, blob in op.writes}
    return JobGraph(
        title=f"Job {job.name} ({job.kind})",
        ops=ops,
        note=_describe_op_counts(ops),
        returns=tuple(blob for blob in job.returns if blob in written_blobs),
    )


def require_job(value: object) -> Job:
    """Return the Job of what `flow.global_function` returned, or of a Job itself.

    If the function has not been called yet, reading `.job` runs it and writes the job down. Raise
    TypeError for any other value.
    """
    if real_isinstance(value, JobFunction):
        return value.job
    if real_isinstance(value, Job):
        return value
    raise TypeError(f"this needs a @flow.global_function, not {short_repr(value)}")


def _describe_op_counts(ops: tuple[JobOp, ...]) -> str:
    """Return the note of a job, as in "1 input, 2 variables, 3 forward ops, 2 updates."

    If the learner has defined the type of an op, the note explains the mark of such ops.
    """
    counts = []
    for name, count in JobGraph("", ops).counts.items():
        # "2 variables" and "2 updates", but "2 forward ops", because "forward" is no noun.
        is_noun = name in OUTSIDE_OPS or name == "update"
        counts.append(format_count(count, name if is_noun else f"{name} op"))
    note = f"{', '.join(counts)}."
    if any(op.own for op in ops):
        note += OWN_OPS_NOTE
    return note


def _record_op(op: Op, neighbour: str) -> JobOp:
    """Return the record of an op. `neighbour` is the name of the op beside which it is drawn."""
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
    """Return (name, text) of those attributes of an op that change the numbers it computes."""
    # `device_sub_tag` is a device, and a switch that is off, such as `transpose_a`, does nothing.
    return tuple(
        (name, short_repr(value))
        for name, value in op.attrs
        if name != "device_sub_tag" and value is not False
    )


def _find_neighbours(job: Job) -> dict[str, str]:
    """Return name -> neighbour: for each backward and update op, the op beside which it is drawn.

    An update op belongs to the variable that it updates. A backward op belongs to the forward op
    whose gradient rule has made it. The neighbour is "" if none is found.
    """
    # The name of a blob -> the name of the op that writes the blob.
    writers_by_blob = {output.blob: op.name for op in job.ops for output in op.outputs}
    forward_order = [op.name for op in job.forward]
    gradient_sources = _find_gradient_sources(job, writers_by_blob)

    neighbours: dict[str, str] = {}
    for op in job.ops:
        source_ops = [writers_by_blob[blob] for _, blob in op.inputs]
        if op.part == "update":
            # It reads the variable, which is a forward op, and the gradient, which is none.
            variables = [name for name in source_ops if name in forward_order]
            neighbours[op.name] = variables[0] if variables else ""
        elif op.part == "backward":
            # An op comes after the ops that it reads, so their neighbours are known already.
            source_neighbours = [neighbours[name] for name in source_ops if neighbours.get(name)]
            candidates = _find_candidates(op, gradient_sources, source_neighbours)
            neighbours[op.name] = _choose_neighbour(op, candidates, forward_order)
    return neighbours


def _find_gradient_sources(job: Job, writers_by_blob: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the blob of a gradient -> the names of the forward ops to whose outputs it belongs.

    If `matmul` writes the blob y, and dy is the gradient of y, the result has {"dy": ["matmul"]}.
    `writers_by_blob` maps the name of a blob to the name of the op that writes the blob.
    """
    sources: dict[str, list[str]] = {}
    for blob, gradient in job.gradients:
        sources.setdefault(gradient, []).append(writers_by_blob[blob])
    return sources


def _find_candidates(
    op: Op, gradient_sources: Mapping[str, list[str]], source_neighbours: list[str]
) -> list[str]:
    """Return the forward ops to which a backward op may belong.

    `gradient_sources` is what `_find_gradient_sources` returns. `source_neighbours` are the
    neighbours of the ops that write the inputs of `op`.
    """
    # The forward ops whose gradients `op` reads, and those whose gradients it writes.
    ops_read = []
    for _, blob in op.inputs:
        ops_read += gradient_sources.get(blob, ())
    ops_written = []
    for output in op.outputs:
        ops_written += gradient_sources.get(output.blob, ())

    if op.type in GLUE_OPS:
        # It writes the gradient of a forward op's output, and so belongs to that forward op.
        return ops_written or ops_read or source_neighbours
    # It reads the gradient of a forward op's output, and writes those of the op's inputs.
    return ops_read or source_neighbours or ops_written


def _choose_neighbour(op: Op, candidates: list[str], forward_order: list[str]) -> str:
    """Return the forward op to which a backward op belongs, or "" if there are no candidates.

    `candidates` and `forward_order` are names of forward ops, the latter in the order of the job.
    """
    # A gradient rule may name its ops after the forward op: "matmul_grad" belongs to "matmul".
    namesakes = [name for name in candidates if op.name.startswith(f"{name}_grad")]
    if namesakes:
        return namesakes[0]
    if not candidates:
        return ""
    # The backward pass runs from the last forward op to the first. Glue belongs to the last of the
    # candidates, and any other op to the first.
    choose = max if op.type in GLUE_OPS else min
    return choose(candidates, key=forward_order.index)
