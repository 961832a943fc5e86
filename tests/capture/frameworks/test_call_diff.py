"""Two trees of calls are compared line by line, without the depth of the calls."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.capture.frameworks.call_diff import DEEPEST, LONGEST, MOST_LINES, build_call_diff
from helpers.model.call_records import Call, CallTree
from helpers.model.side_by_side import Pair


def tree(*calls, title="t"):
    return CallTree(title, tuple(Call(depth, "pkg.mod", name) for depth, name in calls))


def list_pairs(left, right):
    return list(build_call_diff(left, right).pairs)


def test_equal_calls_are_pairs_and_others_stand_alone():
    left = tree((0, "a"), (1, "b"), (1, "c"), title="old")
    right = tree((0, "a"), (1, "x"), (1, "c"), title="new")
    diff = build_call_diff(left, right)
    assert (diff.left_title, diff.right_title, diff.folds) == ("old", "new", True)
    assert list(diff.pairs) == [
        Pair(1, "mod.a", 1, "mod.a"),
        Pair(2, "  mod.b", 0, ""),
        Pair(0, "", 2, "  mod.x"),
        Pair(3, "  mod.c", 3, "  mod.c"),
    ]
    assert diff.note.startswith("2 lines")


def test_a_call_that_is_deeper_on_one_side_is_the_same():
    assert list_pairs(tree((0, "a")), tree((2, "a"))) == [Pair(1, "mod.a", 1, "    mod.a")]


def test_nothing_is_compared_with_something():
    assert list_pairs(tree(), tree()) == []
    assert list_pairs(tree(), tree((0, "a"))) == [Pair(0, "", 1, "mod.a")]
    assert list_pairs(tree((0, "a")), tree()) == [Pair(1, "mod.a", 0, "")]
    assert build_call_diff(tree((0, "a")), tree()).note.startswith("0 lines")


def test_equal_calls_that_follow_each_other_are_one_line():
    calls = tree((0, "a"), (0, "a"), (1, "a"), (0, "a"))
    lines = [pair.left_text for pair in list_pairs(calls, calls)]
    assert lines == ["mod.a ×2", "  mod.a", "mod.a"]


def test_a_call_of_c_is_no_call_of_python():
    in_c = CallTree("t", (Call(0, "pkg.mod", "a", c=True),))
    assert list_pairs(in_c, tree((0, "a"))) == [
        Pair(1, "[C] mod.a", 0, ""),
        Pair(0, "", 1, "mod.a"),
    ]


def test_the_indent_and_the_length_of_a_line_have_limits():
    deep = tree((DEEPEST, "a"), (DEEPEST + 5, "b"), (0, "n" * 1000))
    first, second, third = [pair.left_text for pair in list_pairs(deep, deep)]
    assert first == "  " * DEEPEST + "mod.a"
    assert second == "  " * DEEPEST + "mod.b"
    assert len(third) <= LONGEST


@pytest.mark.parametrize("extra", [0, 1])
def test_only_the_first_lines_of_long_trees_are_compared(extra):
    long = tree(*((0, f"f{number}") for number in range(MOST_LINES + extra)))
    for left, right in ((long, tree()), (tree(), long)):
        diff = build_call_diff(left, right)
        assert len(diff.pairs) == MOST_LINES
        assert (f"{MOST_LINES:,}" in diff.note) is bool(extra)


@pytest.mark.parametrize("wrong", [None, "text", [Call(0, "m", "f")]])
def test_only_trees_of_calls_are_compared(refused, wrong):
    refused(TypeError, "watch_call, not", build_call_diff, wrong, tree())
    refused(TypeError, "watch_call, not", build_call_diff, tree(), wrong)


CALLS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), max_size=12)


@settings(max_examples=50, deadline=None)
@given(CALLS, CALLS)
def test_each_side_keeps_all_its_lines_in_order(left_calls, right_calls):
    pairs = list_pairs(tree(*left_calls), tree(*right_calls))
    left = [(pair.left, pair.left_text) for pair in pairs if pair.left]
    right = [(pair.right, pair.right_text) for pair in pairs if pair.right]
    assert [number for number, _ in left] == list(range(1, len(left) + 1))
    assert [number for number, _ in right] == list(range(1, len(right) + 1))
    alone = tree(*left_calls)
    assert [text for _, text in left] == [pair.left_text for pair in list_pairs(alone, alone)]
    same = [pair for pair in pairs if pair.left and pair.right]
    assert all(pair.left_text.strip() == pair.right_text.strip() for pair in same)
