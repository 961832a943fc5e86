"""helpers/study/chapter_5/op_judge.py: in what an op differs from the right formula."""

import numpy as np

from helpers.mini import oneflow as flow
from helpers.study.chapter_5 import op_judge
from helpers.study.observations import Raised


def test_two_numbers_are_written_with_as_few_digits_as_tell_them_apart():
    assert op_judge._format_apart(1.0, 2.0) == ("gives 1", "gives 2")
    own, right = op_judge._format_apart(1.0, 1.0000001)
    assert own != right and len(right) < len("gives 1.0000001000000000")
    assert op_judge._format_apart(1.0, 1.0)[0] == "gives 1"


def test_a_gradient_is_set_to_0_where_x_is_nan_and_a_wrong_shape_stays():
    x = np.array([1.0, np.nan])
    named = op_judge._name_arrays([x], np.array([3.0, np.nan]), x)
    assert named["forward"] is x and named[op_judge.SLOPE].tolist() == [3.0, 0.0]
    two = op_judge._name_arrays([x, x], np.array([np.nan]), x)
    assert list(two) == ["output 1", "output 2", op_judge.SLOPE]
    assert np.isnan(two[op_judge.SLOPE]).all()


def test_the_first_item_that_differs_is_named_with_its_inputs():
    x, dy = np.array([1.0, 5.0]), np.array([2.0, -2.0])
    right = op_judge._name_arrays([x], x, x)
    same_values = op_judge._name_arrays([x], np.array([1.0, 7.0]), x)
    said = op_judge._advise_on_item(x, [dy], same_values, right)
    assert all(part in said for part in (op_judge.SLOPE, "x = 5", "dy = -2", "7", "float64"))
    other_values = op_judge._name_arrays([x + 1], x, x)
    said = op_judge._advise_on_item(x, [dy], other_values, right)
    assert "x = 1" in said and "dy" not in said  # a value has no gradient that comes back
    other_shape = op_judge._name_arrays([x[:1]], x, x)
    assert op_judge._advise_on_item(x, [dy], other_shape, right) is None


def test_an_error_is_told_with_its_stage_if_it_is_one_of_oneflow():
    for error, begin in (
        (ValueError("boom"), "yours "),
        (flow.OpError("boom", "infer"), op_judge.STAGES["infer"]),
        (flow.OpError("boom", "backward"), ""),
    ):
        said = op_judge._advise_on_item(None, [], Raised(type(error), error), {})
        assert said.startswith(begin) and "boom" in said
