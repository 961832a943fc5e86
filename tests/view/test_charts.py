"""Bars and curves: pictures, and their numbers in words."""

import re

import pytest

from helpers.model.noise import Ratio
from helpers.view import charts
from helpers.view.charts import curve, plot


def test_the_numbers_stand_in_the_alt_text_and_in_the_text():
    data = plot("cost", {"eager": 35.3, "<graph>": 1.0})._repr_mimebundle_()
    assert 'aria-label="cost: eager 35×, &lt;graph&gt; 1×"' in data["text/html"]
    assert re.search("(?s) 2.6em.*0 3px;background-color", data["text/html"])
    assert "eager    35×" in data["text/plain"] and "<graph>  1×" in data["text/plain"]
    data = plot("T", {"a": Ratio(2.0, 3.0, 7), "b": Ratio(0.05, 0.06, 2)})._repr_mimebundle_()
    assert data["text/plain"].split("\n")[3].split() == ["a", "2×", "2", "and", "3", "7"]
    assert re.search(r"\b2\b\W\w+\W7\b", data["text/html"]), "the numbers of rounds"
    assert ">1/20<" in data["text/html"]


def drawn_bars(ratios):
    """Return the place of the line at 1, and left and right end of each bar, in per cent."""
    html = plot("T", ratios)._repr_mimebundle_()["text/html"]
    bars = re.findall(r"left:([\d.]+)%;top:4px;width:([\d.]+)%", html)
    one = re.search(r"left:([\d.]+)%[^>]*>1: equal<", html)[1]
    return float(one), [(float(x), float(x) + float(width)) for x, width in bars]


def test_bars_leave_the_line_at_1_to_either_side():
    line, ((a, b), (c, d), (e, f)) = drawn_bars({"half": 0.5, "twice": 2.0, "eight times": 8})
    assert b == pytest.approx(line) and line == c == e and a < line < d < f
    assert line - a == pytest.approx(d - c, abs=2) and f - e == pytest.approx(3 * (d - c), abs=4)


def test_the_text_gives_first_and_last_and_more_from_the_start():
    lines = curve.text(
        charts.make_curve("loss", [100.0 - n for n in range(101)], "round")
    ).splitlines()
    assert lines[0] == "loss" and lines[1].split() == ["round", "number"]
    assert [line.split()[0] for line in lines[3:-1]] == ["0", "1", "3", "10", "30", "100"]
    assert lines[-1].startswith("95 ")  # as many are left out


def test_a_curve_is_as_wide_as_its_page_and_has_round_numbers_at_its_axes():
    html = curve.html(charts.make_curve("loss", [14.7] + [1.5] * 400, "round"))
    assert "min-width" not in html and html.count("width:100%") == 2
    ticks = re.findall(r'text-align:(?:right|center)">([^<]*)<', html)
    assert ticks == ["0", "5", "10", "15", "0", "100", "200", "300", "400", "round"]
    steep = curve.html(charts.make_curve("t", [14.7] + [0.5] * 399 + [0.0278], number="loss"))
    assert re.findall(r'text-align:right">([^<]*)<', steep) == ["0.1", "1", "10"]
    assert "logarithmic" in steep and "logarithmic" not in html


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ([], ValueError),
        ([1, -1], ValueError),
        ([float("nan")], ValueError),
        (["1"], TypeError),
        ("12", TypeError),
    ],
)
def test_what_is_no_curve_is_refused_in_a_sentence(numbers, error):
    with pytest.raises(error) as caught:
        charts.make_curve("t", numbers)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "given", [[], {}, {1: 1.0}, {"a": "1"}, {"a": True}, {"a": 10**400}, {"a": -1}, {"a": 0}, None]
)
def test_wrong_ratios_are_refused_in_a_sentence(given):
    with pytest.raises((TypeError, ValueError)) as caught:
        charts.plot("t", given)
    assert "\n" not in str(caught.value)
