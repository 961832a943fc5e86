"""Rounds of one run -> what may be said of them: an order only where their ranges do not overlap.

A busy machine makes some rounds longer than others. So a ratio of two times is an order, faster or
slower, only if even the least lucky rounds agree on it. This is the one place with that rule.
"""

from collections.abc import Sequence
from statistics import median

NEAR = 1.25  # rounds that spread no further than this are steady
TOO_NOISY = "too noisy to compare"
AS_LONG = "about as long"
OVERLAP = "Two {} whose rounds overlap are too noisy to compare with each other."


class Ratio(float):
    """The fastest round of one thing, divided by the fastest round of another.

    Attributes
    ----------
    middle : float
        The same for the median round of the first.
    rounds : int
        How many rounds of the first are counted.
    low, high : float
        The least and the greatest ratio that a round of the first and a round of the second give.
    """

    middle: float
    rounds: int
    low: float
    high: float

    def __new__(
        cls,
        fastest: float,
        middle: float,
        rounds: int,
        low: float | None = None,
        high: float | None = None,
    ):
        """Return the number `fastest`; without `low` and `high`, two rounds are known of it."""
        made = super().__new__(cls, fastest)
        made.middle, made.rounds = middle, rounds
        made.low = min(fastest, middle) if low is None else low
        made.high = max(fastest, middle) if high is None else high
        return made

    def __getnewargs__(self):
        return float(self), self.middle, self.rounds, self.low, self.high

    @property
    def between(self) -> str:
        """Return the range of the rounds, in words."""
        return f"{three_digits(self.low)} and {three_digits(self.high)}"

    @property
    def unsure(self) -> str:
        """Return why this ratio claims no order, in words; "" if it claims one."""
        if not overlap(self, (1.0, 1.0)):
            return ""
        steady = self.high <= NEAR * self.low
        return AS_LONG if steady else TOO_NOISY


def measure_ratio(seconds: Sequence[float], unit: Sequence[float]) -> Ratio:
    """Return the ratio of two lists of rounds from the same run.

    Parameters
    ----------
    seconds
        How long each round of an action took. The first warms up. It counts only if there are no
        more than two.
    unit
        The same for what the action is compared with.

    Returns
    -------
    Ratio
        It claims an order only if the counted rounds of both do not overlap.
    """
    action, base = count_rounds(seconds), count_rounds(unit)
    least = min(base)
    return Ratio(
        min(action) / least,
        median(action) / least,
        len(action),
        low=min(action) / max(base),
        high=max(action) / least,
    )


def count_rounds(seconds: Sequence[float]) -> Sequence[float]:
    """Return the rounds that count: all but the first, or both if there are only two."""
    return seconds[1:] if len(seconds) > 2 else seconds


def overlap(first: Ratio | tuple[float, float], second: Ratio | tuple[float, float]) -> bool:
    """Return whether the ranges of two ratios, or of (low, high) pairs, have a number in common."""
    low, high = ends(first)
    other_low, other_high = ends(second)
    return low <= other_high and other_low <= high


def ends(ratio: Ratio | tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a range."""
    return (ratio.low, ratio.high) if isinstance(ratio, Ratio) else ratio


def cost_words(ratio: Ratio) -> str:
    """Return how long something takes, in units: "about 20", or why that cannot be said."""
    # More digits would pretend to a precision it lacks.
    return ratio.unsure or f"about {two_digits(ratio)}"


def two_digits(number: float) -> str:
    """Return a number with two digits that count: 1.4, 19, 1,200."""
    return f"{float(f'{number:.2g}'):,.0f}" if number >= 10 else f"{number:.2g}"


def three_digits(number: float) -> str:
    """Return a number with three digits that count: 1.04, 19.2, 1,230."""
    return f"{float(f'{number:.3g}'):,.0f}" if number >= 100 else f"{number:.3g}"
