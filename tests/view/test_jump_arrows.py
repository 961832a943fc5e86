"""Jumps beside a table: each arrow has a lane of its own, and letters draw them all."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.view.jump_arrows import draw_gutter, place_jumps

ROWS = 12
JUMPS = st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, ROWS - 1)), max_size=10)


@given(JUMPS)
def test_arrows_in_one_lane_never_share_a_row(jumps):
    arrows = place_jumps(jumps)
    assert sorted(
        {(source, arrow.target) for arrow in arrows for source in arrow.sources}
    ) == sorted(set(jumps))
    for number, arrow in enumerate(arrows):
        for other in arrows[:number]:
            is_apart = arrow.last < other.first or other.last < arrow.first
            assert is_apart or arrow.lane != other.lane


def test_a_loop_round_a_jump_is_drawn_in_letters():
    assert draw_gutter([(1, 2), (3, 0)], 5) == ["╭───▶", "│ ╭──", "│ ╰─▶", "╰────", ""]


@given(JUMPS)
def test_each_target_has_a_head_and_each_other_source_a_line(jumps):
    rows = draw_gutter(jumps, ROWS)
    assert len(rows) == ROWS
    targets = {target for _, target in jumps}
    assert {number for number, row in enumerate(rows) if row.endswith("▶")} == targets
    for source, _ in jumps:
        assert source in targets or rows[source].endswith("─")
