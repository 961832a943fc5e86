"""helpers/mini/ladder: the finished steps do what CPython does, and `plain` hides only noise."""

import dis

import pytest

from helpers.mini import ladder
from helpers.study.chapter_3 import programs
from helpers.study.chapter_3.compare_runs import difference
from tests.mini import comparing

WHOLE = ladder.machine(*ladder.STEPS)
CASES = [case for cases in vars(programs).values() if type(cases) is list for case in cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}{case[1]}")
def test_finished_machine_agrees_with_cpython_at_every_stack(case):
    program, args = case
    assert difference(WHOLE, program, *args) is None


def test_finished_machine_agrees_in_output_and_exception():
    assert comparing.ladder_differences() == {}


def test_the_steps_have_about_thirty_opcodes_and_no_two_share_one():
    own = [ladder.opcodes(step) for step in ladder.STEPS]
    assert sum(map(len, own)) == len(frozenset().union(*own)) and 30 <= sum(map(len, own)) <= 40


def test_every_opcode_of_the_ladder_is_one_of_cpythons():
    names = frozenset().union(*map(ladder.opcodes, ladder.STEPS)) - {"JUMP"}
    real = {plain for name in dis.opmap for plain in ladder.plain_names(name)}
    assert names <= real


def test_plain_instructions_keep_their_offsets():
    def program(a):
        return [a + 1 if a else -a, len(str(a))]

    steps, _ = ladder.plain(program.__code__)
    offsets = [step.offset for step in steps]
    assert offsets == sorted(offsets) and offsets[-1] < len(program.__code__.co_code)
    assert not {step.opname for step in steps} & {"RESUME", "CACHE", "PUSH_NULL", "PRECALL"}


def test_a_missing_handler_is_named():
    def program(a):
        return a + 1

    with pytest.raises(ladder.Missing, match="this machine has no method LOAD_FAST yet"):
        ladder.machine(ladder.STEPS[0])().run(program, 1)


def test_a_missing_handler_is_not_handled_by_the_program():
    def program(a):
        try:
            return a[0]
        except Exception:
            return "swallowed"

    without_subscripts = [step for step in ladder.STEPS if step.__name__ != "Calls"]
    with pytest.raises(ladder.Missing, match="BINARY_SUBSCR"):
        ladder.machine(*without_subscripts)().run(program, [1])
