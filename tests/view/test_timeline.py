"""helpers/view/timeline.py: every step stands alone, in text, in HTML and on the stage."""

import re
from dataclasses import dataclass

from helpers.model.graph import Edge, Graph, Node
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column, Listing
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view import panels
from helpers.view.widgets import stage
from helpers.view.widgets.stage import timeline as view
from tests.view.page_script import whole

HOSTILE = "<img src=x onerror=alert(1)></script></pre>&amp;\"'\x00"
SOURCE = "x = 1\nif x:\n    y = 2\n"


@dataclass(frozen=True)
class Row:
    name: str
    value: object


def listing(*pairs, title="locals"):
    columns = (Column("name", "name", True), Column("value", "value", True))
    return Listing(title, columns, tuple(Row(*pair) for pair in pairs))


def timeline(*steps, source=SOURCE, title="A run", note=""):
    return Timeline(title, source, steps, note)


def panels_of(script):
    """Return every panel's HTML, put together as the page does it."""
    return [whole(told, script["strings"], script["groups"]) for told in script["panels"]]


def one_step(content, title="seen"):
    return timeline(Step("look", 1, (Panel(title, content),)))


def test_text_tells_every_step_with_its_source_line_and_panels():
    first = Step("begin", 1, (Panel("locals", listing()),))
    second = Step("inside", 3, (Panel("locals", listing(("x", "1"))), Panel("printed", "hello")))
    words = view.text(timeline(first, second, note="Two calls are left out."))
    assert words.startswith(
        "A run\nTwo calls are left out.\n\nStep 1 of 2 · begin\n▶ line 1: x = 1"
    )
    last = words[words.index("Step 2 of 2 · inside") :]
    assert "▶ line 3:     y = 2" in last
    assert re.search(r"x +1", last) and "printed:\n  hello" in last


def test_html_opens_the_first_step_and_marks_its_line_in_bold():
    markup = view.html(timeline(Step("begin", 2, ()), Step("end", 3, ())))
    assert markup.count("<details") == 2 and markup.count("<details open") == 1
    assert re.findall(r"<b>(.+?)</b>", markup) == ["▶   2  if x:", "▶   3      y = 2"]
    assert "<script" not in markup and "<style" not in markup and " id=" not in markup


def test_html_opens_at_the_first_step_with_a_picture_or_a_table():
    nothing = Step("begin", 1, (Panel("locals", "none yet"),))
    full = Step("inside", 3, (Panel("locals", listing(("x", "1"))),))
    assert "<details open" in view.html(timeline(nothing, full)).partition("Step 2 of 2")[0][-200:]
    assert "<details open" in view.html(timeline(nothing, nothing)).partition("Step 1 of 2")[0]


def test_timeline_without_steps_says_so_in_every_form():
    model = timeline(note="It never began.")
    for words in (view.text(model), view.html(model), stage.stage_script(model)["note"]):
        assert panels.NO_STEPS in words and "It never began." in words


def test_source_is_counted_as_python_counts_lines():
    model = timeline(Step("s", 2, ()), source="a = '\x0c\u2028'\n\tb = 1")
    assert panels.source_lines(model) == ["a = '\\x0c\\u2028'", "    b = 1"]
    assert "▶ line 2:     b = 1" in view.text(model)


def test_each_kind_of_panel_is_drawn_by_its_own_view():
    graph = Graph("who", (Node("a", "a"), Node("f", "f")), (Edge("a", "f", "holds"),))
    scores = Ledger("reach", "route", ("verdict",), (Entry("alias", (Verdict("old"),)),))
    drawn = {"<table": listing(("x", "1")), "<img src=": graph, '<th scope="row"': scores}
    for sign, content in drawn.items():
        assert sign in view.html(one_step(content))
        if content is not graph:  # which the stage draws as one picture of all steps
            assert sign in panels_of(stage.stage_script(one_step(content)))[0]
    assert "<svg" in stage.stage_script(one_step(graph))["picture"]["svg"]


def test_pictures_with_very_many_arrows_are_not_all_drawn(monkeypatch):
    nodes = tuple(Node(str(n), f"n{n}") for n in range(4))
    graph = Graph("", nodes, tuple(Edge(str(n), str(n + 1)) for n in range(3)))
    steps = tuple(Step(f"step {n}", 1, (Panel("graph", graph),)) for n in range(5))
    model = Timeline("title", "x = 1", steps)
    assert "step 4" in view.html(model)
    monkeypatch.setattr(stage, "MOST_ARROWS", 7)
    cut = view.html(model)
    assert "step 1" in cut and "step 2" not in cut and "of 5" in cut
