"""Numbers by step -> a curve in a picture, or a table of some of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .images import encode_image
from .markup import render
from .plain_text import join_parts, render_grid

MOST_TICKS = 5
STEEP = 20  # times the least number: beyond it a curve is logarithmic
SHORT_AXIS = 2  # powers of ten: a shorter axis has ticks between them too
MOST_POINTS = 600  # of the curve; of more numbers some are drawn
IN_TEXT = (0, 0.01, 0.03, 0.1, 0.3, 1)  # parts of the way at which the text form gives the number
NUMBERS = "the model has all of them (`.model.numbers`)"
PICTURE_SIZE = 1000  # the width and height of the picture, which is stretched to fit
LEAST_LOGARITHM = 1e-300


@dataclass(frozen=True)
class Curve:
    """Numbers by step, under a title."""

    title: str
    """What stands above the curve."""
    numbers: tuple[float, ...]
    """A number for each step, from step 0."""
    step: str
    """What is counted along the curve."""
    number: str = "number"
    """What each number is."""


@dataclass(frozen=True)
class CurveAxis:
    """The upright axis of a curve."""

    ticks: list[float]
    """The numbers that have a mark."""
    place: Callable[[float], float]
    """Returns where a number is, in per cent of the height."""
    note: str = ""
    """What to say of a logarithmic axis."""


def render_curve_text(model: Curve) -> str:
    """Return a table of the first number, the last, and more from the start than from the end."""
    count = len(model.numbers)
    steps = sorted({round(part * (count - 1)) for part in IN_TEXT})
    rows = [[str(step), f"{model.numbers[step]:.3g}"] for step in steps]

    rest = count - len(steps)
    sentence = f"{rest:,} numbers are left out here: {NUMBERS}." if rest else ""
    return join_parts(model.title, render_grid([model.step, model.number], rows), sentence)


def render_curve_html(model: Curve) -> str:
    """Return the picture of the first number, the last, and others evenly between."""
    count = len(model.numbers)
    last = max(count - 1, 1)  # a curve of one number has a length too, by which steps are divided
    axis = _make_curve_axis(model.numbers)
    points = _place_points(model.numbers, axis, last)
    highs = [(round(axis.place(tick), 2), f"{tick:g}") for tick in axis.ticks]
    first_number = f"{model.numbers[0]:.3g}"
    last_number = f"{model.numbers[-1]:.3g}"

    note = ""
    if len(points) < count:
        note = f"{len(points):,} of {count:,} numbers are drawn: {NUMBERS}."
    numbers = f"{count:,} numbers, from {first_number} to {last_number}"
    return render(
        "curve.html",
        model={"title": model.title, "note": note},
        body=render_curve_text(model),
        alt=f"{model.title}: {numbers}, some listed below",
        image=_draw_image(points, highs),
        highs=highs,
        alongs=_list_step_ticks(last),
        ends=_list_ends(model.numbers, points, first_number, last_number),
        wide=1.2 + 0.6 * max(len(words) for _, words in highs),
        final=last_number,
        up=model.number + axis.note,
        step=model.step,
    )


def _place_points(
    numbers: tuple[float, ...], axis: CurveAxis, last: int
) -> dict[int, tuple[float, float]]:
    """Return the places of the steps that are drawn, in per cent of the width and the height.

    `last` is the step at the right end of the picture.
    """
    count = len(numbers)
    every = math.ceil(count / MOST_POINTS)
    drawn_steps = {*range(0, count, every), count - 1}
    points = {}
    for step in sorted(drawn_steps):
        points[step] = (round(step / last * 100, 2), axis.place(numbers[step]))
    return points


def _draw_image(points: dict[int, tuple[float, float]], highs: list[tuple[float, str]]) -> str:
    """Return the curve as a `data:` address of an image; a high is the place of a tick's line."""
    scale = PICTURE_SIZE // 100
    corners = []
    for across, up in points.values():
        corners.append(f"{scale * across:g} {PICTURE_SIZE - scale * up:.4g}")
    svg = render("curve.svg", highs=highs, path="M" + "L".join(corners))
    return encode_image(svg)


def _list_step_ticks(last: int) -> list[tuple[float, str]]:
    """Return the steps with a mark at the lower axis: the place of each in per cent, its words."""
    steps = [step for step in _list_round_numbers(last, 1) if step <= last]
    return [(round(100 * step / last, 2), f"{step:,.0f}") for step in steps]


def _list_ends(
    numbers: tuple[float, ...],
    points: dict[int, tuple[float, float]],
    first_number: str,
    last_number: str,
) -> list[tuple[float, float, str, str]]:
    """Return the first and the last point: across, up, its number, and the CSS of the number."""
    count = len(numbers)
    ends = []
    if count > 1:
        early_number = numbers[(count - 1) // 10]
        rises = early_number > numbers[0]
        lower_margin = -18 if rises else 2  # the words are on the side where the curve is not
        ends.append((*points[0], first_number, f"margin:0 0 {lower_margin}px 7px;"))
    ends.append((*points[count - 1], last_number, "margin:0 0 -8px 6px;"))
    return ends


# -- axes ------------------------------------------------------------------------------------------


def _make_curve_axis(numbers: tuple[float, ...]) -> CurveAxis:
    """Return an axis from 0, or a logarithmic one where the numbers differ much."""
    least = min(numbers)
    most = max(numbers)
    if not least or most / least <= STEEP:  # 0 has no logarithm
        ticks = _list_round_numbers(most or 1.0)  # the axis needs a length if all numbers are 0
        return CurveAxis(ticks, lambda number: number / ticks[-1] * 100)

    low = math.log10(least)
    length = math.log10(most / least)

    def place(number: float) -> float:
        """Return where a number is, in per cent; 4 per cent stay free below and above."""
        return 4 + 92 * (math.log10(number) - low) / length

    return CurveAxis(_list_powers(least, most), place, " (logarithmic axis)")


def _list_powers(least: float, most: float) -> list[float]:
    """Return the ticks between two numbers: powers of ten, on a short axis also 2 and 5 times."""
    low = math.log10(least)
    length = math.log10(most / least)
    digits = (1, 2, 5) if length < SHORT_AXIS else (1,)
    step = math.ceil(length / MOST_TICKS)
    ticks = []
    for power in range(math.floor(low), math.ceil(low + length) + 1, step):
        for digit in digits:
            tick = digit * 10.0**power
            if least <= tick <= most:
                ticks.append(tick)
    return ticks


def _list_round_numbers(most: float, least_step: float = 0) -> list[float]:
    """Return 0 and the multiples of a round step, to the first that is not below `most`.

    The step is the least round number that needs no more than `MOST_TICKS` steps, and not below
    `least_step`.
    """
    power = 10.0 ** math.floor(math.log10(max(most, LEAST_LOGARITHM) / MOST_TICKS))
    steps = [digit * power for digit in (1, 2, 5, 10)]
    step = next(step for step in steps if step * MOST_TICKS >= most)
    step = max(step, least_step)
    return [number * step for number in range(math.ceil(most / step) + 1)]
