"""A model inside of another, such as a panel of a stage -> the view that draws it."""

from ..model.graphs import Graph
from ..model.job_records import JobGraph
from ..model.tables import Ledger, Listing
from . import View
from .table_view import ledger, table


def find_view(picture: object) -> View | None:
    """Return the view of a graph, a job, a ledger or a table; None for anything else.

    The modules of diagrams are imported only if there is a diagram to draw, because their import
    takes time. The first cell of most chapters shows none.
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
