"""Boxes in boxes: each row within the one before, and the table where there are too many."""

import re

from helpers import show_nested
from helpers.view.table_view import MOST_NESTED, nested


def boxes(count, name="box"):
    return show_nested("t", *({"name": f"{name} {n}", "holds": f"{n} more"} for n in range(count)))


def test_each_box_is_opened_in_the_one_before():
    html = nested.html(boxes(3).model)
    steps = re.findall(r'<div style="display|>box \d<|</div>', html)
    inside = [step.strip("><") for step in steps if "role" not in step]
    assert inside[:6] == ['div style="display', "box 0"] * 1 + [
        'div style="display',
        "box 1",
        'div style="display',
        "box 2",
    ]
    assert html.count("<div") == html.count("</div>")


def test_too_many_rows_are_a_table():
    assert "<table" in nested.html(boxes(MOST_NESTED + 1).model)
    assert "<table" not in nested.html(boxes(MOST_NESTED).model)
