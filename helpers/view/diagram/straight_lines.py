"""Two boxes -> the cheapest way between them in straight pieces, round boxes and other arrows.
A *way* is the corners of a line: `((10, 20), (50, 20), (50, 90))`. All ways with few corners are
listed, and the one with the least price is taken.

This is orthogonal edge routing by enumeration, which is enough for the few boxes of a job.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .arrow_lines import TIP, Point
from .drawing import Rectangle

NEAR = 5  # pixels: so close to a box a line touches it
LANE_OFFSET = 26  # pixels from a box to a lane beside it
OUT_STEPS = (20, 40)  # pixels that a line goes out to the right before it turns
LEAST_TURN = 18  # pixels: a line that turns closer to its end has no room for its head
STEEP = 2  # pixels: what is less aslant leads straight down
HIT_PRICE = 2000  # the price of a piece that touches a box
SHARED_PRICE = 24  # the price of a place that is shared with another line
BEND_PRICE = 14  # the price of a corner
SHIFTS = (0, 9, -9, 17)  # pixels from the middle of a side at which a way may leave or arrive
POINT_STEP = 8  # pixels between two points of a way

Way = tuple[Point, ...]  # the corners of a line of straight pieces, ends included


def find_way(
    start: Rectangle, end: Rectangle, obstacles: list[Rectangle], other_ways: list[Way]
) -> Way:
    """Return the cheapest way from one box to another: short, clear of boxes and other lines.

    `obstacles` are the other boxes, and `other_ways` the ways that were chosen before.
    """
    # The cells of a grid through which other ways lead; two lines in one cell would look like one.
    # Their ends do not count, because several ways may end at one box.
    used_cells = set()
    for way in other_ways:
        used_cells.update((x // NEAR, y // NEAR) for x, y in _list_way_points(way)[1:-1])
    # (box, so many pixels from it count as touching). A way begins and ends at the sides of its own
    # two boxes, so only a piece that runs inside of them counts, which the margin −1 says.
    margins = [(box, NEAR) for box in obstacles] + [(start, -1), (end, -1)]

    best = ()
    least = float("inf")
    for way in sorted(_list_ways(start, end), key=_measure_way):
        length = _measure_way(way)
        if length >= least:
            break  # the ways that follow are longer, and a way costs at least its length
        price = length + BEND_PRICE * len(way)
        price += SHARED_PRICE * _count_shared(way, used_cells)
        price += HIT_PRICE * _count_hits(way, margins)
        if price < least:
            best = way
            least = price
    return best


def _count_shared(way: Way, used_cells: set[Point]) -> int:
    """Return how many points of the way are in a cell through which another way leads."""
    count = 0
    for x, y in _list_way_points(way):
        if (x // NEAR, y // NEAR) in used_cells:
            count += 1
    return count


def _count_hits(way: Way, margins: list[tuple[Rectangle, int]]) -> int:
    """Return how often a piece of the way touches a box.

    `margins` are pairs of a box and a margin in pixels: a piece so close counts as touching. With a
    negative margin, only a piece inside of the box counts.
    """
    count = 0
    for box, margin in margins:
        for start, end in pairwise(way):
            if _touches(start, end, box, margin):
                count += 1
    return count


def _touches(start: Point, end: Point, box: Rectangle, margin: int) -> bool:
    """Return whether a level or upright piece comes closer to a box than its margin in pixels."""
    left, right = sorted((start[0], end[0]))
    if left >= box.right + margin or right <= box.x - margin:
        return False

    top, bottom = sorted((start[1], end[1]))
    return top < box.bottom + margin and bottom > box.y - margin


@dataclass(frozen=True)
class _Ends:
    """Where a way leaves one box and reaches another, by the side of the box."""

    start: Rectangle
    """The box that it leaves."""
    end: Rectangle
    """The box that it reaches."""
    shift: int
    """How far from the middle of the sides."""
    leave_x: int
    """The x at which it leaves at the top or bottom."""
    reach_x: int
    """The x at which it reaches the other from above or below."""
    leave_y: int
    """The y at which it leaves to a side."""
    reach_y: int
    """The y at which it reaches the other from a side."""


def _list_ways(start: Rectangle, end: Rectangle) -> Iterator[Way]:
    """Yield all ways with few corners from a side of one box to a side of another."""
    for shift in SHIFTS:
        leave_x = start.centre_x + shift
        reach_x = end.centre_x + shift
        if abs(reach_x - leave_x) <= STEEP:  # a corner for so little would only be a kink
            reach_x = leave_x
        leave_y = start.centre_y + shift // 2  # half, because a box is less high than wide
        reach_y = end.centre_y + shift // 2

        ends = _Ends(
            start=start,
            end=end,
            shift=shift,
            leave_x=leave_x,
            reach_x=reach_x,
            leave_y=leave_y,
            reach_y=reach_y,
        )
        yield from _list_ways_to_a_side(ends)
        yield from _list_ways_from_above_or_below(ends)


def _list_ways_to_a_side(ends: _Ends) -> Iterator[Way]:
    """Yield the ways that reach the second box on its left or right side.

    Each way has an upright piece: in the middle between the boxes, right of both, or left of both.
    """
    start = ends.start
    end = ends.end
    middle = (start.right + end.x) // 2 + ends.shift  # the x of the upright piece, as below
    right_lane = max(start.right, end.right) + LANE_OFFSET + ends.shift
    left_lane = min(start.x, end.x) - LANE_OFFSET - ends.shift

    out_of_right = (start.right, ends.leave_y)
    out_of_left = (start.x, ends.leave_y)
    into_left = (end.x - TIP, ends.reach_y)
    into_right = (end.right + TIP, ends.reach_y)
    yield out_of_right, (middle, ends.leave_y), (middle, ends.reach_y), into_left
    yield out_of_right, (right_lane, ends.leave_y), (right_lane, ends.reach_y), into_right
    yield out_of_left, (left_lane, ends.leave_y), (left_lane, ends.reach_y), into_left


def _list_ways_from_above_or_below(ends: _Ends) -> Iterator[Way]:
    """Yield the ways that reach the second box from above or from below."""
    start = ends.start
    end = ends.end
    shift = ends.shift
    out_of_right = (start.right, ends.leave_y)
    # For the upper and for the lower side of a box: (the y at which a way meets the box, the y of a
    # level lane beside this side).
    into_sides = ((end.y - TIP, end.y - LANE_OFFSET), (end.bottom + TIP, end.bottom + LANE_OFFSET))
    out_of_sides = ((start.y, start.y - LANE_OFFSET), (start.bottom, start.bottom + LANE_OFFSET))

    for tip_y, end_lane_y in into_sides:
        into_end = (ends.reach_x, tip_y)
        # Out to the right, one corner.
        if abs(ends.leave_y - tip_y) > LEAST_TURN:
            yield out_of_right, (ends.reach_x, ends.leave_y), into_end

        # Out to the right, up or down to the lane beside the second box, and along it.
        for step in OUT_STEPS:
            out_x = start.right + step + shift
            lane_y = end_lane_y + shift
            turns = ((out_x, ends.leave_y), (out_x, lane_y), (ends.reach_x, lane_y))
            yield out_of_right, *turns, into_end

        # Out at the top or bottom, and along the lane beside the first box.
        for leave_y, start_lane_y in out_of_sides:
            lane_y = start_lane_y + shift
            out_of_start = (ends.leave_x, leave_y)
            yield out_of_start, (ends.leave_x, lane_y), (ends.reach_x, lane_y), into_end


def _measure_way(way: Way) -> int:
    """Return the length of a way in pixels."""
    return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(way))


def _list_way_points(way: Way) -> list[Point]:
    """Return points along a way, about `POINT_STEP` pixels apart, with both ends."""
    points = []
    for (x, y), (next_x, next_y) in pairwise(way):
        across = next_x - x
        down = next_y - y
        count = max(1, (abs(across) + abs(down)) // POINT_STEP)
        for number in range(count):
            points.append((x + across * number // count, y + down * number // count))
    points.append(way[-1])
    return points
