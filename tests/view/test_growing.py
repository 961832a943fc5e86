"""Dynamo's graphs as they grow: outlines first, places that stay, a cut at each break."""

from xml.etree import ElementTree

from helpers.model.graphs import Edge, Graph, Node
from helpers.model.stage_records import Panel
from helpers.model.torch_records import Break, DynamoRun, DynamoStep
from helpers.view.diagram.animated_graph import growing_graph, recordings

SVG = "{http://www.w3.org/2000/svg}"


def so_far(*names):
    """Return a graph of an input and calls in a row; a call is (its key, what it says)."""
    nodes = [Node("x", "x", "input")] if names else []
    nodes += [Node(name, f"{name} = call()", "op") for name in names]
    keys = [node.key for node in nodes]
    pairs = zip(keys, keys[1:], strict=False)
    return Graph("graph so far", tuple(nodes), tuple(Edge(*pair) for pair in pairs))


def step(graph, kind="instruction", guards=(), made=(), line=1):
    content = graph if graph.nodes else "empty"
    panels = (Panel("graph so far", content),)
    return DynamoStep("s", line, panels, kind, guarded=guards, made=made)


def run(*steps, breaks=()):
    return DynamoRun("a run", "", steps, breaks=breaks)


def broken():
    return run(
        step(so_far(), guards=("x: TENSOR_MATCH",), made=("a",), line=2),
        step(so_far("a")),
        step(so_far("a", "b"), "break"),
        DynamoStep("new code", 0, (), "code"),
        step(so_far(), made=("a",), line=4),
        step(so_far("a"), "graph"),
        breaks=(Break("f", 3, "print(x)", "no", "because"),),
    )


def words(drawn):
    """Return data-key -> what a screen reader is told."""
    groups = ElementTree.fromstring(drawn.svg).iter(f"{SVG}g")
    return {g.get("data-key"): g.get("data-words") for g in groups if g.get("data-words")}


def told(drawn, at):
    said = words(drawn)
    return {said[key]: state for key, state in drawn.states[at].items() if key in said}


def test_nodes_are_outlines_until_they_are_recorded():
    drawn = growing_graph(broken())
    assert told(drawn, 0)["a = call()"] == "outline"
    assert told(drawn, 1)["a = call()"] == "new" and told(drawn, 1)["b = call()"] == "outline"
    assert told(drawn, 2)["a = call()"] == "shown" and told(drawn, 2)["b = call()"] == "new"


def test_a_break_cuts_the_cards_apart_and_the_first_graph_stays():
    drawn = growing_graph(broken())
    cut = "graph break at line 3: print(x)"
    assert [cut in told(drawn, at) for at in range(6)] == [False, False, True, True, True, True]
    assert "graph 2 · line 4" not in told(drawn, 3)
    assert told(drawn, 4)["graph 1 · line 2"] == "shown"
    assert told(drawn, 4)["graph 2 · line 4"] == "new"
    assert [state for key, state in drawn.states[5].items() if key.startswith("n1.")] == [
        "shown"
    ] * 3


def test_a_node_that_gets_another_name_keeps_its_place():
    (found,) = recordings(run(step(so_far("mul")), step(so_far("z")), step(so_far("z", "mul"))))
    keys = [[node.key for node in graph.nodes] for graph in found.graphs]
    assert keys == [["x", "op 1"], ["x", "op 1"], ["x", "op 1", "op 2"]]
