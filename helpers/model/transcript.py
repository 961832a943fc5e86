"""Runs of child interpreters -> transcripts: what was run, what it printed, how it ended."""

import signal
from dataclasses import dataclass


@dataclass(frozen=True)
class Transcript:
    """One run. `error`: its uncaught exception in a line; `code`: the exit code.

    A code below 0 is the number of the signal that ended the process, as in subprocess.
    `source` may be empty where the reader has it at hand.
    """

    label: str
    source: str
    printed: str
    error: str
    code: int

    @property
    def lived(self) -> bool:
        """Return whether the interpreter came to its own end, with an exception or without."""
        return self.code >= 0

    @property
    def ending(self) -> str:
        """Return how it ended, in words."""
        if self.code == -signal.SIGABRT:
            return "the process ended itself: SIGABRT"
        if self.code in (-getattr(signal, "SIGALRM", 14), -signal.SIGTERM):
            return "it did not end in time, and was stopped"
        if self.code < 0:
            return f"the process was killed: {signal.Signals(-self.code).name}"
        return f"exit code {self.code}"


@dataclass(frozen=True)
class Transcripts:
    """Runs under one title."""

    title: str
    runs: tuple[Transcript, ...]
    note: str = ""

    def of(self, label: str) -> Transcript:
        """Return the run of this label. KeyError names those that there are."""
        for run in self.runs:
            if run.label == label:
                return run
        raise KeyError(f"{label!r}; there are {', '.join(run.label for run in self.runs)}")
