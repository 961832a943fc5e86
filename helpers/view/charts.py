"""Numbers -> a bar plot of ratios, or a curve; both say the numbers in words too."""

import math
from dataclasses import dataclass
from numbers import Real

from ..model.phrase import clipped
from . import View
from .ink import LETTER, as_image, drawn_width, pictured
from .markup import grid, joined, one_line, render

WIDTH, TOP, ROW = 400, 44, 26  # of the bars; of the scale; of a row: pixels
NUMBER, GAP = 62, 8  # room for a number beside a bar
FITS = 0.84  # of its natural size, where letters have 10 pixels; a narrower window scrolls
MOST_TICKS = 7
SCALE = "Logarithmic scale: doubling and halving give bars of equal length."
MOST_POINTS = 600  # of the curve; of more numbers some are drawn
SAID = (0, 0.01, 0.03, 0.1, 0.3, 1)  # parts of the way at which the text form gives the number
NUMBERS = "the model has all of them (`.model.numbers`)"


class Plot:
    """Ratios by name as a picture; they are measured, so tests compare no cell that ends in one."""

    def __init__(self, title: str, ratios: dict[str, float]):
        self.title, self.ratios = title, ratios

    def __repr__(self) -> str:
        rows = [[name, _rounded(ratio)] for name, ratio in self.ratios.items()]
        return joined(self.title, grid(["bar", "ratio"], rows))

    def _repr_mimebundle_(self, include=None, exclude=None):
        words = (f"{_short(name)} {_rounded(ratio)}" for name, ratio in self.ratios.items())
        alt = f"{self.title}: {', '.join(words)}"
        image = pictured(self.svg(), FITS)
        html = render("plot.html", title=self.title, alt=alt, scale=SCALE, **image)
        return {"text/plain": repr(self), "text/html": html}

    def svg(self) -> str:
        """Return the plot as SVG text: one bar per ratio, and a line where both take as long."""
        low, high = (math.log10(edge(1.0, *self.ratios.values())) for edge in (min, max))
        low, high = (low, high) if low < high else (-0.3, 0.3)  # 1 is between them, or one of them
        names = max(drawn_width(_short(name), LETTER) for name in self.ratios) + 2 * GAP
        left = names + GAP + (NUMBER if low < 0 else 0)

        def place(ratio: float) -> int:
            return left + round(WIDTH * (math.log10(ratio) - low) / (high - low))

        one, bars = place(1), []
        for name, ratio in self.ratios.items():
            end, side = place(ratio), "less" if ratio < 1 else "more"
            bar = {"name": _short(name), "number": _rounded(ratio), "side": side}
            bar |= {"y": TOP + ROW * len(bars), "x": min(one, end), "width": max(abs(end - one), 2)}
            bars.append(bar | {"said": end - GAP if side == "less" else end + GAP})
        sides = [("◀ less", (left + one) // 2)] if low < 0 else []
        sides += [("more ▶", (one + left + WIDTH) // 2)] if high > 0 else []
        ticks = [0.2, 0.5, 1.0, 2.0, 5.0]
        if high - low >= 1:  # 1 and the powers of ten that there is room for
            step = math.ceil((high - low) / MOST_TICKS)
            powers = range(math.ceil(low), math.floor(high) + 1)
            ticks = [10.0**power for power in powers if power % step == 0]
        ticks = [(place(t), f"{t:,g}") for t in ticks if low <= math.log10(t) <= high]
        size = left + WIDTH + (NUMBER if high > 0 else GAP), TOP + ROW * len(bars) + GAP
        drawn = {"names": names, "bars": bars, "sides": sides, "ticks": ticks, "top": TOP}
        return render("plot.svg", width=size[0], height=size[1], **drawn)


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
    return Plot(_short(title, 200), {name: float(ratio) for name, ratio in ratios.items()})


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _short(words: str, most: int = 60) -> str:
    return clipped(one_line(words), most)


def _rounded(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,.0f}" if ratio >= 100 else f"{ratio:.2g}"


@dataclass(frozen=True)
class Curve:
    """Numbers by step, under a title; `step` says what is counted."""

    title: str
    numbers: tuple[float, ...]
    step: str


def make_curve(title: str, numbers, step: str = "step") -> Curve:
    """Return a curve of numbers from 0; TypeError or ValueError names what is not one."""
    if not isinstance(title, str) or not isinstance(step, str):
        raise TypeError("the title and the word for a step must be text")
    if not isinstance(numbers, list | tuple) or not all(map(_is_number, numbers)):
        raise TypeError("a curve needs a list or a tuple of numbers: int or float")
    if not numbers or not all(0 <= number < 1e300 for number in numbers):
        raise ValueError("a curve needs 1 number or more, from 0 to 1e300")
    return Curve(_short(title, 100), tuple(map(float, numbers)), _short(step, 100))


def _curve_text(model: Curve) -> str:
    last = len(model.numbers) - 1
    places = sorted({round(part * last) for part in SAID})
    rows = [[str(place), f"{model.numbers[place]:.3g}"] for place in places]
    rest = last + 1 - len(places)
    said = f"{rest:,} numbers are left out here: {NUMBERS}." if rest else ""
    return joined(model.title, grid([model.step, "number"], rows), said)


def _curve_html(model: Curve) -> str:
    """Return the picture of the first number, the last, and others evenly between."""
    count, highs = len(model.numbers), _ticks(max(model.numbers) or 1.0)
    places = sorted({*range(0, count, math.ceil(count / MOST_POINTS)), count - 1})
    last, most = max(count - 1, 1), highs[-1]
    points = {n: (round(n / last * 100, 2), model.numbers[n] / most * 100) for n in places}
    line = (f"{10 * across:g} {1000 - 10 * up:.4g}" for across, up in points.values())
    drawn = {
        "highs": [(round(100 * n / most, 2), f"{n:g}") for n in highs],
        "path": "M" + "L".join(line),
    }
    drawn["image"] = as_image(render("curve.svg", **drawn))
    drawn["alongs"] = [
        (round(100 * n / last, 2), f"{n:,.0f}") for n in _ticks(last, 1) if n <= last
    ]
    first, final = (f"{model.numbers[at]:.3g}" for at in (0, -1))
    rises = model.numbers[last // 10] > model.numbers[0]
    drawn["ends"] = [(*points[0], first, f"margin:0 0 {-18 if rises else 2}px 7px;")] * (count > 1)
    drawn["ends"] += [(*points[count - 1], final, "margin:0 0 -8px 6px;")]
    drawn |= {"wide": 1.2 + 0.6 * max(len(words) for _, words in drawn["highs"]), "final": final}
    note = f"{len(places):,} of {count:,} numbers are drawn: {NUMBERS}." * (len(places) < count)
    drawn |= {"model": {"title": model.title, "note": note}, "body": _curve_text(model)}
    drawn["alt"] = f"{model.title}: {count:,} numbers, from {first} to {final}, some listed below"
    return render("curve.html", up="number", step=model.step, **drawn)


def _ticks(most: float, least: float = 0) -> list[float]:
    """Return 0 and round numbers after it, to the first that is not below `most`."""
    whole = 10.0 ** math.floor(math.log10(most / 5))
    step = max(next(n * whole for n in (1, 2, 5, 10) if n * whole * 5 >= most), least)
    return [n * step for n in range(math.ceil(most / step) + 1)]


curve = View(_curve_text, _curve_html)
