"""Numbers by step, such as a loss -> a curve in a picture, or a table of some of the numbers."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from .images import encode_image
from .markup import render
from .plain_text import join_nonempty, render_grid

MOST_TICKS = 5
STEEP = 20  # if the greatest number is more than so many times the least, the axis is logarithmic
SHORT_AXIS = 2  # powers of ten: a shorter axis has ticks between the powers too
MOST_POINTS = 600  # of more numbers, only some are drawn
# Which numbers the text form lists: 0.1 is the one after a tenth of all steps.
IN_TEXT = (0, 0.01, 0.03, 0.1, 0.3, 1)
WHERE_ALL_NUMBERS = "the model has all of them (`.model.numbers`)"
PICTURE_SIZE = 1000  # the width and height of the picture, which is stretched to fit
LEAST_FOR_LOGARITHM = 1e-300  # 0 has no logarithm


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
    """Return a table of the first number, the last, and some between, most of them near the start.

    A curve changes most near its start.
    """
    count = len(model.numbers)
    steps = sorted({round(part * (count - 1)) for part in IN_TEXT})
    rows = [[str(step), f"{model.numbers[step]:.3g}"] for step in steps]

    left_out_count = count - len(steps)
    sentence = (
        f"{left_out_count:,} numbers are left out here: {WHERE_ALL_NUMBERS}."
        if left_out_count
        else ""
    )
    return join_nonempty(model.title, render_grid([model.step, model.number], rows), sentence)


def render_curve_html(model: Curve) -> str:
    """Return the picture of the curve; of very many numbers, only some are drawn."""
    count = len(model.numbers)
    last = max(count - 1, 1)  # the step at the right end; not 0, because steps are divided by it
    axis = _make_curve_axis(model.numbers)
    points = _place_points(model.numbers, axis, last)
    # The ticks of the upright axis: (height in per cent, text).
    up_ticks = [(round(axis.place(tick), 2), f"{tick:g}") for tick in axis.ticks]
    first_number = f"{model.numbers[0]:.3g}"
    last_number = f"{model.numbers[-1]:.3g}"

    note = ""
    if len(points) < count:
        note = f"{len(points):,} of {count:,} numbers are drawn: {WHERE_ALL_NUMBERS}."
    numbers = f"{count:,} numbers, from {first_number} to {last_number}"
    return render(
        "curve.html",
        model={"title": model.title, "note": note},
        body=render_curve_text(model),
        alt=f"{model.title}: {numbers}, some listed below",
        image=_draw_image(points, up_ticks),
        up_ticks=up_ticks,
        across_ticks=_list_step_ticks(last),
        ends=_list_ends(model.numbers, points, first_number, last_number),
        wide=1.2 + 0.6 * max(len(words) for _, words in up_ticks),  # of the column of ticks, in em
        final=last_number,
        up=model.number + axis.note,
        step=model.step,
    )


def _place_points(
    numbers: tuple[float, ...], axis: CurveAxis, last: int
) -> dict[int, tuple[float, float]]:
    """Return step -> its place (across, up), in per cent of the width and of the height.

    `last` is the step at the right end of the picture. Of very many steps, only some are drawn.
    """
    count = len(numbers)
    stride = math.ceil(count / MOST_POINTS)
    drawn_steps = {*range(0, count, stride), count - 1}
    points = {}
    for step in sorted(drawn_steps):
        points[step] = (round(step / last * 100, 2), axis.place(numbers[step]))
    return points


def _draw_image(points: dict[int, tuple[float, float]], up_ticks: list[tuple[float, str]]) -> str:
    """Return the curve as a `data:` address of an image.

    `points` has step -> place in per cent. `up_ticks` are the ticks as (height in per cent, text);
    each has a level line.
    """
    scale = PICTURE_SIZE // 100
    corners = []
    for across, up in points.values():
        corners.append(f"{scale * across:g} {PICTURE_SIZE - scale * up:.4g}")
    svg = render("curve.svg", up_ticks=up_ticks, path="M" + "L".join(corners))
    return encode_image(svg)


def _list_step_ticks(last: int) -> list[tuple[float, str]]:
    """Return the ticks of the lower axis, each as (place in per cent, text)."""
    steps = [step for step in _list_round_numbers(last, 1) if step <= last]
    return [(round(100 * step / last, 2), f"{step:,.0f}") for step in steps]


def _list_ends(
    numbers: tuple[float, ...],
    points: dict[int, tuple[float, float]],
    first_number: str,
    last_number: str,
) -> list[tuple[float, float, str, str]]:
    """Return the first and the last point, each as (across, up, number, CSS of the number).

    `across` and `up` are in per cent. A curve of one number has only the last point.
    """
    count = len(numbers)
    ends = []
    if count > 1:
        early_number = numbers[(count - 1) // 10]
        rises = early_number > numbers[0]
        # The number stands below the start of a rising curve, and above that of a falling one.
        lower_margin = -18 if rises else 2
        ends.append((*points[0], first_number, f"margin:0 0 {lower_margin}px 7px;"))
    ends.append((*points[count - 1], last_number, "margin:0 0 -8px 6px;"))
    return ends


# -- axes ------------------------------------------------------------------------------------------


def _make_curve_axis(numbers: tuple[float, ...]) -> CurveAxis:
    """Return an axis from 0, or a logarithmic one if the greatest number is far above the least."""
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
    """Return the ticks between two numbers: powers of ten.

    A short axis also has ticks at 2 and 5 times each power. A long one has a tick only at every
    second or third power.
    """
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
    """Return 0 and the multiples of a round step, up to the first that is not below `most`.

    `_list_round_numbers(37)` is `[0, 10, 20, 30, 40]`. The step is 1, 2 or 5 times a power of ten,
    the least with which `MOST_TICKS` steps reach `most`. It is at least `least_step`.
    """
    power = 10.0 ** math.floor(math.log10(max(most, LEAST_FOR_LOGARITHM) / MOST_TICKS))
    steps = [digit * power for digit in (1, 2, 5, 10)]
    step = next(step for step in steps if step * MOST_TICKS >= most)
    step = max(step, least_step)
    return [number * step for number in range(math.ceil(most / step) + 1)]
