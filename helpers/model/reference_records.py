"""Records of what refers to a function, and of which ways to call it notice that it was replaced.

A *binding* is a place that refers to an object, such as a module's attribute. A *route* is one way
to call a function, such as `module.f(1)` or an alias. If a name is bound to a new function, some
routes still run the old one.
"""

from dataclasses import dataclass

from .tables import Ledger

KINDS = (
    "module attribute",
    "hidden module attribute",
    "class attribute",
    "instance attribute",
    "function attribute",
    "default argument",
    "keyword default",
    "closure cell",
    "partial",
    "bound method",
    "dict value",
    "dict key",
    "list item",
    "deque item",
    "set member",
    "local variable",
    "frozenset member",
    "tuple item",
    "C-level cache",
    "C-level holder",
)


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that refers to an object.

    Attributes
    ----------
    kind : str
        What kind of place it is, one of `KINDS`.
    owner : str
        The object that has the place, as a dotted path.
    name : str
        What the owner calls the place: an attribute, a free variable, `['key']`, `[3]` or
        `__defaults__[0]`.
    scan : bool
        Whether a scan of the modules finds the place too.
    rebindable : bool
        Whether the place can be made to refer to another object.
    reason : str
        Why it cannot, "" if it can.
    garbage : bool
        Whether nothing reaches the place, so that only the collector can free it.
    """

    kind: str
    owner: str
    name: str
    scan: bool
    rebindable: bool
    reason: str = ""
    garbage: bool = False

    @property
    def path(self) -> str:
        """The owner and the name as one dotted path, the form that `keep` and `only` match."""
        return join_path(self.owner, self.name)

    @property
    def verdict(self) -> str:
        """`yes` where the place can be rebound, else `no` with the reason."""
        if self.rebindable:
            return "yes"

        reasons = []
        if self.reason:
            reasons.append(self.reason)
        if self.garbage:
            reasons.append("only the collector can free it")
        return f"no: {'; '.join(reasons)}"


def join_path(owner: str, name: str) -> str:
    """Return owner and name as one path; an index such as `[3]`, or an empty name, has no dot."""
    if not name or name.startswith(("[", "{", "(")):
        return owner + name
    return f"{owner}.{name}"


UNKNOWN = -1  # in place of a position


@dataclass(frozen=True, slots=True)
class Route:
    """One way to call a function.

    Attributes
    ----------
    name : str
        What the reader calls the route.
    call : str
        The source of the call.
    kind : str
        What refers to the function on this route: `name`, `function` or `object`.
    holds : tuple of int
        For each heading the position in the map's `functions` of the function that the route
        referred to, or `UNKNOWN`.
    """

    name: str
    call: str
    kind: str
    holds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A function to which routes lead.

    Attributes
    ----------
    label : str
        The function, as a picture writes it.
    codes : tuple of int
        For each heading the position in the map's `codes` of the function's code object, or
        `UNKNOWN`.
    """

    label: str
    codes: tuple[int, ...]


@dataclass(frozen=True)
class RouteMap(Ledger):
    """A ledger of what each route ran, with what each route referred to when it ran.

    Attributes
    ----------
    routes : tuple of Route
        The routes, in the order of the entries.
    functions : tuple of Function
        The old function and the new one.
    codes : tuple of str
        The last line of each code object.
    patches : tuple of str
        For each heading the source of what was done before the routes ran.
    """

    routes: tuple[Route, ...] = ()
    functions: tuple[Function, ...] = ()
    codes: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()

    def noticed(self, heading: str) -> tuple[str, ...]:
        """Return the routes that ran something else under `heading` than before any change."""
        column = self._column(heading)  # the position of the heading
        return tuple(
            entry.subject for entry in self.entries if entry.verdicts[column].tone == "changed"
        )

    def moved(self, heading: str) -> tuple[str, ...]:
        """Return the routes that refer to another function under `heading` than before any change.

        Such a route was rebound. A route may also notice a change without that, if the code inside
        its function was replaced.
        """
        column = self._column(heading)
        # Under the first heading, nothing has been changed.
        return tuple(route.name for route in self.routes if route.holds[column] != route.holds[0])
