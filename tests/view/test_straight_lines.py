"""The way of a line between two boxes: round other boxes, apart from other lines."""

from itertools import pairwise

import pytest

from helpers.view.diagram.drawing import Rectangle
from helpers.view.diagram.straight_lines import find_way

START = Rectangle(0, 0, 80, 40)
BELOW = Rectangle(0, 200, 80, 40)
BESIDE = Rectangle(300, 0, 80, 40)
BETWEEN = Rectangle(-20, 100, 120, 40)


def passes(way, box):
    """Return whether a piece of a way, level or upright, leads through a box."""
    for (x, y), (next_x, next_y) in pairwise(way):
        is_across = min(x, next_x) < box.right and max(x, next_x) > box.x
        is_down = min(y, next_y) < box.bottom and max(y, next_y) > box.y
        if is_across and is_down:
            return True
    return False


@pytest.mark.parametrize("end", [BELOW, BESIDE])
def test_a_way_is_level_or_upright_from_side_to_side(end):
    way = find_way(START, end, [], [])
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(way))
    assert not passes(way, START) and not passes(way, end)


def test_a_way_to_a_box_right_below_is_straight_unless_another_box_is_between():
    straight = find_way(START, BELOW, [], [])
    assert len({x for x, _ in straight}) == 1
    round_the_box = find_way(START, BELOW, [BETWEEN], [])
    assert passes(straight, BETWEEN) and not passes(round_the_box, BETWEEN)


def test_a_second_way_keeps_apart_from_the_first():
    first = find_way(START, BESIDE, [], [])
    second = find_way(START, BESIDE, [], [first])
    assert not set(first) & set(second)
