"""The map of routes, and the matrix of dots: every fact in the text, hostile words stay words."""

from dataclasses import replace
from xml.etree import ElementTree

from helpers.model.reference_records import Function, Route, RouteMap
from helpers.model.tables import Entry, Verdict
from helpers.view.table_view import dots
from helpers.view.widgets.routes_drawing import draw_routes
from helpers.view.widgets.routes_sentences import describe_setting
from helpers.view.widgets.routes_view import routes

HOSTILE = "<img src=x onerror=alert(1)></script></svg>&\"'"
OLD, NEW = Verdict("old"), Verdict("new", "changed")


def route_map(name="alias", call="alias()", word=NEW, codes=((0, 0, 1), (1, 1, 1))):
    entries = (Entry("op", (OLD, NEW, NEW)), Entry(name, (OLD, OLD, word)))
    return RouteMap(
        "Which calls notice",
        "route",
        ("nothing", "op = new_op", "the code"),
        entries,
        routes=(Route("op", "op()", "name", (0, 1, 0)), Route(name, call, "object", (0, 0, 0))),
        functions=tuple(map(Function, ("op()", "new_op()"), codes)),
        codes=("return 1", "return 2"),
        patches=("", "op = new_op", "swap"),
    )


def test_text_tells_dots_counts_and_a_sentence_per_setting():
    words = routes.text(route_map()).split("\n")
    assert words[1] == "○ old   ● new"
    assert [line.split() for line in words if line.startswith("alias()")] == [
        ["alias()", "alias", "○", "○", "●"]
    ]
    assert any(line.split() == ["●", "of", "2", "0", "1", "2"] for line in words)
    assert [line.partition(": ")[0] for line in words[-3:]] == [
        "nothing",
        "op = new_op",
        "the code",
    ]


def test_each_setting_has_its_sentence(snapshot):
    model = route_map()
    assert [describe_setting(model, setting) for setting in range(3)] == snapshot
    one_call_unreached = replace(model, routes=model.routes[1:], entries=model.entries[1:])
    assert describe_setting(one_call_unreached, 1) == snapshot


def test_states_follow_what_was_held_and_what_was_answered():
    states = draw_routes(route_map()).states
    assert states[0]["a0.0"] == "shown" and "a0.1" not in states[0]
    assert states[1]["a0.1"] == "new" and "a0.0" not in states[1]
    assert (states[1]["r0"], states[1]["r1"], states[1]["a1.0"]) == ("new", "shown", "shown")
    assert states[2]["a0.0"] == "new" and states[2]["f0.1"] == "new"
    assert routes.widget(route_map()).index == 1  # one arrow of two moves; then none
    assert [("same" in state) for state in states] == [False, False, True]


def test_hostile_words_stay_words():
    model = route_map(HOSTILE, HOSTILE, Verdict(HOSTILE, "failed"))
    state = routes.widget(model)
    for markup in (routes.html(model), state.svg, dots.html(model)):
        assert "<img src=x" not in markup and "</script>" not in markup
    ElementTree.fromstring(state.svg)
