"""Patterns of paths select the places that a rebinding leaves alone, or changes and no others."""

import pytest

from helpers.capture.references.place_patterns import (
    KEPT,
    NOT_SELECTED,
    find_choice_reason,
    require_matches,
    require_patterns,
)
from helpers.capture.references.places import Place


def place(name, *owners):
    found = Place("dict value", {}, name)
    found.owners = owners
    return found


OP = place("op", "app")
ITEM = place("[0]", "app.items")
CELL = place("held", "app.one", "app.two")  # a closure cell that two functions share
# keep, only -> the reasons of OP, ITEM and CELL
CHOICES = {
    "nothing is chosen": ((), (), ["", "", ""]),
    "a path is kept": (("app.op",), (), [KEPT, "", ""]),
    "a pattern is kept": (("app.*",), (), [KEPT, KEPT, KEPT]),
    "brackets mean themselves": (("app.items[0]",), (), ["", KEPT, ""]),
    "brackets beside a star": (("app.i*[0]",), (), ["", KEPT, ""]),
    "one owner of two is named": (("app.two.held",), (), ["", "", KEPT]),
    "only one path": ((), ("app.op",), ["", NOT_SELECTED, NOT_SELECTED]),
    "kept wins over only": (("app.op",), ("app.items*",), [KEPT, "", NOT_SELECTED]),
}


@pytest.mark.parametrize("kind", CHOICES)
def test_each_place_has_the_reason_of_its_choice(kind):
    keep, only, reasons = CHOICES[kind]
    assert [find_choice_reason(found, keep, only) for found in (OP, ITEM, CELL)] == reasons


def test_one_text_is_one_pattern_and_anything_else_is_refused(refused):
    assert require_patterns("app.op", "keep") == ("app.op",)
    assert require_patterns(["a", "b"], "keep") == ("a", "b")
    for wrong in (3, [3], {"a": 1}, b"a"):
        refused(TypeError, "keep", require_patterns, wrong, "keep")


def test_a_pattern_that_matches_nothing_names_what_there_is(refused):
    require_matches(("app.op", "app.items*"), (OP, ITEM))
    with pytest.raises(ValueError, match="'app.typo'.* app.op"):
        require_matches(("app.op", "app.typo"), (OP,))
