"""A curve: from the first number to the last, on a scale that begins at 0."""

import re

import pytest

from helpers.view import charts
from helpers.view.charts import curve


def drawn(numbers):
    path = re.search(
        r'class="curve" d="M([^"]+)"', charts.curve_svg(charts.make_curve("t", numbers))
    )[1]
    return [tuple(map(float, point.split())) for point in path.split("L")]


def test_half_as_much_is_half_as_high_and_half_way_is_in_the_middle():
    (x, y), (middle, half), (end, low) = drawn([8, 4, 0])
    assert middle - x == end - middle and half - y == low - half
    assert low == charts.FIELD[1] + charts.FIELD[3] and y == charts.FIELD[1]


@pytest.mark.parametrize("count", [1, 2, 5_000])
def test_the_first_and_the_last_number_are_drawn(count):
    points = drawn([float(count - n) for n in range(count)])
    assert points[0][0] == charts.FIELD[0] and len(points) <= charts.MOST_POINTS + 1
    assert count == 1 or points[-1][0] == charts.FIELD[0] + charts.FIELD[2]


def test_the_text_gives_first_and_last_and_more_from_the_start():
    lines = curve.text(
        charts.make_curve("loss", [100.0 - n for n in range(101)], "round")
    ).splitlines()
    assert lines[0] == "loss" and lines[1].split() == ["round", "number"]
    assert [line.split()[0] for line in lines[3:-1]] == ["0", "1", "3", "10", "30", "100"]
    assert lines[-1].startswith("95 numbers are left out here")


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ([], ValueError),
        ([1, -1], ValueError),
        ([float("nan")], ValueError),
        (["1"], TypeError),
        ([True], TypeError),
        ("12", TypeError),
        ({1: 2}, TypeError),
    ],
)
def test_what_is_no_curve_is_refused_in_a_sentence(numbers, error):
    with pytest.raises(error) as caught:
        charts.make_curve("t", numbers)
    assert "\n" not in str(caught.value)
