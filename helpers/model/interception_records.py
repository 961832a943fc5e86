"""Records of the ways in which Python and frameworks let code intercept a call, and of who does so.

A way is, for example, a profiler or a dispatch mode. The map of the course has seven *stations*:
places that a call passes.
"""

from dataclasses import dataclass

from .tables import Listing

# Values of `Interception.now` that name no user.
NOBODY = "nobody"
NEW = "not in this Python"  # the way exists only in a newer Python
OLD = "not imported"  # the framework that has the way is not imported


@dataclass(frozen=True, slots=True)
class Interception:
    """A way to intercept a call, and who uses it.

    Attributes
    ----------
    station : str
        The name of the station of the map at which the way acts, or "around the call".
    way : str
        The name of the way.
    now : str
        Who uses it now; NOBODY, NEW or OLD if nobody does.
    sees : str
        What the interceptor gets to see.
    source : str
        The file that asks the interceptor.
    """

    station: str
    way: str
    now: str
    sees: str
    source: str


@dataclass(frozen=True, slots=True)
class Interceptions(Listing):
    """A listing of `Interception`s."""

    @property
    def taken(self) -> dict[str, str]:
        """Return name of a way -> who uses it now, for the ways that somebody uses."""
        return {row.way: row.now for row in self.rows if row.now not in (NOBODY, NEW, OLD)}

    def at(self, station: str) -> tuple[Interception, ...]:
        """Return the ways whose `station` is this one: a name on the map, or "around the call"."""
        return tuple(row for row in self.rows if row.station == station)
