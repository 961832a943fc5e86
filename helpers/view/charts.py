"""Numbers -> a bar plot of ratios, or a curve; both say the numbers in words too.

Bars leave a line at 1: what is less to the left, what is more to the right. Their scale is
logarithmic, so half as long and twice as long are bars of one length. Both scales of a curve begin
at 0: half as high is half as much.
"""

import math
from dataclasses import dataclass
from numbers import Real

from helpers.model.phrase import clipped
from helpers.view import View
from helpers.view.ink import LETTER, drawn_width, pictured
from helpers.view.markup import grid, joined, one_line, render

WIDTH, TOP, ROW = 400, 44, 26  # of the bars; of the scale; of a row: pixels
NUMBER, GAP = 62, 8  # room for a number beside a bar
FITS = 0.84  # of its natural size, where letters have 10 pixels; a narrower window scrolls
MOST_TICKS = 7
SCALE = "The scale is logarithmic: twice and half are bars of one length."
FIELD = (70, 26, 560, 190)  # that a curve is drawn in: left, top, width and height in pixels
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
        shown = [(_short(name), ratio) for name, ratio in self.ratios.items()]
        low, high = (math.log10(edge(1.0, *self.ratios.values())) for edge in (min, max))
        low, high = (low, high) if low < high else (-0.3, 0.3)  # 1 is between them, or one of them
        names = max(drawn_width(name, LETTER) for name, _ in shown) + 2 * GAP
        left = names + GAP + (NUMBER if low < 0 else 0)

        def place(ratio: float) -> int:
            return left + round(WIDTH * (math.log10(ratio) - low) / (high - low))

        one = place(1)
        sides = [("◀ less", (left + one) // 2)] if low < 0 else []
        sides += [("more ▶", (one + left + WIDTH) // 2)] if high > 0 else []
        return render(
            "plot.svg",
            width=left + WIDTH + (NUMBER if high > 0 else GAP),
            height=TOP + ROW * len(shown) + GAP,
            top=TOP,
            names=names,
            bars=[_bar(n, *bar, one, place(bar[1])) for n, bar in enumerate(shown)],
            sides=sides,
            ticks=[(place(tick), f"{tick:,g}") for tick in _ticks(low, high)],
        )


def _ticks(low: float, high: float) -> list[float]:
    """Return 1 and the powers of ten that there is room for; or halves and doubles."""
    if high - low < 1:
        return [tick for tick in (0.2, 0.5, 1.0, 2.0, 5.0) if low <= math.log10(tick) <= high]
    step = math.ceil((high - low) / MOST_TICKS)
    powers = range(math.ceil(low), math.floor(high) + 1)
    return [10.0**power for power in powers if power % step == 0]


def _bar(number: int, name: str, ratio: float, one: int, end: int) -> dict:
    side = "less" if ratio < 1 else "more"
    return {
        "name": name,
        "number": _rounded(ratio),
        "side": side,
        "y": TOP + ROW * number,
        "x": min(one, end),
        "width": max(abs(end - one), 2),
        "said": end - GAP if side == "less" else end + GAP,
    }


def plot(title: str, ratios: dict[str, float]) -> Plot:
    """Return a bar plot of positive ratios by name.

    TypeError for what is no dict of str -> float or int. ValueError names a ratio that is not
    positive, or not finite.
    """
    if not isinstance(title, str) or not isinstance(ratios, dict) or not ratios:
        raise TypeError("a plot needs a title and a dict of name -> number")
    for name, ratio in ratios.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a bar must be a str, not {type(name).__name__}")
        if not _is_number(ratio):
            kind = f"{_short(name)!r} is of type {type(ratio).__name__}"
            raise TypeError(f"{kind}; a bar needs a positive number: float(…)")
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


# -- curves ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Numbers by step, under a title; `step` says what is counted."""

    title: str
    numbers: tuple[float, ...]
    step: str


def make_curve(title: str, numbers, step: str = "step") -> Curve:
    """Return a curve of numbers, none of which is negative, as many as there may be.

    TypeError for what is no list or tuple of int and float; ValueError for an empty one, and for a
    number that is negative or not finite.
    """
    if not isinstance(title, str) or not isinstance(step, str):
        raise TypeError("the title and the word for a step must be text")
    if not isinstance(numbers, list | tuple):
        raise TypeError("a curve needs a list or a tuple of numbers")
    if not numbers:
        raise ValueError("a curve needs 1 number or more")
    if wrong := [number for number in numbers if not _is_number(number)]:
        raise TypeError(f"a curve needs numbers: int or float, not {type(wrong[0]).__name__}")
    if not all(0 <= number < 1e300 for number in numbers):
        raise ValueError("the numbers of a curve must be below 1e300, and none may be negative")
    return Curve(_short(title, 100), tuple(map(float, numbers)), _short(step, 100))


def _curve_text(model: Curve) -> str:
    last = len(model.numbers) - 1
    places = sorted({round(part * last) for part in SAID})
    rows = [[str(place), f"{model.numbers[place]:.3g}"] for place in places]
    rest = last + 1 - len(places)
    said = f"{rest:,} numbers are left out here: {NUMBERS}." if rest else ""
    return joined(model.title, grid([model.step, "number"], rows), said)


def _curve_html(model: Curve) -> str:
    first, last = (f"{model.numbers[at]:.3g}" for at in (0, -1))
    count = len(model.numbers)
    drawn = len(_places(count))
    note = f"{drawn:,} of {count:,} numbers are drawn: {NUMBERS}." if drawn < count else ""
    return render(
        "diagram.html",
        model={"title": model.title, "note": note},
        legend="",
        alt=f"{model.title}: {count:,} numbers, from {first} to {last}, some listed below",
        body=_curve_text(model),
        **pictured(curve_svg(model)),
    )


def curve_svg(model: Curve) -> str:
    """Return the curve as SVG text."""
    count, most = len(model.numbers), max(model.numbers) or 1.0
    left, top, width, height = FIELD
    low, last = top + height, max(count - 1, 1)

    def point(place: int) -> tuple[float, float]:
        high = low - height * model.numbers[place] / most
        return round(left + width * place / last, 1), round(high, 1)

    points = [point(place) for place in _places(count)]
    sides = {0: "start", count - 1: "end"}
    return render(
        "curve.svg",
        width=left + width + 30,
        height=low + 26,
        left=left,
        right=left + width,
        low=low,
        highs=[(low, "0"), (low - height // 2, f"{most / 2:.3g}"), (top, f"{most:.3g}")],
        alongs=[
            (round(left + width * at / last), str(at) if at else f"{model.step} {at}")
            for at in sorted({round(last * quarter / 4) for quarter in range(5)})
        ],
        path="M" + "L".join(f"{x:g} {y:g}" for x, y in points),
        ends=[(*point(at), f"{model.numbers[at]:.3g}", side) for at, side in sides.items()],
    )


def _places(count: int) -> list[int]:
    """Return which of so many numbers are drawn: the first, the last, and others evenly between."""
    return sorted({*range(0, count, math.ceil(count / MOST_POINTS)), count - 1})


curve = View(_curve_text, _curve_html)
