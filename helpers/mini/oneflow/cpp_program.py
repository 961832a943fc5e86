"""Asking a compiled definition: rows of words in, rows of words out, one child process each time.

A definition that crashes, hangs or exits cannot take this process along.
"""

from helpers.mini.oneflow.errors import OpError
from helpers.safety.folders import temporary
from helpers.safety.interrupts import uninterrupted
from helpers.safety.processes import run, signal_name

ROW, WORD, END = "\x1e", "\x1f", "\x04"  # what ends a row, parts its words, ends an answer
LONGEST = 20  # seconds
MOST = 10_000_000  # bytes of an answer


class Program:
    """A compiled definition; `source` is the C++ file it was made of."""

    def __init__(self, path, source):
        self.path, self.source = path, source

    def ask(self, question, number=0, rows=()):
        """Return the rows that it answers. OpError if it complains or does not come back."""
        with uninterrupted(), temporary("asked-") as home, home.work() as work:
            answer = home.path / "answer"
            try:
                command = [str(self.path), question, str(number), str(answer)]
                sent = written(rows).encode()
                done = run(command, LONGEST, given=sent, cwd=work, kept=False)
                said = answer.read_bytes()[:MOST] if answer.is_file() else b""
            except OSError as error:
                raise OpError(f"could not be run: {error}") from error
        if done.late:
            raise OpError(f"did not come back in {LONGEST} seconds")
        if done.code or not said.endswith(END.encode()):
            raise OpError(_ending(done.code))
        rows = read(said.decode(errors="replace").removesuffix(END))
        if rows and rows[0][0] == "error":
            raise OpError(rows[0][1])
        return rows


def written(rows):
    """Return rows of words as one text."""
    return "".join(WORD.join(map(str, row)) + ROW for row in rows)


def read(text):
    """Return the rows in a text."""
    return [row.split(WORD) for row in text.split(ROW)[:-1]]


def _ending(code):
    if code < 0:
        return f"crashed with {signal_name(-code)}: look for a null or dangling pointer in it"
    return f"ended its program (exit code {code}) instead of returning"
