"""What torch.compile keeps for a function, in one picture: entries, guards, new code, backend."""

import pytest

from helpers import show_compiled

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.own_process(sharing="torch")

ONES = torch.ones(3)


def branching(x):
    y = x * 2
    if x.sum() > 0:
        y = y + 1
    return y


def keeping(graph, examples):
    return graph.forward


def labels(graph, key):
    return [graph.node(target).label for target in graph.targets(key)]


@pytest.fixture
def graph():
    torch._dynamo.reset()
    compiled = torch.compile(branching, backend=keeping)
    compiled(ONES)
    compiled(ONES.double())
    return show_compiled(compiled).model


def test_entry_leads_to_guards_code_graph_and_backend(graph):
    assert graph.targets("code") == ("entry 1", "entry 2")
    guards, code = graph.targets("entry 1")
    assert "guards" in graph.node(guards).label and graph.node(guards).kind == "guard"
    made = graph.node("entry 1 graph")
    assert made.key in graph.targets(code) and "sum" in made.detail
    assert labels(graph, made.key) == ["keeping"]


def test_entry_compiled_last_is_tried_first(graph):
    assert [graph.node(f"entry {n}").detail for n in (1, 2)] == [
        "tried as number 2",
        "tried as number 1",
    ]


def test_resume_functions_have_entries_of_their_own(graph):
    details = [node.detail for node in graph.nodes if node.label == "branching, resumed"]
    assert len(details) == 4 and "0 entries of its own" in details
    assert any(not words.startswith("0") for words in details)


def test_backend_that_makes_no_fx_graph_is_told():
    torch._dynamo.reset()
    compiled = torch.compile(branching, backend="aot_eager")
    compiled(ONES)
    graph = show_compiled(compiled).model
    assert graph.node("entry 1 graph").detail == "no FX graph any more"
    assert labels(graph, "entry 1 graph") == ["aot_eager"]


def test_slot_is_the_one_of_this_moment():
    seen = []

    def looking(graph, examples):
        seen.append(show_compiled(branching).model)
        return graph.forward

    torch._dynamo.reset()
    torch.compile(branching, backend=looking)(ONES)
    assert seen[0].node("slot").detail == "in the slot now: torch"
    assert "CPython" in show_compiled(branching).model.node("slot").detail


def test_function_that_was_not_compiled_has_no_entry():
    model = show_compiled(lambda x: x).model
    assert model.targets("code") == () and model.note == "0 entries in the cache."


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError):
        show_compiled(3)
