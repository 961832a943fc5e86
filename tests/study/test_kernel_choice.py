"""helpers/study/chapter_5/kernel_choice.py: the right answers give what the cases expect."""

import numpy as np

from helpers.mini.oneflow.kernels import choose_kernel as choose_of_registry
from helpers.study.chapter_5 import kernel_choice


def test_the_registry_chooses_the_one_kernel_that_matches_or_raises():
    cases = list(kernel_choice._make_choices())
    outcomes = [case.run(choose_of_registry) for case in cases]
    # Each list of predicates is there twice: with several kernels, and with one several times.
    expected = ("kernel 1 ", "OpError", "OpError", "kernel 2 ", "OpError")
    for begin, outcome, of_one_kernel in zip(expected, outcomes[::2], outcomes[1::2], strict=True):
        assert outcome.startswith(begin) and of_one_kernel.startswith(begin)
    assert [case.run(lambda kernels, context: None) for case in cases] == [None] * len(cases)


def test_numbers_of_a_dtype_have_its_largest_and_no_negative_one_if_unsigned():
    assert kernel_choice._make_numbers("uint8").tolist() == [3, 5, 0, 255]
    assert kernel_choice._make_numbers("int8").tolist() == [3, 5, 0, 127, -3]
    assert kernel_choice._make_numbers("float32").tolist() == [3, 5, 0, np.inf, -3]
