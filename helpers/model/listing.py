"""Records -> a listing: one row per thing found, one column per field shown."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """One column: the row's `field`, shown under `heading`; `code` asks for a fixed-width face.

    In a column of words, what stands between backticks is shown as code.
    """

    field: str
    heading: str
    code: bool = False


@dataclass(frozen=True)
class Listing:
    """A table at rest. `rows` are frozen records; each has every field that `columns` names."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[object, ...]
    note: str = ""

    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Return the shown text of every row, in column order; True and False read yes and no."""
        return tuple(
            tuple(_words(getattr(row, column.field)) for column in self.columns)
            for row in self.rows
        )


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
