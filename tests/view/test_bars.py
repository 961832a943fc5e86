"""The plot: a picture, and its numbers in the alt text and in the text form."""

import re
from xml.etree import ElementTree

import pytest

from helpers.view.charts import FITS, plot
from helpers.view.picture import width


def test_the_numbers_stand_in_the_alt_text_and_in_the_text():
    data = plot("cost", {"eager": 35.3, "<graph>": 1.0})._repr_mimebundle_()
    assert 'alt="cost: eager 35, &lt;graph&gt; 1"' in data["text/html"]
    assert 'src="data:image/svg+xml;base64,' in data["text/html"]
    assert "eager    35" in data["text/plain"] and "<graph>  1" in data["text/plain"]


@pytest.mark.parametrize("ratio", [0, -1.0, float("nan"), float("inf")])
def test_a_ratio_that_is_no_length_is_refused(ratio):
    with pytest.raises(ValueError, match="'a' is .*positive number"):
        plot("t", {"a": ratio})


def drawn(ratios):
    """Return the place of the line at 1, and left and right end of each bar."""
    tree = ElementTree.fromstring(plot("T", ratios).svg())
    (line,) = tree.findall(".//{*}path[@class='one']")
    bars = [[float(bar.get(side)) for side in ("x", "width")] for bar in tree.iter() if is_bar(bar)]
    return float(line.get("d")[1:].split()[0]), [(x, x + width) for x, width in bars]


def is_bar(element):
    return element.get("class") in ("less", "more")


def test_bars_leave_the_line_at_1_to_either_side():
    line, ((a, b), (c, d), (e, f)) = drawn({"half": 0.5, "twice": 2.0, "eight times": 8})
    assert b == line == c == e and a < line < d < f
    assert line - a == pytest.approx(d - c, abs=2) and f - e == pytest.approx(3 * (d - c), abs=4)


@pytest.mark.parametrize("ratios", [{"a": 1.0}, {"a": 0.065, "b": 21.0}, {"a": 1e-30, "b": 1e30}])
def test_all_that_is_written_is_inside_and_apart(ratios):
    tree = ElementTree.fromstring(plot("T", ratios).svg())
    places = [float(e.get("x")) for e in tree.findall(".//{*}text")]
    assert all(0 < x < float(tree.get("width")) for x in places)
    ticks = [float(e.get("d")[1:].split()[0]) for e in tree.findall(".//{*}path")]
    assert all(b - a > 30 for a, b in zip(ticks, ticks[1:], strict=False))


def test_letters_have_ten_pixels_where_a_plot_is_smallest_and_a_usual_one_fits_a_narrow_page():
    made = plot("T", {"flow, 1,000,000 numbers": 0.99, "torch": 17})
    sizes = [float(size) for size in re.findall(r"font(?:-size)?:([\d.]+)px", made.svg())]
    assert min(sizes) * FITS >= 10
    assert width(made.svg()) * FITS <= 654  # what a window of 700 pixels leaves
