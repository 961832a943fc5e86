"""Records of programs that ran in a child process."""

import signal
from dataclasses import dataclass

from .phrase import find_named

CUTS = {
    "late": "it did not end within {seconds:g} s, and was stopped",
    "large": "it took more than half of this machine's memory, and was stopped",
    "flood": "it printed more than 268 million bytes, and was stopped",
    "interrupted": "you interrupted it, and it was stopped",
    "lost": "it killed the process watching it, and was stopped",
}


@dataclass(frozen=True)
class Transcript:
    """One run of a child process.

    Attributes
    ----------
    label : str
        What the reader calls the run.
    source : str
        The program.
    printed : str
        What the program printed.
    error : str
        What the program wrote to standard error.
    code : int
        The exit code, as `subprocess` reports it: below 0 is the number of a signal.
    cut : str
        Why the run was stopped, a key of `CUTS`; "" if it came to its own end.
    seconds : float
        The limit of its time.
    """

    label: str
    source: str
    printed: str
    error: str
    code: int
    cut: str = ""
    seconds: float = 60

    @property
    def lived(self) -> bool:
        """Return whether the interpreter came to its own end, with an exception or without.

        It did not if a signal killed the process, or if the process was stopped.
        """
        return self.code >= 0 and not self.cut

    @property
    def end(self) -> str:
        """Return "well" for exit code 0, "error" for another exit code, "killed" if killed."""
        if not self.lived:
            return "killed"
        return "error" if self.code else "well"

    @property
    def ending(self) -> str:
        """Return how the run ended, in words."""
        if self.cut:
            return CUTS[self.cut].format(seconds=self.seconds)
        if self.code == -signal.SIGABRT:  # `abort()` in C sends it, after a fatal error
            return "the process ended itself: SIGABRT"
        if self.code < 0:  # the number of a signal, negated
            return f"the process was killed: {_signal_name(-self.code)}"
        return f"exit code {self.code}"


def _signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGSEGV, or `signal 99` if Python knows no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(frozen=True)
class Transcripts:
    """Several runs under one title.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    runs : tuple of Transcript
        The runs, in order.
    note : str
        What else a reader must know.
    """

    title: str
    runs: tuple[Transcript, ...]
    note: str = ""

    @property
    def end(self) -> str:
        """Return how the first run ended: "well", "error" or "killed"."""
        return self.runs[0].end

    @property
    def lines(self) -> list[str]:
        """Return the lines that the first run printed."""
        return self.runs[0].printed.splitlines()

    def of(self, label: str) -> Transcript:
        """Return the run of this label; KeyError for none."""
        return find_named(self.runs, label, "label")
