"""A tree of calls: text and HTML hold the same lines and counts, and nothing is markup."""

from helpers.model.framework_records import Call, CallTree
from helpers.view import call_view, ink
from helpers.view.call_view import call_tree, outline

NASTY = "<script>alert(1)</script>"
CALLS = (
    Call(0, "pkg.mod", "outer"),
    Call(1, "pkg.mod", NASTY),
    Call(2, "pkg.ext", "door", c=True, raised=True, door=True),
    Call(1, "pkg.mod", "line\nbreak"),
)
MODEL = CallTree("outer: 4 calls", CALLS, ("refused",), "ValueError: no", "a note")


def test_text_counts_and_marks_every_line():
    lines = call_tree.text(MODEL).split("\n")
    assert lines[0] == "outer: 4 calls" and lines[1] == (
        "calls inside (▶: a landmark; [C]: written in C or C++)"
    )
    assert lines[2].split() == ["4", "█" * call_view.BAR, "mod.outer"]
    assert lines[4].endswith("    ▶ [C] ext.door (raised)")
    assert lines[5].endswith("mod.line\\nbreak")
    assert lines[6:] == ["It ended in ValueError: no", "a note"]


def test_html_holds_the_same_lines_escaped_and_nested():
    html = call_tree.html(MODEL)
    assert "<script" not in html and "&lt;script&gt;" in html
    for line in outline(MODEL):
        assert line.words.split(".")[0] in html
    assert html.count("<details") == 3 and "It ended in ValueError" in html
    assert 'alt="outer: 4 calls: a strip of 4 calls, listed below"' in html


def test_no_line_to_a_landmark_runs_through_the_name_of_another():
    calls = [
        Call(0, "m", "f"),
        *(Call(1, "m", f"a_rather_long_name_{n}", door=True) for n in range(8)),
    ]
    marks = call_view.place_names(
        [(107.5 * n + 3, 36, call.name) for n, call in enumerate(calls[1:])], 40
    )
    assert len(marks) == call_view.MOST_NAMED
    for one in marks:
        crossed = [
            m for m in marks if one["left"] + 5 < m["x"] < one["right"] and m["y"] > one["y"]
        ]
        assert crossed == []
    assert max(m["right"] for m in marks) > call_view.WIDTH
    assert ink.width_of(call_view.draw_strip(CallTree("t", tuple(calls)))) > call_view.WIDTH
