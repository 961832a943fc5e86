"""Everybody who gets hold of the calls of this kernel."""

from helpers.capture.frameworks.call_interceptions import interceptions
from helpers.exhibit import Exhibit
from helpers.safety.restoring import whole
from helpers.view.table_view import table


@whole
def show_interceptions() -> Exhibit:
    """List the usual ways to get hold of a call, from the name to the op, and who is there now.

    `.model.taken` gives way -> who, of those where somebody is. Nothing is called or imported.
    """
    return Exhibit(interceptions(), table)
