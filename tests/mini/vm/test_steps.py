"""helpers/mini/vm: its seven steps do what CPython does, and `plain` hides only noise."""

import traceback

import pytest

from helpers.mini import vm
from helpers.study.chapter_3.machine_differences import find_run_difference
from helpers.study.chapter_3.vm_steps import list_programs

WHOLE = vm.machine(*vm.WHOLE)
CASES = [case for step in vm.STEPS for case in list_programs(step)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_finished_machine_agrees_with_cpython_at_every_stack(case):
    program, args = case
    assert find_run_difference(WHOLE, program, args) is None


def test_the_steps_have_about_thirty_opcodes_and_no_two_share_one():
    own = [vm.opcodes(step) for step in vm.STEPS]
    assert sum(map(len, own)) == len(frozenset().union(*own)) and 30 <= sum(map(len, own)) <= 40


def test_plain_instructions_keep_their_offsets():
    def program(a):
        return [a + 1 if a else -a, len(str(a))]

    steps, _ = vm.plain(program.__code__)
    offsets = [step.offset for step in steps]
    assert offsets == sorted(offsets) and offsets[-1] < len(program.__code__.co_code)
    assert not {step.opname for step in steps} & {"RESUME", "CACHE", "PUSH_NULL", "PRECALL"}


def test_a_missing_handler_is_named(refused):
    refused(vm.Missing, r"\bLOAD_FAST\b", vm.machine(vm.STEPS[0])().run, lambda a: a + 1, 1)


def test_a_missing_handler_is_not_handled_by_the_program(refused):
    def program(a):
        try:
            return a[0]
        except Exception:
            return "swallowed"

    without_subscripts = [step for step in vm.STEPS if step.__name__ != "Calls"]
    refused(vm.Missing, "BINARY_SUBSCR", vm.machine(*without_subscripts)().run, program, [1])


def test_a_stub_is_a_missing_handler(refused):
    class Stub:
        def LOAD_CONST(self, value):
            return ...

    refused(vm.Missing, "LOAD_CONST", vm.machine(Stub, *vm.STEPS[1:])().run, lambda: 5)
    assert vm.machine(Stub, *vm.WHOLE)().run(lambda: 5) == 5


def test_a_learners_handler_takes_the_place_of_the_machines():
    class Loud(vm.steps.Operators):
        def BINARY_OP(self, sign):
            signs.append(sign)
            super().BINARY_OP(sign)

    def program(a):
        return sum(n * a for n in range(3)) + a

    signs = []
    assert vm.machine(Loud, *vm.WHOLE)().run(program, 2) == program(2)
    assert signs == ["*", "*", "*", "+"]


def test_errors_of_a_learners_handler_leave_no_entry_in_the_traceback():
    class Own:
        def RAISE_VARARGS(self, count):
            raise self.pop()

    def program():
        try:
            raise KeyError
        except KeyError as error:
            return [entry.name for entry in traceback.extract_tb(error.__traceback__)]

    assert vm.machine(Own, *vm.WHOLE)().run(program) == ["program"]
