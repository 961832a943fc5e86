"""Two places of a picture -> the line between them, as an SVG path, and the place of its label.

Between layers a line is a curve; where boxes stand in its way, straight pieces lead round them. A
label stands on its own arrow and keeps off other arrows, heads, boxes and labels, as near to its
place as may be; where there is no such place, it covers as little as can be.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise, product
from math import dist, hypot
from operator import itemgetter

from helpers.view.diagram import Spot

TIP, LOOP = 4, 60  # pixels before a box where a line ends; how far one goes out that comes back
LEAD = 14  # pixels of a level piece beside a label
HEAD = 25  # of an arrow: its length, and half a label beside it
TOUCH, NEAR, CORNER = 5, 5, 9  # pixels
HIT, SHARED, BEND = 2000, 24, 14  # the price of a box touched, of a place shared with another line
SHIFTS = (0, 9, -9, 17)
HIGH, APART = 17, 2  # pixels: of a label, and between it and what it keeps off
POINTS = 24  # of each curve that are tried
CELL = 4  # pixels: what lies nearer to a line than this is on it
BACK, ON, WIDE = 8, 5, 6  # of a head: behind the end of its line, before it, to either side
ROUNDS, MORE = 8, 14  # how often layers move apart, and how many pixels each time
LARGE, SPARSE = 40, 6  # labels: of so many, each tries one of six places, and no layer moves apart
SOLID = 10  # how much worse a covered box, head or label is than a covered line
Way = tuple[tuple[int, int], ...]  # the corners of a line of straight pieces, ends included
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
    down = spots[1].y - start.bottom
    part = min((2 if fan else 1) / 3, max(down - HEAD, 0) / max(down, 1))
    across = round(part * (spots[1].centre - start.centre))
    return line, start.centre + across, start.bottom + round(part * down)


def curve_across(
    spots: list[Spot], fan: bool = False, plate: int = 0, tip: int = TIP, shift: int = 0
) -> tuple[str, int, int]:
    """Return the line through these spots from left to right, and the place of its label.

    A label stands where arrows lie apart, on a level piece as long as its `plate`: near the start,
    but for those of a `fan` near the end. It ends `tip` pixels before the last spot, `shift` below
    its middle. To a box of its own column it leads out to the right and back.
    """
    start, end = spots[0], spots[-1]
    if start.x == end.x:
        lift, x = 10 * (start == end), max(start.right, end.right)
        first, last, far = start.middle - lift, end.middle + lift, x + LOOP
        line = f"M{start.right} {first} C{far} {first},{far} {last},{end.right + tip} {last}"
        return line, x + LOOP * 3 // 4, (first + last) // 2
    x, y = start.right, start.middle
    line, last = f"M{x} {y}", end.x - tip
    if plate:
        x, last = (x, last - plate - LEAD) if fan else (x + plate + LEAD, last)
    line += f" H{x}"
    for after in spots[1:]:
        right = last if after is end else after.x
        low = after.middle + shift * (after is end)
        half = (x + right) // 2
        line += f" C{half} {y},{half} {low},{right} {low}"
        line += f" H{end.x - tip if after is end else after.right}"
        x, y = after.right, low
    if fan:
        return line, last + plate // 2, y
    return line, start.right + LEAD // 2 + plate // 2, start.middle


def find_way(start: Spot, end: Spot, boxes: list[Spot], before: list[Way]) -> Way:
    """Return the cheapest way from one box to another: short, clear of boxes and other lines."""
    used = {(x // NEAR, y // NEAR) for way in before for x, y in points_of(way)[1:-1]}

    def price(way: Way) -> int:
        pieces = list(pairwise(way))
        hits = sum(meets(piece, box) for box in boxes for piece in pieces)
        hits += sum(meets(piece, start) for piece in pieces[1:])
        hits += sum(meets(piece, end) for piece in pieces[:-1])
        shared = sum((x // NEAR, y // NEAR) in used for x, y in points_of(way))
        return length_of(way) + HIT * hits + SHARED * shared + BEND * len(way)

    return min((_tidy(*way) for way in _ways(start, end)), key=price)


def meets(piece, box: Spot) -> bool:
    """Say whether a straight piece of a line, given by its ends, touches a box."""
    (x, y), (u, v) = piece
    across = min(x, u) < box.right + TOUCH and box.x - TOUCH < max(x, u)
    return across and min(y, v) < box.bottom + TOUCH and box.y - TOUCH < max(y, v)


def _ways(start: Spot, end: Spot) -> Iterator[Way]:
    """Yield ways to leave a box on one of its sides and reach another on one of its."""
    above, below = end.y - TIP, end.bottom + TIP
    for shift in SHIFTS:
        x, u = start.centre + shift, end.centre + shift
        y, v = start.middle + shift // 2, end.middle + shift // 2
        if abs(start.centre - end.centre) <= 2:  # straight up or down
            down = start.y < end.y
            yield (x, start.bottom if down else start.y), (x, above if down else below)
        if start.right < end.x:
            middle = (start.right + end.x) // 2 + shift
            yield (start.right, y), (middle, y), (middle, v), (end.x - TIP, v)
            tip = above if start.y < end.y else below
            if abs(y - tip) > 2 * CORNER:  # out to the right, and in from above or below
                yield (start.right, y), (u, y), (u, tip)
            lanes = (end.y - 26 + shift, above), (end.bottom + 26 + shift, below)
            for far, (lane, tip) in product((20, 40), lanes):
                out = start.right + far + shift
                yield (start.right, y), (out, y), (out, lane), (u, lane), (u, tip)
        for out, lane in ((start.y, start.y - 26), (start.bottom, start.bottom + 26)):
            lane += shift  # along the room between two rows
            if not end.y <= lane <= end.bottom:
                yield (x, out), (x, lane), (u, lane), (u, above if lane < end.y else below)
        out = max(start.right, end.right) + 24 + shift  # round the right and the left
        yield (start.right, y), (out, y), (out, v), (end.right + TIP, v)
        out = min(start.x, end.x) - 24 - shift
        yield (start.x, y), (out, y), (out, v), (end.x - TIP, v)


def _tidy(*corners) -> Way:
    """Return a route without corners that are none."""
    kept = [corners[0]]
    for corner, after in zip(corners[1:], corners[2:], strict=False):
        straight = kept[-1][0] == corner[0] == after[0] or kept[-1][1] == corner[1] == after[1]
        if corner != kept[-1] and not straight:
            kept.append(corner)
    return (*kept, corners[-1])


def round_corners(way: Way) -> str:
    """Return the SVG path of a line of straight pieces, with round corners."""
    first, *rest = way
    words = f"M{first[0]} {first[1]}"
    for before, corner, after in zip(way, rest, rest[1:], strict=False):
        enter, leave = _towards(corner, before), _towards(corner, after)
        words += f" L{enter[0]} {enter[1]} Q{corner[0]} {corner[1]} {leave[0]} {leave[1]}"
    return f"{words} L{rest[-1][0]} {rest[-1][1]}"


def _towards(corner, other) -> tuple[int, int]:
    (x, y), (u, v) = corner, other
    far = abs(u - x) + abs(v - y)
    part = min(CORNER, far // 2)
    return (x + (u - x) * part // max(far, 1), y + (v - y) * part // max(far, 1))


def length_of(way: Way) -> int:
    """Return the length of a line of straight pieces in pixels."""
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(way))


def points_of(way: Way) -> list[tuple[int, int]]:
    """Return places along a line of straight pieces, a few pixels apart."""
    found = []
    for (x, y), (u, v) in pairwise(way):
        steps = max(1, (abs(u - x) + abs(v - y)) // 8)
        found += [(x + (u - x) * n // steps, y + (v - y) * n // steps) for n in range(steps)]
    return [*found, way[-1]]


# -- labels ----------------------------------------------------------------------------------------


def place_labels(arrows: Iterable[dict], spots: Iterable[Spot]) -> tuple[dict, ...]:
    """Return the arrows, their labels moved along them to where they cover least.

    What must move chooses first, and of that, what has the fewest places to choose from. Arrows of
    one `group` may run under each other's labels. `crowded`: a label covers something all the same.
    """
    moved = [{**arrow, "crowded": False} for arrow in arrows]
    numbers = [number for number, arrow in enumerate(moved) if arrow["label"]]
    if not numbers:
        return tuple(moved)
    room, choices = _Room(moved, spots, SPARSE if len(numbers) > LARGE else 1), {}
    for number in numbers:
        here = moved[number]["x"], moved[number]["y"]
        free = not room.covered(number, here)
        choices[number] = [(0, here)] if free else room.choices(number)

    def freedom(number):
        return len(choices[number]) == 1, sum(not cost for cost, _ in choices[number])

    for number in sorted(numbers, key=freedom):
        cost, at = room.best(number, choices[number])
        if len(choices[number]) == 1 and cost:
            cost, at = room.best(number, room.choices(number))
        room.labels.append(room.ground(number, at))
        moved[number] |= {"x": at[0], "y": at[1], "crowded": cost > 0}
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


class _Room:
    """What labels keep off, `labels` that were put too; each tries its arrow `step` by step."""

    def __init__(self, arrows: Sequence[dict], spots: Iterable[Spot], step: int):
        self._arrows, self._step, self.labels = arrows, step, []
        self._groups = [arrow.get("group", number) for number, arrow in enumerate(arrows)]
        self._lines = defaultdict(set)  # a cell of the page -> groups of the arrows that pass it
        self._solid = [(s.x, s.y, s.right, s.bottom) for s in spots if s.width]
        for group, arrow in zip(self._groups, arrows, strict=True):
            self._solid.append(_head(arrow["line"]))
            for cell in _cells(arrow["line"]):
                self._lines[cell].add(group)

    def covered(self, number: int, at: tuple[float, float]) -> int:
        """Return how much a label of this arrow would cover at a place, but for other labels."""
        ground = left, top, right, bottom = self.ground(number, at)
        columns = range(int(left // CELL), int(right // CELL) + 1)
        rows = range(int(top // CELL), int(bottom // CELL) + 1)
        others = set().union(*(self._lines.get(cell, ()) for cell in product(columns, rows)))
        return len(others - {self._groups[number]}) + SOLID * _count_met(ground, self._solid)

    def choices(self, number: int) -> list[tuple[int, tuple[int, int]]]:
        """Return the places for a label, the nearest to its own first, each after its cost."""
        arrow = self._arrows[number]
        here = arrow["x"], arrow["y"]
        tried = sorted([here, *points_along(arrow["line"])[:: self._step]], key=partial(dist, here))
        return [(self.covered(number, at), at) for at in tried]

    def best(self, number: int, choices) -> tuple[int, tuple[int, int]]:
        """Return the first place that covers least, now that other labels have theirs."""
        grounds = ((cost, at, self.ground(number, at)) for cost, at in choices)
        costs = [(cost + SOLID * _count_met(own, self.labels), at) for cost, at, own in grounds]
        return min(costs, key=itemgetter(0))

    def ground(self, number: int, at: tuple[float, float]) -> tuple[float, ...]:
        """Return left, top, right and bottom of the label of this arrow at a place."""
        (x, y), plate = at, self._arrows[number]["plate"]
        return x - plate / 2, y - HIGH / 2, x + plate / 2, y + HIGH / 2


def _head(line: str) -> tuple[float, float, float, float]:
    """Return the ground of the head at the end of a line."""
    (u, v), (x, y) = _places(line)[-2:]
    if abs(x - u) > abs(y - v):  # it leads across
        back, on = (BACK, ON) if u < x else (ON, BACK)
        return x - back, y - WIDE, x + on, y + WIDE
    back, on = (BACK, ON) if v < y else (ON, BACK)
    return x - WIDE, y - back, x + WIDE, y + on


def _count_met(ground, others: list) -> int:
    left, top, right, bottom = ground
    left, top, right, bottom = left - APART, top - APART, right + APART, bottom + APART
    return sum(x < right and left < end and y < bottom and top < low for x, y, end, low in others)


def points_along(line: str) -> list[tuple[int, int]]:
    """Return points on a line of an SVG that is made of M, C, Q, L, H and V in absolute numbers."""
    return [(round(x), round(y)) for x, y in _places(line)[1:-1]]


@lru_cache(maxsize=4_000)
def _places(line: str) -> list[tuple[float, float]]:
    """Return both ends of a line and points between them."""
    points = []
    for command, words in _COMMAND.findall(line):
        ends = [float(word) for word in re.findall(r"-?[\d.]+", words)]
        if command == "M":
            points.append(tuple(ends))
            continue
        x, y = points[-1]
        ends = [ends[0], y] if command == "H" else [x, ends[0]] if command == "V" else ends
        corners = [(x, y), *zip(ends[::2], ends[1::2], strict=True)]
        points += [_on_curve(n / POINTS, corners) for n in range(1, POINTS + 1)]
    return points


def _on_curve(part: float, corners) -> tuple[float, float]:
    while len(corners) > 1:
        corners = [(x + (u - x) * part, y + (v - y) * part) for (x, y), (u, v) in pairwise(corners)]
    return corners[0]


@lru_cache(maxsize=4_000)
def _cells(line: str) -> frozenset[tuple[int, int]]:
    """Return the cells of the page that a line passes."""
    found = set()
    for (x, y), (u, v) in pairwise(_places(line)):
        steps = 1 + int(hypot(u - x, v - y) // CELL)
        found |= {
            (int((x + (u - x) * n / steps) // CELL), int((y + (v - y) * n / steps) // CELL))
            for n in range(steps + 1)
        }
    return frozenset(found)
