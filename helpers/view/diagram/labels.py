"""Arrows with labels -> the same, where each label stands on its own arrow and on nothing else.

It keeps off the other arrows, all heads, the boxes and the other labels, as near to its place as
may be; where there is no such place, it covers as little as can be.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache, partial
from itertools import pairwise
from math import dist, hypot

from helpers.view.diagram.pixel_positions import Spot

HIGH, APART = 17, 2  # pixels: of a label, and between it and what it keeps off
POINTS = 24  # of each curve that are tried
CELL = 4  # pixels: what lies nearer to a line than this is on it
BACK, ON, WIDE = 8, 5, 6  # of a head: behind the end of its line, before it, to either side
ROUNDS, MORE = 8, 14  # how often layers move apart, and how many pixels each time
LARGE, SPARSE = 40, 6  # labels: of so many, each tries one of six places, and no layer moves apart
SOLID = 10  # how much worse a covered box, head or label is than a covered line
_COMMAND = re.compile(r"([MCHV])([^MCHV]*)")


def spread(arrows: Iterable[dict], spots: Iterable[Spot]) -> tuple[dict, ...]:
    """Return the arrows, their labels moved along them to where they cover least.

    What must move chooses first, and of that, what has the fewest places to choose from.
    """
    arrows = tuple(arrows)
    room, choices, moved = _Room(arrows, spots), {}, list(arrows)
    for number, arrow in enumerate(arrows):
        if arrow["label"]:
            here = arrow["x"], arrow["y"]
            free = not room.covered(number, here)
            choices[number] = [(0, here)] if free else room.choices(number, arrow)
    for number in sorted(choices, key=lambda number: _order(choices[number])):
        x, y = room.best(number, choices[number])
        if len(choices[number]) == 1 and room.labelled(number, (x, y)):
            x, y = room.best(number, room.choices(number, arrows[number]))
        room.put(number, (x, y))
        moved[number] = {**arrows[number], "x": x, "y": y}
    return tuple(moved)


def _order(choices) -> tuple[bool, int]:
    return len(choices) == 1, sum(not covers for covers, _ in choices)


def roomy(draw, layers):
    """Return the drawing of `draw(more)` with the fewest crowded labels; of equals, the smallest.

    `draw`: takes how many pixels more follow each of the `layers` of keys, by the number of the
    layer, and returns a drawing with `arrows`, the places of its boxes and bends by key, and
    whether it leads down. Layers move apart where a label is crowded, and nowhere else.
    """
    more, best, fewest = Counter(), None, float("inf")
    for _ in range(ROUNDS):
        piece, spots, down = draw(more)
        places = crowded(piece.arrows, spots.values())
        if len(places) < fewest:
            best, fewest = piece, len(places)
        if not places or _many(piece.arrows):
            break
        begins = [min(spots[k].y if down else spots[k].x for k in keys) for keys in layers]
        at = {sum(begin <= place[down] for begin in begins) - 1 for place in places}
        more.update(dict.fromkeys(at, MORE))
    return best


def crowded(arrows: Iterable[dict], spots: Iterable[Spot]) -> list[tuple[int, int]]:
    """Return the places of labels that cover another arrow, a head, a box or a label before."""
    arrows = tuple(arrows)
    room, found = _Room(arrows, spots), []
    for number, arrow in enumerate(arrows):
        if arrow["label"]:
            at = arrow["x"], arrow["y"]
            found += [at] if room.covered(number, at) + room.labelled(number, at) else []
            room.put(number, at)
    return found


class _Room:
    """What labels are to keep off: lines, boxes and heads, and the labels that were put so far."""

    def __init__(self, arrows: tuple[dict, ...], spots: Iterable[Spot]):
        arrows = arrows if any(arrow["label"] for arrow in arrows) else ()
        self._plates = [arrow["plate"] for arrow in arrows]
        # Column and row of a cell of the page -> numbers of the arrows that pass it.
        self._lines = defaultdict(lambda: defaultdict(set))
        self._solid = [(s.x, s.y, s.right, s.bottom) for s in spots if s.width]
        self._labels, self._large = [], _many(arrows)
        for number, arrow in enumerate(arrows):
            self._solid.append(_head(arrow["line"]))
            for x, y in _cells(arrow["line"]):
                self._lines[x][y].add(number)

    def covered(self, number: int, at: tuple[float, float]) -> int:
        """Return how much a label of this arrow would cover at a place, but for other labels."""
        ground = left, top, right, bottom = _ground(at, self._plates[number])
        others, rows = set(), range(int(top // CELL), int(bottom // CELL) + 1)
        for x in range(int(left // CELL), int(right // CELL) + 1):
            column = self._lines[x]
            others.update(*(column[y] for y in rows if y in column))
        return len(others - {number}) + SOLID * _met(ground, self._solid)

    def choices(self, number: int, arrow: dict) -> list[tuple[int, tuple[int, int]]]:
        """Return the places for a label, the nearest to its own first, each after its cost."""
        here = arrow["x"], arrow["y"]
        points = along(arrow["line"])[:: SPARSE if self._large else 1]
        tried = sorted([here, *points], key=partial(dist, here))
        return [(self.covered(number, at), at) for at in tried]

    def best(self, number: int, choices) -> tuple[int, int]:
        """Return the first place that covers least, now that other labels have theirs."""
        return min(choices, key=lambda choice: choice[0] + self.labelled(number, choice[1]))[1]

    def labelled(self, number: int, at: tuple[float, float]) -> int:
        """Return how much it would cover of the labels so far."""
        ground = _ground(at, self._plates[number])
        return SOLID * _met(ground, self._labels)

    def put(self, number: int, at: tuple[float, float]) -> None:
        """Put the label of this arrow there."""
        self._labels.append(_ground(at, self._plates[number]))


def _many(arrows: Iterable[dict]) -> bool:
    return sum(bool(arrow["label"]) for arrow in arrows) > LARGE


def _ground(at: tuple[float, float], plate: int) -> tuple[float, float, float, float]:
    x, y = at
    return x - plate / 2, y - HIGH / 2, x + plate / 2, y + HIGH / 2


@lru_cache(maxsize=4_000)
def _head(line: str) -> tuple[float, float, float, float]:
    """Return the ground of the head at the end of a line."""
    points = _places(line)
    x, y = points[-1]
    before = next((point for point in reversed(points) if point != (x, y)), (x, y - 1))
    far = dist((x, y), before)
    u, v = (x - before[0]) / far, (y - before[1]) / far
    (a, b), (c, d) = ((x - BACK * u, y - BACK * v), (x + ON * u, y + ON * v))
    across, down = WIDE * abs(v), WIDE * abs(u)
    return min(a, c) - across, min(b, d) - down, max(a, c) + across, max(b, d) + down


def _met(ground, others: list) -> int:
    """Return how many of the others a ground meets, or comes too near to."""
    left, top, right, bottom = ground
    left, top, right, bottom = left - APART, top - APART, right + APART, bottom + APART
    met = [1 for x, y, end, low in others if x < right and left < end and y < bottom and top < low]
    return len(met)


def along(line: str) -> list[tuple[int, int]]:
    """Return points on a line of an SVG that is made of M, C, H and V with absolute places."""
    return [(round(x), round(y)) for x, y in _places(line)[1:-1]]


@lru_cache(maxsize=4_000)
def _places(line: str) -> list[tuple[float, float]]:
    """Return both ends of a line and points between them."""
    points, x, y = [], 0.0, 0.0
    for command, words in _COMMAND.findall(line):
        ends = [float(word) for word in re.findall(r"-?[\d.]+", words)]
        if command == "M":
            x, y = ends
            points.append((x, y))
            continue
        if command == "H":
            ends = [x, y, ends[0], y, ends[0], y]
        elif command == "V":
            ends = [x, y, x, ends[0], x, ends[0]]
        points += [_on_curve(n / POINTS, x, y, *ends) for n in range(1, POINTS + 1)]
        x, y = ends[4:]
    return points


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


def _on_curve(t: float, x, y, x1, y1, x2, y2, x3, y3) -> tuple[float, float]:
    parts = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
    return (
        sum(p * v for p, v in zip(parts, (x, x1, x2, x3), strict=True)),
        sum(p * v for p, v in zip(parts, (y, y1, y2, y3), strict=True)),
    )
