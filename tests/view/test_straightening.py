"""helpers/view/diagram/straightening.py: rows keep order and room; what passes by is straight."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from helpers.view.diagram.layered_layout import BESIDE, BETWEEN, Layout, straightened


def test_an_arrow_that_passes_by_boxes_is_straight():
    rows = [["a"], ["b", 1], ["c", 2], ["d", 3], ["e"]]
    paths = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("a", 1, 2, 3, "e")]
    at = straightened(Layout(rows, paths), dict.fromkeys("abcde", 80))
    assert max(at[n] for n in (1, 2, 3)) - min(at[n] for n in (1, 2, 3)) < 4


@given(
    st.lists(
        st.lists(st.sampled_from([0, 24, 90, 300]), min_size=1, max_size=5), min_size=1, max_size=5
    ),
    st.data(),
)
def test_rows_keep_their_order_and_the_room_between_boxes(given, data):
    rows = [[(n, at) for at in range(len(row))] for n, row in enumerate(given)]
    widths = {(n, at): w for n, row in enumerate(given) for at, w in enumerate(row) if w}
    paths = [
        tuple(data.draw(st.sampled_from(row)) for row in (above, below))
        for above, below in pairwise(rows)
        for _ in range(3)
    ]
    centres = straightened(Layout(rows, paths), widths)
    for row in rows:
        for one, other in pairwise(row):
            room = centres[other] - centres[one] - (widths.get(one, 0) + widths.get(other, 0)) / 2
            assert room >= (BETWEEN if one in widths and other in widths else BESIDE) - 1e-6
    assert straightened(Layout(rows, paths), widths) == centres
