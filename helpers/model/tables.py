"""Records of rows: listings, ledgers, two texts side by side, files, transcripts."""

import signal
from collections import namedtuple
from dataclasses import dataclass, field, make_dataclass
from functools import cache

from .phrase import find_named

# A row's `field` under a `heading`; `code`: all is code, else what is in backticks.
Column = namedtuple("Column", "field heading code", defaults=(False,))
# One outcome in a `word` or two. `tone`: plain (as before), good, changed, refused or failed.
Verdict = namedtuple("Verdict", "word tone", defaults=("plain",))
# Two lines and their numbers, 0 for no line; `again`: the left one was shown before.
Pair = namedtuple("Pair", "left left_text right right_text again", defaults=(False,))
# One file as text. `new`: numbers of the lines, from 1, that were not in it before.
File = namedtuple("File", "name text")
# Files of one folder, in order.
Files = namedtuple("Files", "title files note", defaults=("",))


class _Row:
    def __reduce__(self):
        return make_row, (tuple(vars(self)), tuple(vars(self).values()))


_row_type = cache(lambda fields: make_dataclass("Row", fields, bases=(_Row,), frozen=True))


def make_row(fields: tuple[str, ...], values: tuple) -> _Row:
    """Return a record of fields that only a running program knows; it can be pickled."""
    return _row_type(fields)(*values)


@dataclass(frozen=True)
class Listing:
    """A table at rest. `rows` are frozen records; each has every field that `columns` names.

    `kept`: how many of the first rows a page never folds, up to one that is the point.
    """

    kept = 0
    title: str
    columns: tuple[Column, ...]
    rows: tuple[object, ...]
    note: str = ""

    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Return the shown text of every row, in column order; True and False read yes and no."""
        words = {True: "yes", False: "no"}
        values = ([getattr(row, column.field) for column in self.columns] for row in self.rows)
        return tuple(
            tuple(words[v] if isinstance(v, bool) else str(v) for v in row) for row in values
        )


@dataclass(frozen=True)
class Entry:
    """One row: what was tried (`subject`), a verdict per heading, and a `note` on the why."""

    subject: str
    verdicts: tuple[Verdict, ...]
    note: str = ""


@dataclass(frozen=True)
class Ledger:
    """Entries, each with one verdict per heading. `marks`: (tone, what its mark means here)."""

    title: str
    subject: str
    headings: tuple[str, ...]
    entries: tuple[Entry, ...]
    note: str = ""
    marks: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def word(self, subject: str, heading: str | None = None) -> str:
        """Return the verdict's word under a heading, or under the only one; KeyError for none."""
        entry = find_named(self.entries, subject, "subject")
        return entry.verdicts[self._column(heading)].word

    def _column(self, heading: str | None) -> int:
        if heading is None and len(self.headings) == 1:
            return 0
        if heading not in self.headings:
            raise KeyError(f"{heading} (the headings are {', '.join(self.headings)})")
        return self.headings.index(heading)

    def subjects(self, word: str, heading: str | None = None) -> tuple[str, ...]:
        """Return the subjects whose verdict under `heading` is `word`, in order."""
        at = self._column(heading)
        return tuple(each.subject for each in self.entries if each.verdicts[at].word == word)


# All lines of two texts, in the order of the right one; `folds`: only differences matter.
_SIDES = "title left_title right_title pairs note folds"
SideBySide = namedtuple("SideBySide", _SIDES, defaults=("", False))


def align(left: list[str], right: list[str], origin: dict[int, int]) -> tuple[Pair, ...]:
    """Return the rows of two lists of lines; `origin`: line number right -> that on the left."""
    rows, shown = [], 0
    for number, line in enumerate(right, 1):
        source = origin.get(number, 0)
        if not 1 <= source <= len(left):
            rows.append(Pair(0, "", number, line))
            continue
        rows += [Pair(n, left[n - 1], 0, "") for n in range(shown + 1, source)]
        rows.append(Pair(source, left[source - 1], number, line, again=source <= shown))
        shown = max(shown, source)
    rows += [Pair(n, left[n - 1], 0, "") for n in range(shown + 1, len(left) + 1)]
    return tuple(rows)


CUTS = {
    "late": "it did not end within {seconds:g} s, and was stopped",
    "large": "it took more than half of this machine's memory, and was stopped",
    "flood": "it printed more than 268 million bytes, and was stopped",
    "interrupted": "you interrupted it, and it was stopped",
    "lost": "it killed the process watching it, and was stopped",
}


@dataclass(frozen=True)
class Transcript:
    """One run of a child; `code`: as in subprocess; `cut`: one of `CUTS`, else its own end.

    `seconds`: the limit of its time.
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
        """Return whether the interpreter came to its own end, with an exception or without."""
        return self.code >= 0 and not self.cut

    @property
    def end(self) -> str:
        """Return "well" for exit code 0, "error" for another that is its own, else "killed"."""
        return "error" if self.lived and self.code else "well" if self.lived else "killed"

    @property
    def ending(self) -> str:
        """Return how it ended, in words."""
        if self.cut:
            return CUTS[self.cut].format(seconds=self.seconds)
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
