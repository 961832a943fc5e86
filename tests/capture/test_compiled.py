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


def test_resume_functions_have_entries_of_their_own(graph):
    details = [node.detail for node in graph.nodes if node.label == "branching, resumed"]
    assert len(details) == 4 and any(words.startswith("0") for words in details)
    assert any(not words.startswith("0") for words in details)


def test_backend_that_makes_no_fx_graph_is_told():
    torch._dynamo.reset()
    compiled = torch.compile(branching, backend="aot_eager")
    compiled(ONES)
    graph = show_compiled(compiled).model
    assert "sum" not in graph.node("entry 1 graph").detail  # the name of an op of the graph
    assert labels(graph, "entry 1 graph") == ["aot_eager"]
