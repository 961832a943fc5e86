"""Arrows with labels -> the same, where no label covers another: one that would moves along.

A label stays on its own arrow, as near to its place as may be, and keeps off the boxes.
"""

import re
from collections.abc import Iterable
from math import dist

from helpers.view.diagram.pixel_positions import Spot

HIGH, APART = 17, 2  # pixels: of a label, and between two
POINTS = 12  # of each curve that are tried
_COMMAND = re.compile(r"([MCHV])([^MCHV]*)")


def spread(arrows: Iterable[dict], spots: Iterable[Spot]) -> tuple[dict, ...]:
    """Return the arrows; a label that finds no free place stays where it is."""
    taken, moved = [], []
    boxes = [(s.x, s.y, s.right, s.bottom) for s in spots if s.width]
    for arrow in arrows:
        if not arrow["label"]:
            moved.append(arrow)
            continue
        here = arrow["x"], arrow["y"]
        if _meets(_ground(here, arrow["plate"]), taken):
            here = _free(arrow, [*taken, *boxes]) or here
        taken.append(_ground(here, arrow["plate"]))
        moved.append({**arrow, "x": here[0], "y": here[1]})
    return tuple(moved)


def _free(arrow: dict, taken) -> tuple[int, int] | None:
    here = arrow["x"], arrow["y"]
    points = sorted(along(arrow["line"]), key=lambda point: dist(point, here))
    return next((p for p in points if not _meets(_ground(p, arrow["plate"]), taken)), None)


def _ground(at: tuple[int, int], plate: int) -> tuple[float, float, float, float]:
    x, y = at
    return x - plate / 2, y - HIGH / 2, x + plate / 2, y + HIGH / 2


def _meets(ground, others) -> bool:
    left, top, right, bottom = ground
    return any(
        left < other[2] + APART
        and other[0] < right + APART
        and top < other[3] + APART
        and other[1] < bottom + APART
        for other in others
    )


def along(line: str) -> list[tuple[int, int]]:
    """Return points on a line of an SVG that is made of M, C, H and V with absolute places."""
    points, x, y = [], 0.0, 0.0
    for command, words in _COMMAND.findall(line):
        ends = [float(word) for word in re.findall(r"-?[\d.]+", words)]
        if command == "M":
            x, y = ends
            continue
        if command == "H":
            ends = [x, y, ends[0], y, ends[0], y]
        elif command == "V":
            ends = [x, y, x, ends[0], x, ends[0]]
        points += [_on_curve(n / POINTS, x, y, *ends) for n in range(1, POINTS)]
        x, y = ends[4:]
    return points


def _on_curve(t: float, x, y, x1, y1, x2, y2, x3, y3) -> tuple[int, int]:
    parts = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    return (
        round(sum(p * v for p, v in zip(parts, (x, x1, x2, x3), strict=True))),
        round(sum(p * v for p, v in zip(parts, (y, y1, y2, y3), strict=True))),
    )
