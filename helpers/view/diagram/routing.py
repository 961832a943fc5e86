"""Two places of a picture, and the boxes between them -> a line that goes round the boxes."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from helpers.view.diagram.pixel_positions import BOX, Spot

TOUCH, NEAR, CORNER, TIP = 5, 5, 9, 4  # pixels
HIT, SHARED, BEND = 2000, 24, 14  # the price of a box touched, of a place shared with another line
SHIFTS = (0, 9, -9, 17)


@dataclass(frozen=True)
class Route:
    """A line of straight pieces with round corners."""

    corners: tuple[tuple[int, int], ...]

    @cached_property
    def length(self) -> int:
        """The length in pixels."""
        return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(self.corners))

    @property
    def right(self) -> int:
        """How far it reaches to the right."""
        return max(x for x, _ in self.corners)

    @property
    def low(self) -> int:
        """How far it reaches down."""
        return max(y for _, y in self.corners)

    @cached_property
    def points(self) -> tuple[tuple[int, int], ...]:
        """Places along the line, a few pixels apart."""
        return self._every(8)

    @cached_property
    def _places(self) -> tuple[tuple[int, int], ...]:
        return self._every(3)

    def _every(self, pixels: int) -> tuple[tuple[int, int], ...]:
        found = []
        for (x, y), (u, v) in pairwise(self.corners):
            steps = max(1, (abs(u - x) + abs(v - y)) // pixels)
            found += [(x + (u - x) * n // steps, y + (v - y) * n // steps) for n in range(steps)]
        return (*found, self.corners[-1])

    @property
    def path(self) -> str:
        """The line in the words of SVG."""
        first, *rest = self.corners
        words = f"M{first[0]} {first[1]}"
        for before, corner, after in zip(self.corners, rest, rest[1:], strict=False):
            enter, leave = _towards(corner, before), _towards(corner, after)
            words += f" L{enter[0]} {enter[1]} Q{corner[0]} {corner[1]} {leave[0]} {leave[1]}"
        return f"{words} L{rest[-1][0]} {rest[-1][1]}"

    def under(self, x: int, y: int, width: int, height: int) -> bool:
        """Say whether a label of this size around a point would cover a part of the line."""
        left, top = x - width // 2, y - height // 2
        return any(
            min(a, c) < left + width
            and left < max(a, c) + 1
            and min(b, d) < top + height
            and top < max(b, d) + 1
            for (a, b), (c, d) in pairwise(self.corners)
        )

    def clear_place(
        self, width: int, height: int, boxes, plates, others=(), room=0
    ) -> tuple[int, tuple[int, int]]:
        """Return how much a label of this size covers where it covers least, and that place.

        `others`: lines that it should not cover, nor come nearer than half of `room`. Of equal
        places it is the one nearest to the middle of the line.
        """

        def price(numbered):
            number, (x, y) = numbered
            taken = sum(_covers(x, y, width, height, b.x, b.y, b.width, BOX) for b in boxes)
            taken += sum(
                _covers(x, y, width, height, u - w // 2, v - 9, w, 17) for u, v, w in plates
            )
            taken += sum(other.under(x, y, width, height + room) for other in others)
            return taken, abs(number - len(self._places) * 0.45)

        best = min(enumerate(self._places), key=price)
        return price(best)[0], best[1]


def route(start: Spot, end: Spot, boxes: list[Spot], before: list[Route]) -> Route:
    """Return the cheapest way from one box to another: short, clear of boxes and other lines."""
    used = {(x // NEAR, y // NEAR) for way in before for x, y in way.points[1:-1]}

    def price(way: Route) -> int:
        pieces = list(pairwise(way.corners))
        hits = sum(_meets(piece, box) for box in boxes for piece in pieces)
        hits += sum(_meets(piece, start) for piece in pieces[1:])
        hits += sum(_meets(piece, end) for piece in pieces[:-1])
        shared = sum((x // NEAR, y // NEAR) in used for x, y in way.points)
        return way.length + HIT * hits + SHARED * shared + BEND * len(way.corners)

    return min(_ways(start, end), key=price)


def _ways(start: Spot, end: Spot):
    """Yield ways to leave a box on one of its sides and reach another on one of its."""
    for shift in SHIFTS:
        x, u = start.centre + shift, end.centre + shift
        if abs(start.centre - end.centre) <= 2:
            yield _vertical(x, start, x, end)
        if start.right < end.x:
            yield _across(start, end, shift)
            yield from _over(start, end, shift)
        yield from _up_or_down(start, end, x, u, shift)
        yield from _beside(start, end, shift)


def _vertical(x, start: Spot, u, end: Spot) -> Route:
    if start.y < end.y:
        return _tidy((x, start.bottom), (u, end.y - TIP))
    return _tidy((x, start.y), (u, end.bottom + TIP))


def _across(start: Spot, end: Spot, shift: int) -> Route:
    """Return the way to a box further right, with one step between the two."""
    y, v = (spot.middle + shift // 2 for spot in (start, end))
    middle = (start.right + end.x) // 2 + shift
    return _tidy((start.right, y), (middle, y), (middle, v), (end.x - TIP, v))


def _over(start: Spot, end: Spot, shift: int):
    """Yield ways out to the right and in from above or below."""
    x, y = end.centre + shift, start.middle + shift // 2
    tip = end.y - TIP if start.y < end.y else end.bottom + TIP
    if abs(y - tip) > 2 * CORNER:
        yield _tidy((start.right, y), (x, y), (x, tip))
    for out in (start.right + 20 + shift, start.right + 40 + shift):
        for lane, tip in ((end.y - 26, end.y - TIP), (end.bottom + 26, end.bottom + TIP)):
            lane += shift
            yield _tidy((start.right, y), (out, y), (out, lane), (x, lane), (x, tip))


def _up_or_down(start: Spot, end: Spot, x, u, shift):
    """Yield ways that leave and arrive above or below, along the room between two rows."""
    for out, lane in ((start.y, start.y - 26 + shift), (start.bottom, start.bottom + 26 + shift)):
        for arrive, side in ((end.y - TIP, end.y), (end.bottom + TIP, end.bottom)):
            leads_in = lane < side if side == end.y else lane > side
            if leads_in:
                yield _tidy((x, out), (x, lane), (u, lane), (u, arrive))


def _beside(start: Spot, end: Spot, shift):
    """Yield ways round the right and the left of what lies between."""
    y, v = start.middle + shift // 2, end.middle + shift // 2
    out = max(start.right, end.right) + 24 + shift
    yield _tidy((start.right, y), (out, y), (out, v), (end.right + TIP, v))
    out = min(start.x, end.x) - 24 - shift
    yield _tidy((start.x, y), (out, y), (out, v), (end.x - TIP, v))


def _tidy(*corners) -> Route:
    """Return a route without corners that are none."""
    kept = [corners[0]]
    for corner, after in zip(corners[1:], corners[2:], strict=False):
        straight = kept[-1][0] == corner[0] == after[0] or kept[-1][1] == corner[1] == after[1]
        if corner != kept[-1] and not straight:
            kept.append(corner)
    return Route((*kept, corners[-1]))


def _meets(piece, box: Spot) -> bool:
    """Say whether a straight piece of a line touches a box."""
    (x, y), (u, v) = piece
    across = min(x, u) < box.right + TOUCH and box.x - TOUCH < max(x, u)
    return across and min(y, v) < box.bottom + TOUCH and box.y - TOUCH < max(y, v)


def _covers(x, y, width, height, left, top, wide, high) -> bool:
    across = x - width // 2 < left + wide and left < x + width // 2
    return across and y - height // 2 < top + high and top < y + height // 2


def _towards(corner, other) -> tuple[int, int]:
    """Return the point near a corner where it begins to be round."""
    (x, y), (u, v) = corner, other
    far = abs(u - x) + abs(v - y)
    part = min(CORNER, far // 2)
    return (x + (u - x) * part // max(far, 1), y + (v - y) * part // max(far, 1))
