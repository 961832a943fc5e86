"""Two calls of one function -> which of the six seams each passed, with counts and what was chosen.

The stations are those of `helpers.model.spine`; what was not measured is in no count.
"""

from dataclasses import dataclass

from helpers.model.spine import SPINE

COUNTED = (  # what `Passage.count` can be asked for
    *("names", "keys", "traces", "frames", "lines", "operators", "frames of Dynamo's"),
    *("translated", "frames of others", "ops", "nodes", "C calls"),
)
SHARES = ("your frames", "Python of the libraries", "C functions")


@dataclass(frozen=True)
class Stop:
    """One station in one call. `brief`: two or three words; `words`: what happened, or why not."""

    station: int
    passed: bool
    brief: str
    words: str


@dataclass(frozen=True)
class Passage:
    """One call: a stop per station, in order; its counts; what it raised and what it printed."""

    stops: tuple[Stop, ...]
    counts: tuple[tuple[str, int], ...] = ()
    ops: tuple[str, ...] = ()
    outcome: str = ""
    printed: str = ""

    def __post_init__(self):
        numbers = tuple(stop.station for stop in self.stops)
        if numbers != tuple(station.number for station in SPINE):
            raise ValueError(f"a passage has a stop for each station in order, not {numbers}")

    @property
    def passed(self) -> tuple[str, ...]:
        """Return the names of the stations that this call passed, such as `name` and `frame`."""
        return tuple(SPINE[stop.station - 1].name for stop in self.stops if stop.passed)

    def stop(self, name: str) -> Stop:
        """Return the stop at a station by its name; KeyError if there is no such station."""
        return {SPINE[stop.station - 1].name: stop for stop in self.stops}[name]

    def count(self, what: str) -> int:
        """Return how many of `COUNTED` there were; KeyError for another word."""
        return {**dict.fromkeys(COUNTED, 0), **dict(self.counts)}[what]


@dataclass(frozen=True)
class Journey:
    """The first call that was watched, and the same call again. `shares`: parts of its time.

    They are of calls that nothing else watched, sum up to 1, and bear the names of `SHARES`; ()
    where nobody asked for them.
    """

    title: str
    first: Passage
    again: Passage
    shares: tuple[tuple[str, float], ...] = ()
    note: str = ""

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the names of the stations at which the second call did something else."""
        both = zip(SPINE, self.first.stops, self.again.stops, strict=True)
        return tuple(station.name for station, one, other in both if one != other)
