"""Asking a compiled definition: rows of words in, rows of words out, one child process each time.

A definition that crashes, hangs or exits cannot take this process along.
"""

import signal
import subprocess

from helpers.mini.oneflow.errors import OpError

ROW, WORD = "\x1e", "\x1f"  # what ends a row, what parts its words
LONGEST = 20  # seconds


class Program:
    """A compiled definition; `source` is the C++ file it was made of."""

    def __init__(self, path, source):
        self.path, self.source = path, source

    def ask(self, question, number=0, rows=()):
        """Return the rows that it answers. OpError if it complains or does not come back."""
        try:
            done = subprocess.run(
                [self.path, question, str(number)],
                input=written(rows).encode(),
                capture_output=True,
                timeout=LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise OpError(f"did not come back in {LONGEST} seconds") from None
        except OSError as error:
            raise OpError(f"could not be run: {error}") from error
        _, mark, answer = done.stdout.decode(errors="replace").partition("\n" + ROW)
        if done.returncode or not mark:
            raise OpError(_ending(done.returncode))
        rows = read(answer)
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
        name = signal.Signals(-code).name
        return f"crashed with {name}: look for a null or dangling pointer in it"
    return f"ended its program (exit code {code}) instead of returning"
