"""Numbers in order -> a curve from the first to the last, with some of them for those without eyes.

Both scales begin at 0: half as high is half as much.
"""

import math
from dataclasses import dataclass

from helpers.model.phrase import clipped
from helpers.view.markup import grid, joined, one_line, render
from helpers.view.picture import pictured

LEFT, TOP, WIDTH, HEIGHT = 70, 26, 560, 190  # of the field that the curve is drawn in, pixels
MOST_POINTS = 600  # of the curve; of more numbers some are drawn
FITS = 0.88  # of its natural size; a narrower window scrolls
SAID = (0, 0.01, 0.03, 0.1, 0.3, 1)  # parts of the way at which the text form gives the number
MOST_NUMBERS = 1_000_000
ALL = "the model has all of them (`.model.numbers`)"


@dataclass(frozen=True)
class Curve:
    """Numbers by step, under a title; `step` says what is counted."""

    title: str
    numbers: tuple[float, ...]
    step: str


def text(model: Curve) -> str:
    """Return some of the numbers, more of them from the start, where a curve bends most."""
    last = len(model.numbers) - 1
    places = sorted({round(part * last) for part in SAID})
    rows = [[str(place), f"{model.numbers[place]:.3g}"] for place in places]
    rest = last + 1 - len(places)
    said = f"{rest:,} numbers are left out here: {ALL}." if rest else ""
    return joined(_short(model.title), grid([_short(model.step), "number"], rows), said)


def html(model: Curve) -> str:
    """Return the curve as a picture, and its numbers folded below it."""
    first, last = (f"{model.numbers[at]:.3g}" for at in (0, -1))
    count = len(model.numbers)
    drawn = len(_places(count))
    note = f"{drawn:,} of {count:,} numbers are drawn: {ALL}." if drawn < count else ""
    return render(
        "diagram.html",
        model={"title": _short(model.title), "note": note},
        legend="",
        alt=f"{_short(model.title)}: {count:,} numbers, from {first} to {last}, some listed below",
        body=text(model),
        **pictured(svg(model), FITS),
    )


def svg(model: Curve) -> str:
    """Return the curve as SVG text."""
    last, most = max(len(model.numbers) - 1, 1), max(model.numbers) or 1.0
    low = TOP + HEIGHT

    def point(place: int) -> tuple[float, float]:
        high = low - HEIGHT * model.numbers[place] / most
        return round(LEFT + WIDTH * place / last, 1), round(high, 1)

    count = len(model.numbers)
    points = [point(place) for place in _places(count)]
    sides = {0: "start", count - 1: "end"}
    return render(
        "curve.svg",
        width=LEFT + WIDTH + 30,
        height=low + 26,
        left=LEFT,
        right=LEFT + WIDTH,
        low=low,
        highs=[(low, "0"), (low - HEIGHT // 2, f"{most / 2:.3g}"), (TOP, f"{most:.3g}")],
        alongs=[(round(LEFT + WIDTH * part), said) for part, said in _alongs(last, model.step)],
        path="M" + "L".join(f"{x:g} {y:g}" for x, y in points),
        ends=[(*point(at), f"{model.numbers[at]:.3g}", side) for at, side in sides.items()],
    )


def _places(count: int) -> list[int]:
    """Return which of so many numbers are drawn: the first, the last, and others evenly between."""
    step = math.ceil(count / MOST_POINTS)
    return [*range(0, count, step), *([count - 1] if (count - 1) % step else [])]


def _alongs(last: int, step: str):
    """Yield the part of the way and the words of each mark below the curve."""
    for at in sorted({round(last * quarter / 4) for quarter in range(5)}):
        yield at / last, str(at) if at else f"{_short(step)} {at}"


def curve(title: str, numbers, step: str = "step") -> Curve:
    """Return a curve of numbers, none of which is negative, as many as there may be.

    TypeError for what is no list or tuple of int and float; ValueError for an empty one, and for a
    number that is negative or not finite.
    """
    for words in (title, step):
        if not issubclass(type(words), str):
            raise TypeError("the title and the word for a step must be text")
    if type(numbers) not in (list, tuple):
        raise TypeError("a curve needs a list or a tuple of numbers")
    if not 0 < len(numbers) <= MOST_NUMBERS:
        raise ValueError(f"a curve needs 1 to {MOST_NUMBERS:,} numbers, not {len(numbers):,}")
    if wrong := [number for number in numbers if type(number) not in (int, float)]:
        name = type.__dict__["__name__"].__get__(type(wrong[0]))
        raise TypeError(f"a curve needs numbers: int or float, not {_short(name)}")
    if not all(0 <= number < 1e300 for number in numbers):
        raise ValueError("the numbers of a curve must be below 1e300, and none may be negative")
    title, step = str.__str__(title), str.__str__(step)
    return Curve(title, tuple(float(number) for number in numbers), step)


def _short(words: str) -> str:
    return clipped(one_line(words), 100)
