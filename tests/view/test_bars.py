"""The plot: a picture, and its numbers in the alt text and in the text form."""

import base64

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from helpers.view.bars import plot


def test_the_numbers_stand_in_the_alt_text_and_in_the_text():
    data = plot("cost", {"eager": 35.3, "<graph>": 1.0})._repr_mimebundle_()
    assert 'alt="cost: eager 35, &lt;graph&gt; 1"' in data["text/html"]
    picture = data["text/html"].partition("base64,")[2].partition('"')[0]
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert "eager    35" in data["text/plain"] and "<graph>  1" in data["text/plain"]


def test_a_large_ratio_has_no_exponent():
    assert "slow   5,000" in repr(plot("cost", {"slow": 4987.0, "fast": 0.31}))


@pytest.mark.parametrize("ratio", [0, -1.0, float("nan"), float("inf")])
def test_a_ratio_that_is_no_length_is_refused(ratio):
    with pytest.raises(ValueError, match="'a' is .*positive number"):
        plot("t", {"a": ratio})


@pytest.mark.parametrize("ratios", [{"a": 1.0}, {"a": 0.065, "b": 21.0}, {"a": 1e-30, "b": 1e30}])
def test_the_scale_says_plain_numbers(ratios):
    figure = plot("T", ratios).figure()
    FigureCanvasAgg(figure).draw()
    (axes,) = figure.axes
    ticks = [tick.get_text() for tick in axes.get_xticklabels(which="both")]
    said = [words.replace("\N{MINUS SIGN}", "-") for words in ticks if words]
    assert said and [f"{float(words):g}" for words in said] == said
