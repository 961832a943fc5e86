"""Records of tables. A *listing* has a row for each thing, and a *ledger* one for each trial.

A cell of a ledger is a verdict: a word such as `hit`, and a tone that says how a view marks it.
"""

from dataclasses import dataclass, field, make_dataclass
from functools import cache

from .phrase import find_named


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a listing.

    Attributes
    ----------
    field : str
        The field of each row that the column shows.
    heading : str
        The text above the column.
    code : bool
        Whether each cell is code as a whole. If not, only what is in backticks is code.
    """

    field: str
    heading: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """One outcome.

    Attributes
    ----------
    word : str
        The outcome, in a word or two.
    tone : str
        How a view marks the outcome: `plain` (as before), `good`, `changed`, `refused` or `failed`.
    """

    word: str
    tone: str = "plain"


class _RowBase:
    """The base of all classes that `make_row` creates."""

    def __reduce__(self):
        """Return how pickle makes the row again: by a call `make_row(fields, values)`.

        pickle usually imports the class by its name, but no module has the class of a row.
        """
        return make_row, (tuple(vars(self)), tuple(vars(self).values()))


@cache
def _make_row_type(fields: tuple[str, ...]) -> type[_RowBase]:
    """Return the class of the rows that have these fields."""
    return make_dataclass("Row", fields, bases=(_RowBase,), frozen=True)


def make_row(fields: tuple[str, ...], values: tuple) -> _RowBase:
    """Return a row for a `Listing` whose fields are known only while the program runs.

    `fields` are the names of the row's attributes, and `values` their values. The row is frozen,
    and can be pickled.
    """
    return _make_row_type(fields)(*values)


@dataclass(frozen=True)
class Listing:
    """A table with a row for each thing.

    A page folds the rows of a long table. It never folds the first `kept` rows. A subclass computes
    `kept` if some row is the point of its table.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    columns : tuple of Column
        The columns, from left to right.
    rows : tuple of object
        Frozen records. Each of them has every field that `columns` names.
    note : str
        What else a reader must know.
    """

    kept = 0
    title: str
    columns: tuple[Column, ...]
    rows: tuple[object, ...]
    note: str = ""

    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Return the texts of every row, in column order; True and False are "yes" and "no"."""
        fields = [column.field for column in self.columns]
        return tuple(
            tuple(_format_cell(getattr(row, field)) for field in fields) for row in self.rows
        )


def _format_cell(value: object) -> str:
    """Return a value as the text of a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@dataclass(frozen=True)
class Entry:
    """One row of a ledger.

    Attributes
    ----------
    subject : str
        What was tried.
    verdicts : tuple of Verdict
        The outcome under each heading.
    note : str
        Why it came out so, "" for nothing to say.
    """

    subject: str
    verdicts: tuple[Verdict, ...]
    note: str = ""


@dataclass(frozen=True)
class Ledger:
    """A table with a row for each trial, and one verdict in each row and column.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    subject : str
        The heading above the subjects.
    headings : tuple of str
        The headings above the verdicts.
    entries : tuple of Entry
        The rows.
    note : str
        What else a reader must know.
    marks : tuple of (str, str)
        A tone, and what its mark means in this ledger.
    """

    title: str
    subject: str
    headings: tuple[str, ...]
    entries: tuple[Entry, ...]
    note: str = ""
    marks: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    def word(self, subject: str, heading: str | None = None) -> str:
        """Return the word of the verdict in the row of `subject`, under `heading`.

        `heading` may be left out if the ledger has only one. KeyError if there is no such subject
        or heading.
        """
        entry = find_named(self.entries, subject, "subject")
        return entry.verdicts[self._column(heading)].word

    def _column(self, heading: str | None) -> int:
        """Return the position of a heading in `headings`; None is the only one.

        KeyError if there is no such heading, or if None could be several.
        """
        if heading is None and len(self.headings) == 1:
            return 0
        if heading not in self.headings:
            raise KeyError(f"{heading} (the headings are {', '.join(self.headings)})")
        return self.headings.index(heading)

    def subjects(self, word: str, heading: str | None = None) -> tuple[str, ...]:
        """Return the subjects whose verdict under `heading` is `word`, in the order of the rows."""
        column = self._column(heading)
        return tuple(entry.subject for entry in self.entries if entry.verdicts[column].word == word)
