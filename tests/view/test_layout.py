"""Twenty graphs of the course cross no more often than dot draws them, and can be read."""

from itertools import pairwise
from math import dist
from xml.etree import ElementTree

import pytest

from helpers.view.diagram.graph_drawing import draw_graph as svg
from tools.benchmarks import layout

SAMPLES = layout.samples()
SMALLEST = 10  # pixels
BELOW = 3  # pixels from a label to the arrow that it stands above


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


def labels(svg):
    """Yield each label's words, its ground (left, top, right, bottom), and its level's arrows."""
    for level in ElementTree.fromstring(svg).iter():
        inside = list(level)
        paths = [p for p in inside if "arrow" in p.get("class", "").split()]
        lines = [layout.points(path.get("d")) for path in paths]
        for plate, words in pairwise(inside):
            if (plate.get("class"), words.get("class")) == ("plate", "detail"):
                left, top, wide, high = (float(plate.get(k)) for k in ("x", "y", "width", "height"))
                yield words.text, (left, top, left + wide, top + high), lines


def passes(line, ground):
    """Say whether a line passes through a ground: one of its places, a pixel apart, is in it."""
    left, top, right, bottom = ground
    return any(
        left < x + (u - x) * n / steps < right and top < y + (v - y) * n / steps < bottom
        for (x, y), (u, v) in pairwise(line)
        for steps in (1 + int(dist((x, y), (u, v))),)
        for n in range(steps + 1)
    )


def misread(svg):
    """Return the labels that stand on, or just above, another number of arrows than one."""
    return [
        words
        for words, ground, lines in labels(svg)
        if sum(passes(line, (*ground[:3], ground[3] + BELOW)) for line in lines) != 1
        or any(passes([line[-1], line[-1]], ground) for line in lines)
    ]


# where an arrow passes so close to another that its label stands on both
TOO_CLOSE = {"names: holders": ["closure op, __wrapped__"]}


@pytest.mark.parametrize(("name", "model"), [s[:2] for s in SAMPLES], ids=[s[0] for s in SAMPLES])
def test_each_label_stands_on_its_own_arrow_alone(name, model):
    assert misread(svg(model)) == TOO_CLOSE.get(name, [])
