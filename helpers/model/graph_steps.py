"""Records of a graph as parallel steps: which nodes can run at the same time."""

from dataclasses import dataclass

from .tables import Listing


@dataclass(frozen=True, slots=True)
class ParallelStep:
    """The nodes that can run once the step before has run.

    Attributes
    ----------
    step : int
        The number of the step, from 1.
    width : int
        The number of nodes in the step.
    nodes : str
        Their names, of which long lists are cut.
    """

    step: int
    width: int
    nodes: str


@dataclass(frozen=True, slots=True)
class LaneNode:
    """One node of a step, as a picture of the step shows it.

    Attributes
    ----------
    key : str
        The name of the node, cut to a length.
    works : bool
        Whether the node is an operation. Inputs and constants are not.
    """

    key: str
    works: bool


@dataclass(frozen=True)
class Steps(Listing):
    """What can run side by side in a graph, one `ParallelStep` in a row.

    Attributes
    ----------
    path : tuple of str
        The names of the nodes on a longest path.
    widest : int
        The greatest number of operations in one step.
    lanes : tuple of tuple of LaneNode
        The first nodes of each step.
    """

    path: tuple[str, ...] = ()
    widest: int = 0
    lanes: tuple[tuple[LaneNode, ...], ...] = ()
