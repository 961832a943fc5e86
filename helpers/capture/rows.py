"""A learner's own rows (dicts) -> a table.

A value that is short and of a built-in type is shown by its repr. Any other value is described in a
few words, because the repr of a user's class may be long, may raise, or may run code.
"""

import re
from keyword import iskeyword

from ..model.tables import Column, Listing, make_row
from ..safety import restoring
from ..safety.arguments import is_exactly, real_isinstance, require_dict, require_str
from .text.value import BIGGEST_BITS, format_text, never_changes, short_repr

MOST_COLUMNS = 100
MOST_ITEMS = 24  # of a container that is shown as it is
DEEPEST = 2  # containers in each other that are shown as they are
MOST_NAMED = 8  # headings that an error names
_CONTAINERS = (dict, list, tuple, set, frozenset)


def list_rows(title: str, /, *rows: dict[str, object]) -> Listing:
    """Return rows with the same keys as a table. The keys of the first row are the headings.

    Raises
    ------
    TypeError
        If the title is not text, or a row is not a dict with names as its keys.
    ValueError
        If there are no rows, or the keys of two rows differ.
    """
    title = require_str(title, "the title of a table")
    checked_rows = [
        require_dict(row, "a row of a table", of="heading -> value", most=MOST_COLUMNS)
        for row in rows
    ]
    if not checked_rows:
        raise ValueError("a table needs at least one row")
    headings = _read_headings(checked_rows[0])
    for number, row in enumerate(checked_rows, 1):
        _require_headings(row, headings, number)

    # Each row becomes a record, whose attributes are named after the headings.
    fields = tuple(_make_field_names(headings))
    columns = [Column(field, heading) for field, heading in zip(fields, headings, strict=True)]
    records = []
    for row in checked_rows:
        values = tuple(_make_plain(value) for _, value in row)
        records.append(make_row(fields, values))
    return Listing(title, tuple(columns), tuple(records))


def _read_headings(row: list[tuple[str, object]]) -> list[str]:
    """Return the headings of a row, which is a list of pairs (heading, value)."""
    return [heading for heading, _ in row]


def _require_headings(row: list[tuple[str, object]], headings: list[str], number: int) -> None:
    """Raise ValueError if the headings of a row are not these.

    `row` is a list of pairs (heading, value), and `number` its number, from 1, for the error.
    """
    row_headings = _read_headings(row)
    if row_headings != headings:
        raise ValueError(
            f"every row needs the keys {_format_headings(headings)}, in this order; "
            f"row {number:,} has {_format_headings(row_headings)}"
        )


def _format_headings(headings: list[str]) -> str:
    """Return the first headings as text for an error, as in "step, loss, …"."""
    text = ", ".join(format_text(heading) for heading in headings[:MOST_NAMED])
    if len(headings) > MOST_NAMED:
        text += ", …"
    return text or "none"


def _make_field_names(headings: list[str]) -> list[str]:
    """Return the name of an attribute for each heading, such as "my_loss" for "my loss".

    A name that is no identifier, or that is there already, gets "column_" and its number in front.
    """
    fields: list[str] = []
    for number, heading in enumerate(headings):
        field = re.sub(r"\W", "_", heading)
        is_name = field.isidentifier() and not iskeyword(field)
        is_special = field.startswith("__")  # it would hide a special method, or be mangled
        if not is_name or is_special or field in fields:
            field = f"column_{number}_{field}"
        fields.append(field)
    return fields


def _make_plain(value: object) -> object:
    """Return the text of a value for a cell, or the value itself if it is a bool or a small int."""
    if real_isinstance(value, str):
        return str.__str__(value)  # an exact str: a subclass may have a `__str__` of its own
    if is_exactly(value, bool, int) and value.bit_length() <= BIGGEST_BITS:
        return value
    numpy = restoring.find_loaded_module("numpy")
    if numpy and real_isinstance(value, numpy.number):
        return str(value)
    if _has_short_safe_repr(value, DEEPEST):
        return repr(value)
    return short_repr(value)


def _has_short_safe_repr(value: object, levels: int) -> bool:
    """Return whether the repr of a value is short and runs only built-in code.

    That is true of numbers, of short strings, and of built-in containers with a few of these.
    `levels` is how many containers may be in each other.
    """
    if never_changes(value):  # an int never changes, but may have thousands of digits
        return type(value) is not int or value.bit_length() <= BIGGEST_BITS
    if not levels or not is_exactly(value, *_CONTAINERS):
        return False
    items = [*value, *value.values()] if type(value) is dict else value
    if len(items) > MOST_ITEMS:
        return False
    return all(_has_short_safe_repr(item, levels - 1) for item in items)
