"""Side by side: every line of both sides once, numbers beside them, escaped."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from helpers.model.side_by_side import SideBySide, align
from helpers.view import source_views
from helpers.view.source_views import side_by_side


def pair_up(left, right, origin):
    return SideBySide("t", "yours", "made", align(left, right, origin), "note")


def test_lines_stand_beside_the_lines_they_came_from():
    model = pair_up(["if a:", "    b", "else:", "    c"], ["made", "B", "C"], {2: 2, 3: 4})
    assert side_by_side.text(model).splitlines() == [
        "t",
        "yours     │ made",
        "          │   1 made",
        "  1 if a: │",
        "  2     b │   2 B",
        "  3 else: │",
        "  4     c │   3 C",
        "note",
    ]
    assert model.right_of(2) == ("B",) and model.made_up() == ("made",)


def test_a_line_that_more_lines_came_from_is_written_once():
    model = pair_up(["a"], ["A", "B"], {1: 1, 2: 1})
    assert side_by_side.text(model).splitlines()[2:4] == ["  1 a │   1 A", "  1 ″ │   2 B"]


def test_a_long_run_of_equal_lines_is_folded_where_the_model_folds():
    lines = ["one", "two", "three", "four", "five"]
    pairs = align(lines, ["new", *lines], {at + 1: at for at in range(1, 6)})
    whole = SideBySide("t", "a", "b", pairs)
    folds = replace(whole, folds=True)
    assert side_by_side.text(folds).splitlines()[3:] == [
        "  1 one                    │   2 one",
        "    … 3 lines are the same │     …",
        "  5 five                   │   6 five",
    ]
    assert "three" in side_by_side.text(whole) and "three" not in side_by_side.html(folds)
    assert "… 3 lines are the same" in side_by_side.html(folds)
    assert "two" in side_by_side.text(replace(folds, pairs=pairs[:-1]))  # four are a short run


@given(
    st.lists(st.text(max_size=5), max_size=8),
    st.lists(st.text(max_size=5), max_size=8),
    st.dictionaries(st.integers(-1, 9), st.integers(-1, 9)),
)
def test_no_line_is_lost_whatever_the_map_says(left, right, origin):
    pairs = align(left, right, origin)
    firsts = [pair.left for pair in pairs if pair.left and not pair.again]
    assert firsts == list(range(1, len(left) + 1))
    assert [pair.right for pair in pairs if pair.right] == list(range(1, len(right) + 1))


def test_each_mark_that_is_used_is_explained():
    more = pair_up(["a", "gone"], ["A", "B", "new"], {1: 1, 2: 1})
    assert source_views.AGAIN in side_by_side.text(more)
    for words in (source_views.AGAIN, "the same colour", "+ on the right", "− on the left"):
        assert words in side_by_side.html(more)
    plain = pair_up(["a"], ["A"], {1: 1})
    for shown in (side_by_side.text(plain), side_by_side.html(plain)):
        assert source_views.MARK not in shown and "on the" not in shown
