"""A tree of calls: text and HTML hold the same lines and counts, and nothing is markup."""

from helpers.model.framework_records import Call, CallTree
from helpers.view import call_view
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
