"""Ways to call a function, and what is replaced -> which calls notice, and which arrows moved."""

from dataclasses import dataclass

from helpers.model.ledger import Ledger

UNKNOWN = -1


@dataclass(frozen=True)
class Route:
    """One way to call. `call`: its source; `kind` of who holds the function for it: a name, a
    function or an object. `holds`: per heading which of the map's functions it held, or UNKNOWN.
    """

    name: str
    call: str
    kind: str
    holds: tuple[int, ...]


@dataclass(frozen=True)
class Function:
    """A function that routes lead to. `codes`: per heading which of the map's codes it had."""

    label: str
    codes: tuple[int, ...]


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
        column = self._column(heading)
        return tuple(e.subject for e in self.entries if e.verdicts[column].tone == "changed")

    def moved(self, heading: str) -> tuple[str, ...]:
        """Return the routes that hold another function under `heading` than with nothing done."""
        column = self._column(heading)
        return tuple(r.name for r in self.routes if r.holds[column] != r.holds[0])
