"""A function runs another function's code inside a block, and its own again afterwards."""

import pytest

from helpers.capture.references.code_swap import CodeSwap


def make_functions():
    def one():
        return 1

    def two():
        return 2

    def three():
        return 3

    return one, two, three


def make_closures():
    value = 10

    def adds():
        return value + 1

    def doubles():
        return value * 2

    return adds, doubles


def test_the_function_runs_the_donor_s_code_only_in_the_block():
    one, two, _ = make_functions()
    first = one.__code__
    swap = CodeSwap(one, two)
    assert (swap.function, swap.code, swap.first, swap.is_kept) == (one, two.__code__, None, False)
    assert one() == 1
    with swap as function:
        assert function is one
        assert swap.first is first
        assert (one(), two()) == (2, 2)
    assert one.__code__ is first
    assert swap.first is None
    assert swap.is_kept is False


def test_an_error_in_the_block_is_raised_after_the_code_is_back():
    one, two, _ = make_functions()
    with pytest.raises(ZeroDivisionError), CodeSwap(one, two):
        raise ZeroDivisionError
    assert one() == 1


def test_the_closure_of_the_function_stays():
    adds, doubles = make_closures()
    doubles.__closure__[0].cell_contents = 5
    with CodeSwap(adds, doubles):
        assert adds() == 10
    assert adds() == 6


def test_code_that_the_program_sets_in_the_block_stays():
    one, two, three = make_functions()
    swap = CodeSwap(one, two)
    with swap:
        one.__code__ = three.__code__
    assert one() == 3
    assert swap.is_kept is True
    with swap:
        assert swap.is_kept is False
    assert one() == 3


@pytest.mark.parametrize("order", [(1, 0), (0, 1)])
def test_two_swaps_of_one_function_end_in_any_order(order):
    one, two, three = make_functions()
    swaps = CodeSwap(one, two), CodeSwap(one, three)
    for swap in swaps:
        swap.__enter__()
    assert one() == 3
    first, second = (swaps[index] for index in order)
    first.__exit__(None, None, None)
    assert one() == (3 if first is swaps[0] else 2)
    second.__exit__(None, None, None)
    assert one() == 1
    assert not any(swap.is_kept for swap in swaps)


def test_swaps_of_other_functions_do_not_meddle():
    one, two, three = make_functions()
    outer, inner = CodeSwap(one, three), CodeSwap(two, three)
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert (one(), two()) == (1, 3)
    inner.__exit__(None, None, None)
    assert two() == 2


def test_a_swap_is_entered_once_and_left_once(refused):
    one, two, _ = make_functions()
    swap = CodeSwap(one, two)
    refused(RuntimeError, "not active", swap.__exit__, None, None, None)
    with swap:
        refused(RuntimeError, "already active", swap.__enter__)
        assert one() == 2
    refused(RuntimeError, "not active", swap.__exit__, None, None, None)
    assert one() == 1


@pytest.mark.parametrize("wrong", [len, 3, None, int])
def test_only_functions_of_python_have_code(refused, wrong):
    one, *_ = make_functions()
    refused(TypeError, "no Python function|not a Python function", CodeSwap, one, wrong)
    refused(TypeError, "not a Python function", CodeSwap, wrong, one)


def test_closures_of_other_sizes_do_not_fit(refused):
    one, *_ = make_functions()
    adds, _ = make_closures()
    refused(ValueError, "1 free variable and the donor has 0", CodeSwap, adds, one)
    refused(ValueError, "0 free variables and the donor has 1", CodeSwap, one, adds)


def test_code_on_which_the_restoring_relies_stays(refused):
    one, *_ = make_functions()
    refused(ValueError, "keeps its code", CodeSwap, CodeSwap.__exit__, one)
