"""Records of the function calls by which an eager op comes from Python to the framework's C code.

A *landmark* is a function at which a call may enter the framework's C code, such as
`TFE_Py_FastPathExecute`. A *route* is the way that an op took there, one of `ROUTES`.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

NO_ROUTE = "no door"  # the route of a call that passed no landmark
ROUTES = ("fast path", "fallback", "function", "direct", "graph", "refused", NO_ROUTE)


@dataclass(frozen=True)
class Call:
    """One call of a function.

    Attributes
    ----------
    depth : int
        How many of the recorded calls were still running when this one began.
    module : str
        The module of the function.
    name : str
        The name of the function.
    c : bool
        Whether the function is written in C.
    raised : bool
        Whether an error left the call.
    door : bool
        Whether the function is a landmark: a call may enter the framework's C code there.
    """

    depth: int
    module: str
    name: str
    c: bool = False
    raised: bool = False
    door: bool = False

    @property
    def path(self) -> str:
        """The last part of the module's name and the function's name, such as `execute.quick`."""
        return f"{self.module.rpartition('.')[2]}.{self.name}"


@dataclass(frozen=True)
class CallTree:
    """The calls of one run, in the order in which they began.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    calls : tuple of Call
        The calls, depth first.
    routes : tuple of str
        The route of each op, one of `ROUTES`.
    outcome : str
        How the run ended, if an error ended it.
    note : str
        What else a reader must know.
    """

    title: str
    calls: tuple[Call, ...]
    routes: tuple[str, ...] = ()
    outcome: str = ""
    note: str = ""

    @property
    def route(self) -> str:
        """Return the routes as text, such as `fast path` or `graph ×3, function`."""
        counts = Counter(self.routes)
        if not counts:
            return NO_ROUTE
        texts = []
        for route, count in counts.items():
            texts.append(f"{route} ×{count}" if count > 1 else route)
        return ", ".join(texts)

    def count(self, name: str) -> int:
        """Return how many calls there were of functions of this name."""
        return sum(call.name == name for call in self.calls)

    def doors(self) -> tuple[str, ...]:
        """Return the names of the landmarks that were called, in order."""
        return tuple(call.name for call in self.calls if call.door)

    def inside(self) -> tuple[int, ...]:
        """Return for each call the size of its subtree: how many calls it contains, itself too.

        For calls of the depths 0, 1, 2, 1, the result is (4, 2, 1, 1).
        """
        sizes = [0] * len(self.calls)
        open_positions: list[int] = []  # the calls that have not ended yet, outer ones first

        # An additional call at depth 0 ends all calls that are still open.
        for position, call in enumerate((*self.calls, Call(0, "", ""))):
            # When this call begins, all open calls of the same or a greater depth have ended.
            while open_positions and self.calls[open_positions[-1]].depth >= call.depth:
                start = open_positions.pop()
                sizes[start] = position - start
            open_positions.append(position)
        return tuple(sizes)

    def on_the_way(self) -> frozenset[int]:
        """Return the positions in `calls` of the landmarks, and of the calls that contain one."""
        # landmarks_before[n] is the number of landmarks among the first n calls.
        landmarks_before = [0, *accumulate(call.door for call in self.calls)]
        positions = set()
        for position, size in enumerate(self.inside()):
            end = position + size  # the calls from `position` to here are those in the subtree
            if landmarks_before[end] > landmarks_before[position]:
                positions.add(position)
        return frozenset(positions)
