"""Two places of a picture -> the line between them, and the place of its label."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import pairwise
from math import dist

from . import Spot

TIP, LOOP = 4, 48  # pixels before a box where a line ends; how far one goes out that comes back
BESIDE_LOOP = LOOP * 3 // 4 + 4  # pixels from the box of such a line to its label
LEAD = 14  # pixels of a level piece beside a label
HIGH, APART, HEAD = 17, 2, 7  # pixels: of a label, from it to what it keeps off, round a head
LIFT = 10  # pixels from a line to the middle of a label above it
CELL = 4  # pixels: what lies nearer to a line than this is on it
ROUNDS, MORE = 8, 14  # how often layers move apart, and how many pixels each time
LARGE = 40  # labels: of so many, each tries fewer places, and no layer moves apart
NONE = (), ()  # columns and bits of a row of cells that no arrow passes
SOLID = 10  # how much worse a covered box, head or label is than a covered line
_COMMAND = re.compile(r"([MCHVLQ])([^MCHVLQ]*)")


def curve_down(spots: list[Spot], fan: bool = False, plate: int = 0) -> tuple[str, int, int]:
    """Return the line and the place of its label; a `fan` lies apart near its end."""
    start, end = spots[0], spots[-1]
    line, (x, y) = f"M{start.centre} {start.bottom}", (start.centre, start.bottom)
    for after in spots[1:]:
        half, tip = (y + after.y) // 2, after.y - TIP * (after is end)
        line += f" C{x} {half},{after.centre} {half},{after.centre} {tip}"
        line += "" if after is end else f" V{after.bottom}"
        x, y = after.centre, after.bottom
    part = (2 if fan else 1) / 3
    across, down = spots[1].centre - start.centre, spots[1].y - start.bottom
    return line, start.centre + round(part * across), start.bottom + round(part * down)


def curve_across(spots: list[Spot], fan=False, plate=0, tip=TIP) -> tuple[str, int, int]:
    """Return the line through these spots from left to right, and the place of its label.

    A label stands on a level piece as long as its `plate`: near the start, those of a `fan` near
    the end. The line ends `tip` pixels before the last spot.
    """
    start, end = spots[0], spots[-1]
    x, y, last = start.right, start.middle, end.x - tip
    if start.x == end.x:
        lift, x = 10 * (start == end), max(start.right, end.right)
        first, last, far = start.middle - lift, end.middle + lift, x + LOOP
        line = f"M{start.right} {first} C{far} {first},{far} {last},{end.right + tip} {last}"
        return line, x + BESIDE_LOOP + plate // 2, (first + last) // 2
    line, label = f"M{x} {y}", x + LEAD // 2 + plate // 2
    if plate:
        x, last = (x, last - plate - LEAD) if fan else (x + plate + LEAD, last)
    line += f" H{x}"
    for after in spots[1:]:
        right = last if after is end else after.x
        low, half = after.middle, (x + right) // 2
        line += f" C{half} {y},{half} {low},{right} {low}"
        line += f" H{end.x - tip if after is end else after.right}"
        x, y = after.right, low
    return (line, last + plate // 2, y) if fan else (line, label, start.middle)


def place_labels(arrows: Iterable[dict], spots: Iterable[Spot], lift=0, clear=False) -> tuple:
    """Return the arrows, their labels moved along them, `lift` above, to where they cover least.

    `clear`: above all of its own line that is below a label. `crowded`: a label covers something.
    """
    moved = [{**arrow, "crowded": False} for arrow in arrows]
    passed = defaultdict(partial(defaultdict, int))  # row, column -> a bit per arrow there
    solid = [(spot.x, spot.y, spot.right, spot.bottom) for spot in spots if spot.width]
    for number, arrow in enumerate(moved):
        points, bit = points_along(arrow["line"]), 1 << number
        x, y = points[-1]
        solid.append((x - HEAD, y - HEAD, x + HEAD, y + HEAD))
        for x, y in points:
            passed[y // CELL][x // CELL] |= bit
    passed = {row: tuple(zip(*sorted(cells.items()), strict=True)) for row, cells in passed.items()}
    numbers = [number for number, arrow in enumerate(moved) if arrow["label"]]
    choices, reach, step = {}, {}, 12 if len(numbers) > LARGE else 2
    for number in numbers:
        arrow, choices[number] = moved[number], []
        here = arrow["x"], arrow["y"]
        wide, high = arrow["plate"], arrow.get("high", HIGH)
        half, tall = wide / 2, high / 2
        places = points = [here, *points_along(arrow["line"])[1:-1:step]]
        if clear:
            tops = (min(v for u, v in points if abs(u - x) <= half) for x, _ in points)
            places = [(x, y) for (x, _), y in zip(points, tops, strict=True)]
        places = [(x, y - lift) for x, y in sorted(places, key=partial(dist, here))]
        (left, right), (top, bottom) = ((min(one), max(one)) for one in zip(*places, strict=True))
        reach[number] = left - half, top - tall, right + half, bottom + tall
        near = _find_met(reach[number], solid)  # it covers none of the others, wherever it moves
        for at in places:
            (x, y), others = at, 0
            ground = x - half, y - tall, x + half, y + tall
            left, right = (2 * x - wide) // (2 * CELL), (2 * x + wide) // (2 * CELL)
            for row in range((2 * y - high) // (2 * CELL), (2 * y + high) // (2 * CELL) + 1):
                columns, cells = passed.get(row, NONE)
                for bits in cells[bisect_left(columns, left) : bisect_right(columns, right)]:
                    others |= bits
            others &= ~(1 << number)
            cost = others.bit_count() + SOLID * len(near and _find_met(ground, near))
            choices[number].append((cost, at, ground))

    def freedom(number):  # what must move chooses first, and what has the fewest places
        costs = [cost for cost, *_ in choices[number]]
        return not costs[0], costs.count(0)

    put = []
    for number in sorted(numbers, key=freedom):
        met, least = _find_met(reach[number], put), float("inf")
        for cost, at, own in choices[number]:
            if cost < least and (cost := cost + SOLID * len(met and _find_met(own, met))) < least:
                least, (x, y), ground = cost, at, own
        put.append(ground)
        moved[number] |= {"x": x, "y": y, "crowded": least > 0}
    return tuple(moved)


def draw_roomy(draw, layers: Iterable[Iterable[object]], down: bool):
    """Return the drawing with the fewest crowded labels: layers move apart there."""
    more, best, fewest = Counter(), None, float("inf")
    for _ in range(ROUNDS):
        piece, spots = draw(more)
        found = [arrow for arrow in piece.arrows if arrow["crowded"]]
        if len(found) < fewest:
            best, fewest = piece, len(found)
        if not found or sum(bool(arrow["label"]) for arrow in piece.arrows) > LARGE:
            break
        begins = [min(spots[k].y if down else spots[k].x for k in keys) for keys in layers]
        places = (arrow["y" if down else "x"] for arrow in found)
        more.update({sum(begin <= place for begin in begins) - 1: MORE for place in places})
    return best


def _find_met(ground, others: list) -> list:
    """Return those of the other rectangles that come too close to this one."""
    left, top, right, bottom = ground
    left, top, right, bottom = left - APART, top - APART, right + APART, bottom + APART
    return [o for o in others if o[0] < right and left < o[2] and o[1] < bottom and top < o[3]]


@lru_cache(maxsize=4_000)
def points_along(line: str) -> list[tuple[int, int]]:
    """Return points on a line of an SVG that is made of M, C, Q, L, H and V in absolute numbers."""
    points = []
    for command, words in _COMMAND.findall(line):
        ends = [int(word) for word in re.findall(r"-?\d+", words)]
        if command == "M":
            points.append(tuple(ends))
            continue
        x, y = points[-1]
        ends = [ends[0], y] if command == "H" else [x, ends[0]] if command == "V" else ends
        corners = [(x, y), *zip(ends[::2], ends[1::2], strict=True)]
        count = 1 + int(sum(dist(*pair) for pair in pairwise(corners)) // CELL)
        points += zip(*(_on_curve(ends, count) for ends in zip(*corners, strict=True)), strict=True)
    return points


@lru_cache(maxsize=4_000)  # of a picture, many lines lead from column to column
def _on_curve(ends: tuple[int, ...], count: int) -> list[int]:
    """Return so many numbers from the first to the last of these, which pull like SVG's points."""
    if len(set(ends)) == 1:
        return [ends[0]] * count
    parts, (a, b, c, d) = [n / count for n in range(1, count + 1)], (*ends, 0, 0)[:4]
    if len(ends) == 2:
        return [round(a + (b - a) * part) for part in parts]
    found, cubic, one, two, three = [], len(ends) == 4, b - a, c - b, d - c
    for part in parts:
        first, middle = a + one * part, b + two * part
        first += (middle - first) * part
        if cubic:
            last = c + three * part
            middle += (last - middle) * part
            first += (middle - first) * part
        found.append(round(first))
    return found
