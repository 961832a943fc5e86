"""helpers/model/graph_bodies.py: a body stands in its caller, and nothing of the graph is lost."""

from helpers.model.graph_bodies import BODY, nest_bodies
from helpers.model.graphs import Edge, Graph, Node


def branched(*more):
    nodes = [Node("x", "x", "input"), Node("cond", "cond", "call")]
    edges = [Edge("x", "cond")]
    for branch in ("then", "else"):
        entry = f"cond:{branch}"
        nodes += [Node(entry, branch, "call", group=entry, op=BODY)]
        nodes += [Node(f"{entry}/a", "a", "input", group=entry)]
        nodes += [Node(f"{entry}/b", "b", "op", group=entry)]
        edges += [Edge("cond", entry, branch), Edge(entry, f"{entry}/a")]
        edges += [Edge(f"{entry}/a", f"{entry}/b")]
    return Graph("branches", tuple(nodes), (*edges, *more))


def test_each_branch_is_a_graph_inside_of_its_caller():
    nest = nest_bodies(branched())
    assert [node.key for node in nest.graph.nodes] == ["x", "cond"]
    assert nest.graph.edges == (Edge("x", "cond"),)
    then, other = nest.called_by("cond")
    assert (then.label, other.label) == ("then", "else") and nest.called_by("x") == ()
    assert then.nest.graph.edges == (Edge("cond:then/a", "cond:then/b"),)


def test_a_body_in_a_body_stands_in_the_inner_one():
    graph = branched()
    deep = "cond:then/b:body"
    body = Node(deep, "body", "call", group=deep, op=BODY)
    nodes = body, Node(f"{deep}/c", "c", "op", group=deep)
    edges = Edge("cond:then/b", deep, "body"), Edge(deep, f"{deep}/c")
    nest = nest_bodies(Graph("deeper", graph.nodes + nodes, graph.edges + edges))
    inner = nest.bodies[0].nest
    assert [node.label for node in inner.graph.nodes] == ["a", "b"]
    assert [node.label for node in inner.called_by("cond:then/b")[0].nest.graph.nodes] == ["c"]


def test_a_body_of_two_callers_and_an_arrow_from_elsewhere_stay_flat():
    for edge in (Edge("x", "cond:then"), Edge("x", "cond:else/b")):
        graph = branched(edge)
        assert nest_bodies(graph).graph is graph and not nest_bodies(graph).bodies
