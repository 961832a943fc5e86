"""Records of calls of a tf.function: which calls traced, and which argument caused each retrace.

A trace is TensorFlow's run of the Python function, which builds a graph. The graph is stored in a
cache. The key of a graph has the types of the arguments. A call whose arguments fit no key traces
again, which is a retrace.
"""

from dataclasses import dataclass
from itertools import accumulate

from .tables import Entry, Ledger, Verdict

HEADINGS = ("arguments", "verdict")
MARKS = ("changed", "your Python ran, to be traced"), ("failed", "an error")
TONES = {"trace": "changed", "error": "failed"}


@dataclass(frozen=True, slots=True)
class Cause:
    """One part of the arguments in which a call differs from the nearest key of the cache.

    Attributes
    ----------
    where : str
        Which part of the arguments differs, such as `n` or `items[0]`.
    kind : str
        What about the part differs, such as `shape` or `Python value`.
    before : str
        What the nearest key has.
    after : str
        What the call has.
    detail : str
        A text that follows both, "" for none.
    """

    where: str
    kind: str
    before: str
    after: str
    detail: str = ""

    def __str__(self) -> str:
        """Return the cause as text, such as `n: Python value 1 → 2`."""
        # A text on a type or an object needs no label, because it says what it is.
        label = "" if self.kind in ("type", "object") else f"{self.kind} "
        return f"{self.where}: {label}{self.before} → {self.after}{self.detail}"


@dataclass(frozen=True, repr=False)
class TraceEntry(Entry):
    """One call, or several calls in a row that all found a trace in the cache.

    Attributes
    ----------
    calls : int
        The number of calls in this row.
    traces : int
        The number of new traces.
    causes : tuple of Cause
        In what the call differs from the nearest key, if it traced again.
    compared : str
        The arguments of that key.
    """

    calls: int = 1
    traces: int = 0
    causes: tuple[Cause, ...] = ()
    compared: str = ""

    def __repr__(self) -> str:
        """Return the entry as a sentence. Jupyter shows it where a cell ends with an entry."""
        text = f"call {self.subject} with {self.arguments}: {self.verdict}"
        return f"{text} ({self.note})" if self.note else text

    @property
    def arguments(self) -> str:
        """Return the arguments, each as the type by which TensorFlow looks it up."""
        arguments, _ = self.verdicts  # one for each of HEADINGS
        return arguments.word

    @property
    def verdict(self) -> str:
        """Return "hit", "trace", "error", "eager" or "empty".

        At a hit, a graph from the cache ran. "eager" means that `tf.config.run_functions_eagerly`
        was on. At a call that is "empty", TensorFlow ran a function that does nothing.
        """
        _, verdict = self.verdicts
        return verdict.word


@dataclass(frozen=True)
class TraceLedger(Ledger):
    """A ledger of calls, in the order in which they ended."""

    @property
    def traces(self) -> int:
        """How many traces these calls made."""
        return sum(entry.traces for entry in self.entries)

    @property
    def retraces(self) -> int:
        """How many rows traced a function, or another with the same code, that had a trace."""
        return sum(bool(entry.causes) for entry in self.entries)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return one word per call."""
        return tuple(entry.verdict for entry in self.entries for _ in range(entry.calls))

    @property
    def counts(self) -> tuple[int, ...]:
        """Return for each call how many traces the calls up to it made together.

        An entry with several calls made no trace, because all of them found a graph in the cache.
        """
        totals = accumulate(entry.traces for entry in self.entries)
        return tuple(
            total
            for entry, total in zip(self.entries, totals, strict=True)
            for _ in range(entry.calls)
        )

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes of all retraces, as sentences such as `n: Python value 1 → 2`."""
        return tuple(str(cause) for entry in self.entries for cause in entry.causes)


def build_trace_entry(
    subject: str, arguments: str, verdict: str, note: str = "", **more
) -> TraceEntry:
    """Return the row of one call for a `TraceLedger`.

    Parameters
    ----------
    subject, note
        The name of the call, and why it came out so.
    arguments
        The arguments of the call, as text.
    verdict
        A word such as "hit" or "trace". Its tone is looked up in `TONES`.
    more
        Further fields of `TraceEntry`.
    """
    # The cells of the row in which a word may have a colour. A Verdict is a text and its tone.
    verdicts = (Verdict(arguments), Verdict(verdict, TONES.get(verdict, "plain")))
    return TraceEntry(subject, verdicts, note, **more)
