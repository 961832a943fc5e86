"""Records of what actions cost, measured against a unit in one run."""

from dataclasses import dataclass

from .noise import Ratio
from .tables import Listing


@dataclass(frozen=True, slots=True)
class Cost:
    """One action, timed.

    Attributes
    ----------
    action : str
        The name of the action.
    ratio : Ratio
        How many runs of the unit take as long as one run of the action.
    words : str
        The ratio as words.
    between : str
        The ratios of the fastest and of the slowest round, as words.
    """

    action: str
    ratio: Ratio
    words: str
    between: str


@dataclass(frozen=True, slots=True)
class Costs(Listing):
    """A listing of `Cost`s that can be asked for one ratio."""

    def ratio(self, action: str) -> Ratio:
        """Return the ratio of this action, a float; KeyError if it was not measured."""
        return {row.action: row.ratio for row in self.rows}[action]
