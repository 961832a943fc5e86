"""The diff of two graphs: each rule on the smallest pair that shows it, and no guess beyond it."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.capture.tensorflow.rewriting import compare
from helpers.model.graphs import Edge, Graph, Node


def graph(*lines):
    """Each line: `name op input input …`; the ops in, out, const and id have kinds of their own."""
    kinds = {"in": "input", "out": "output", "const": "constant", "id": "pass"}
    nodes, edges = [], []
    for line in lines:
        name, op, *inputs = line.split()
        base, _, value = op.partition("=")
        nodes.append(Node(name, name, kinds.get(base, "op"), op=base, attributes=(("v", value),)))
        edges += [Edge(source, name) for source in inputs]
    return Graph("g", tuple(nodes), tuple(edges))


def words(before, after):
    diff = compare(graph(*before), graph(*after))
    return {key: f.word for f in diff.findings for key in f.before or f.after}


def test_the_same_graph_is_kept():
    one = ("x in", "y sin x", "z out y")
    assert set(words(one, one).values()) == {"kept"}


def test_what_no_result_needs_is_removed():
    assert words(("x in", "d exp x", "e neg d", "z out x"), ("x in", "z out x")) == {
        "x": "kept",
        "z": "kept",
        "d": "removed",
        "e": "removed",
    }


def test_without_outputs_an_end_that_is_still_there_is_a_result():
    assert words(("x in", "d exp x", "y sin x"), ("x in", "y sin x"))["d"] == "removed"


def test_an_op_on_constants_is_folded_with_what_only_it_read():
    before = ("x in", "a const=2", "b const=3", "c mul a b", "y mul x c", "z out y")
    found = words(before, ("x in", "c const=6", "y mul x c", "z out y"))
    assert [found[key] for key in "abcy"] == ["folded"] * 3 + ["kept"]


def test_a_constant_out_of_an_input_is_changed_and_not_folded():
    assert words(("x in", "c neg x", "z out c"), ("x in", "c const=6", "z out c"))["c"] == "changed"


def test_of_twins_one_is_merged_into_the_other():
    before = ("x in", "a sin x", "b sin x", "y add a b", "z out y")
    assert words(before, ("x in", "a sin x", "y add a a", "z out y"))["b"] == "merged"


def test_twins_of_twins_are_merged_whatever_order_they_stand_in():
    before = ("z out y", "y add q p", "q neg b", "p neg a", "b sin x", "a sin x", "x in")
    found = words(before, ("x in", "a sin x", "p neg a", "y add p p", "z out y"))
    assert (found["b"], found["q"], found["y"]) == ("merged", "merged", "kept")


@pytest.mark.parametrize("other", ["b cos x", "b sin=2 x", "b sin w"])
def test_an_op_attribute_or_input_that_differs_makes_no_twin(other):
    before = ("x in", "w in", "a sin x", other, "y add a b", "z out y")
    assert words(before, ("x in", "w in", "a sin x", "y add a a", "z out y"))["b"] != "merged"


def test_a_row_of_one_op_is_cancelled_and_an_identity_bypassed():
    before = ("x in", "t flip x", "u flip t", "i id u", "y sin i", "z out y")
    found = words(before, ("x in", "y sin x", "z out y"))
    assert (found["t"], found["u"], found["y"]) == ("bypassed", "bypassed", "kept")
    before = ("x in", "t flip x", "u flip t", "y sin u", "z out y")
    found = words(before, ("x in", "y sin x", "z out y"))
    assert (found["t"], found["u"]) == ("cancelled", "cancelled")


def test_a_fused_op_replaces_what_its_reader_read():
    before = ("x in", "a sin x", "b neg a", "z out b")
    found = words(before, ("x in", "ab sinneg x", "z out ab"))
    assert (found["a"], found["b"], found["z"]) == ("replaced", "replaced", "kept")


def test_what_the_graphs_do_not_explain_is_called_changed():
    diff = compare(
        graph("x in", "w in", "y add x w", "z out y"), graph("x in", "w in", "y mul x w", "z out y")
    )
    assert diff.found("changed")[0].how == "the op was add, and is mul"
    assert (
        words(("x in", "w in", "a sin x", "z out a"), ("x in", "w in", "z out w"))["a"] == "changed"
    )


def test_a_new_node_that_replaces_nothing_is_added():
    assert words(("x in", "z out x"), ("x in", "d exp x", "z out x"))["d"] == "added"


def test_another_order_of_inputs_is_said():
    diff = compare(graph("x in", "w in", "y sub x w"), graph("x in", "w in", "y sub w x"))
    assert diff.found("changed")[0].how == "reads the same in another order"


def differences(before, after):
    """Each: the labels of the arrows from `a`, which has three outputs, to `b`, in order."""

    def made(labels):
        nodes = (Node("a", "a", op="split"), Node("b", "b", op="sub"))
        return Graph("g", nodes, tuple(Edge("a", "b", label) for label in labels))

    findings = compare(made(before), made(after)).findings
    return [finding.how for finding in findings if "b" in finding.before][0]


def test_another_output_of_the_same_node_is_said():
    another = "reads another output of a, or only waits for it"
    assert differences(["", "output 1"], ["", "output 1"]) == ""
    assert differences([""], ["output 1"]) == another
    assert differences(["", "output 1"], ["output 2", ""]) == another
    assert differences(["", "output 1"], ["output 1", ""]) == "reads the same in another order"
    assert differences([""], ["control"]) == another


def test_a_cycle_is_no_trap():
    loop = ("a next b", "b sin a", "z out b")
    assert set(words(loop, loop).values()) == {"kept"}
    assert words(loop, ("z out",))["a"] == "changed"


OPS = ["sin", "neg", "add", "const=1", "const=2", "id", "in"]


@st.composite
def dags(draw):
    lines = []
    for at in range(draw(st.integers(1, 9))):
        op = draw(st.sampled_from(OPS))
        count = 0 if at == 0 or "const" in op or op == "in" else draw(st.integers(0, 2))
        inputs = [f"n{draw(st.integers(0, at - 1))}" for _ in range(count)]
        lines.append(" ".join([f"n{at}", op, *inputs]))
    return [*lines, f"z out n{len(lines) - 1}"]


@given(dags(), dags())
def test_every_node_of_both_graphs_has_its_place(before, after):
    diff = compare(graph(*before), graph(*after))
    said = [key for finding in diff.findings for key in finding.before]
    assert sorted(said) == sorted(node.key for node in diff.before.nodes)
    there = {key for finding in diff.findings for key in finding.after}
    assert there == {node.key for node in diff.after.nodes}


@given(dags())
def test_a_graph_against_itself_is_kept_whole(lines):
    assert {f.word for f in compare(graph(*lines), graph(*lines)).findings} == {"kept"}


@given(dags(), st.randoms())
def test_a_renamed_dead_branch_is_never_called_merged(lines, chance: random.Random):
    dead = [f"d{i} exp n{chance.randrange(len(lines) - 1)}" for i in range(3)]
    diff = compare(graph(*lines[:-1], *dead, lines[-1]), graph(*lines))
    assert {diff.word(f"d{i}") for i in range(3)} == {"removed"}
