"""The places that an arrow leads through -> its line as an SVG path, and points on the line.
The places are rectangles: the box where the arrow begins, its bends, and the box where it ends. A
*fan* is several arrows that leave one box.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import dist

from .drawing import Rectangle

TIP = 4  # pixels before a box where a line ends
LOOP = 48  # pixels that a line goes out that comes back to its own layer
BESIDE_LOOP = LOOP * 3 // 4 + 4  # pixels from the box of such a line to its label
LOOP_LIFT = 10  # pixels: a line from a box to itself leaves above its middle and ends below
LEAD = 14  # pixels of a level piece beside a label
CELL = 4  # pixels: what lies nearer to a line than this is on it

_COMMAND = re.compile(r"([MCHVLQ])([^MCHVLQ]*)")
_NUMBER = re.compile(r"-?\d+")

Point = tuple[int, int]


@dataclass(frozen=True)
class ArrowCurve:
    """A line, and where its label stands before `place_labels` looks for a better place."""

    line: str
    """An SVG path in absolute numbers."""
    label_x: int
    """The middle of the label."""
    label_y: int
    """The middle of the label."""


def curve_down(
    rectangles: Sequence[Rectangle], is_fan: bool = False, plate_width: int = 0
) -> ArrowCurve:
    """Return the line downwards from the first of these places to the last, through bends between.

    An arrow of a fan has its label near its end, because the arrows of a fan lie apart there.
    `plate_width` makes no difference. It is an argument because callers call either this function
    or `curve_across`.
    """
    start = rectangles[0]
    end = rectangles[-1]
    x = start.centre_x
    y = start.bottom
    line = f"M{x} {y}"
    for target in rectangles[1:]:
        # An S curve: it leaves upright, turns at half the height, and arrives upright.
        half = (y + target.y) // 2
        line += f" C{x} {half},{target.centre_x} {half},{target.centre_x} "
        if target is end:
            line += f"{target.y - TIP}"
        else:  # upright through a bend
            line += f"{target.y} V{target.bottom}"
        x = target.centre_x
        y = target.bottom

    # The label stands on the first piece, from the box to the first bend or the end.
    part = 2 / 3 if is_fan else 1 / 3
    across = rectangles[1].centre_x - start.centre_x
    down = rectangles[1].y - start.bottom
    label_x = start.centre_x + round(part * across)
    label_y = start.bottom + round(part * down)
    return ArrowCurve(line, label_x, label_y)


def curve_across(
    rectangles: Sequence[Rectangle], is_fan: bool = False, plate_width: int = 0, tip: int = TIP
) -> ArrowCurve:
    """Return the line from the first of these places to the last, from left to right.

    The label stands on a level piece of the line, which is as long as `plate_width`, the width of
    the ground behind the label. The level piece is near the start. For an arrow of a fan it is near
    the end. The line ends `tip` pixels before the last place.
    """
    start = rectangles[0]
    end = rectangles[-1]
    if start.x == end.x:  # both places are in one column, or are the same box
        return _curve_back(start, end, plate_width, tip)

    x = start.right
    y = start.centre_y
    line = f"M{x} {y}"
    label_x = x + LEAD // 2 + plate_width // 2
    tip_x = end.x - tip
    last_curve_x = tip_x  # where the last curve ends
    if plate_width and is_fan:
        last_curve_x -= plate_width + LEAD  # a level piece for the label follows it
    elif plate_width:
        x += plate_width + LEAD  # a level piece for the label is before the first curve

    line += f" H{x}"
    for target in rectangles[1:]:
        # An S curve: it leaves level, turns at half the width, and arrives level.
        target_x = last_curve_x if target is end else target.x
        half = (x + target_x) // 2
        line += f" C{half} {y},{half} {target.centre_y},{target_x} {target.centre_y}"
        # Level to the tip, or through the bend.
        line += f" H{tip_x}" if target is end else f" H{target.right}"
        x = target.right
        y = target.centre_y

    if is_fan:
        return ArrowCurve(line, last_curve_x + plate_width // 2, y)
    return ArrowCurve(line, label_x, start.centre_y)


def _curve_back(start: Rectangle, end: Rectangle, plate_width: int, tip: int) -> ArrowCurve:
    """Return the line to a box of the same column, or to its own box: out to the right and back."""
    lift = LOOP_LIFT if start == end else 0  # the two ends of a loop must lie apart
    first_y = start.centre_y - lift
    last_y = end.centre_y + lift
    x = max(start.right, end.right)
    far = x + LOOP
    line = f"M{start.right} {first_y} C{far} {first_y},{far} {last_y},{end.right + tip} {last_y}"
    return ArrowCurve(line, x + BESIDE_LOOP + plate_width // 2, (first_y + last_y) // 2)


# -- points on a line ------------------------------------------------------------------------------


@lru_cache(maxsize=4_000)
def list_points(line: str) -> list[Point]:
    """Return points on an SVG path, from its start to its end, about `CELL` pixels apart.

    The path is made of the commands M, C, Q, L, H and V in absolute whole numbers.
    """
    points = []
    for command, arguments in _COMMAND.findall(line):
        numbers = [int(number) for number in _NUMBER.findall(arguments)]
        if command == "M":
            points.append(tuple(numbers))
            continue

        x, y = points[-1]
        if command == "H":
            numbers = [numbers[0], y]
        elif command == "V":
            numbers = [x, numbers[0]]
        # The control points of a Bézier curve; a straight piece is a curve of degree 1.
        corners = [(x, y), *zip(numbers[::2], numbers[1::2], strict=True)]

        length = sum(dist(*pair) for pair in pairwise(corners))
        count = 1 + int(length // CELL)
        corner_xs, corner_ys = zip(*corners, strict=True)
        xs = _divide_curve(corner_xs, count)
        ys = _divide_curve(corner_ys, count)
        points += zip(xs, ys, strict=True)
    return points


@lru_cache(maxsize=4_000)  # in a picture, many lines lead from the same column to the same column
def _divide_curve(corners: tuple[int, ...], count: int) -> list[int]:
    """Return one coordinate, x or y, of `count` points on a Bézier curve, without its start.

    `corners` are the same coordinate of the control points: 2 to 4 for a curve of degree 1 to 3.
    De Casteljau's algorithm finds each point.
    """
    if len(set(corners)) == 1:  # the curve does not move in this direction
        return [corners[0]] * count

    parts = [number / count for number in range(1, count + 1)]
    if len(corners) == 2:
        start, end = corners
        return [round(start + (end - start) * part) for part in parts]
    if len(corners) == 3:
        return _divide_quadratic(corners, parts)
    return _divide_cubic(corners, parts)


def _divide_quadratic(corners: tuple[int, ...], parts: list[float]) -> list[int]:
    """Return one coordinate of a quadratic Bézier curve at each part, from 0 to 1.

    De Casteljau's algorithm: divide both sides of the control polygon in the same ratio, then
    divide the line between the two points in this ratio. That point is on the curve.
    """
    start, middle, end = corners
    coordinates = []
    for part in parts:
        first = start + (middle - start) * part
        second = middle + (end - middle) * part
        coordinates.append(round(first + (second - first) * part))
    return coordinates


def _divide_cubic(corners: tuple[int, ...], parts: list[float]) -> list[int]:
    """Return one coordinate of a cubic Bézier curve at each part, from 0 to 1.

    De Casteljau's algorithm: three sides of the control polygon are divided in the same ratio. The
    three points are the control polygon of a quadratic curve, and so on down to one point.
    """
    start, second_control, third_control, end = corners
    coordinates = []
    for part in parts:
        first = start + (second_control - start) * part
        second = second_control + (third_control - second_control) * part
        third = third_control + (end - third_control) * part
        # The same between these three, and then between the two that are left.
        first += (second - first) * part
        second += (third - second) * part
        coordinates.append(round(first + (second - first) * part))
    return coordinates
