"""Compare the times of two actions, and say which is faster only if their ranges do not overlap.

Each action is run and timed several times; one time is a *round*. A busy machine makes some rounds
longer than others. So one action counts as faster only if its slowest round was faster than the
fastest round of the other. This module is the one place with that rule.
"""

from collections.abc import Sequence
from statistics import median

NEAR = 1.25  # rounds are steady if the highest ratio is at most so many times the lowest
TOO_NOISY = "too noisy to compare"
AS_LONG = "about as long"
OVERLAP = "Two {} whose rounds overlap are too noisy to compare with each other."


class Ratio(float):
    """The fastest round of a first action, divided by the fastest round of a second one.

    Attributes
    ----------
    middle : float
        The median round of the first, divided by the fastest round of the second.
    rounds : int
        How many rounds of the first are counted.
    low, high : float
        The range of the ratio. If it does not contain 1, one of the actions is faster.
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
        """Return the number `fastest` with its attributes.

        Without `low` and `high`, the range goes from the smaller to the greater of `fastest` and
        `middle`.
        """
        ratio = super().__new__(cls, fastest)
        ratio.middle = middle
        ratio.rounds = rounds
        ratio.low = min(fastest, middle) if low is None else low
        ratio.high = max(fastest, middle) if high is None else high
        return ratio

    def __getnewargs__(self):
        """Return what pickle and copy pass to `__new__`."""
        return float(self), self.middle, self.rounds, self.low, self.high

    @property
    def between(self) -> str:
        """Return the range of the rounds, such as `1.04 and 19.2`."""
        return f"{format_three_digits(self.low)} and {format_three_digits(self.high)}"

    @property
    def unsure(self) -> str:
        """Return why neither action can be called faster; "" if one can.

        The result is AS_LONG if both take about as long, and TOO_NOISY if the rounds differ much.
        """
        # At a ratio of 1, both take equally long.
        if not ranges_overlap(self, (1.0, 1.0)):
            return ""
        is_steady = self.high <= NEAR * self.low
        return AS_LONG if is_steady else TOO_NOISY


def measure_ratio(seconds: Sequence[float], unit: Sequence[float]) -> Ratio:
    """Return the ratio of two lists of times that were measured in the same run.

    Parameters
    ----------
    seconds
        How long each round of an action took. The first round is a warm-up, and counts only if
        there are at most two rounds.
    unit
        How long each round of the action took that `seconds` are divided by.

    Returns
    -------
    Ratio
        Its range contains 1 if the counted rounds of both actions overlap.
    """
    action_rounds = drop_warm_up(seconds)
    unit_rounds = drop_warm_up(unit)
    fastest_unit = min(unit_rounds)
    # The range goes from the fastest round against the slowest unit to the opposite.
    return Ratio(
        fastest=min(action_rounds) / fastest_unit,
        middle=median(action_rounds) / fastest_unit,
        rounds=len(action_rounds),
        low=min(action_rounds) / max(unit_rounds),
        high=max(action_rounds) / fastest_unit,
    )


def drop_warm_up(seconds: Sequence[float]) -> Sequence[float]:
    """Return the rounds that count: all but the first, or both if there are only two."""
    return seconds[1:] if len(seconds) > 2 else seconds


def ranges_overlap(first: Ratio | tuple[float, float], second: Ratio | tuple[float, float]) -> bool:
    """Return whether the ranges of two ratios, or of (low, high) pairs, have a number in common."""
    low, high = read_range(first)
    other_low, other_high = read_range(second)
    return low <= other_high and other_low <= high


def read_range(ratio: Ratio | tuple[float, float]) -> tuple[float, float]:
    """Return (low, high) of a ratio, or a pair as it is."""
    if isinstance(ratio, Ratio):
        return ratio.low, ratio.high
    return ratio


def describe_cost(ratio: Ratio) -> str:
    """Return how many units an action takes, such as "about 20", or why that cannot be said."""
    # More than two digits would claim a precision that the times do not have.
    return ratio.unsure or f"about {format_two_digits(ratio)}"


def format_two_digits(number: float) -> str:
    """Return a number with two significant digits: 1.4, 19, 1,200."""
    if number < 10:
        return f"{number:.2g}"
    # The format `g` writes 1.2e+03, so the rounded number is formatted once more.
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}"


def format_three_digits(number: float) -> str:
    """Return a number with three significant digits: 1.04, 19.2, 1,230."""
    if number < 100:
        return f"{number:.3g}"
    # The format `g` writes 1.23e+03, so the rounded number is formatted once more.
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}"
