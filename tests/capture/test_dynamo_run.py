"""Dynamo's own translation, step by step: held against its log, its backend and plain Python."""

import functools
import re
import subprocess
import sys

import pytest

from helpers import expect, watch_compile, watch_rewriting
from helpers.capture.torch.dynamo_recorder import Instruction, record
from helpers.internals import torch_private
from helpers.view.instruction_tables import dynamo as view

torch = pytest.importorskip("torch")
from tests.capture import dynamo_programs as programs  # noqa: E402
from tests.capture.made_programs import long_chain  # noqa: E402

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
    events = record(fn, fn, programs.inputs()).events
    torch_private.reset()
    with torch_private.logs(trace_bytecode=True) as messages:
        torch.compile(fn, backend=lambda graph, _: graph.forward)(*programs.inputs())
    logged = [found[1] for message in messages if (found := LOGGED.match(message))]
    assert logged == [event.opname for event in events if isinstance(event, Instruction)]


def test_stack_is_as_deep_as_bytecode_says(toy):
    from helpers.capture.cpython.bytecode import bytecode

    rows = {row.offset: row.before for row in bytecode(programs.toy).rows}
    own = [step for step in toy.of_kind("instruction") if step.function == "toy"]
    assert own
    for step in own:
        assert len(step.stack) == rows[int(step.label.split()[0])]


@pytest.mark.parametrize("name", ["toy", "whole", "chatty", "outer", "tried", "with_numpy", "long"])
def test_graphs_are_what_a_backend_gets(name):
    fn, got = getattr(programs, name), []
    torch_private.reset()

    def backend(module, _):
        got.append([node.name for node in module.graph.nodes])
        return module.forward

    torch.compile(fn, backend=backend)(*programs.inputs())
    assert [[node.key for node in graph.nodes] for graph in run(fn).graphs] == got


def test_graph_grows_line_by_line(toy):
    nodes = [node for graph in toy.graphs for node in graph.nodes if node.kind != "output"]
    grown = [line for step in toy.steps for line in step.made if "gets the name" not in line]
    assert len(grown) == len(nodes)
    assert all(len(step.made) == 0 for step in toy.steps if step.opname.startswith("STORE_NAME"))


def test_break_stands_on_the_line_of_the_if(toy):
    (found,) = toy.breaks
    assert found.code == "if b.sum() < 0:"
    assert toy.source.splitlines()[found.line - 1].strip() == found.code
    assert not found.given_up
    assert found.cause and found.explanation


def test_guard_is_taken_where_the_value_is_used(toy):
    at = {guard: step for step in reversed(toy.steps) for guard in step.guarded}
    taken = [step.opname for guard, step in at.items() if guard.startswith(("a: ", "b: "))]
    assert taken
    assert not any(opname.startswith("LOAD_FAST") for opname in taken)


def test_value_not_looked_at_is_lazy_until_it_is_used(toy):
    stacks = [step.stack for step in toy.of_kind("instruction") if step.function == "toy"]
    assert any("a (lazy)" in stack for stack in stacks)
    assert not any("a (lazy)" in stack for stack in stacks[-3:])


def test_rest_of_the_function_is_one_resumed_at_the_break(toy):
    assert toy.resumed == (f"toy, resumed after line {toy.breaks[0].line}",)
    last = [step for step in toy.steps if step.function == toy.resumed[0]]
    assert last[0].kind == "again"
    assert {step.line for step in last[1:] if step.kind == "instruction"} == {5}


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
    assert model.of_kind("given up")


def test_function_without_tensors_has_nothing_to_compile():
    model = run(programs.numbers)
    assert not model.graphs and not model.breaks
    assert model.outcome == "The call returned 3."


def test_generator_function_is_not_translated():
    model = run(programs.generating)
    assert model.steps == ()
    assert "translated no instruction" in model.note
    assert "No steps" in view.text(model)


def test_error_of_the_function_is_part_of_the_record():
    model = run(programs.raising)
    assert model.outcome == "The call raised ValueError: by design."


def test_device_that_is_not_there_is_one_sentence():
    if torch.cuda.is_available():
        pytest.skip("this machine has the device")
    assert "The call raised" in run(programs.far).outcome
    assert "\n" not in run(programs.far).outcome


def test_long_run_says_that_it_is_cut():
    model = run(programs.long)
    assert "Only the first instructions" in model.note
    assert len(model.graphs[0].nodes) > 200


def test_module_and_compiled_function_are_taken_as_they_are(toy):
    linear = watch_compile(torch.nn.Linear(3, 2), torch.ones(3)).model
    assert len(linear.graphs) == 1
    compiled = torch.compile(programs.toy, backend="eager")
    assert watch_compile(compiled, *programs.inputs()).model.steps == toy.steps


def test_no_function_is_one_sentence(capsys):
    things = (len, 3, None, torch.nn.Linear, torch.sin, functools.partial(print))
    for thing in things:
        with expect(TypeError):
            watch_compile(thing, 1)
    assert capsys.readouterr().out.count("\n") == len(things)


def test_watching_changes_no_result():
    for name in ("toy", "whole", "outer", "tried", "looped", "with_numpy", "long"):
        fn = getattr(programs, name)
        kept = record(fn, fn, programs.inputs())
        assert kept.error is None and not kept.lost
        assert torch.allclose(kept.value, fn(*programs.inputs()))


def test_missing_name_is_one_sentence(monkeypatch):
    monkeypatch.setitem(torch_private.PLACES["dynamo"], "reset", "torch._dynamo:no_such_reset")
    with pytest.raises(RuntimeError, match="no_such_reset"):
        run(programs.toy)


def test_absent_torch_is_one_sentence():
    lines = (
        "import sys; sys.modules['torch'] = None; from helpers import expect, watch_compile\n"
        "with expect(RuntimeError): watch_compile(lambda x: x, 1)"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingPart: PyTorch is missing")
    assert done.stdout.count("\n") == 1


def test_what_could_not_be_read_is_told(monkeypatch):
    monkeypatch.setattr(
        "helpers.capture.torch.dynamo_words.guard_words", lambda guard: guard.no_such
    )
    assert "Not all of it could be read on this torch (AttributeError" in run(programs.toy).note


def test_unknown_kind_is_named(toy):
    with pytest.raises(KeyError, match="the kinds are"):
        toy.of_kind("surprise")
    assert toy.on_line(2) and not toy.on_line(99)


def test_new_code_calls_the_graph_and_no_operation():
    model = watch_rewriting(programs.whole, *programs.inputs()).model
    assert not {"line", "source"} & {column.heading for column in model.columns}  # all the same
    names = [row.argument for row in model.rows]
    assert any("__compiled_fn" in name for name in names)
    assert not any("sin" in name for name in names)


def test_resume_functions_that_are_not_listed_are_counted():
    assert "left out" not in str(watch_rewriting(programs.whole, *programs.inputs()))
    assert "of 1 resume function is left out" in str(
        watch_rewriting(programs.chatty, *programs.inputs())
    )
    chain = watch_rewriting(long_chain(2), torch.ones(2))
    assert "of 3 resume functions is left out" in str(chain)
    assert "of 3 resume functions is left out" in chain._repr_mimebundle_()[0]["text/html"]


def test_function_that_gets_no_new_code_is_one_sentence():
    with pytest.raises(ValueError, match="made no new code for tried: Python runs it as it is"):
        watch_rewriting(programs.tried, *programs.inputs())
    with pytest.raises(ValueError, match="by design"):
        watch_rewriting(programs.raising, *programs.inputs())


def test_sentence_says_what_is_recorded_and_what_dynamo_does_itself():
    def inner(x):
        return x + 1

    def fn(x, n):
        for i in range(n):
            x = inner(x) * i
        return x

    steps = watch_compile(fn, torch.ones(2), 1).model.of_kind("instruction")
    said = [f"{step.opname} {step.says}" for step in steps]
    for words in (
        "LOAD_FAST puts what stands for x on the stack",
        "Dynamo goes on inside the function that is called",
        "+ 1 is not computed but recorded; the graph grows by ",
        "FOR_ITER the next value is 0: Dynamo translates the loop's body for it.",
        "FOR_ITER there is no next value: the loop is over",
    ):
        assert any(words in one for one in said), words
    recorded = [step for step in steps if "recorded" in step.says]
    assert [bool(step.made) for step in recorded] == [True] * len(recorded) and recorded


def test_a_module_that_is_compiled_further_inside_is_not_said_to_run_as_it_is():
    linear, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
    with pytest.raises(ValueError, match="starts further inside; give a function that calls it"):
        watch_rewriting(linear, x)
    assert "What Dynamo made of" in watch_rewriting(lambda x: linear(x), x).model.title
