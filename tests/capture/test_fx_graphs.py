"""An FX graph as boxes and arrows: every node is there, its words are plain and the same twice."""

import pytest

from helpers import show_fx
from helpers.capture.torch.fx_graph import build_fx_graph

torch = pytest.importorskip("torch")


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        a, b = (x * self.weight).chunk(2)
        return torch.cat([a.abs(), b[0:1]]).to(torch.float64), x + x


@pytest.fixture(scope="module")
def traced():
    return torch.fx.symbolic_trace(Small())


def test_every_node_and_every_use_is_there(traced):
    model = build_fx_graph(traced)
    nodes = list(traced.graph.nodes)
    assert [node.key for node in model.nodes] == [node.name for node in nodes]
    uses = {(used.name, node.name) for node in nodes for used in node.all_input_nodes}
    assert {(edge.source, edge.target) for edge in model.edges} == uses


def test_calls_are_written_as_in_a_program(traced):
    model = build_fx_graph(traced)
    assert model.node("mul").label == "mul = mul(x, weight)"
    assert model.node("add").label == "add = add(x, x)"
    assert model.node("weight").label == "weight = self.weight"
    assert model.node("chunk").label == "chunk = .chunk(mul, 2)"
    assert model.node("cat").label == "cat = cat([abs_1, getitem_2])"
    assert model.node("to").label == "to = .to(cat, torch.float64)"


def test_it_is_the_same_twice_and_holds_no_address(traced):
    text = repr(show_fx(traced))
    assert text == repr(show_fx(traced)) and "0x" not in text
