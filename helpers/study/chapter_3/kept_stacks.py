"""Reads the stack of a CPython frame from memory, before each instruction of a call. A *plain
instruction* is one of the course's own machine, `helpers.mini.vm`. Its name is the same for all
versions of CPython. The values of a stack are texts, from the bottom to the top.
"""

from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from helpers.capture.cpython.disassembly import decode_instructions
from helpers.capture.cpython.recorded_moments import RecordedMoment
from helpers.capture.cpython.stack_run import record_instructions
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.study.answers import require_items, require_no_stubs
from helpers.study.check import exercise

MOST_STEPS = 20_000
AFTER = "that is the stack after the instruction ran, so go back to just before it"
REVERSED = "those are the right values, but the bottom comes first and the top last"
OPERANDS = "those two are its operands, but below them wait values that are used later"
RUN_IN_YOUR_HEAD = (
    "run it in your head: push names and numbers, and let an operator pop two and push one"
)


@dataclass(frozen=True)
class StackState:
    """The stack before one plain instruction, in CPython or in a learner's machine."""

    #: The number of the call within the run, from 0.
    call: int
    #: The name of the function that was called.
    function: str
    #: The offset of the instruction.
    offset: int
    #: Its plain name, which is the same on all versions of CPython.
    opname: str
    #: The values as text, the bottom first.
    stack: tuple[str, ...]


@dataclass(frozen=True)
class KeptStack:
    """The stack of a CPython frame before one instruction."""

    #: The number of the call within the run, from 1.
    call: int
    #: The code object of the function that was called.
    code: CodeType
    #: The offset of the instruction.
    offset: int
    #: The values as text, the bottom first.
    stack: tuple[str, ...]


def is_recorded(code: CodeType) -> bool:
    """Return whether frames of this code are compared with those of a learner's machine.

    Frames of methods such as `__eq__` are not. C code can call them, and then the learner's machine
    does not run their frames.
    """
    return not code.co_name.startswith("__")


def record_first_frame(fn, args) -> list[tuple[int, tuple[str, ...]]]:
    """Return (offset, stack) before each instruction of the first frame of `fn(*args)`."""
    return [
        (record.offset, record.stack) for record in _record_stacks(fn, args) if record.call == 1
    ]


def list_stack_states(program, args) -> list[StackState]:
    """Run `program(*args)` in CPython; return its stack before each plain instruction.

    An instruction of CPython for which no plain one begins is left out.
    """
    states = []
    numbers_by_call = {}  # number of a call in CPython's run -> its number here
    for record in _record_stacks(program, args):
        opname, has_keywords = _read_plain_names(record.code).get(record.offset, ("", False))
        if not opname or not is_recorded(record.code):
            continue
        # Calls are numbered again from 0, because some of CPython's calls are left out.
        number = numbers_by_call.setdefault(record.call, len(numbers_by_call))
        # CALL_KW has the names of keyword arguments on top of the stack. A plain call does not.
        stack = record.stack[:-1] if has_keywords else record.stack
        states.append(StackState(number, record.code.co_name, record.offset, opname, stack))
    return states


def _record_stacks(fn, args) -> list[KeptStack]:
    """Run `fn(*args)`; return the stacks before the instructions that ran, in order.

    Only functions of the module of `fn` are recorded.
    """
    records = []
    # fold=False: a long loop is recorded in full, because each round is compared.
    for moment in record_instructions(fn, args, fold=False, most=MOST_STEPS).moments:
        if type(moment) is not RecordedMoment or moment.slots is None:
            continue  # a moment without an instruction, or memory that could not be read
        tables = moment.activation.tables
        opnames = {step.offset: step.opname for step in decode_instructions(tables.code)}
        offset = moment.offset
        while opnames[offset] == "EXTENDED_ARG":  # a prefix of the instruction that follows
            offset += 2

        # `slots` has a text for each variable of the frame, then one for each value on its stack.
        values = moment.slots[len(tables.names) :]
        # CPython pushes NULL beside some callables; plain instructions have none.
        stack = tuple(text for text in values if text != "NULL")
        record = KeptStack(moment.activation.number, tables.code, offset, stack)
        # An instruction with a prefix may come twice: once at the prefix, and once at its own
        # offset.
        has_prefix = opnames.get(offset - 2) == "EXTENDED_ARG"
        if has_prefix and records and records[-1] == record:
            continue
        records.append(record)
    return records


@lru_cache(maxsize=200)
def _read_plain_names(code: CodeType) -> dict[int, tuple[str, bool]]:
    """Return offset -> (name of the plain instruction there, whether CPython has CALL_KW there).

    CALL_KW, which is new in Python 3.13, is a call whose stack has the names of its keyword
    arguments on top.
    """
    steps, _ = vm.plain(code)  # the instructions, and the exception table
    keyword_calls = {step.offset for step in decode_instructions(code) if step.opname == "CALL_KW"}
    names = {}
    for step in steps:
        # Several plain instructions can stand for one of CPython. Only the first has its stack.
        if step.first:
            names[step.offset] = step.opname, step.offset in keyword_calls
    return names


@exercise(
    "Read the function from left to right. What is computed first, and where does it wait?",
    "Each operator pops its two operands and pushes one result. Results wait on the stack.",
    "The results of the first two operators are below the two operands of the third.",
)
def stack_at(guess, fn, args, offset):
    """You separated the waiting values from the operands."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass. `guess` is the stack of `fn(*args)` before the instruction at
    # `offset`, as a list of ints.
    items = require_items(guess, limit=100, what="the guess")
    places = {f"place {number}, from the bottom,": item for number, item in enumerate(items, 1)}
    require_no_stubs(places)

    recorded = record_first_frame(fn, args)
    indices = [index for index, (start, _) in enumerate(recorded) if start == offset]
    if not indices:
        return f"no instruction starts at offset {short_repr(offset)} in a run of {short_repr(fn)}"

    for item in items:
        if type(item) is not int:
            kind = "text" if isinstance(item, str) else f"a {type(item).__name__}"
            return f"the values here are whole numbers, but {short_repr(item)} is {kind}"

    index = indices[0]  # the first time that the instruction runs
    _, stack = recorded[index]
    next_stack = recorded[index + 1][1] if index + 1 < len(recorded) else None
    return _advise_on_stack(tuple(map(short_repr, items)), stack, next_stack)


def _advise_on_stack(guess: tuple, stack: tuple, next_stack: tuple | None) -> str | None:
    """Return advice on a wrong guess of a stack, or None if the guess is right.

    The advice depends on what the guess is: only the operands, the stack upside down, or the stack
    after the instruction, `next_stack`.
    """
    if guess == stack:
        return None
    if guess == stack[-2:]:
        return OPERANDS
    if guess == stack[::-1]:
        return REVERSED
    if guess == next_stack:
        return AFTER
    return RUN_IN_YOUR_HEAD
