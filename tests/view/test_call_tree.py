"""A tree of calls: text and HTML hold the same lines and counts, and nothing is markup."""

from helpers.model.call_records import Call, CallTree
from helpers.view import call_view
from helpers.view.call_flame import OTHER, SIDE, WAY, draw_flame
from helpers.view.call_outline import outline_calls
from helpers.view.call_view import call_tree

NASTY = "<script>alert(1)</script>"
CALLS = (
    Call(0, "pkg.mod", "outer"),
    Call(1, "pkg.mod", NASTY),
    Call(2, "pkg.ext", "door", c=True, raised=True, door=True),
    Call(1, "pkg.mod", "line\nbreak"),
)
MODEL = CallTree("outer: 4 calls", CALLS, ("refused",), "ValueError: no", "a note")


def test_text_counts_and_marks_every_line(snapshot):
    assert call_tree.text(MODEL) == snapshot
    lines = call_tree.text(MODEL).split("\n")
    assert lines[2].split() == ["4", "█" * call_view.BAR, "mod.outer"]
    assert lines[4].endswith("    ▶ [C] ext.door (raised)")
    assert lines[5].endswith("mod.line\\nbreak")


def test_html_holds_the_same_lines_escaped_and_nested():
    html = call_tree.html(MODEL)
    assert "<script" not in html and "&lt;script&gt;" in html
    for line in outline_calls(MODEL):
        assert line.text.split(".")[0] in html
    assert html.count("<details") == 3 and MODEL.outcome in html
    assert WAY in html and OTHER not in html  # the legend: other calls are folded in "+1"


def test_flame_is_the_way_to_a_landmark_and_counts_what_is_beside_it():
    (outer,) = draw_flame(MODEL)
    kinds = {block.text: block.kind for block in outer.inside}
    assert kinds == {f"mod.{NASTY}": WAY, "+1": SIDE}
    assert [block.text for block in outer.inside[0].inside] == ["▶ door"]
    assert [block.text for block in outer.inside[1].inside] == ["mod.line\nbreak"]
    name, _, module = outer.says.split(" · ")
    assert (name, outer.count, module) == ("outer", 4, "pkg.mod")


def test_flame_without_a_landmark_folds_nothing_and_draws_the_largest_calls():
    calls = Call(0, "m", "f"), *[Call(1, "m", "g"), Call(2, "m", "h")] * call_view.MOST_BLOCKS
    (outer,) = draw_flame(CallTree("f", calls))
    assert outer.count == len(calls) and {block.text for block in outer.inside} == {"m.g"}
    assert len(outer.inside) == call_view.MOST_BLOCKS - 1
    above_lists, _, _ = call_tree.html(CallTree("f", calls)).partition("<details")
    assert f" {len(calls) - call_view.MOST_BLOCKS} " in above_lists  # how many have no block
