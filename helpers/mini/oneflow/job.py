"""A job: the list of ops that a job function writes down; data, and text.

Mirrors the job proto that OneFlow 0.3 kept (oneflow/core/job/job.proto).
"""

from dataclasses import dataclass

from helpers.mini.oneflow.registry import Spec

PASSES = ("forward", "backward", "update")


@dataclass(frozen=True)
class Output:
    """A blob that an op writes: the output's name, the blob's name, shape and dtype."""

    argument: str
    blob: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def spec(self):
        """Shape and dtype together."""
        return Spec(self.shape, self.dtype)

    def __str__(self):
        return f"{self.blob}: {self.spec}"


@dataclass(frozen=True)
class Op:
    """One op of a job.

    Attributes:
        name: its name in the job.
        type: its op_type_name.
        inputs: (argument, blob's name) in the order of the definition.
        outputs: what it writes.
        attrs: (name, value).
        placement: "cpu" or "gpu".
        part: the pass that it belongs to, one of PASSES.
        file: the definition's folder and file; "" for ops of the framework.
    """

    name: str
    type: str
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[Output, ...]
    attrs: tuple[tuple[str, object], ...] = ()
    placement: str = "cpu"
    part: str = "forward"
    file: str = ""

    def __str__(self):
        attrs = [f"{name}={value!r}" for name, value in self.attrs if name != "device_sub_tag"]
        given = ", ".join([f"{argument}={blob}" for argument, blob in self.inputs] + attrs)
        return (
            f"{self.name} = {self.type}({given})"
            + " -> " * bool(self.outputs)
            + ", ".join(map(str, self.outputs))
        )


@dataclass(frozen=True)
class Job:
    """A job that has been written down.

    Attributes:
        name: the job function's.
        kind: "predict" or "train".
        ops: all ops, in the order in which they run.
        returns: the names of the blobs that a call gives back.
        gradients: (blob, blob of its gradient), for each blob that got one.
    """

    name: str
    kind: str
    ops: tuple[Op, ...]
    returns: tuple[str, ...]
    gradients: tuple[tuple[str, str], ...] = ()

    @property
    def forward(self) -> tuple[Op, ...]:
        """The ops before any backward op was appended."""
        return tuple(op for op in self.ops if op.part == "forward")

    @property
    def blobs(self) -> dict[str, Output]:
        """All blobs by name."""
        return {output.blob: output for op in self.ops for output in op.outputs}

    def __str__(self):
        lines = [f"job {self.name} ({self.kind}), {len(self.ops)} ops"]
        for part in PASSES:
            ops = [op for op in self.ops if op.part == part]
            lines += [f"{part}:"] * bool(ops) + [f"  {op}" for op in ops]
        return "\n".join([*lines, f"returns {', '.join(self.returns) or 'nothing'}"])
