"""The stack record: what CPython really has on its stack, on every version, and no harm done."""

import functools
import json
import sys

import pytest

from helpers.capture.cpython import settrace
from helpers.capture.cpython.opcode_recorder import MOST_EVENTS
from helpers.capture.cpython.stack_run import record_stack_run
from helpers.capture.text.value import short_repr
from helpers.internals import interpreter_frame
from tests.browser.stage_programs import expression
from tests.capture.stack_programs import counted, recursion
from tests.pythons import VERSIONS, run


@functools.cache
def told_by(module, version):
    code = f"from tests.capture.{module} import main; main()"
    return json.loads(run(version, code))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_record_agrees_with_cpython_and_keeps_nothing(version):
    found = told_by("stack_agreement", version)
    programs, depths = found["programs_agree"], found["depths_agree"]
    moves = found["stack_does_what_the_names_say"]
    assert programs["wrong"] == depths["wrong"] == moves["wrong"] == []
    assert programs["steps"] > 1200 and moves["moves"] > 300
    assert depths["right"] > (1500 if version == "3.11" else 200)
    assert found["nothing_is_kept"] == {"drift": 0}
    back = {"flags": [True, False, True], "same size": True, "goes on": 1}
    assert found["tracing_is_given_back"] == back


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_functions_that_misbehave_are_told_and_harm_nothing(version):
    found = told_by("bad_runs", version)
    assert "SystemExit(3)" in found["leaves"]["outcome"]
    assert "RecursionError" in found["endless_recursion"]["outcome"]
    assert found["leaves"]["printed"] == "bye\n"
    runs = [entry for entry in found.values() if isinstance(entry, dict) and "steps" in entry]
    assert len(runs) == 5 and all(entry["real"] and entry["tracer"] for entry in runs)
    for name in ("switches_tracing_off", "replaces_the_tracer"):
        assert settrace.TRACER_LOST in found[name]["note"]
        assert settrace.TRACER_LOST in found[name]["frames"]
    long = found["runs_long"]
    assert long["steps"] < 100 and long["recorded"] == MOST_EVENTS
    assert f"{MOST_EVENTS:,}" in long["note"]


def test_step_holds_instruction_stack_and_locals():
    ran = record_stack_run(expression, 3, 10)
    assert ran.real
    subtract = next(step for step in ran.steps if step.argrepr == "-")
    assert subtract.stack[-2:] == ("3", "10") and "abs()" in subtract.stack
    assert subtract.names == (("x", "3"), ("y", "10"), ("z", "[3, 20]"))
    assert ran.source.split("\n")[subtract.line - 1] == "    return abs(x - y) + len(z)"
    assert ran.steps[-1].ending == "returns 9"
    assert any(step.line == 2 for step in ran.steps)


def test_exception_goes_where_the_table_says():
    def careful(x):
        try:
            return 1 // x
        except ZeroDivisionError:
            return None

    ran = record_stack_run(careful, 0)
    failed = next(step for step in ran.steps if step.ending.startswith("raises"))
    following = ran.steps[ran.steps.index(failed) + 1]
    assert failed.handler.startswith(f"go to {following.offset},")
    assert following.stack == ("ZeroDivisionError('integer division or modulo by zero')",) or (
        following.stack[-1].startswith("ZeroDivisionError(")
    )


def test_raising_instruction_is_known_until_its_handler_is_done():
    def careful(x):
        try:
            found = 1 // x
        except ZeroDivisionError:
            found = None
        return found

    steps = record_stack_run(careful, 0).steps
    failed = next(n for n, step in enumerate(steps) if step.ending.startswith("raises"))
    handled = next(n for n, step in enumerate(steps) if step.opname == "POP_EXCEPT")
    marked = [n for n, step in enumerate(steps) if step.raised >= 0]
    assert marked == list(range(failed + 1, handled + 1))
    for step in (steps[n] for n in marked):
        assert (step.raised, step.left) == (steps[failed].offset, steps[failed].line)
        assert step.deed == "raised"


def test_loop_keeps_its_first_and_last_rounds():
    def count():
        total = 0
        for n in range(50):
            total += n
        return total

    ran = record_stack_run(count)
    stored = [dict(step.names)["n"] for step in ran.steps if "n" in dict(step.names)]
    assert list(dict.fromkeys(stored)) in (["0", "1", "48", "49"], ["0", "1", "47", "48", "49"])
    fold = next(step for step in ran.steps if step.left_out)
    assert "left out" in fold.label and fold.left_out + len(ran.steps) - 1 == ran.recorded


def test_generator_function_is_run_to_its_end():
    ran = record_stack_run(counted, 2)
    endings = [step.ending for step in ran.steps if step.ending.startswith("yields")]
    raised = ran.outcome.startswith("It raised TypeError")
    assert raised or endings == ["yields 2", "yields None", "yields 2"]


def test_calls_of_one_module_are_followed_and_numbered():
    ran = record_stack_run(recursion, 3)
    calls = [step.call for step in ran.steps]
    assert calls == sorted(calls) or len({*calls}) == 3
    assert {step.function for step in ran.steps} == {"recursion"}


@pytest.mark.parametrize(
    "thing, name", [(abs, r"abs\(\)"), (int, "int"), (3, "3"), ([].append, "append")]
)
def test_what_has_no_bytecode_to_run_is_refused_by_its_name(thing, name, refused):
    refused(TypeError, rf"^watch_stack .*\b{name}", record_stack_run, thing)


def test_unknown_python_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(interpreter_frame, "VERSIONS", ())
    with pytest.raises(RuntimeError, match=r"3\.11.*3\.12.*3\.13.*cpython"):
        record_stack_run(expression, 1, 2)


def test_interrupt_reaches_the_learner_and_the_tracer_is_put_back():
    def stop():
        raise KeyboardInterrupt

    before = sys.gettrace()
    with pytest.raises(KeyboardInterrupt):
        record_stack_run(stop)
    assert sys.gettrace() is before


BRIEF = [
    *((5, "5"), ("a" * 100, "'" + "a" * 40 + "…'"), ([1, [2, [3]]], "[1, [2, […]]]")),
    *(({"k": (1,)}, "{'k': (1,)}"), (list(range(9)), "[0, 1, 2, 3, …]"), (set(), "set()")),
    *(({"b", "a"}, "{'a', 'b'}"), (KeyError("k", 2), "KeyError('k', 2)")),
    *((len, "len()"), (expression, "expression()"), (int, "class int"), (json, "module json")),
    *((interpreter_frame.NULL, "_Null object"), (range(3), "range(0, 3)")),
]


@pytest.mark.parametrize("value, words", BRIEF)
def test_brief_words(value, words):
    assert short_repr(value) == words
