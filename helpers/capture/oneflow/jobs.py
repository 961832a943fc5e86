"""A job function of helpers.mini.oneflow -> its op list, with the pass that each op belongs to."""

from helpers.capture.text.value import brief
from helpers.mini.oneflow.global_function import JobFunction
from helpers.mini.oneflow.job import Job, Op
from helpers.model.job import Blob, JobGraph, JobOp
from helpers.model.phrase import counted
from helpers.safety.arguments import shown, word

OWN_PARTS = ("input", "variable")  # op types that stand for values from outside
OWN = " ◆, by you: its op type is defined in a file of yours."


def job_graph(job, part: str = "") -> JobGraph:
    """Return the op list of a job, or of a job function after it has been written down.

    `part`: forward, backward or update, for the ops of one pass alone (inputs and variables stay).
    TypeError for anything else, ValueError for another part.
    """
    part = word(part, "part")
    if part not in ("", "forward", "backward", "update"):
        raise ValueError(f"a pass is forward, backward or update, not {shown(part)}")
    job = job_of(job)
    near = _near(job)
    ops = [_op(op, near.get(op.name, "")) for op in job.ops]
    ops = [op for op in ops if part in ("", op.part) or op.part in OWN_PARTS]
    written = {blob.name for op in ops for _, blob in op.writes}
    returns = tuple(name for name in job.returns if name in written)
    marked = OWN * any(op.own for op in ops)
    return JobGraph(f"Job {job.name} ({job.kind})", tuple(ops), f"{_said(ops)}.{marked}", returns)


def _said(ops) -> str:
    """Count the ops by pass."""
    words = {"input": "input", "variable": "variable", "update": "update"}
    counts = JobGraph("", tuple(ops)).counts.items()
    said = [(count, words.get(part, f"{part} op")) for part, count in counts]
    return ", ".join(counted(count, word) for count, word in said)


def job_of(thing) -> Job:
    """Return the job of a job function (or the job itself). TypeError for what is neither."""
    kind = type(thing)  # not isinstance: that asks the object
    if issubclass(kind, JobFunction):
        return thing.job
    if not issubclass(kind, Job):
        raise TypeError(f"a @flow.global_function is wanted here, not {brief(thing)}")
    return thing


def _op(op: Op, near: str) -> JobOp:
    part = op.type if op.type in OWN_PARTS else op.part
    writes = tuple((o.argument, Blob(o.blob, o.dtype, tuple(o.shape))) for o in op.outputs)
    return JobOp(
        op.name, op.type, part, tuple(op.inputs), writes, near, bool(op.file), _attributes(op, part)
    )


def _attributes(op: Op, part: str) -> tuple[tuple[str, str], ...]:
    """Return what changes the numbers on the way there and back; a switch that is off does not."""
    if part not in ("forward", "backward"):
        return ()
    given = [(name, value) for name, value in op.attrs if name != "device_sub_tag"]
    return tuple((name, brief(value)) for name, value in given if value is not False)


def _near(job: Job) -> dict[str, str]:
    """Return the op beside which each backward and update op belongs."""
    writer = {output.blob: op.name for op in job.ops for output in op.outputs}
    order = [op.name for op in job.forward]
    of = {}  # a gradient's blob -> the forward ops whose outputs it is the gradient of
    for blob, gradient in job.gradients:
        of.setdefault(gradient, []).append(writer[blob])
    near = {}
    for op in job.ops:
        if op.part == "backward":
            near[op.name] = _forward_op(op, of, near, order, writer)
        elif op.part == "update":
            near[op.name] = next((writer[b] for _, b in op.inputs if writer[b] in order), "")
    return near


def _forward_op(op: Op, of, near, order, writer) -> str:
    """Return the forward op of a backward op: the one whose output's gradient it reads.

    What the framework adds by itself (the first gradient, sums) stands with what it is a gradient
    of.
    """
    read = [forward for _, blob in op.inputs for forward in of.get(blob, ())]
    behind = [near[writer[blob]] for _, blob in op.inputs if near.get(writer[blob])]
    made = [forward for output in op.outputs for forward in of.get(output.blob, ())]
    glue = op.type in ("add_n", "constant_like")
    for found in (made, read, behind) if glue else (read, behind, made):
        if found:
            own = [forward for forward in found if op.name.startswith(f"{forward}_grad")]
            found = sorted(found, key=order.index, reverse=glue)
            return (own or found)[0]
    return ""
