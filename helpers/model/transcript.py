"""Runs of child interpreters -> transcripts: what was run, what it printed, how it ended."""

import signal
from dataclasses import dataclass

CUTS = {
    "late": "it did not end in time, and was stopped",
    "large": "it took more than half of this machine's memory, and was stopped",
    "lost": "it killed the process that watched it, and was stopped",
}


@dataclass(frozen=True)
class Transcript:
    """One run. `error`: its uncaught exception in a line; `code`: the exit code.

    A code below 0 is the number of the signal that ended the process, as in subprocess.
    `source` may be empty where the reader has it at hand. `cut`: "late" where the limit ended it,
    "large" where its memory did, "lost" where it ended the process that watched it, so that its
    own end is not known.
    """

    label: str
    source: str
    printed: str
    error: str
    code: int
    cut: str = ""

    @property
    def lived(self) -> bool:
        """Return whether the interpreter came to its own end, with an exception or without."""
        return self.code >= 0 and not self.cut

    @property
    def end(self) -> str:
        """Return "well" for exit code 0, "error" for another that is its own, else "killed"."""
        if not self.lived:
            return "killed"
        return "error" if self.code else "well"

    @property
    def ending(self) -> str:
        """Return how it ended, in words."""
        if self.cut:
            return CUTS[self.cut]
        if self.code == -signal.SIGABRT:
            return "the process ended itself: SIGABRT"
        if self.code < 0:
            known = {int(one): one.name for one in signal.Signals}
            return f"the process was killed: {known.get(-self.code, f'signal {-self.code}')}"
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
