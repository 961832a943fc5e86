"""The op list of a job -> frozen records: which op reads which blob, in which pass, and why."""

from collections import Counter
from dataclasses import dataclass

PASSES = ("input", "variable", "forward", "backward", "update")


@dataclass(frozen=True)
class Blob:
    """One array that ops hand on; its shape is known before anything runs."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self):
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class JobOp:
    """One op. `part`: one of `PASSES`. `reads`: (argument, blob name), `writes`: (argument, blob).

    `near` names the op beside which it belongs: of a backward op the forward op that it was
    appended for, of an update the variable. `own`: its op type is defined in a learner's file.
    `attrs`: (name, value) of the attributes that change the numbers of a forward or backward op.
    """

    name: str
    type: str
    part: str
    reads: tuple[tuple[str, str], ...] = ()
    writes: tuple[tuple[str, Blob], ...] = ()
    near: str = ""
    own: bool = False
    attrs: tuple[tuple[str, str], ...] = ()

    def __post_init__(self):
        if self.part not in PASSES:
            raise ValueError(f"op {self.name!r} is of part {self.part!r}; use {', '.join(PASSES)}")


@dataclass(frozen=True)
class JobGraph:
    """The ops of a job in the order in which they run, and the names of the blobs it returns."""

    title: str
    ops: tuple[JobOp, ...]
    note: str = ""
    returns: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return how many ops each pass has; a pass without ops is left out."""
        found = Counter(op.part for op in self.ops)
        return {part: found[part] for part in PASSES if part in found}

    def op(self, name: str) -> JobOp:
        """Return the op of this name; KeyError names it when there is none."""
        for op in self.ops:
            if op.name == name:
                return op
        raise KeyError(name)

    def names(self, part: str) -> tuple[str, ...]:
        """Return the names of the ops of one pass, in order."""
        return tuple(op.name for op in self.ops if op.part == part)

    def types(self, part: str) -> tuple[str, ...]:
        """Return the op types of one pass, in order."""
        return tuple(op.type for op in self.ops if op.part == part)

    def blob(self, name: str) -> Blob:
        """Return the blob of this name; KeyError names it when no op writes it."""
        for op in self.ops:
            for _, blob in op.writes:
                if blob.name == name:
                    return blob
        raise KeyError(name)
