"""Calls in the order in which they were made -> a tree that can be asked for its route."""

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

ROUTES = ("fast path", "fallback", "function", "direct", "graph", "refused", "no door")


@dataclass(frozen=True)
class Call:
    """One call. `name` is the function's, `module` where it lives; `c`: it is written in C.

    `door` says that it is a landmark of the way to the runtime, `raised` that C left by an error.
    """

    depth: int
    module: str
    name: str
    c: bool = False
    raised: bool = False
    door: bool = False

    @property
    def path(self) -> str:
        """The last part of the module and the name: enough to find it in the sources."""
        return f"{self.module.rpartition('.')[2]}.{self.name}"


@dataclass(frozen=True)
class CallTree:
    """The calls of one run, depth first. `routes`: the way of each op, in order, out of ROUTES.

    `outcome` says how the run ended if it raised.
    """

    title: str
    calls: tuple[Call, ...]
    routes: tuple[str, ...] = ()
    outcome: str = ""
    note: str = ""

    def __post_init__(self):
        for route in self.routes:
            if route not in ROUTES:
                raise ValueError(f"route {route!r} is unknown; use one of {', '.join(ROUTES)}")

    @property
    def route(self) -> str:
        """Return the routes as words, such as `fast path` or `graph ×3, function`."""
        counted = Counter(self.routes) or {"no door": 1}
        return ", ".join(f"{r} ×{n}" if n > 1 else r for r, n in counted.items())

    def count(self, name: str) -> int:
        """Return how many calls there were of functions of this name."""
        return sum(call.name == name for call in self.calls)

    def doors(self) -> tuple[str, ...]:
        """Return the names of the landmarks that were passed, in order."""
        return tuple(call.name for call in self.calls if call.door)

    def inside(self) -> tuple[int, ...]:
        """Return for each call how many calls there were in it, itself included."""
        ends, waiting = [0] * len(self.calls), []
        for at, call in enumerate((*self.calls, Call(0, "", ""))):
            while waiting and self.calls[waiting[-1]].depth >= call.depth:
                start = waiting.pop()
                ends[start] = at - start
            waiting.append(at)
        return tuple(ends)

    def on_the_way(self) -> frozenset[int]:
        """Return the places of the landmarks and of all calls that lead to one."""
        doors = [0, *accumulate(call.door for call in self.calls)]
        inside = self.inside()
        return frozenset(at for at, size in enumerate(inside) if doors[at + size] > doors[at])
