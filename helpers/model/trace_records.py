"""Records of calls of a tf.function: how often each traced, and why."""

from dataclasses import dataclass
from itertools import accumulate

from helpers.model.tables import Entry, Ledger, Verdict

HEADINGS = ("arguments", "verdict")
MARKS = ("changed", "your Python ran, to be traced"), ("failed", "an error")
TONES = {"trace": "changed", "error": "failed"}


@dataclass(frozen=True)
class Cause:
    """One leaf in which a call differs from the nearest key: `where` it stands, and how."""

    where: str
    kind: str
    before: str
    after: str
    detail: str = ""

    def __str__(self) -> str:
        label = "" if self.kind in ("type", "object") else f"{self.kind} "
        return f"{self.where}: {label}{self.before} → {self.after}{self.detail}"


@dataclass(frozen=True)
class TraceEntry(Entry):
    """One call, or a run of `calls` that all hit; `traces` counts new traces, with their causes."""

    calls: int = 1
    traces: int = 0
    causes: tuple[Cause, ...] = ()

    @property
    def arguments(self) -> str:
        """Return the arguments, each as the type by which TensorFlow looks it up."""
        return self.verdicts[0].word

    @property
    def verdict(self) -> str:
        """Return hit, trace, error, or eager where tf.function was told to run eagerly."""
        return self.verdicts[1].word


@dataclass(frozen=True)
class TraceLedger(Ledger):
    """A ledger of calls, in the order in which they ended."""

    @property
    def traces(self) -> int:
        """Return how many traces these calls made."""
        return sum(entry.traces for entry in self.entries)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return one word per call."""
        return tuple(entry.verdict for entry in self.entries for _ in range(entry.calls))

    @property
    def counts(self) -> tuple[int, ...]:
        """Return, for each call, how many traces these calls had made after it."""
        totals = zip(self.entries, accumulate(e.traces for e in self.entries), strict=True)
        return tuple(total for entry, total in totals for _ in range(entry.calls))

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes of all retraces, as sentences such as `n: Python value 1 → 2`."""
        return tuple(str(cause) for entry in self.entries for cause in entry.causes)


def trace_entry(subject: str, arguments: str, verdict: str, note: str = "", **more) -> TraceEntry:
    """Return an entry under the headings arguments and verdict, with the verdict's tone."""
    words = (Verdict(arguments), Verdict(verdict, TONES.get(verdict, "plain")))
    return TraceEntry(subject, words, note, **more)
