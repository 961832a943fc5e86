"""A model inside of another, such as a panel of a stage -> the view that draws it."""

from ..model.framework_records import JobGraph
from ..model.graphs import Graph
from ..model.tables import Ledger, Listing
from . import View
from .diagram.graph_view import graph
from .diagram.job_view import job
from .table_view import ledger, table

_VIEWS = {Graph: graph, JobGraph: job, Ledger: ledger, Listing: table}


def find_view(picture: object) -> View | None:
    """Return the view of a graph, a ledger or a table; None for anything else."""
    for kind, view in _VIEWS.items():
        if isinstance(picture, kind):
            return view
    return None
