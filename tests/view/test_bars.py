"""The plot: a PNG, the numbers in its alt text, and a text that is the same in every run."""

import pytest

from helpers.view.bars import plot


def test_the_numbers_stand_in_the_alt_text_and_not_in_the_text():
    data, metadata = plot("cost", {"eager": 35.3, "graph": 1.0})._repr_mimebundle_()
    assert data["text/plain"] == "cost: a bar each for eager, graph"
    assert metadata["image/png"]["alt"] == "cost: eager 35, graph 1"
    assert data["image/png"].startswith(b"\x89PNG")


def test_text_does_not_depend_on_what_was_measured():
    assert repr(plot("t", {"a": 1.0})) == repr(plot("t", {"a": 99.0}))


@pytest.mark.parametrize("ratio", [0, -1.0, float("nan"), float("inf")])
def test_a_ratio_that_is_no_length_is_refused(ratio):
    with pytest.raises(ValueError, match="'a' is .*positive number"):
        plot("t", {"a": ratio})
