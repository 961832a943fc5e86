"""A model inside of another, such as a panel of a stage -> the view that draws it."""

from ..model.graphs import Graph
from ..model.job_records import JobGraph
from ..model.tables import Ledger, Listing
from . import View
from .table_view import ledger, table


def find_view(picture: object) -> View | None:
    """Return the view of a graph, a ledger or a table; None for anything else.

    Diagrams are imported when there is one to draw: an outcome or a stage without a picture, as in
    the first cell of most chapters, waits for none of their modules.
    """
    if isinstance(picture, Graph):
        from .diagram.graph_view import graph

        return graph
    if isinstance(picture, JobGraph):
        from .diagram.job_view import job

        return job
    if isinstance(picture, Ledger):
        return ledger
    if isinstance(picture, Listing):
        return table
    return None
