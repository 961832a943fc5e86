"""Rows with verdicts -> a ledger: what was tried, and what came of it each time."""

from dataclasses import dataclass, field

TONES = ("plain", "changed", "failed", "refused")


@dataclass(frozen=True)
class Verdict:
    """One outcome in a `word` or two. `tone`: plain (as before), changed, failed, refused."""

    word: str
    tone: str = "plain"

    def __post_init__(self):
        if self.tone not in TONES:
            raise ValueError(f"tone {self.tone!r} is unknown; use one of {', '.join(TONES)}")


@dataclass(frozen=True)
class Entry:
    """One row: what was tried (`subject`), a verdict per heading, and a `note` on the why."""

    subject: str
    verdicts: tuple[Verdict, ...]
    note: str = ""


@dataclass(frozen=True)
class Ledger:
    """Entries under headings. Every entry holds exactly one verdict per heading.

    `marks`: (tone, what its mark stands for here).
    """

    title: str
    subject: str
    headings: tuple[str, ...]
    entries: tuple[Entry, ...]
    note: str = ""
    marks: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def __post_init__(self):
        for entry in self.entries:
            if len(entry.verdicts) != len(self.headings):
                raise ValueError(
                    f"entry {entry.subject!r} has {len(entry.verdicts)} verdicts "
                    f"for {len(self.headings)} headings"
                )

    def word(self, subject: str, heading: str | None = None) -> str:
        """Return the verdict's word for one subject; `heading` may be left out if there is one.

        KeyError names a subject or a heading that the ledger does not have.
        """
        column = self._column(heading)
        for entry in self.entries:
            if entry.subject == subject:
                return entry.verdicts[column].word
        raise KeyError(subject)

    def _column(self, heading: str | None) -> int:
        if heading is None and len(self.headings) == 1:
            return 0
        if heading not in self.headings:
            raise KeyError(f"{heading} (the headings are {', '.join(self.headings)})")
        return self.headings.index(heading)

    def subjects(self, word: str, heading: str | None = None) -> tuple[str, ...]:
        """Return the subjects whose verdict under `heading` is `word`, in order."""
        column = self._column(heading)
        return tuple(e.subject for e in self.entries if e.verdicts[column].word == word)
