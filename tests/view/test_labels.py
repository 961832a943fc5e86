"""helpers/view/diagram/labels.py: no label covers another, and each stays on its arrow."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.view.diagram.labels import along, spread
from helpers.view.diagram.pixel_positions import Spot

LINE = "M0 40 C0 70,{x} 70,{x} 96"


def arrow(x, at, plate=60, label="words"):
    return {"line": LINE.format(x=x), "label": label, "x": at, "y": 66, "plate": plate}


def grounds(arrows):
    return [(a["x"] - a["plate"] / 2, a["y"], a["x"] + a["plate"] / 2) for a in arrows]


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or abs(one[1] - other[1]) >= 17


def test_the_second_of_two_labels_in_one_place_moves_along_its_arrow():
    first, second = spread([arrow(-300, -150), arrow(-280, -140)], [])
    assert (first["x"], first["y"]) == (-150, 66)
    assert (second["x"], second["y"]) in along(second["line"])
    assert apart(*grounds([first, second]))


def test_labels_that_lie_apart_stay_and_so_does_one_without_room():
    far = [arrow(-300, -150), arrow(300, 150), arrow(0, 0, label="")]
    assert list(spread(far, [])) == far
    crowded = [arrow(0, 0), arrow(0, 0)]
    assert list(spread(crowded, [Spot(-500, 0, 1000, 200)])) == crowded


def test_a_label_moves_under_no_box():
    first, second = spread([arrow(-300, -150), arrow(-280, -140)], [Spot(-140, 50, 400)])
    assert second["x"] + second["plate"] / 2 <= -140


@given(st.lists(st.integers(-400, 400), min_size=2, max_size=6))
def test_no_label_is_lost(ends):
    arrows = [arrow(end, end // 2) for end in ends]
    moved = spread(arrows, [])
    assert [(a["line"], a["label"]) for a in moved] == [(a["line"], a["label"]) for a in arrows]
    assert all(0 <= a["y"] <= 96 for a in moved)


def test_points_lie_on_straight_lines_too():
    assert {x for x, _ in along("M5 0V30")} == {5} and {y for _, y in along("M0 7 H30")} == {7}
    assert set(along("M0 0 C0 5,10 5,10 10 V20")) >= {(5, 5), (10, 15)}
