"""The diff's view: a word for every node in text and picture, escaped, and marks beside colours."""

from helpers.capture.tensorflow.graph_diff import compare_graphs
from helpers.model.graphs import Edge, Graph, Node
from helpers.view.diagram.graph_drawing import draw_graph
from helpers.view.diagram.graph_view import graph_diff
from helpers.view.diagram.merged_graph import MARKS, merge_graphs


def diff(name="dead"):
    x, y = Node("x", "x", "input", op="in"), Node("y", "y", op="sin", detail="Sin")
    gone, new = Node(name, name, op="exp"), Node("fresh", "fresh", op="cos")
    before = Graph("b", (x, gone, y), (Edge("x", name), Edge("x", "y")))
    after = Graph("a", (x, y, new), (Edge("x", "y"), Edge("x", "fresh", ":1")))
    return compare_graphs(before, after, "what changed")


def test_the_text_has_every_finding_and_every_arrow():
    model = diff()
    shown = graph_diff.text(model)
    findings = [(finding.word, finding.how) for finding in model.findings]
    assert {word for word, _ in findings} == {"removed", "added", "kept"}
    for words in ("what changed", *(text for finding in findings for text in finding)):
        assert words in shown
    assert "x ──▶ − dead (removed)" in shown
    assert "x ──▶ y (Sin)" in shown and "x ── :1 ──▶ + fresh (added)" in shown


def test_the_title_explains_the_marks_that_are_there_and_no_others():
    merged = merge_graphs(diff())
    title, drawn = merged.title, draw_graph(merged)
    assert "gone{fill:none;stroke:var(--who-quiet)" in drawn and "--who-line)" not in drawn
    assert MARKS["gone"] in title and MARKS["new"] in title
    assert "~" not in title and "arrow" not in title
