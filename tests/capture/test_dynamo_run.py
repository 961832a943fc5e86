"""Dynamo's own translation, step by step: held against its log, its backend and plain Python."""

import re

import pytest

from helpers import watch_compile, watch_rewriting
from helpers.capture.torch.dynamo_bytecode import (
    RESUME_LEFT_OUT,
    RUNS_UNCHANGED,
    STARTS_INSIDE,
)
from helpers.capture.torch.dynamo_call import record_translation
from helpers.internals import dynamo_settings, torch_private

torch = pytest.importorskip("torch")
from tests.capture import dynamo_programs as programs  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")

LOGGED = re.compile(r"TRACE (\S+) ")


@pytest.fixture(scope="module")
def toy():
    return watch_compile(programs.toy, *programs.inputs()).model


def run(fn):
    return watch_compile(fn, *programs.inputs()).model


@pytest.mark.parametrize("name", ["toy", "whole", "chatty", "outer", "looped", "with_numpy"])
def test_instructions_are_those_that_torch_logs(name):
    fn = getattr(programs, name)
    events = record_translation(fn, fn, programs.inputs()).events
    torch_private.reset()
    torch._logging.set_logs(trace_bytecode=True)
    with dynamo_settings.collect_torch_logs() as messages:
        torch.compile(fn, backend=lambda graph, _: graph.forward)(*programs.inputs())
    torch._logging.set_logs()
    logged = [found[1] for message in messages if (found := LOGGED.match(message))]
    assert logged == [event.opname for event in events if event.kind == "instruction"]


def test_failing_call_starts_the_translation_over():
    model = run(programs.chatty)
    kinds = [step.kind for step in model.steps if step.kind != "instruction"]
    assert kinds[:3] == ["start over", "again", "break"]
    assert model.printed == "halfway\n"


def test_inlined_function_is_followed():
    model = run(programs.outer)
    assert "flip" in {step.function for step in model.steps}
    assert "def flip" in model.source and "def outer" in model.source
    assert [found.function for found in model.breaks] == ["outer", "flip"]


@pytest.mark.parametrize("name", ["tried", "looped"])
def test_function_that_cannot_resume_is_given_up(name):
    model = run(getattr(programs, name))
    assert not model.graphs
    assert [found.given_up for found in model.breaks] == [True]
    assert any(step.kind == "given up" for step in model.steps)


def test_module_and_compiled_function_are_taken_as_they_are(toy):
    linear = watch_compile(torch.nn.Linear(3, 2), torch.ones(3)).model
    assert len(linear.graphs) == 1
    compiled = torch.compile(programs.toy, backend="eager")
    assert watch_compile(compiled, *programs.inputs()).model.steps == toy.steps


def test_watching_changes_no_result():
    for name in ("toy", "whole", "outer", "tried", "looped", "with_numpy", "long"):
        fn = getattr(programs, name)
        kept = record_translation(fn, fn, programs.inputs())
        assert kept.error is None and not kept.reading_error
        assert torch.allclose(kept.value, fn(*programs.inputs()))


def test_new_code_calls_the_graph_and_no_operation():
    model = watch_rewriting(programs.whole, *programs.inputs()).model
    assert not {"line", "source"} & {column.heading for column in model.columns}  # all the same
    names = [row.argument for row in model.rows]
    assert any("__compiled_fn" in name for name in names)
    assert not any("sin" in name for name in names)


def test_resume_functions_are_said_to_be_left_out():
    assert watch_rewriting(programs.whole, *programs.inputs()).model.cut == ""
    assert watch_rewriting(programs.chatty, *programs.inputs()).model.cut == RESUME_LEFT_OUT


def test_function_that_gets_no_new_code_is_one_sentence():
    with pytest.raises(ValueError, match=f"tried: {RUNS_UNCHANGED}"):
        watch_rewriting(programs.tried, *programs.inputs())


def test_sentence_names_the_values_of_an_instruction_and_what_it_adds():
    inner = lambda x: x + 3 * len(x.shape)  # noqa: E731
    steps = watch_compile(lambda x: inner(x) if x[0] < 4 else x, torch.ones(2)).model.steps
    said = [f"{step.opname} {step.says}" for step in steps]
    for names in (
        ("LOAD_FAST", " x."),
        ("CALL", " add"),
        ("BINARY_OP", " 3 * 1 ", ": 3."),
        ("BINARY_SUBSCR", " x[0];", "l_x_  float32 [2]", "getitem = "),
        ("IF_FALSE", " lt,"),
        (": x: TENSOR_MATCH",),
    ):
        assert any(all(name in one for name in names) for one in said), names


def test_a_module_that_is_compiled_further_inside_is_not_said_to_run_as_it_is():
    linear, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.raises(ValueError, match=STARTS_INSIDE):
        watch_rewriting(linear, x)
    assert watch_rewriting(lambda x: linear(x), x).model.rows
