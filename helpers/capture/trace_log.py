"""Calls, one after another -> the rows of a ledger; runs of hits are folded as they come."""

from helpers.model.traces import TraceEntry, trace_entry

MOST_ROWS = 3  # hits in a row with different arguments: so many rows, and then one for all


class Run:
    """Calls in a row with the same verdict: how many for each (arguments, note), in order."""

    def __init__(self, first: int, verdict: str, traces: int, causes: tuple):
        self.first, self.verdict, self.traces, self.causes = first, verdict, traces, causes
        self.rows: list[list] = []  # [arguments, note, calls], as long as there are few
        self.kinds: dict[tuple, int] = {}  # (arguments, note) -> calls

    def takes(self, verdict: str, traces: int) -> bool:
        """Return whether another call belongs here; one that traced always stands alone."""
        return verdict == self.verdict and not traces and not self.traces

    def add(self, arguments: str, note: str) -> None:
        """Count one more call."""
        self.kinds[arguments, note] = self.kinds.get((arguments, note), 0) + 1
        if self.rows and self.rows[-1][:2] == [arguments, note]:
            self.rows[-1][2] += 1
        elif len(self.rows) <= MOST_ROWS:
            self.rows.append([arguments, note, 1])

    @property
    def calls(self) -> int:
        """Return how many calls this run holds."""
        return sum(self.kinds.values())

    def entries(self) -> list[TraceEntry]:
        """Return a row for each change of arguments, or one row for all where they are many."""
        rows = self.rows
        if len(rows) > MOST_ROWS:
            words = f"{len(self.kinds)} kinds of arguments in turn, such as {rows[0][0]}"
            rows = [[words, "", self.calls]]
        made, first = [], self.first
        for arguments, note, calls in rows:
            span = f"{first:,}" if calls == 1 else f"{first:,} – {first + calls - 1:,}"
            more = {"calls": calls, "traces": self.traces, "causes": self.causes}
            made.append(trace_entry(span, arguments, self.verdict, note, **more))
            first += calls
        return made


class Log:
    """All runs of one watched function."""

    def __init__(self):
        self.runs: list[Run] = []
        self.calls = 0
        self.last: TraceEntry | None = None

    def add(self, arguments: str, verdict: str, note: str = "", traces: int = 0, causes=()) -> None:
        """Write one call down."""
        if not self.runs or not self.runs[-1].takes(verdict, traces):
            self.runs.append(Run(self.calls + 1, verdict, traces, tuple(causes)))
        self.runs[-1].add(arguments, note)
        self.calls += 1
        more = {"traces": traces, "causes": tuple(causes)}
        self.last = trace_entry(f"{self.calls:,}", arguments, verdict, note, **more)

    def entries(self) -> tuple[TraceEntry, ...]:
        """Return the rows so far."""
        return tuple(entry for run in self.runs for entry in run.entries())
