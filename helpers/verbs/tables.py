"""Tables of rows: the learner's own, and what this machine has."""

from helpers.capture import environment
from helpers.capture.rows import records_listing
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view.table_view import nested, table


@whole
def show_table(title: str, *rows: dict) -> Exhibit:
    """Show rows of the same keys as a table; the keys of the first are the headings.

    Text, numbers and small containers of them are shown as they are, the rest in a few safe words.
    TypeError for a row that is no dict, ValueError for rows of other keys, or none.
    """
    return Exhibit(records_listing(title, rows), table)


@whole
def show_nested(title: str, *rows: dict) -> Exhibit:
    """Show rows of the same keys as boxes, each within the one before; the first value names it.

    TypeError for a row that is no dict, ValueError for rows of other keys, or none.
    """
    return Exhibit(records_listing(title, rows), nested)


@whole
def show_environment() -> Exhibit:
    """List what this course needs, what is installed, and what to do where something is missing."""
    return Exhibit(environment.environment_listing(), table)
