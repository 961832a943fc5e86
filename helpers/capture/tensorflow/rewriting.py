"""The old names of three modules."""

from .autograph import build_autograph_listing as autograph_side_by_side
from .graph_diff import build_graph_diff as tf_diff
from .graph_diff import compare_graphs as compare
from .grappler import record_grappler as watch_grappler

__all__ = ["autograph_side_by_side", "compare", "tf_diff", "watch_grappler"]
