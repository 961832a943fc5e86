"""What a kind of node is drawn as, and the legend that says so in words."""

import re

import pytest

from helpers.view import ink
from helpers.view.diagram import shapes


def said(*shown):
    return re.sub("<[^>]*>", " ", str(shapes.legend(shown))).split()


def test_a_legend_has_the_mark_and_the_word_of_each_kind():
    assert said("name", "function", "name own") == ["▷", "name", "▢", "function"]


def test_an_input_and_an_output_have_each_their_own_sign_and_outline():
    assert said("input", "output") == ["▱", "input", "▰", "output"]
    assert shapes.outline("input", 0, 0, 80, 40) != shapes.outline("output", 0, 0, 80, 40)


def test_what_says_itself_that_it_is_new_is_in_no_legend():
    assert "update" not in said("op", "tensor", "new", "altered", "gone")
    assert "update" in said("op", "new", "update")


@pytest.mark.parametrize("kind", [*ink.KINDS, *shapes.DRAWN_AS, "nobody knows it", ""])
def test_every_kind_has_a_shape_a_class_and_a_rule(kind):
    drawn = shapes.as_svg("", shapes.Piece(9, 9), [kind])
    assert shapes.drawn_as(kind) in ink.KINDS
    assert shapes.outline(kind, 0, 0, 80, 40).startswith("M")
    assert f".{shapes.drawn_as(kind)}{{" in drawn
