"""Two neighbouring pictures of a run tell what the line between them did."""

import pytest

from helpers.capture.references.name_changes import (
    NAMES_PANEL,
    NO_CHANGE,
    PRINTED_PANEL,
    RAISED,
    describe_step,
)
from helpers.model.graphs import Edge, Graph, Node
from helpers.model.stage_records import Panel, Step


def step(names, contents=(), printed="", label="after line 1"):
    """Return a step; `names` maps a name to an object, `contents` an object to (detail, items)."""
    details = {key: detail for key, (detail, _) in dict(contents).items()}
    targets = dict.fromkeys(names.values())
    nodes = [Node(f"name {name}", name, "name") for name in names]
    nodes += [Node(key, f"<{key}>", "object", details.get(key, "")) for key in targets]
    edges = [Edge(f"name {name}", key) for name, key in names.items()]
    for key, (_, items) in dict(contents).items():
        edges += [Edge(key, item, f"[{index}]") for index, item in enumerate(items)]
    graph = Graph("", tuple(nodes), tuple(edges)) if nodes else "none yet"
    panels = (Panel(NAMES_PANEL, graph), Panel(PRINTED_PANEL, printed))
    return Step(label, 1, panels)


A, B = step({"a": "1"}), step({"a": "1", "b": "2"})
LIST, LONGER = step({"a": "1"}, {"1": ("1 item", [])}), step({"a": "1"}, {"1": ("2 items", [])})
CHANGES = {
    "a name is bound": (step({}), A, "store", ["a", "<1>"]),
    "a name is rebound": (A, step({"a": "2"}), "store", ["a", "<1>", "<2>"]),
    "a name is unbound": (B, A, "store", ["b"]),
    "an object is changed": (LIST, LONGER, "store", ["a", "1 item", "2 items"]),
    "an item is replaced": (
        step({"a": "1", "b": "2"}, {"1": ("1 item", ["2"])}),
        step({"a": "1", "b": "2"}, {"1": ("1 item", ["1"])}),
        "store",
        ["a", "place"],
    ),
    "nothing": (A, A, "operate", [NO_CHANGE]),
    "something is printed": (A, step({"a": "1"}, printed="hi\n"), "operate", ["'hi'"]),
    "an error is raised": (
        A,
        step({"a": "1"}, label=f"line 1{RAISED}KeyError"),
        "exception",
        ["KeyError"],
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_step_has_the_lane_and_the_names_of_its_change(kind):
    before, after, lane, words = CHANGES[kind]
    described = describe_step(before, after, calling_lines=set())
    assert described.lane == lane
    assert all(word in described.says for word in words)
    assert (NO_CHANGE in described.says) is (kind == "nothing")


def test_a_line_that_calls_something_and_binds_nothing_is_a_call():
    assert describe_step(A, A, calling_lines={1}).lane == "call"
    assert describe_step(A, A, calling_lines={2}).lane == "operate"
    assert describe_step(A, B, calling_lines={1}).lane == "store"


def test_only_new_output_is_quoted():
    before, after = step({}, printed="old\n"), step({}, printed="old\nnew\n")
    says = describe_step(before, after, calling_lines=set()).says
    assert "'new'" in says and "old" not in says
