"""helpers/view/widgets/stepper.py: every step stands alone, in text, HTML and the state."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers.exhibit import Exhibit
from helpers.model.graph import Edge, Graph, Node
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column, Listing
from helpers.model.timeline import Panel, Step, Timeline
from helpers.view.widgets import stepper
from helpers.view.widgets.stepper import panels_html

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


def one_step(content, title="seen"):
    return timeline(Step("look", 1, (Panel(title, content),)))


def test_text_tells_every_step_with_its_source_line_and_panels():
    first = Step("begin", 1, (Panel("locals", listing()),))
    second = Step("inside", 3, (Panel("locals", listing(("x", "1"))), Panel("printed", "hello")))
    words = stepper.text(timeline(first, second, note="Two calls are left out."))
    assert words.startswith(
        "A run\nTwo calls are left out.\n\nStep 1 of 2 · begin\n▶ line 1: x = 1"
    )
    last = words[words.index("Step 2 of 2 · inside") :]
    assert "▶ line 3:     y = 2" in last
    assert re.search(r"x +1", last) and "printed:\n  hello" in last


def test_each_kind_of_panel_is_drawn_by_its_own_view():
    graph = Graph("who", (Node("a", "a"), Node("f", "f")), (Edge("a", "f", "holds"),))
    scores = Ledger("reach", "route", ("verdict",), (Entry("alias", (Verdict("old"),)),))
    drawn = {"<table": listing(("x", "1")), "<img src=": graph, '<th scope="row"': scores}
    for sign, content in drawn.items():
        assert sign in stepper.html(one_step(content))
        assert sign in panels_html(stepper.widget(one_step(content)))[0]


def test_panel_title_that_its_content_repeats_is_said_once():
    assert stepper.text(one_step(listing(("x", "1")), title="locals")).count("locals") == 1


def test_empty_panel_says_that_it_is_empty():
    assert "(nothing)" in stepper.text(one_step(""))
    assert "(nothing)" in stepper.html(one_step("\n"))


def test_line_outside_the_source_marks_nothing():
    model = timeline(*(Step("somewhere", line, ()) for line in (0, -1, 99)))
    assert stepper.MARK not in stepper.text(model) + stepper.html(model)


def test_html_opens_the_first_step_and_marks_its_line_in_bold():
    markup = stepper.html(timeline(Step("begin", 2, ()), Step("end", 3, ())))
    assert markup.count("<details") == 2 and markup.count("<details open") == 1
    assert re.findall(r"<b>(.+?)</b>", markup) == ["▶   2  if x:", "▶   3      y = 2"]
    assert "<script" not in markup and "<style" not in markup and " id=" not in markup


@pytest.mark.parametrize("where", ["title", "note", "source", "label", "panel", "prose", "cell"])
def test_hostile_strings_stay_text(where):
    said = dict.fromkeys(["title", "note", "source", "label", "panel", "prose", "cell"], "fine")
    said[where] = HOSTILE
    panels = (Panel(said["panel"], said["prose"]), Panel("t", listing(("x", said["cell"]))))
    step = Step(said["label"], 1, panels)
    model = timeline(step, source=said["source"], title=said["title"], note=said["note"])
    assert "onerror=alert(1)" in stepper.text(model)
    for markup in (stepper.html(model), *panels_html(stepper.widget(model))):
        assert "<img" not in markup and "</script>" not in markup and "\x00" not in markup


def test_equal_panels_are_stored_once():
    steps = [Step(f"step {n}", 1, (Panel("locals", listing(("x", n % 3))),)) for n in range(999)]
    state = stepper.widget(timeline(*steps))
    assert len(state.frames) == 999 and len(panels_html(state)) == 3
    assert [frame[2][0][1] for frame in state.frames[:4]] == [0, 1, 2, 0]


def test_panels_that_are_equal_but_read_differently_are_kept_apart():
    steps = [Step("s", 1, (Panel("locals", listing(("x", value))),)) for value in (1, True)]
    assert len(panels_html(stepper.widget(timeline(*steps)))) == 2


def test_equal_panels_are_drawn_once(monkeypatch):
    drawn = []
    draw = stepper.table.html
    monkeypatch.setattr(stepper.table, "html", lambda *given: drawn.append(1) or draw(*given))
    stepper.widget(timeline(*[Step("s", 1, (Panel("locals", listing(("x", "1"))),))] * 50))
    assert len(drawn) == 1


def test_widget_state_is_plain_and_starts_at_the_first_step():
    state = stepper.widget(timeline(Step("begin", 2, (Panel("p", "hello"),)), note="n"))
    assert (state.title, state.note, state.index) == ("A run", "n", 0)
    assert state.lines == ["x = 1", "if x:", "    y = 2"]
    assert state.frames == [["begin", 2, [["p", 0]]]]
    assert "hello" in panels_html(state)[0]


def test_same_timeline_gives_the_same_forms_twice():
    def forms():
        model = one_step(listing(("x", "1")))
        state = stepper.widget(model)
        return (
            stepper.text(model),
            stepper.html(model),
            state.frames,
            panels_html(state),
            repr(state),
        )

    assert forms() == forms()
    assert "0x" not in "".join(map(str, forms()))


def test_timeline_without_steps_says_so_in_every_form():
    model = timeline(note="It never began.")
    for words in (stepper.text(model), stepper.html(model), stepper.widget(model).note):
        assert stepper.NO_STEPS in words and "It never began." in words


def test_source_is_counted_as_python_counts_lines():
    model = timeline(Step("s", 2, ()), source="a = '\x0c\u2028'\n\tb = 1")
    assert stepper.source_lines(model) == ["a = '\\x0c\\u2028'", "    b = 1"]
    assert "▶ line 2:     b = 1" in stepper.text(model)


def test_very_long_html_says_what_it_leaves_out():
    model = timeline(*[Step("s", 1, ())] * (stepper.FOLDED_AFTER + 5))
    assert stepper.html(model).count("<details") == stepper.FOLDED_AFTER
    assert "Steps 101 to 105 are left out here" in stepper.html(model)
    assert stepper.text(model).count("Step ") == 105
    assert "left out" not in stepper.html(timeline(Step("s", 1, ())))


def test_exhibit_offers_widget_html_and_text():
    data, _ = Exhibit(one_step("hello"), stepper)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == stepper.text(one_step("hello"))
    assert data["text/html"] == stepper.html(one_step("hello"))


@pytest.mark.parametrize(
    "script", sorted(Path(stepper.__file__).parent.glob("*.js")), ids=lambda path: path.name
)
def test_scripts_are_small_and_local(script):
    words = script.read_text(encoding="utf-8")
    assert len(words) < 20_000
    assert "http" not in words and not re.search(r"^import |import\(", words, re.M)
