"""What each instruction takes, keeps and says: held against the real stacks of many programs."""

import dis
import re

import pytest

from helpers.capture.cpython import disassembly
from helpers.capture.cpython.instruction_sentences import (
    InstructionFacts,
    describe_instruction,
    find_lane,
)
from helpers.capture.cpython.recorded_moments import find_next_moments
from helpers.capture.cpython.stack_run import record_instructions, record_stack_run
from helpers.model.stack_records import LANES
from tests.browser.stage_programs import expression
from tests.capture.stack_programs import PROGRAMS


def counting(n):
    total = 0
    for i in range(n):
        total += i
    return total


def gone(items):
    try:
        return items[0]
    except IndexError:
        return None


def squares(n):
    for i in range(n):
        yield i * i


def consume(n):
    return sum([square for square in squares(n)])  # noqa: C416 - a frame that waits below


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda case: case[0].__name__)
def test_what_an_instruction_does_not_take_stays_where_it_was(program):
    fn, *args = program
    run = record_instructions(fn, args[0] if args else (), fold=False)
    moments, after, held = run.moments, find_next_moments(run.moments), 0
    for position, then in after.items():
        moment = moments[position]
        if None in (moment.slots, then.slots) or "raises" in run.endings.get(moment.serial, ""):
            continue
        tables = moment.activation.tables
        code = {i.offset: i for i in disassembly.decode_instructions(tables.code)}
        before, later = (m.addresses[len(tables.names) :] for m in (moment, then))
        if code[moment.offset].opname in ("EXTENDED_ARG", "RERAISE"):
            continue  # the one stands for the next instruction, the other raises
        jumped = code[moment.offset].opname in ("FOR_ITER", "SEND")
        stay = len(before) - disassembly.count_taken(code[moment.offset], len(before)) - jumped
        assert before[: max(stay, 0)] == later[: max(stay, 0)], code[moment.offset]
        held += max(stay, 0)
    assert held or len(moments) < 40


def test_every_opcode_has_a_lane_and_a_sentence():
    for opname in dis.opmap:
        assert find_lane(opname) in LANES
        facts = InstructionFacts(opname, "x", ("1", "2"), "2", ("3",), False, "", "")
        for words in (
            describe_instruction(facts),
            describe_instruction(facts._replace(taken=(), top="", pushed=None)),
        ):
            assert re.fullmatch(r"[a-z].*\.", words) and "{" not in words


# Facts of instructions: name, argument, taken, top, pushed, jumped, ending, handler.
FACTS = [
    ("LOAD_GLOBAL", "NULL + len", (), "", ("len()", "NULL"), False, "", ""),
    ("BUILD_LIST", "2", ("3", "20"), "20", ("[3, 20]",), False, "", ""),
    ("CALL", "1", ("NULL", "len()", "[3, 20]"), "[3, 20]", ("2",), False, "", ""),
    ("CALL", "0", ("NULL", "f()"), "f()", ("None",), False, "", ""),
    ("BINARY_OP", "*", ("10", "2"), "2", ("20",), False, "", ""),
    ("BINARY_OP", "+=", ("[1]", "[2]"), "[2]", ("[1, 2]",), False, "", ""),
    ("BINARY_OP", "/", ("1", "0"), "0", None, False, "raises ZeroDivisionError()", ""),
    ("BINARY_OP", "/", ("1", "0"), "0", None, False, "raises ZeroDivisionError()", "go to 20"),
    ("POP_JUMP_IF_FALSE", "to 24", ("0",), "0", (), True, "", ""),
    ("POP_JUMP_IF_FALSE", "to 24", ("3",), "3", (), False, "", ""),
    ("POP_JUMP_FORWARD_IF_TRUE", "to 24", ("3",), "3", (), True, "", ""),
    ("POP_JUMP_IF_NOT_NONE", "to 24", ("None",), "None", (), False, "", ""),
    ("JUMP_IF_TRUE_OR_POP", "to 24", (), "3", ("3",), True, "", ""),
    ("JUMP_BACKWARD", "to 4", (), "", (), True, "", ""),
    ("FOR_ITER", "to 24", (), "range_iterator object", ("1",), False, "", ""),
    ("FOR_ITER", "to 24", (), "range_iterator object", (), True, "", ""),
    ("STORE_FAST", "x", ("3",), "3", (), False, "", ""),
    ("RETURN_VALUE", "", ("3",), "3", None, False, "returns 3", ""),
    ("YIELD_VALUE", "1", ("3",), "3", None, False, "yields 3", ""),
    ("AN_UNKNOWN_ONE", "", ("1", "2"), "2", ("3", "4"), False, "", ""),
    ("AN_UNKNOWN_ONE", "", (), "", (), False, "", ""),
]


def test_the_sentences_are_the_stored_ones(snapshot):
    sentences = [describe_instruction(InstructionFacts(*facts)) for facts in FACTS]
    assert "\n".join(sentences) == snapshot


def test_a_sentence_has_the_values_that_were_taken_and_pushed():
    steps = record_stack_run(expression, 3, 10).steps
    for step, later in zip(steps, steps[1:], strict=False):
        if step.opname not in ("BINARY_OP", "BUILD_LIST", "CALL"):
            continue
        taken = [value for value in step.stack[len(step.stack) - step.taken :] if value != "NULL"]
        assert all(value in step.says for value in (*taken, later.stack[-1])), step.says


def test_value_has_type_identity_and_a_key_for_as_long_as_it_lies_there():
    steps = record_stack_run(expression, 3, 10).steps
    call = next(s for s in steps if s.opname == "CALL" and "len()" in s.stack)
    value = call.values[-1]
    assert (value.words, value.kind, value.same) == ("[3, 20]", "list", "z")
    first = next(n for n, s in enumerate(steps) if any(v.key == value.key for v in s.values))
    assert all(value.key in {v.key for v in s.values} for s in steps[first : steps.index(call) + 1])


def test_waiting_calls_and_frames_put_aside_are_cards():
    steps = record_stack_run(consume, 2).steps
    inside = [step for step in steps if step.function == "squares"]
    assert all(step.callers[0].function == "consume" for step in inside)
    off = [step.shelf for step in steps if step.shelf]
    assert off and {card.function for cards in off for card in cards} == {"squares"}
    assert all("range_iterator object" in card.stack for cards in off for card in cards)
