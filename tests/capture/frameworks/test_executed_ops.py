"""The log of ops has a row for each op, only columns that say something, and notes on the rest."""

from types import SimpleNamespace

import pytest

from helpers.capture.cpython.frameworks_of_callables import UNSEEN
from helpers.capture.cpython.settrace import INTERRUPTED
from helpers.capture.frameworks import executed_ops
from helpers.capture.frameworks.executed_ops import (
    COMPILED_NOTE,
    FAULT_NOTE,
    GENERATOR_NOTE,
    GRAPHS_NOTE,
    HEADINGS,
    HIGHER_ORDER_NOTE,
    LEFT_OUT_NOTE,
    NO_OPS_NOTE,
    OUTSIDE_NOTE,
    OpsInBlock,
    build_op_log,
    join_op_logs,
    record_ops,
)
from helpers.model.op_records import Op, OpLog, OpTensor, build_op_graph

torch = pytest.importorskip("torch")


def make_recorder(*ops, **fields):
    """Return what a recorder knows after these ops."""
    facts = {"left_out_count": 0, "has_compiled_calls": False, "fault": ""} | fields
    return SimpleNamespace(ops=list(ops), total=len(ops) + facts["left_out_count"], **facts)


def make_op(name="aten.add", stage="forward", where="eager", layer=""):
    return name, [(1, "float32 [2]", "x")], [(2, "float32 [2]", "")], stage, where, layer


def list_fields(*ops):
    return [column.field for column in build_op_log(make_recorder(*ops), "run").columns]


def test_each_op_is_a_numbered_row():
    recorder = make_recorder(make_op("aten.add"), make_op("MatMul", "backward", "graph", "Net.a"))
    log = build_op_log(recorder, "run", ["A note."], "ValueError")
    read, made = OpTensor(1, "float32 [2]", "x"), OpTensor(2, "float32 [2]", "")
    assert log.rows == (
        Op(1, "aten.add", (read,), (made,), "forward", "eager", ""),
        Op(2, "MatMul", (read,), (made,), "backward", "graph", "Net.a"),
    )
    assert log.title == "run: 2 ops"
    assert (log.note, log.outcome) == ("A note.", "ValueError")
    assert build_op_log(make_recorder(make_op()), "run").outcome == ""


def test_columns_that_say_nothing_are_left_out():
    always = ["number", "op", "inputs", "outputs", "stage"]
    assert list_fields() == always
    assert list_fields(make_op()) == always
    assert list_fields(make_op(), make_op(layer="Net")) == [*always, "layer"]
    assert list_fields(make_op(), make_op(where="graph")) == [*always, "where"]
    assert list_fields(make_op(where="graph", layer="Net")) == list(HEADINGS)


def test_only_the_column_of_ops_is_code():
    columns = build_op_log(make_recorder(make_op()), "run").columns
    assert [column.heading for column in columns if column.code] == ["op"]
    assert [column.heading for column in columns] == ["#", "op", "reads", "makes", "stage"]


GRAPH_A, GRAPH_B = make_op("__inference_a"), make_op("__inference_b")
HIGHER = make_op("higher_order.cond")
NOTES = {
    "one op": (make_recorder(make_op()), []),
    "no op": (make_recorder(), [NO_OPS_NOTE]),
    "ops left out": (make_recorder(make_op(), left_out_count=3), [LEFT_OUT_NOTE.format(3, 4)]),
    "a fault": (
        make_recorder(make_op(), fault="KeyError", left_out_count=3),
        [FAULT_NOTE.format(2, "KeyError")],
    ),
    "a fault at once": (make_recorder(fault="KeyError"), [FAULT_NOTE.format(1, "KeyError")]),
    "graphs": (
        make_recorder(GRAPH_B, GRAPH_A, GRAPH_A),
        [GRAPHS_NOTE.format("__inference_a, __inference_b")],
    ),
    "a higher-order op": (
        make_recorder(HIGHER, HIGHER),
        [HIGHER_ORDER_NOTE.format("higher_order.cond")],
    ),
    "compiled code": (make_recorder(make_op(), has_compiled_calls=True), [COMPILED_NOTE]),
}


@pytest.mark.parametrize("kind", NOTES)
def test_the_note_says_what_the_table_does_not_show(kind):
    recorder, sentences = NOTES[kind]
    assert build_op_log(recorder, "run").note == " ".join(sentences)


def add_twice(tensor):
    return tensor + tensor + 1


def test_a_function_is_run_and_its_ops_are_named():
    log = record_ops(add_twice, torch.ones(2))
    assert [row.op for row in log.rows] == ["aten.add", "aten.add"]
    first, second = log.rows
    assert [tensor.name for tensor in first.reads] == ["tensor", "tensor"]
    assert second.reads[0].number == first.makes[0].number
    assert log.title.startswith("add_twice")
    assert (log.note, log.outcome) == ("", "")


def test_more_ops_than_were_asked_for_are_counted():
    log = record_ops(add_twice, torch.ones(2), most=1)
    assert len(log.rows) == 1
    assert log.note == LEFT_OUT_NOTE.format(1, 2)


def test_keyword_arguments_reach_the_function():
    assert len(record_ops(add_twice, tensor=torch.ones(2)).rows) == 2


def test_an_error_is_in_the_log():
    def fails():
        torch.ones(1)
        raise KeyError("gone")

    log = record_ops(fails)
    assert len(log.rows) == 1
    assert "KeyError" in log.outcome
    assert log.note.endswith(log.outcome)


def test_an_interrupt_is_noted_first_or_raised_if_there_is_nothing_to_show(monkeypatch):
    def run_and_interrupt(call):
        call()
        return INTERRUPTED

    monkeypatch.setattr(executed_ops, "run_to_end", run_and_interrupt)
    log = record_ops(add_twice, torch.ones(2))
    assert log.outcome == ""
    assert "2 ops" in log.note
    with pytest.raises(KeyboardInterrupt):
        record_ops(len, [])


def test_a_call_that_only_makes_a_generator_is_noted():
    def yields():
        yield torch.ones(1)

    assert record_ops(yields).note == f"{NO_OPS_NOTE} {GENERATOR_NOTE}"
    assert record_ops(len, []).note == NO_OPS_NOTE


def test_the_ops_of_jax_are_said_not_to_be_seen(monkeypatch):
    asked = []

    def find(fn, values):
        asked.append((fn, values))
        return {"jax"}

    monkeypatch.setattr(executed_ops, "find_frameworks", find)
    assert record_ops(dict, [], key=3).note == f"{NO_OPS_NOTE} {UNSEEN}"
    assert asked == [(dict, ([], 3))]
    monkeypatch.setattr(executed_ops, "find_frameworks", lambda fn, values: {"torch"})
    assert record_ops(dict).note == NO_OPS_NOTE


def test_a_block_has_its_ops_so_far():
    block = OpsInBlock(most=1)
    assert block.model.title.startswith("the block: 0 ops")
    with block.watching():
        torch.ones(1)
        torch.ones(1)
    assert len(block.model.rows) == 1
    assert block.model.note == LEFT_OUT_NOTE.format(1, 2)
    assert block.unit == "op"


def test_one_log_is_its_graph_and_several_are_in_one_picture():
    log = build_op_log(make_recorder(make_op()), "run")
    graph = join_op_logs("title", torch=log)
    assert graph.title == "title"
    assert graph.nodes == build_op_graph(log, "title").nodes
    assert graph.note == OUTSIDE_NOTE

    both = join_op_logs("title", a=log, b=log)
    assert len(both.nodes) >= 2 * len(graph.nodes)
    assert both.title == "title"
    assert OUTSIDE_NOTE in both.note


@pytest.mark.parametrize("logs", [{}, {"a": 3}, {"a": OpLog("t", (), ()), "b": None}])
def test_only_logs_are_joined(refused, logs):
    refused(TypeError, "watch_ops", lambda: join_op_logs("title", **logs))


def test_a_title_is_text(refused):
    refused(TypeError, "title", join_op_logs, 3)
