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

from helpers.view.diagram.shapes import Spot

HIGH, APART = 17, 2  # pixels: of a label, and between it and what it keeps off
POINTS = 24  # of each curve that are tried
CELL = 4  # pixels: what lies nearer to a line than this is on it
BACK, ON, WIDE = 8, 5, 6  # of a head: behind the end of its line, before it, to either side
ROUNDS, MORE = 8, 14  # how often layers move apart, and how many pixels each time
LARGE, SPARSE = 40, 6  # labels: of so many, each tries one of six places, and no layer moves apart
SOLID = 10  # how much worse a covered box, head or label is than a covered line
_COMMAND = re.compile(r"([MCHVLQ])([^MCHVLQ]*)")


def spread(arrows: Iterable[dict], spots: Iterable[Spot]) -> tuple[dict, ...]:
    """Return the arrows, their labels moved along them to where they cover least.

    What must move chooses first, and of that, what has the fewest places to choose from. Arrows of
    one `group` may run under each other's labels.
    """
    arrows = tuple(arrows)
    room, choices, moved = _Room(arrows, spots), {}, list(arrows)
    for number, arrow in enumerate(arrows):
        if arrow["label"]:
            here = arrow["x"], arrow["y"]
            free = not room.covered(number, here)
            choices[number] = [(0, here)] if free else room.choices(number)
    for number in sorted(choices, key=lambda n: _freedom(choices[n])):
        at = room.best(number, choices[number])
        if len(choices[number]) == 1 and room.labelled(number, at):
            at = room.best(number, room.choices(number))
        room.put(number, at)
        moved[number] = {**arrows[number], "x": at[0], "y": at[1]}
    return tuple(moved)


def _freedom(choices) -> tuple[bool, int]:
    return len(choices) == 1, sum(not cost for cost, _ in choices)


def crowded(arrows: Iterable[dict], spots: Iterable[Spot]) -> list[int]:
    """Return the numbers of the arrows whose label covers another arrow, a head, a box or a label
    before."""
    arrows = tuple(arrows)
    room, found = _Room(arrows, spots), []
    for number, arrow in enumerate(arrows):
        if arrow["label"]:
            at = arrow["x"], arrow["y"]
            found += [number] * bool(room.covered(number, at) + room.labelled(number, at))
            room.put(number, at)
    return found


def roomy(draw, layers: Iterable[Iterable[object]], down: bool):
    """Return the drawing of `draw(more)` with the fewest crowded labels; of equals, the smallest.

    `draw`: takes how many pixels more follow each of the `layers` of keys, by the number of the
    layer, and returns a drawing with `arrows`, and the places of its boxes and bends by key.
    Layers move apart where a label is crowded, and nowhere else.
    """
    more, best, fewest = Counter(), None, float("inf")
    for _ in range(ROUNDS):
        piece, spots = draw(more)
        found = crowded(piece.arrows, spots.values())
        if len(found) < fewest:
            best, fewest = piece, len(found)
        if not found or _many(piece.arrows):
            break
        begins = [min(spots[k].y if down else spots[k].x for k in keys) for keys in layers]
        places = (piece.arrows[number]["y" if down else "x"] for number in found)
        more.update({sum(begin <= place for begin in begins) - 1: MORE for place in places})
    return best


class _Room:
    """What labels are to keep off: lines, boxes and heads, and the labels that were put so far."""

    def __init__(self, arrows: tuple[dict, ...], spots: Iterable[Spot]):
        self._arrows = arrows if any(arrow["label"] for arrow in arrows) else ()
        self._groups = [arrow.get("group", number) for number, arrow in enumerate(self._arrows)]
        # Column and row of a cell of the page -> groups of the arrows that pass it.
        self._lines = defaultdict(lambda: defaultdict(set))
        self._solid = [(s.x, s.y, s.right, s.bottom) for s in spots if s.width]
        self._labels, self._step = [], SPARSE if _many(arrows) else 1
        for group, arrow in zip(self._groups, self._arrows, strict=True):
            self._solid.append(_head(arrow["line"]))
            for x, y in _cells(arrow["line"]):
                self._lines[x][y].add(group)

    def covered(self, number: int, at: tuple[float, float]) -> int:
        """Return how much a label of this arrow would cover at a place, but for other labels."""
        ground = left, top, right, bottom = self._ground(number, at)
        others, rows = set(), range(int(top // CELL), int(bottom // CELL) + 1)
        for x in range(int(left // CELL), int(right // CELL) + 1):
            column = self._lines[x]
            others.update(*(column[y] for y in rows if y in column))
        return len(others - {self._groups[number]}) + SOLID * _met(ground, self._solid)

    def choices(self, number: int) -> list[tuple[int, tuple[int, int]]]:
        """Return the places for a label, the nearest to its own first, each after its cost."""
        arrow = self._arrows[number]
        here = arrow["x"], arrow["y"]
        tried = sorted([here, *along(arrow["line"])[:: self._step]], key=partial(dist, here))
        return [(self.covered(number, at), at) for at in tried]

    def best(self, number: int, choices) -> tuple[int, int]:
        """Return the first place that covers least, now that other labels have theirs."""
        return min(choices, key=lambda choice: choice[0] + self.labelled(number, choice[1]))[1]

    def labelled(self, number: int, at: tuple[float, float]) -> int:
        """Return how much it would cover of the labels so far."""
        return SOLID * _met(self._ground(number, at), self._labels)

    def put(self, number: int, at: tuple[float, float]) -> None:
        """Put the label of this arrow there."""
        self._labels.append(self._ground(number, at))

    def _ground(self, number: int, at: tuple[float, float]) -> tuple[float, ...]:
        (x, y), plate = at, self._arrows[number]["plate"]
        return x - plate / 2, y - HIGH / 2, x + plate / 2, y + HIGH / 2


def _many(arrows: Iterable[dict]) -> bool:
    return sum(bool(arrow["label"]) for arrow in arrows) > LARGE


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
    """Return the point of a Bézier curve of any degree, as de Casteljau found it."""
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
