"""Rounds of one run -> what may be said of them: an order only if their ranges do not overlap.

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
        """Return the number `fastest` with its attributes.

        Without `low` and `high`, the range is that of the two rounds `fastest` and `middle`.
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
        """Return why this ratio claims no order, in words; "" if it claims one."""
        # An order is claimed only if the range leaves out 1, at which both take equally long.
        if not ranges_overlap(self, (1.0, 1.0)):
            return ""
        is_steady = self.high <= NEAR * self.low  # then both really take about as long
        return AS_LONG if is_steady else TOO_NOISY


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
    action_rounds = drop_warm_up(seconds)
    unit_rounds = drop_warm_up(unit)
    fastest_unit = min(unit_rounds)
    # The range is that of the least lucky pairs of rounds.
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
    """Return how long something takes, in units: "about 20", or why that cannot be said."""
    # More digits would pretend to a precision it lacks.
    return ratio.unsure or f"about {format_two_digits(ratio)}"


def format_two_digits(number: float) -> str:
    """Return a number with two digits that count: 1.4, 19, 1,200."""
    if number < 10:
        return f"{number:.2g}"
    # `g` would write 1.2e+03, so the rounded number is written a second time.
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}"


def format_three_digits(number: float) -> str:
    """Return a number with three digits that count: 1.04, 19.2, 1,230."""
    if number < 100:
        return f"{number:.3g}"
    # `g` would write 1.23e+03, so the rounded number is written a second time.
    rounded = float(f"{number:.3g}")
    return f"{rounded:,.0f}"
