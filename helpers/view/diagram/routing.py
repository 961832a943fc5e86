"""Two places of a picture -> the line between them, as an SVG path, and where its label may stand.

Between layers it is a curve; where boxes stand in its way, straight pieces lead round them.
"""

from collections.abc import Iterator
from itertools import pairwise

from helpers.view.diagram.shapes import Spot

TIP, LOOP = 4, 60  # pixels before a box where a line ends; how far one goes out that comes back
LEAD = 14  # pixels of a level piece beside a label
HEAD = 25  # of an arrow: its length, and half a label beside it
TOUCH, NEAR, CORNER = 5, 5, 9  # pixels
HIT, SHARED, BEND = 2000, 24, 14  # the price of a box touched, of a place shared with another line
SHIFTS = (0, 9, -9, 17)
Way = tuple[tuple[int, int], ...]  # the corners of a line of straight pieces, ends included


def curve_down(spots: list[Spot], fan: bool = False, plate: int = 0) -> tuple[str, int, int]:
    """Return the line through these spots from top to bottom, and the place of its label.

    `fan`: more lines leave the first spot; they lie apart near their ends. No label covers a head.
    """
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


def rounded(way: Way) -> str:
    """Return the SVG path of a line of straight pieces, with round corners."""
    first, *rest = way
    words = f"M{first[0]} {first[1]}"
    for before, corner, after in zip(way, rest, rest[1:], strict=False):
        enter, leave = _towards(corner, before), _towards(corner, after)
        words += f" L{enter[0]} {enter[1]} Q{corner[0]} {corner[1]} {leave[0]} {leave[1]}"
    return f"{words} L{rest[-1][0]} {rest[-1][1]}"


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


def route(start: Spot, end: Spot, boxes: list[Spot], before: list[Way]) -> Way:
    """Return the cheapest way from one box to another: short, clear of boxes and other lines."""
    used = {(x // NEAR, y // NEAR) for way in before for x, y in points_of(way)[1:-1]}

    def price(way: Way) -> int:
        pieces = list(pairwise(way))
        hits = sum(meets(piece, box) for box in boxes for piece in pieces)
        hits += sum(meets(piece, start) for piece in pieces[1:])
        hits += sum(meets(piece, end) for piece in pieces[:-1])
        shared = sum((x // NEAR, y // NEAR) in used for x, y in points_of(way))
        return length_of(way) + HIT * hits + SHARED * shared + BEND * len(way)

    return min(_ways(start, end), key=price)


def meets(piece, box: Spot) -> bool:
    """Say whether a straight piece of a line, given by its ends, touches a box."""
    (x, y), (u, v) = piece
    across = min(x, u) < box.right + TOUCH and box.x - TOUCH < max(x, u)
    return across and min(y, v) < box.bottom + TOUCH and box.y - TOUCH < max(y, v)


def _ways(start: Spot, end: Spot) -> Iterator[Way]:
    """Yield ways to leave a box on one of its sides and reach another on one of its."""
    above, below = (end.y, end.y - TIP), (end.bottom, end.bottom + TIP)
    for shift in SHIFTS:
        x, u = start.centre + shift, end.centre + shift
        y, v = start.middle + shift // 2, end.middle + shift // 2
        if abs(start.centre - end.centre) <= 2:  # straight up or down
            out, tip = (start.bottom, above[1]) if start.y < end.y else (start.y, below[1])
            yield _tidy((x, out), (x, tip))
        if start.right < end.x:
            middle = (start.right + end.x) // 2 + shift
            yield _tidy((start.right, y), (middle, y), (middle, v), (end.x - TIP, v))
            tip = above[1] if start.y < end.y else below[1]
            if abs(y - tip) > 2 * CORNER:  # out to the right, and in from above or below
                yield _tidy((start.right, y), (u, y), (u, tip))
            for out in (start.right + 20 + shift, start.right + 40 + shift):
                for lane, tip in ((end.y - 26, above[1]), (end.bottom + 26, below[1])):
                    lane += shift
                    yield _tidy((start.right, y), (out, y), (out, lane), (u, lane), (u, tip))
        for out, lane in ((start.y, start.y - 26), (start.bottom, start.bottom + 26)):
            lane += shift  # along the room between two rows
            for (_, tip), leads_in in zip(
                (above, below), (lane < end.y, lane > end.bottom), strict=True
            ):
                if leads_in:
                    yield _tidy((x, out), (x, lane), (u, lane), (u, tip))
        out = max(start.right, end.right) + 24 + shift  # round the right and the left
        yield _tidy((start.right, y), (out, y), (out, v), (end.right + TIP, v))
        out = min(start.x, end.x) - 24 - shift
        yield _tidy((start.x, y), (out, y), (out, v), (end.x - TIP, v))


def _tidy(*corners) -> Way:
    """Return a route without corners that are none."""
    kept = [corners[0]]
    for corner, after in zip(corners[1:], corners[2:], strict=False):
        straight = kept[-1][0] == corner[0] == after[0] or kept[-1][1] == corner[1] == after[1]
        if corner != kept[-1] and not straight:
            kept.append(corner)
    return (*kept, corners[-1])


def _towards(corner, other) -> tuple[int, int]:
    """Return the point near a corner where it begins to be round."""
    (x, y), (u, v) = corner, other
    far = abs(u - x) + abs(v - y)
    part = min(CORNER, far // 2)
    return (x + (u - x) * part // max(far, 1), y + (v - y) * part // max(far, 1))
