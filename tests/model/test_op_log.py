"""A log of ops becomes a graph of who reads whose result."""

from helpers.model.graphs import join_graphs
from helpers.model.op_records import Op, OpLog, OpTensor, build_op_graph

W, X, Y, Z = (OpTensor(n, "float32 ()", name) for n, name in enumerate(("w", "", "", ""), 1))
LOG = OpLog("two ops", (), (Op(1, "Mul", (W, X), (Y,)), Op(2, "Neg", (Y,), (Z, W), "backward")), "")


def test_arrows_lead_from_the_maker_to_the_reader():
    graph = build_op_graph(LOG)
    assert graph.sources("op 1") == ("value 1",) and graph.targets("op 1") == ("op 2",)
    assert [n.kind for n in graph.nodes] == ["input", "forward", "backward"]
    assert LOG.ops == ("Mul", "Neg") and LOG.stage("backward") == ("Neg",)


def test_several_logs_keep_their_boxes_apart():
    graph = join_graphs("both", {"one": build_op_graph(LOG), "two": build_op_graph(LOG)}, "note")
    assert len(graph.nodes) == 2 * (1 + 3) and graph.note == "note"
    assert set(graph.targets("one|")) == {"one|value 1"}
