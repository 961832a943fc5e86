"""Records of a job, which is OneFlow's word for a graph of ops, and of the arrays between the ops.

OneFlow calls such an array a blob.
"""

from dataclasses import dataclass

from .phrase import find_named

PASSES = ("input", "variable", "forward", "backward", "update")


@dataclass(frozen=True, slots=True)
class Blob:
    """One array that ops pass on. Its shape is known before anything runs.

    Attributes
    ----------
    name : str
        The name of the blob in the job, such as `relu-0/out`.
    dtype : str
        The type of its elements.
    shape : tuple of int
        Its shape.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        """Return dtype and shape, such as `float32[2, 3]`."""
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True, slots=True)
class JobOp:
    """One op of a job.

    Attributes
    ----------
    name : str
        The name of the op in the job.
    type : str
        The op type, under which kernels are registered.
    part : str
        The pass to which the op belongs, one of `PASSES`.
    reads : tuple of (str, str)
        For each input the name of the argument and the name of the blob.
    writes : tuple of (str, Blob)
        For each output the name of the argument and the blob.
    near : str
        The op beside which a picture puts this one, such as its forward op or its variable.
    own : bool
        Whether the op type is defined in a learner's file.
    attrs : tuple of (str, str)
        Name and value of each attribute that changes the numbers.
    """

    name: str
    type: str
    part: str
    reads: tuple[tuple[str, str], ...] = ()
    writes: tuple[tuple[str, Blob], ...] = ()
    near: str = ""
    own: bool = False
    attrs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class JobGraph:
    """The ops of a job, in the order in which they run.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    ops : tuple of JobOp
        The ops, in the order in which they run.
    note : str
        What else a reader must know.
    returns : tuple of str
        The names of the blobs that the job returns.
    """

    title: str
    ops: tuple[JobOp, ...]
    note: str = ""
    returns: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return name of a pass -> how many ops it has; a pass without ops is left out."""
        counts_by_part = {part: len(self.names(part)) for part in PASSES}
        return {part: count for part, count in counts_by_part.items() if count}

    def op(self, name: str) -> JobOp:
        """Return the op of this name; KeyError names it when there is none."""
        return find_named(self.ops, name)

    def names(self, part: str) -> tuple[str, ...]:
        """Return the names of the ops of one pass, in order."""
        return tuple(op.name for op in self.ops if op.part == part)

    def blob(self, name: str) -> Blob:
        """Return the blob of this name; KeyError names it when no op writes it."""
        blobs = [blob for op in self.ops for _, blob in op.writes]  # `writes` has (argument, blob)
        return find_named(blobs, name)
