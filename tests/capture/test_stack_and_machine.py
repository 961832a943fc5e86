"""Two ways to one stack: read from CPython's memory, and kept by the small machine."""

import dis

import pytest

from helpers.capture.cpython.opcode_recorder import Moment
from helpers.capture.cpython.value_stack import record
from helpers.mini import vm
from helpers.mini.vm.record import words
from tests.capture.stack_programs import PROGRAMS

# CPython traces from the first instruction after these on.
PROLOGUE = {"RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR"}
ASYNC = "async_driven"  # the machine refuses it, in one sentence


def _values(stack) -> tuple[str, ...]:
    return tuple(value for value in stack if value not in ("NULL", None))


def read_from_memory(fn, args) -> list:
    """Return (offset, stack) before every instruction of the first frame, from CPython's memory."""
    run = record(fn, args, look=words, fold=False, most=20_000)
    first = [m for m in run.moments if isinstance(m, Moment) and m.activation.number == 1]
    variables = len(first[0].activation.tables.names)
    return [(m.offset, _values(m.found[variables:])) for m in first]


def kept_by_the_machine(fn, args) -> list:
    """Return the same from the machine's own record, without the prologue."""
    steps = [step for step in vm.trace(fn, *args).steps if step.depth == 0]
    return [(s.offset, _values(s.stack)) for s in steps if s.opname not in PROLOGUE]


def compare(fn, args):
    names = {i.offset: i.opname for i in dis.get_instructions(fn)}
    real = []
    for offset, stack in read_from_memory(fn, args):
        moment = (_behind(offset, names), stack)
        told_twice = real[-1:] == [moment] and names.get(offset - 2) == "EXTENDED_ARG"
        if names[moment[0]] not in PROLOGUE and not told_twice:
            real.append(moment)
    return real, kept_by_the_machine(fn, args)


def _behind(offset: int, names) -> int:
    """Return the offset of the instruction that an EXTENDED_ARG belongs to."""
    while names[offset] == "EXTENDED_ARG":
        offset += 2
    return offset


@pytest.mark.parametrize(
    ("fn", "args"),
    [(fn, args) for fn, args in PROGRAMS if fn.__name__ != ASYNC],
    ids=[f"{fn.__name__}-{n}" for n, (fn, _) in enumerate(PROGRAMS) if fn.__name__ != ASYNC],
)
def test_both_stacks_agree_at_every_instruction(fn, args):
    real, ours = compare(fn, args)
    assert len(real) > 3
    assert real == ours


def test_a_stack_that_is_off_by_one_value_is_seen():
    real, ours = compare(*PROGRAMS[0])
    offset, stack = ours[5]
    assert real == ours and real != [*ours[:5], (offset, stack[1:]), *ours[6:]]
