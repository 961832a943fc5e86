"""Records of what holds a function, and of which ways to call it notice a change."""

from collections import namedtuple
from dataclasses import dataclass

from .tables import Ledger

KINDS = (
    *("module attribute", "hidden module attribute", "class attribute", "instance attribute"),
    *("function attribute", "default argument", "keyword default", "closure cell", "partial"),
    *("bound method", "dict value", "dict key", "list item", "deque item", "set member"),
    *("local variable", "frozenset member", "tuple item", "C-level cache", "C-level holder"),
)


class Binding(
    namedtuple("Binding", "kind owner name scan rebindable reason garbage", defaults=("", False))
):
    """One place that holds a reference.

    `kind` is one of KINDS, `owner` a dotted path, `name` what the owner calls the place: an
    attribute, `['key']`, `[3]`, `__defaults__[0]` or a free variable. `scan` is True where the
    scan of the modules finds it too; `reason` says why a place that is not `rebindable` is not.
    `garbage`: nothing reaches it, and only the collector can free it.
    """

    @property
    def path(self) -> str:
        """The owner and the name as one dotted path, the form that `keep` and `only` match."""
        return join(self.owner, self.name)

    @property
    def verdict(self) -> str:
        """`yes` where the place can be rebound, else `no` with the reason."""
        reasons = [self.reason, "only the collector can free it" * self.garbage]
        return "yes" if self.rebindable else f"no: {'; '.join(filter(None, reasons))}"


def join(owner: str, name: str) -> str:
    """Return owner and name as one path; an index such as `[3]`, or nothing, needs no dot."""
    return owner + name if not name or name.startswith(("[", "{", "(")) else f"{owner}.{name}"


UNKNOWN = -1
# One way to call. `call`: its source; `kind` of who holds the function for it: a name, a function
# or an object. `holds`: per heading which of the map's functions it held, or UNKNOWN.
Route = namedtuple("Route", "name call kind holds")
# A function that routes lead to. `codes`: per heading which of the map's codes it had.
Function = namedtuple("Function", "label codes")


@dataclass(frozen=True)
class RouteMap(Ledger):
    """A ledger of what each route ran, and what was held when it ran.

    `routes` are in the ledger's order. `functions`: the old one and the new one; `codes`: the last
    line of each code object; `patches`: the source of what was done, per heading.
    """

    routes: tuple[Route, ...] = ()
    functions: tuple[Function, ...] = ()
    codes: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()

    def noticed(self, heading: str) -> tuple[str, ...]:
        """Return the routes whose word under `heading` is another than with nothing done."""
        at = self._column(heading)
        return tuple(e.subject for e in self.entries if e.verdicts[at].tone == "changed")

    def moved(self, heading: str) -> tuple[str, ...]:
        """Return the routes that hold another function under `heading` than with nothing done."""
        at = self._column(heading)
        return tuple(r.name for r in self.routes if r.holds[at] != r.holds[0])
