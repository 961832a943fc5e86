"""The recorded calls of one tf.function -> a ledger, in which equal calls in a row share a line.

Five calls that hit with the same arguments are one line, with "3 – 7" in the column *call*.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...model.phrase import format_count
from ...model.trace_records import (
    HEADINGS,
    MARKS,
    Cause,
    TraceEntry,
    TraceLedger,
    build_trace_entry,
)
from .call_sentences import XLA


@dataclass(frozen=True)
class CallRow:
    """One call that has ended, or several equal ones after each other."""

    #: the arguments of the call, as text
    arguments: str
    #: "trace", "hit", "error", "eager" or "empty"
    verdict: str
    #: sentences on why the call had this verdict, or ""
    note: str
    #: how many traces TensorFlow made in the call
    trace_count: int = 0
    #: why the call fitted no key of the cache; empty if it made no trace, or the first one
    causes: tuple[Cause, ...] = ()
    #: the arguments of the key to which the call was nearest, as text, or ""
    nearest_arguments: str = ""
    #: how many calls this row stands for
    call_count: int = 1


class CallRows:
    """The rows of a ledger, in the order in which the calls ended."""

    def __init__(self):
        """Start without rows."""
        self._rows: list[CallRow] = []

    def add(self, row: CallRow) -> None:
        """Add a row, or count the call in the row before if both have the same text.

        A call that traced always gets a row of its own.
        """
        if self._rows and row.trace_count == 0:
            previous = self._rows[-1]
            # With the same number of calls, two rows are equal if all their texts are.
            with_same_count = replace(row, call_count=previous.call_count)
            if with_same_count == previous:
                self._rows[-1] = replace(previous, call_count=previous.call_count + 1)
                return
        self._rows.append(row)

    @property
    def last(self) -> TraceEntry | None:
        """Return the entry of the last call alone, or None if no call has ended."""
        return _build_entry(self._rows[-1], subject="", call_count=1) if self._rows else None

    def build_ledger(self, name: str, compiles_with_xla: bool) -> TraceLedger:
        """Return the ledger of all calls so far; `name` is that of the tf.function.

        The note under the table counts the calls. If the function `compiles_with_xla`, it adds that
        XLA may compile at a hit too, because no row can show that.
        """
        rows = self._rows.copy()  # other threads may add rows meanwhile
        note = _describe_counts(rows)
        if compiles_with_xla:
            note += f" {XLA}"
        entries = tuple(_build_numbered_entries(rows))
        return TraceLedger(f"Calls of {name}", "call", HEADINGS, entries, note, marks=MARKS)


def _describe_counts(rows: list[CallRow]) -> str:
    """Return a sentence with the counts, as in "7 calls: 2 traces, 4 hits, 1 error."

    Traces are counted as such, because one call can make two.
    """
    calls_by_verdict = Counter()
    for row in rows:
        calls_by_verdict[row.verdict] += row.call_count

    parts = [format_count(sum(row.trace_count for row in rows), "trace")]
    for verdict in ("hit", "error"):
        if calls_by_verdict[verdict]:
            parts.append(format_count(calls_by_verdict[verdict], verdict))
    if calls_by_verdict["empty"]:  # an adjective, which has no plural
        parts.append(f"{calls_by_verdict['empty']} empty")
    return f"{format_count(calls_by_verdict.total(), 'call')}: {', '.join(parts)}."


def _build_numbered_entries(rows: list[CallRow]) -> Iterator[TraceEntry]:
    """Yield the model's entry of each row.

    Its subject is the number of the call, as in "3", or the numbers of equal calls, "3 – 7".
    """
    first_number = 1
    for row in rows:
        last_number = first_number + row.call_count - 1
        subject = f"{first_number:,}"
        if row.call_count > 1:
            subject += f" – {last_number:,}"
        yield _build_entry(row, subject, row.call_count)
        first_number = last_number + 1


def _build_entry(row: CallRow, subject: str, call_count: int) -> TraceEntry:
    """Return the model's entry of a row; `subject` is the text of the column *call*."""
    return build_trace_entry(
        subject,
        row.arguments,
        row.verdict,
        row.note,
        calls=call_count,
        traces=row.trace_count,
        causes=row.causes,
        compared=row.nearest_arguments,
    )
