"""Calls, one after another -> the rows of a ledger; runs of hits are folded as they come."""

from collections import Counter

from helpers.model.traces import TraceEntry, trace_entry

MOST_ROWS = 3  # hits in a row with different arguments: so many rows, and then one for all
MOST_KINDS = 2_000  # of arguments that are told apart within one run
MOST_RUNS = 20_000  # what comes after is only counted


class Run:
    """Calls in a row with the same verdict: how many for each (arguments, note), in order."""

    def __init__(self, first: int, verdict: str, traces: int, causes: tuple):
        self.first, self.verdict, self.traces, self.causes = first, verdict, traces, causes
        self.rows: list[list] = []  # [arguments, note, calls], as long as there are few
        self.kinds: set[tuple] = set()  # (arguments, note)
        self.calls = 0

    def takes(self, verdict: str, traces: int) -> bool:
        """Return whether another call belongs here; one that traced always stands alone."""
        return verdict == self.verdict and not traces and not self.traces

    def add(self, arguments: str, note: str) -> None:
        """Count one more call."""
        self.calls += 1
        if len(self.kinds) < MOST_KINDS:
            self.kinds.add((arguments, note))
        if self.rows and self.rows[-1][:2] == [arguments, note]:
            self.rows[-1][2] += 1
        elif len(self.rows) <= MOST_ROWS:
            self.rows.append([arguments, note, 1])

    def entries(self) -> list[TraceEntry]:
        """Return a row for each change of arguments, or one row for all where they are many."""
        rows = self.rows
        if len(rows) > MOST_ROWS:
            most = " or more" if len(self.kinds) == MOST_KINDS else ""
            words = f"{len(self.kinds)}{most} kinds of arguments in turn, such as {rows[0][0]}"
            rows = [[words, "", self.calls]]
        made, first = [], self.first
        for arguments, note, calls in rows:
            span = f"{first:,}" if calls == 1 else f"{first:,} – {first + calls - 1:,}"
            more = {"calls": calls, "traces": self.traces, "causes": self.causes}
            made.append(trace_entry(span, arguments, self.verdict, note, **more))
            first += calls
        return made


class Log:
    """All runs of one watched function. Runs that have ended keep their rows, made once."""

    def __init__(self):
        self.runs: list[Run] = []
        self.calls = 0
        self.last: TraceEntry | None = None
        self._made: list[TraceEntry] = []  # of the first `_done` runs
        self._done = 0
        self.verdicts, self.traces = Counter(), 0
        self._beyond, self._beyond_traces = Counter(), 0

    def add(self, arguments: str, verdict: str, note: str = "", traces: int = 0, causes=()) -> None:
        """Write one call down; beyond `MOST_RUNS` runs, only count it."""
        causes = tuple(causes)
        if not self.runs or self._beyond or not self.runs[-1].takes(verdict, traces):
            if len(self.runs) < MOST_RUNS:
                self.runs.append(Run(self.calls + 1, verdict, traces, causes))
            else:
                self._beyond[verdict] += 1
                self._beyond_traces += traces
        if not self._beyond:
            self.runs[-1].add(arguments, note)
        self.calls += 1
        self.verdicts[verdict] += 1
        self.traces += traces
        more = {"traces": traces, "causes": causes}
        self.last = trace_entry(f"{self.calls:,}", arguments, verdict, note, **more)

    def entries(self) -> tuple[TraceEntry, ...]:
        """Return the rows so far."""
        for run in self.runs[self._done : -1]:
            self._made += run.entries()
        self._done = max(0, len(self.runs) - 1)
        last = self.runs[-1].entries() if self.runs else []
        return (*self._made, *last, *self._rest())

    def _rest(self):
        if self._beyond:
            calls = self._beyond.total()
            span = f"{self.calls - calls + 1:,} – {self.calls:,}"
            counted = ", ".join(f"{verdict} ×{n:,}" for verdict, n in self._beyond.items())
            note = f"a ledger holds {MOST_RUNS:,} rows; watch the function anew to see more"
            more = {"calls": calls, "traces": self._beyond_traces}
            yield trace_entry(span, "(only counted)", counted, note, **more)
