"""Records of the ways to intercept a call, and of who uses them."""

from dataclasses import dataclass

from .tables import Listing

# What stands in place of a user: nobody uses the way, this Python does not have it, or the
# framework that has it is not imported.
NOBODY = "nobody"
NEW = "not in this Python"
OLD = "not imported"


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
        """Return who uses each way that somebody uses, by the name of the way."""
        return {row.way: row.now for row in self.rows if row.now not in (NOBODY, NEW, OLD)}

    def at(self, station: str) -> tuple[Interception, ...]:
        """Return the ways at a station of the map, or those "around the call"."""
        return tuple(row for row in self.rows if row.station == station)
