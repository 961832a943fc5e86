"""Dynamo's graphs as they grow: what is there has its place, and a break begins another graph."""

from xml.etree import ElementTree

from helpers.model.dynamo_records import DynamoRun, DynamoStep
from helpers.model.graphs import Edge, Graph, Node
from helpers.model.stage_records import Panel
from helpers.view.diagram.animated_graph import draw_animated_graph
from helpers.view.diagram.growing_graphs import list_growing_graphs

SVG = "{http://www.w3.org/2000/svg}"


def so_far(*names):
    """Return a graph of an input and calls in a row; a call is (its key, what it says)."""
    nodes = [Node("x", "x", "input")] if names else []
    nodes += [Node(name, f"{name} = call()", "op") for name in names]
    keys = [node.key for node in nodes]
    pairs = zip(keys, keys[1:], strict=False)
    return Graph("graph so far", tuple(nodes), tuple(Edge(*pair) for pair in pairs))


def step(graph, kind="instruction"):
    panels = (Panel("graph so far", graph if graph.nodes else "empty"),)
    return DynamoStep("s", 1, panels, kind=kind)


def run(*steps):
    return DynamoRun("a run", "", steps)


def broken():
    return run(
        step(so_far()),
        step(so_far("a")),
        step(so_far("a", "b"), "break"),
        DynamoStep("new code", 0, kind="code"),
        step(so_far()),
        step(so_far("a"), "graph"),
    )


def told(drawn, at):
    """Return the state of each box by its words, which are those for a screen reader."""
    groups = ElementTree.fromstring(drawn.svg).iter(f"{SVG}g")
    boxes = {g.get("data-key"): g.get("data-words") for g in groups if g.get("class") == "box"}
    return {boxes[key]: state for key, state in drawn.states[at].items() if key in boxes}


def test_each_step_adds_to_the_graph_and_a_finished_one_stays():
    graphs = list_growing_graphs(broken())
    assert [len(graph.nodes) for graph in graphs] == [0, 3, 4, 4, 4, 7]
    frames = [node.label + node.detail for node in graphs[-1].nodes if node.kind == "graph"]
    assert frames == ["graph 1handed over", "graph 2handed over"]
    drawn = draw_animated_graph(graphs, "graph so far", down=True)
    assert told(drawn, 1)["a = call()"] == "new" and "b = call()" not in told(drawn, 1)
    assert told(drawn, 2) == {"x": "shown", "a = call()": "shown", "b = call()": "new"}


def test_a_node_that_gets_another_name_keeps_its_place():
    found = list_growing_graphs(run(*map(step, (so_far("mul"), so_far("z"), so_far("z", "mul")))))
    keys = [[node.key for node in graph.nodes] for graph in found]
    assert keys[0] == keys[1] == keys[2][:3] and len(set(keys[2])) == 4
