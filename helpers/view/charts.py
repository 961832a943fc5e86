"""Numbers -> a bar plot of ratios, or a curve; both say the numbers in words too."""

import math
from collections import namedtuple
from collections.abc import Callable
from numbers import Real

from ..model.noise import OVERLAP, Ratio, two_digits
from ..model.phrase import clipped
from . import View
from .images import encode_image
from .markup import grid, joined, one_line, render

MOST_TICKS = 5
SCALE = "The scale is logarithmic: doubling and halving give bars of equal length."
TIMED = "A bar is the time of what is named, divided by the time of what it is compared with. Both "
TIMED += (
    f"are the fastest of {{}} rounds. The thin line spans the rounds. {OVERLAP.format('bars')} "
)
UNSURE = "A bar without a length claims no order."
NO_ROUNDS = "–"  # a number that a caller passes, without its rounds
STEEP = 20  # times the least number: beyond it a curve is logarithmic
MOST_POINTS = 600  # of the curve; of more numbers some are drawn
SAID = (0, 0.01, 0.03, 0.1, 0.3, 1)  # parts of the way at which the text form gives the number
NUMBERS = "the model has all of them (`.model.numbers`)"


class Plot:
    """Ratios by name as a picture and as text. A ratio whose rounds spread too far says so."""

    def __init__(self, title: str, ratios: dict[str, float]):
        self.title, self.ratios = title, ratios

    def __repr__(self) -> str:
        if not self._rounds():
            rows = [[name, _times(ratio)] for name, ratio in self.ratios.items()]
            return joined(self.title, grid(["bar", "ratio"], rows))
        rows = [_text_row(name, ratio) for name, ratio in self.ratios.items()]
        headings = ["bar", "ratio", "rounds between", "rounds"]
        return joined(self.title, grid(headings, rows), OVERLAP.format("bars"))

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": repr(self), "text/html": self._html()}

    def _rounds(self) -> list[int]:
        return sorted({ratio.rounds for ratio in self.ratios.values() if isinstance(ratio, Ratio)})

    def _html(self) -> str:
        """Return one bar per ratio, and a line at 1 where both take as long."""
        place, low, high = self._scale()
        bars = [_drawn_bar(name, ratio, place) for name, ratio in self.ratios.items()]
        ticks = [(place(tick), _times(tick)) for tick in _ratio_ticks(low, high)]
        rounds = self._rounds()
        many = f"{rounds[0]} to {rounds[-1]}" if len(rounds) > 1 else "".join(map(str, rounds))
        timed = f"{TIMED.format(many)} {UNSURE} " if rounds else ""
        spoken = ", ".join(f"{bar['name']} {bar['words']}" for bar in bars)
        return render(
            "plot.html",
            title=self.title,
            alt=f"{self.title}: {spoken}",
            bars=bars,
            ticks=ticks,
            one=place(1),
            less=low < 0,
            more=high > 0,
            wide=min(30, 0.62 * max(len(bar["name"]) for bar in bars) + 1),
            said=timed + SCALE,
        )

    def _scale(self) -> tuple[Callable[[float], float], float, float]:
        """Return a function from a ratio to its place in per cent, and the logarithms of the ends.

        The line at 1 is between the ends, or at one of them.
        """
        places = [1.0, *self.ratios.values()]
        for ratio in self.ratios.values():
            if isinstance(ratio, Ratio):
                places += [ratio.low, ratio.high]
        low, high = math.log10(min(places)), math.log10(max(places))
        if low == high:
            low, high = -0.3, 0.3

        def place(ratio: float) -> float:
            return round(100 * (math.log10(ratio) - low) / (high - low), 2)

        return place, low, high


def _text_row(name: str, ratio: float) -> list[str]:
    if not isinstance(ratio, Ratio):
        return [name, _times(ratio), NO_ROUNDS, NO_ROUNDS]
    return [name, ratio.unsure or _times(ratio), ratio.between, str(ratio.rounds)]


def _drawn_bar(name: str, ratio: float, place: Callable[[float], float]) -> dict:
    """Return what the template needs of one bar; one that claims no order has no length."""
    rounds = isinstance(ratio, Ratio)
    unsure = ratio.unsure if rounds else ""
    low, high = (place(ratio.low), place(ratio.high)) if rounds else (place(ratio), place(ratio))
    start = end = place(1)
    if not unsure:
        start, end = sorted([start, place(ratio)])
    number = unsure or _times(ratio)
    return {
        "name": _short(name),
        "number": number,
        "words": f"{number}, rounds between {ratio.between}" if rounds else number,
        "less": ratio < 1,
        "unsure": bool(unsure),
        "left": start,
        "width": round(end - start, 2),
        "low": low,
        "spread": round(high - low, 2),
        "near": min(start, low),
        "far": max(end, high),
    }


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Return the ratios at which an axis has a mark, besides 1; its ends are logarithms."""
    ticks = [0.2, 0.5, 2.0, 5.0]
    if high - low >= 1:  # the powers of ten that there is room for
        step = math.ceil((high - low) / MOST_TICKS)
        powers = range(math.ceil(low), math.floor(high) + 1)
        ticks = [10.0**power for power in powers if power and power % step == 0]
    return [tick for tick in ticks if low <= math.log10(tick) <= high]


def plot(title: str, ratios: dict[str, float]) -> Plot:
    """Return a bar plot of positive ratios by name; TypeError or ValueError for others."""
    if not isinstance(title, str) or not isinstance(ratios, dict) or not ratios:
        raise TypeError("a plot needs a title and a dict of name -> number")
    for name, ratio in ratios.items():
        if not isinstance(name, str) or not _is_number(ratio):
            raise TypeError("a bar needs a str as its name, and a positive number: float(…)")
        if not 1e-30 <= ratio <= 1e30:
            shown = f"{_short(name)!r} is {clipped(str(ratio), 30)}"
            raise ValueError(f"{shown}; a bar needs a positive number, from 1e-30 to 1e+30")
    made = {name: r if isinstance(r, Ratio) else float(r) for name, r in ratios.items()}
    return Plot(_short(title, 200), made)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _short(words: str, most: int = 60) -> str:
    return clipped(one_line(words), most)


def _times(ratio: float) -> str:
    """Return a ratio as words: 19×, 0.82×, 1/16."""
    return f"1/{two_digits(1 / ratio)}" if ratio <= 0.1 else f"{two_digits(ratio)}×"


# Numbers by step, under a title; `step` says what is counted, `number` what each is.
Curve = namedtuple("Curve", "title numbers step number", defaults=["number"])


def make_curve(title: str, numbers, step: str = "step", number: str = "number") -> Curve:
    """Return a curve of numbers from 0; TypeError or ValueError names what is not one."""
    if not all(isinstance(words, str) for words in (title, step, number)):
        raise TypeError("the title and the words for a step and a number must be text")
    if not isinstance(numbers, list | tuple) or not all(map(_is_number, numbers)):
        raise TypeError("a curve needs a list or a tuple of numbers: int or float")
    if not numbers or not all(0 <= number < 1e300 for number in numbers):
        raise ValueError("a curve needs 1 number or more, from 0 to 1e300")
    return Curve(_short(title, 100), tuple(map(float, numbers)), _short(step, 100), _short(number))


def _curve_text(model: Curve) -> str:
    last = len(model.numbers) - 1
    places = sorted({round(part * last) for part in SAID})
    rows = [[str(place), f"{model.numbers[place]:.3g}"] for place in places]
    rest = last + 1 - len(places)
    said = f"{rest:,} numbers are left out here: {NUMBERS}." if rest else ""
    return joined(model.title, grid([model.step, model.number], rows), said)


def _curve_html(model: Curve) -> str:
    """Return the picture of the first number, the last, and others evenly between."""
    count, (highs, high, scale) = len(model.numbers), _scale(model.numbers)
    places = sorted({*range(0, count, math.ceil(count / MOST_POINTS)), count - 1})
    last = max(count - 1, 1)
    points = {n: (round(n / last * 100, 2), high(model.numbers[n])) for n in places}
    line = (f"{10 * across:g} {1000 - 10 * up:.4g}" for across, up in points.values())
    drawn = {"highs": [(round(high(n), 2), f"{n:g}") for n in highs]}
    drawn["path"] = "M" + "L".join(line)
    drawn["image"] = encode_image(render("curve.svg", **drawn))
    alongs = (n for n in _ticks(last, 1) if n <= last)
    drawn["alongs"] = [(round(100 * n / last, 2), f"{n:,.0f}") for n in alongs]
    first, final = (f"{model.numbers[at]:.3g}" for at in (0, -1))
    rises = model.numbers[last // 10] > model.numbers[0]
    drawn["ends"] = [(*points[0], first, f"margin:0 0 {-18 if rises else 2}px 7px;")] * (count > 1)
    drawn["ends"] += [(*points[count - 1], final, "margin:0 0 -8px 6px;")]
    drawn |= {"wide": 1.2 + 0.6 * max(len(words) for _, words in drawn["highs"]), "final": final}
    note = f"{len(places):,} of {count:,} numbers are drawn: {NUMBERS}." * (len(places) < count)
    drawn |= {"model": {"title": model.title, "note": note}, "body": _curve_text(model)}
    drawn["alt"] = f"{model.title}: {count:,} numbers, from {first} to {final}, some listed below"
    return render("curve.html", up=model.number + scale, step=model.step, **drawn)


def _scale(numbers: tuple[float, ...]) -> tuple:
    """Return ticks, a function to per cent of the height, and what to say of a logarithmic axis."""
    least, most = min(numbers), max(numbers)
    if not least or most / least <= STEEP:
        ticks = _ticks(most or 1.0)
        return ticks, lambda n: n / ticks[-1] * 100, ""
    low, wide = math.log10(least), math.log10(most / least)
    digits = (1, 2, 5) if wide < 2 else (1,)  # a short axis has ticks between powers of ten too
    powers = range(math.floor(low), math.ceil(low + wide) + 1, math.ceil(wide / MOST_TICKS))
    ticks = [n for power in powers for d in digits if least <= (n := d * 10.0**power) <= most]
    return ticks, lambda n: 4 + 92 * (math.log10(n) - low) / wide, " (logarithmic axis)"


def _ticks(most: float, least: float = 0) -> list[float]:
    """Return 0 and round numbers after it, to the first that is not below `most`."""
    whole = 10.0 ** math.floor(math.log10(max(most, 1e-300) / 5))
    step = max(next(n * whole for n in (1, 2, 5, 10) if n * whole * 5 >= most), least)
    return [n * step for n in range(math.ceil(most / step) + 1)]


curve = View(_curve_text, _curve_html)
