"""helpers/model/code_records.py: jumps lead from row to row, and a cache is empty or filled."""

from dataclasses import replace

import pytest

from helpers.model.code_records import Bytecode, Instruction, build_columns
from helpers.model.stage_records import NOWHERE

NOP = Instruction(0, "NOP", -1, "", "09 00", 0, 1, NOWHERE, "", 0, "0")


def listing(*rows):
    return Bytecode("t", (), tuple(rows))


def test_a_jump_leads_to_the_first_row_of_its_target():
    rows = [
        replace(NOP, target=4),
        replace(NOP, offset=2),
        replace(NOP, offset=4),
        replace(NOP, offset=4, cache_index=0),
        replace(NOP, offset=6, target=0),
    ]
    assert listing(*rows).jumps() == ((0, 2), (4, 0))


def test_a_jump_to_a_row_that_is_not_listed_has_no_arrow():
    assert listing(replace(NOP, target=8)).jumps() == ()


@pytest.mark.parametrize(
    ("cache_index", "data", "kept"),
    [(-1, "97 00 00 00", "97 00"), (0, "00 00", "empty"), (1, "00 01", "filled")],
)
def test_a_row_shows_two_bytes_or_whether_a_cache_is_in_use(cache_index, data, kept):
    assert replace(NOP, cache_index=cache_index, data=data).kept == kept


def test_columns_have_the_order_of_the_arguments_and_say_which_are_code():
    columns = build_columns("ab c", a="A", ab="AB", c="C")
    assert [(column.field, column.heading, column.code) for column in columns] == [
        ("a", "A", False),
        ("ab", "AB", True),
        ("c", "C", True),
    ]
