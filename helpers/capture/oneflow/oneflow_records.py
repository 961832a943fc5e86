"""The small OneFlow (helpers.mini.oneflow) -> its jobs, its registry and an op's files, as records.

A job is an op list, with the pass that each op belongs to. The registry is a graph: op, op type,
kernel, gradient rule, and the gaps. Files are texts whose new lines are known.
"""

from difflib import SequenceMatcher
from os.path import basename

from helpers.capture.text.value import brief
from helpers.mini.oneflow import OpError
from helpers.mini.oneflow.autodiff import ForwardOp
from helpers.mini.oneflow.global_function import JobFunction
from helpers.mini.oneflow.job import Job, Op
from helpers.mini.oneflow.kernels import named
from helpers.mini.oneflow.registry import OpDef, Registry
from helpers.mini.oneflow.session import session
from helpers.model.files import File, Files
from helpers.model.graph import Edge, Graph, Node
from helpers.model.job import Blob, JobGraph, JobOp
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of, shown, word
from helpers.safety.folders import plain_names
from helpers.safety.folders import quote_name as shown_name

OWN_PARTS = ("input", "variable")  # op types that stand for values from outside
OWN = " ◆, by you: its op type is defined in a file of yours."
MOST_COMPARED = 2_000  # lines of a file; of a longer one no line is told to be new


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
    if is_a(thing, JobFunction):
        return thing.job
    if not is_a(thing, Job):
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


# ------------------------------------------------------------------ the registry


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
                nodes[f"op {op.name}"] = Node(f"op {op.name}", op.name, "op", "op of the job")
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
    nodes[node.key] = node


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


# ------------------------------------------------------------------ the files of an op


def op_files(files: dict[str, str], before: dict[str, str] | None = None) -> Files:
    """Return the files (name -> text); what `before`, of the same kind, lacks is new.

    TypeError for what is no dict of texts, ValueError for a name that is not plain.
    """
    now = _texts(files)
    old = {} if before is None else _texts(before)
    found = [File(name, words, _new(old, name, words)) for name, words in now.items()]
    told = sum(len(file.new) for file in found) if before is not None else 0
    note = f"+ marks {counted(told, 'new line')}." if told else ""
    return Files(f"The op's {counted(len(found), 'file')}", tuple(found), note)


def _texts(files: object) -> dict[str, str]:
    if not is_a(files, dict):
        raise TypeError(f"the files must be a dict of name -> text, not {kind_of(files)}")
    given = dict(dict.items(files))
    names = plain_names(given, "the name of a file")
    return {
        name: word(words, f"the file {shown_name(name)}").strip("\n")
        for name, words in zip(names, given.values(), strict=True)
    }


def _new(old: dict[str, str], name: str, words: str) -> tuple[int, ...]:
    if not old:
        return ()
    before, after = old.get(name, "").split("\n"), words.split("\n")
    if max(len(before), len(after)) > MOST_COMPARED:
        return ()
    same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = {at for block in same for at in range(block.b, block.b + block.size)}
    return tuple(n for n, line in enumerate(after, 1) if n - 1 not in kept and line.strip())
