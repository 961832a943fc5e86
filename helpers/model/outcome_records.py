"""Records of how often a program returned each result, in many runs with each kind of variable.

The ops of a TensorFlow graph may run in any order, so runs of one program may differ.
"""

from dataclasses import dataclass

from .tables import Listing


@dataclass(frozen=True, slots=True)
class VariableOutcome:
    """What some runs of a program returned.

    Attributes
    ----------
    variable : str
        The kind of variable, such as "RefVariable".
    saw : str
        What the runs returned, as text.
    runs : int
        How many runs returned it.
    share : str
        A bar, as long as the share of these runs.
    between : str
        The smallest and the largest share of a round, in per cent.
    """

    variable: str
    saw: str
    runs: int
    share: str
    between: str


@dataclass(frozen=True, slots=True)
class Histogram(Listing):
    """A listing of outcomes that can be asked for what one kind of variable saw."""

    def saw(self, variable: str) -> tuple[str, ...]:
        """Return the results of the runs with one kind of variable, the most frequent first."""
        return tuple(row.saw for row in self.rows if row.variable == variable)
