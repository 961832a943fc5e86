"""Twenty graphs of the course cross no more often than dot draws them, in letters one can read."""

import shutil

import pytest

from helpers.model.graph import Edge, Graph, Node
from tests.benchmarks import layout

SAMPLES = layout.samples()
SMALLEST = 10  # pixels


def test_there_are_twenty_samples():
    assert len({name for name, _, _ in SAMPLES}) == 20


@pytest.mark.parametrize(
    ("model", "dot"), [each[1:] for each in SAMPLES], ids=[s[0] for s in SAMPLES]
)
def test_a_picture_has_no_more_crossings_than_dots(model, dot):
    lines, size, text = layout.ours(model)
    assert layout.crossings(lines) <= dot["crossings"]
    assert (
        size[0] * size[1] <= 3 * dot["area"] + 20_000
    )  # labels of arrows, which dot was not given
    assert text >= SMALLEST


def test_crossings_are_counted():
    def line(*corners):
        return corners

    apart = [("a", "b", line((0, 0), (9, 0))), ("c", "d", line((0, 5), (9, 5)))]
    cross = [("a", "b", line((0, 0), (9, 9))), ("c", "d", line((0, 9), (9, 0)))]
    shared = [("a", "b", line((0, 0), (9, 9))), ("a", "d", line((0, 9), (9, 0)))]
    assert [layout.crossings(lines) for lines in (apart, cross, shared)] == [0, 1, 0]
    assert layout.points("M0 0C0 9 9 9 9 0H20V5")[-1] == (20, 5)


def test_a_tangle_that_cannot_be_undone_is_counted():
    """Each of three boxes leads to each of three: nine crossings, whatever stands where."""
    nodes = tuple(Node(key, key) for key in "abcxyz")
    model = Graph("t", nodes, tuple(Edge(a, b) for a in "abc" for b in "xyz"))
    assert layout.crossings(layout.ours(model)[0]) == 9


@pytest.mark.skipif(not shutil.which("dot"), reason="the program dot is not installed")
def test_what_was_counted_in_dots_pictures_is_what_dot_draws():
    name, model, dot = SAMPLES[0]
    width, height = layout.ours(model)[1]
    lines, size = layout.by_dot(model, width > height)
    assert layout.crossings(lines) == dot["crossings"] and round(size[0] * size[1]) == dot["area"]
