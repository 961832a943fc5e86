"""Records of one function call: what happened to it at each of six stations, from name to C call.

A *station* is a place where something may take over a call, such as the look-up of the function's
name or the evaluation of its frame. `SPINE` lists the stations in order.
"""

from dataclasses import dataclass

from .phrase import find_named
from .spine import SPINE

SHARES = ("your frames", "Python of the libraries", "C functions")
NOT_CALLED = "It was not called again."


@dataclass(frozen=True, slots=True)
class Stop:
    """What one call did at one station.

    Attributes
    ----------
    station : int
        The number of the station in `SPINE`, from 1.
    passed : bool
        Whether the call passed the station.
    brief : str
        What happened, in two or three words.
    words : str
        What happened at the station, or why the call did not pass the station, as a sentence.
    """

    station: int
    passed: bool
    brief: str
    words: str


@dataclass(frozen=True)
class Passage:
    """One call on its way past the stations.

    Attributes
    ----------
    stops : tuple of Stop
        A stop for each station of `SPINE`, in order.
    counts : tuple of (str, int)
        How many names, frames, lines and so on the call had.
    ops : tuple of str
        The names of the ops that ran.
    outcome : str
        What the call raised, "" if it returned.
    printed : str
        What the call printed.
    ran : str
        Which of the reader's lines ran, as a sentence.
    instead : str
        Who ran those lines, or what ran in their place.
    """

    stops: tuple[Stop, ...]
    counts: tuple[tuple[str, int], ...] = ()
    ops: tuple[str, ...] = ()
    outcome: str = ""
    printed: str = ""
    ran: str = ""
    instead: str = ""

    @property
    def has_answer(self) -> bool:
        """Return whether the call was made and came to its end."""
        return not self.outcome and self.ran != NOT_CALLED

    @property
    def passed(self) -> tuple[str, ...]:
        """Return the names of the stations that this call passed, such as `name` and `frame`."""
        return tuple(_station_name(stop) for stop in self.stops if stop.passed)

    def stop(self, name: str) -> Stop:
        """Return what the call did at the station of this name; KeyError for another name."""
        return {_station_name(stop): stop for stop in self.stops}[name]

    def count(self, what: str) -> int:
        """Return how many there were of "names", "frames", "lines" and so on.

        KeyError for a word that is not in `counts`.
        """
        return dict(self.counts)[what]


def _station_name(stop: Stop) -> str:
    """Return the name of the station of a stop."""
    return SPINE[stop.station - 1].name  # stations count from 1


@dataclass(frozen=True)
class Journey:
    """The first call that was watched, and the same call again.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    first : Passage
        The first call.
    again : Passage
        The second call.
    shares : tuple of (str, float)
        Whose code the second call ran, and which part of the time that code took, from 0 to 1.
    note : str
        What else a reader must know; why a way could not be taken, if it has no stops.
    way : str
        How the function was called, such as `tf.function`.
    source : str
        The source of the function.
    others : tuple of Journey
        The journeys of the same call in other ways.
    """

    title: str
    first: Passage
    again: Passage
    shares: tuple[tuple[str, float], ...] = ()
    note: str = ""
    way: str = ""
    source: str = ""
    others: tuple["Journey", ...] = ()

    @property
    def ways(self) -> tuple["Journey", ...]:
        """Return this journey, and those of the other ways."""
        return self, *self.others

    def by(self, way: str) -> "Journey":
        """Return the journey of one way, such as `torch.compile`; KeyError if it is not here."""
        return find_named(self.ways, way, "way")
