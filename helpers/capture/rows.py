"""A learner's own rows (dicts) -> a listing."""

import re
from keyword import iskeyword

from ..model.tables import Column, Listing, make_row
from ..safety import restoring
from ..safety.arguments import is_exactly, real_isinstance, require_str, table
from .text.value import BIGGEST_BITS, plain, same_for_ever, short_repr

MOST_COLUMNS = 100
MOST_ITEMS, DEEPEST = 24, 2  # of a container that is shown as it is


def records_listing(title: str, /, *rows: dict[str, object]) -> Listing:
    """Show rows with the same keys as a table. The keys of the first row are the headings."""
    title = require_str(title, "the title of a table")
    rows = [table(row, "a row of a table", "heading -> value", MOST_COLUMNS) for row in rows]
    if not rows:
        raise ValueError("a table needs at least one row")
    headings = [heading for heading, _ in rows[0]]
    for number, row in enumerate(rows, 1):
        if (found := [heading for heading, _ in row]) != headings:
            raise ValueError(
                f"every row needs the keys {_named(headings)}, in this order; "
                f"row {number:,} has {_named(found)}"
            )
    fields = tuple(_fields(headings))
    columns = [Column(*pair) for pair in zip(fields, headings, strict=True)]
    values = [make_row(fields, tuple(_kept(value) for _, value in row)) for row in rows]
    return Listing(title, tuple(columns), tuple(values))


def _named(headings: list[str]) -> str:
    return ", ".join(map(plain, headings[:8])) + (", …" if len(headings) > 8 else "") or "none"


def _fields(headings: list[str]) -> list[str]:
    """Return an attribute name per heading, each another one."""
    fields = []
    for number, heading in enumerate(headings):
        field = re.sub(r"\W", "_", heading)
        fit = field.isidentifier() and not iskeyword(field) and field not in fields
        fit = fit and not field.startswith("__")
        fields.append(field if fit else f"column_{number}_{field}")
    return fields


def _kept(value: object) -> object:
    if real_isinstance(value, str):
        return str.__str__(value)
    if is_exactly(value, bool, int) and value.bit_length() <= BIGGEST_BITS:
        return value
    numpy = restoring.module("numpy")
    if numpy and real_isinstance(value, numpy.number):
        return str(value)
    return repr(value) if _is_plain(value, DEEPEST) else short_repr(value)


def _is_plain(value: object, deeper: int) -> bool:
    """Return whether a repr is short and runs built-in code alone: scalars, and few of them."""
    if same_for_ever(value):
        return type(value) is not int or value.bit_length() <= BIGGEST_BITS
    items = [*value, *value.values()] if type(value) is dict else value
    if not is_exactly(value, dict, list, tuple, set, frozenset) or len(items) > MOST_ITEMS:
        return False
    return deeper > 0 and all(_is_plain(item, deeper - 1) for item in items)
