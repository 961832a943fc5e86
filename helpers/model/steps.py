"""What of a graph can run side by side: a listing of steps, and the nodes of each."""

from dataclasses import dataclass

from helpers.model.listing import Listing


@dataclass(frozen=True)
class Step:
    """The nodes whose inputs are all there after the step before: as many as `width`."""

    step: int
    width: int
    nodes: str


@dataclass(frozen=True)
class Node:
    """One node of a step. `works`: it is an operation, no input and no constant."""

    key: str
    works: bool


@dataclass(frozen=True)
class Steps(Listing):
    """A listing of steps. `path`: a longest way through the graph, as node keys.

    `widest`: how many operations stand side by side at most; inputs and constants do not count.
    `lanes`: the first nodes of each step.
    """

    path: tuple[str, ...] = ()
    widest: int = 0
    lanes: tuple[tuple[Node, ...], ...] = ()
