"""Ratios by name -> bars from a line at 1, on a logarithmic scale, or a table of the numbers.
A ratio says how long one thing takes compared with another. It is a plain number from a caller, or
a measured `Ratio`, which knows the range of its *rounds* (repeated measurements). A `Ratio` whose
range is too wide is *unsure*: it does not claim that one thing is faster.
"""

import math
from dataclasses import dataclass

from ..model.noise import OVERLAP, Ratio, format_two_digits
from ..model.phrase import clip_text
from .markup import render
from .plain_text import escape_to_one_line, join_nonempty, render_grid

MOST_TICKS = 5
LONGEST_NAME = 60
WIDEST_NAMES = 30  # em
LETTER_WIDTH = 0.62  # em
HALF_WITHOUT_SPREAD = 0.3  # if all ratios are 1: the logarithm at which the axis ends on both sides
LEAST_AS_NUMBER = 0.1  # a ratio that is not above it is written as a fraction, such as 1/16

SCALE = "The scale is logarithmic: doubling and halving give bars of equal length."
TIMED = (
    "A bar is the time of what is named, divided by the time of what it is compared with. "
    "Both are the fastest of {} rounds. The thin line spans the rounds. "
)
UNSURE = "A bar without a length claims no order."
NO_ROUNDS = "–"  # a number that a caller passes, without its rounds


@dataclass(frozen=True)
class RatioAxis:
    """A logarithmic axis, from 0 to 100 per cent of the width."""

    low: float
    """The logarithm of the least ratio."""
    high: float
    """The logarithm of the greatest ratio."""

    def place(self, ratio: float) -> float:
        """Return where a ratio is, in per cent."""
        part = (math.log10(ratio) - self.low) / (self.high - self.low)
        return round(100 * part, 2)

    def list_ticks(self) -> list[float]:
        """Return the ratios at which the axis has a mark, besides 1, whose line is always drawn."""
        spans_a_power_of_ten = self.high - self.low >= 1
        ticks = self._list_powers_of_ten() if spans_a_power_of_ten else [0.2, 0.5, 2.0, 5.0]
        return [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]

    def _list_powers_of_ten(self) -> list[float]:
        """Return the powers of ten on the axis, every second or third if there are many; not 1."""
        step = math.ceil((self.high - self.low) / MOST_TICKS)
        powers = range(math.ceil(self.low), math.floor(self.high) + 1)
        return [10.0**power for power in powers if power != 0 and power % step == 0]


@dataclass(frozen=True)
class Bar:
    """One bar; its places are per cent of the width. One that claims no order has no length."""

    name: str
    """What is compared."""
    number: str
    """The ratio as text, or why it claims no order."""
    spoken: str
    """The same with the range of its rounds, for a screen reader."""
    less: bool
    """The ratio is less than 1."""
    unsure: bool
    """The ratio claims no order."""
    left: float
    """Where the bar begins."""
    width: float
    """Its width."""
    low: float
    """Where the thin line begins that spans the rounds."""
    spread: float
    """How wide the thin line is; 0 for a ratio without rounds."""
    near: float
    """Where the first of the bar and the thin line begins."""
    far: float
    """Where the last of the bar and the thin line ends."""


def render_bars_text(title: str, ratios: dict[str, float]) -> str:
    """Return a table of the ratios, with columns for rounds if some ratio was measured."""
    if not _list_round_counts(ratios):
        rows = [[name, format_ratio(ratio)] for name, ratio in ratios.items()]
        return join_nonempty(title, render_grid(["bar", "ratio"], rows))

    rows = [_list_ratio_cells(name, ratio) for name, ratio in ratios.items()]
    table = render_grid(["bar", "ratio", "rounds between", "rounds"], rows)
    return join_nonempty(title, table, OVERLAP.format("bars"))


def _list_ratio_cells(name: str, ratio: float) -> list[str]:
    """Return the cells of a row: the name, the ratio, the range of its rounds, their number.

    For an unsure ratio, the second cell says why it is unsure instead of the number.
    """
    if not isinstance(ratio, Ratio):
        return [name, format_ratio(ratio), NO_ROUNDS, NO_ROUNDS]
    number = ratio.unsure or format_ratio(ratio)
    return [name, number, ratio.between, str(ratio.rounds)]


def render_bars_html(title: str, ratios: dict[str, float]) -> str:
    """Return one bar per ratio, and a line at 1, where both take equally long."""
    axis = _make_ratio_axis(ratios)
    bars = [_draw_bar(name, ratio, axis) for name, ratio in ratios.items()]
    ticks = [(axis.place(tick), format_ratio(tick)) for tick in axis.list_ticks()]
    longest_name = max(len(bar.name) for bar in bars)
    spoken = ", ".join(f"{bar.name} {bar.spoken}" for bar in bars)
    return render(
        "plot.html",
        title=title,
        alt=f"{title}: {spoken}",
        bars=bars,
        ticks=ticks,
        one=axis.place(1),
        less=axis.low < 0,  # whether there is a ratio below 1, whose logarithm is below 0
        more=axis.high > 0,  # whether there is a ratio above 1
        wide=min(WIDEST_NAMES, LETTER_WIDTH * longest_name + 1),  # of the column of names, in em
        said=_describe_bars(ratios) + SCALE,
    )


def _list_round_counts(ratios: dict[str, float]) -> list[int]:
    """Return the numbers of rounds that the measured ratios have, the least first, each once."""
    return sorted({ratio.rounds for ratio in ratios.values() if isinstance(ratio, Ratio)})


def _describe_bars(ratios: dict[str, float]) -> str:
    """Return the sentences on what a bar means; an empty text if all ratios are plain numbers."""
    round_counts = _list_round_counts(ratios)
    if not round_counts:
        return ""

    counts = str(round_counts[0])
    if len(round_counts) > 1:  # from the least to the greatest
        counts = f"{round_counts[0]} to {round_counts[-1]}"
    return f"{TIMED.format(counts)}{OVERLAP.format('bars')}  {UNSURE} "


def _make_ratio_axis(ratios: dict[str, float]) -> RatioAxis:
    """Return an axis on which 1, all ratios and the ranges of their rounds have a place."""
    numbers = [1.0, *ratios.values()]
    for ratio in ratios.values():
        if isinstance(ratio, Ratio):
            numbers += [ratio.low, ratio.high]

    low = math.log10(min(numbers))
    high = math.log10(max(numbers))
    if low == high:  # an axis without a length would divide by 0
        return RatioAxis(-HALF_WITHOUT_SPREAD, HALF_WITHOUT_SPREAD)
    return RatioAxis(low, high)


def _draw_bar(name: str, ratio: float, axis: RatioAxis) -> Bar:
    """Return the bar of a ratio: from 1 to the ratio, or without a length if it is unsure."""
    place = axis.place(ratio)
    low = high = place  # a plain number has no range
    unsure = ""  # why the ratio claims no order; empty if it claims one
    spoken = format_ratio(ratio)
    if isinstance(ratio, Ratio):
        low = axis.place(ratio.low)
        high = axis.place(ratio.high)
        unsure = ratio.unsure
        spoken = f"{unsure or format_ratio(ratio)}, rounds between {ratio.between}"

    start = end = axis.place(1)  # a bar without a length
    if not unsure:
        start, end = sorted([start, place])
    return Bar(
        name=shorten_name(name),
        number=unsure or format_ratio(ratio),
        spoken=spoken,
        less=ratio < 1,
        unsure=bool(unsure),
        left=start,
        width=round(end - start, 2),
        low=low,
        spread=round(high - low, 2),
        near=min(start, low),
        far=max(end, high),
    )


def shorten_name(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a name that a caller passes, in one line and cut to fit."""
    return clip_text(escape_to_one_line(text), longest)


def format_ratio(ratio: float) -> str:
    """Return a ratio as text: 19×, 0.82×, 1/16."""
    if ratio <= LEAST_AS_NUMBER:
        return f"1/{format_two_digits(1 / ratio)}"
    return f"{format_two_digits(ratio)}×"
