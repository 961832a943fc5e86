"""A learner's own rows (dicts) -> a listing."""

from collections.abc import Iterable, Mapping
from dataclasses import make_dataclass

from helpers.model.listing import Column, Listing


def records_listing(title: str, rows: Iterable[Mapping[str, object]], note: str = "") -> Listing:
    """Return a listing of rows whose keys become the headings; rows keep them as attributes.

    ValueError if there is no row, or if a row's keys differ from the first one's.
    """
    rows = [dict(row) for row in rows]
    if not rows:
        raise ValueError("a table needs at least one row")
    headings = list(rows[0])
    for row in rows:
        if list(row) != headings:
            raise ValueError(f"every row needs the keys {', '.join(headings)}, in this order")
    fields = [heading.replace(" ", "_") for heading in headings]
    record = make_dataclass("Row", fields, frozen=True)
    columns = [Column(*pair) for pair in zip(fields, headings, strict=True)]
    values = [record(*(_kept(value) for value in row.values())) for row in rows]
    return Listing(title, tuple(columns), tuple(values), note)


def _kept(value: object) -> object:
    return value if type(value) in (bool, int, str) else str(value)
