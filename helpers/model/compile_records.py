"""Records of calls of a function made by torch.compile, and what each call did.

A ledger is a table with a row for each call. The verdict of a row is one word: `compile` (the first
compilation), `recompile`, `hit` (a cache entry was used), `eager` (plain Python ran), `error` or
`unknown`.
"""

from dataclasses import dataclass

from .tables import Entry, Ledger

HEADINGS = ("arguments", "verdict")
MARKS = ("changed", "compiled for this call"), ("failed", "plain Python ran, or an error")
# Verdict -> the tone by which a view marks it. Other verdicts are not marked.
TONES = {"compile": "changed", "recompile": "changed", "eager": "failed", "error": "failed"}


@dataclass(frozen=True)
class CompileEntry(Entry):
    """One call of a compiled function."""

    @property
    def verdict(self) -> str:
        """Return compile (the first), recompile, hit, eager (plain Python), error or unknown."""
        _, verdict = self.verdicts  # one for each of HEADINGS; the first has the arguments
        return verdict.word


@dataclass(frozen=True)
class CompileLedger(Ledger):
    """A ledger of calls of a compiled function, or of what was compiled in a block, in order.

    Attributes
    ----------
    calls : int
        How many calls of compiled functions there were.
    compiled_calls : int or None
        In how many calls compiled code ran, None if that is unknown.
    plain : int or None
        In how many calls plain Python ran, None if the rows say that.
    unknown : int
        For how many calls it is unknown whether plain Python ran a part.
    """

    calls: int = 0
    compiled_calls: int | None = None
    plain: int | None = None
    unknown: int = 0

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return one word per call."""
        return tuple(entry.verdict for entry in self.entries)

    @property
    def compiles(self) -> int:
        """Return how many of the rows compiled, recompiles included."""
        return self.verdicts.count("compile") + self.recompiles

    @property
    def recompiles(self) -> int:
        """Return how many of the rows compiled because a guard had failed."""
        return self.verdicts.count("recompile")

    @property
    def eager(self) -> int | None:
        """Return in how many calls plain Python ran all or a part; None if that is unknown."""
        if self.unknown:
            return None
        if self.plain is None:  # the rows have the answer
            return self.verdicts.count("eager")
        return self.plain
