"""helpers/mini/vm/record.py: one step per instruction, with the stack before it."""

import dis
import sys

import pytest

from helpers.mini import vm
from helpers.mini.vm import record


def add(a, b):
    return a + b


def test_every_instruction_is_a_step_in_order():
    steps = vm.trace(add, 1, 2).steps
    real = [i for i in dis.get_instructions(add) if i.opname != "CACHE"]
    assert [(s.offset, s.opname) for s in steps] == [(i.offset, i.opname) for i in real]
    assert {s.function for s in steps} == {"add"} and {s.depth for s in steps} == {0}


def test_the_stack_before_the_instruction_is_shown():
    operator = next(s for s in vm.trace(add, 1, "x").steps if s.opname == "BINARY_OP")
    assert operator.stack == ("1", "'x'")


def test_stack_depth_is_what_the_compiler_foresaw():
    def program(n):
        return [f"{i}" for i in range(n) if i % 2], max(n, add(n, 1))

    most = program.__code__.co_stacksize
    steps = [s for s in vm.trace(program, 4).steps if s.depth == 0]
    assert all(len(s.stack) <= most for s in steps) and max(len(s.stack) for s in steps) > 2


def test_calls_are_recorded_at_their_depth():
    def outer():
        return add(1, 2)

    depths = [(s.function.rpartition(".")[2], s.depth) for s in vm.trace(outer).steps]
    assert ("outer", 0) in depths and ("add", 1) in depths and depths[-1] == ("outer", 0)


def test_value_or_error_is_kept():
    assert vm.trace(add, 1, 2).value == 3
    failed = vm.trace(add, 1, "x")
    assert isinstance(failed.error, TypeError) and failed.value is None and failed.steps


@pytest.mark.parametrize("ending", [SystemExit(3), GeneratorExit(), BaseException("own")])
def test_whatever_ends_the_run_is_its_error(ending):
    def program():
        raise ending

    assert vm.trace(program).error is ending


def test_an_interrupt_ends_the_recording_too():
    def program():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vm.trace(program)


def test_reprs_that_end_the_run_or_hold_control_characters_are_told():
    class Leaving:
        def __repr__(self):
            sys.exit(3)

    class Loud:
        def __repr__(self):
            return "a\x1b[0m\nb"

    for thing in (Leaving(), [Leaving()]):
        assert "<Leaving: its repr raised SystemExit>" in record.words(thing)
    assert record.words(Loud()) == record.words([Loud()])[1:-1] == r"a\x1b[0m\nb"


def test_the_same_run_gives_the_same_record():
    def program():
        return [object(), add, print, {1: object()}]

    first, second = vm.trace(program).steps, vm.trace(program).steps
    assert first == second and "0x" not in repr(first)


class Hostile:
    def __repr__(self):
        raise RuntimeError


class Wide:
    def __repr__(self):
        return "w" * 10**6


@pytest.mark.parametrize(
    "value", [Hostile(), Wide(), "s" * 10**6, [[[[[[]]]]]] * 9, [Hostile()], 10**4000]
)
def test_hostile_objects_give_a_short_placeholder(value):
    assert len(record.words(value)) <= record.LONGEST


def test_a_long_run_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(record, "MOST_STEPS", 10)

    def program():
        total = 0
        for n in range(100):
            total = n
        return total

    cut = vm.trace(program)
    assert cut.cut and len(cut.steps) == 10 and cut.value == 99


def test_recording_changes_nothing_in_later_runs():
    vm.trace(add, 1, 2)
    assert vm.run(add, 3, 4) == 7
