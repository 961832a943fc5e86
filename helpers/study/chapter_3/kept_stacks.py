"""A call in CPython -> the stack that it kept before every instruction, read from its memory."""

from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from helpers.capture.cpython.disassembly import decode_instructions
from helpers.capture.cpython.recorded_moments import RecordedMoment
from helpers.capture.cpython.stack_run import record_instructions
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.study.answers import require_attempts, require_items
from helpers.study.check import exercise

MOST_STEPS = 20_000
AFTER = "that is the stack after the instruction ran, so go back to just before it"
REVERSED = "those are the right values, but the bottom comes first and the top last"
OPERANDS = "those two are its operands, but below them wait values that are used later"
RUN_IT = "run it in your head: push names and numbers, and let an operator pop two and push one"


@dataclass(frozen=True)
class StackState:
    """The stack before one plain instruction."""

    #: The number of the call among those of the run, from 0.
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
    """The stack that CPython's frame had before one instruction."""

    #: The number of the call among those of the run, from 1.
    call: int
    #: The code object of the function that was called.
    code: CodeType
    #: The offset of the instruction.
    offset: int
    #: The values as text, the bottom first.
    stack: tuple[str, ...]


def is_recorded(code: CodeType) -> bool:
    """Return whether the frames of a code object are compared: not those of methods like `__eq__`.

    C code can call such methods, and then the learner's machine does not see their frames.
    """
    return not code.co_name.startswith("__")


def kept_by_cpython(fn, args) -> list[tuple[int, tuple[str, ...]]]:
    """Return (offset, stack) before every instruction of the first frame of `fn(*args)`."""
    return [(kept.offset, kept.stack) for kept in _record_stacks(fn, args) if kept.call == 1]


def list_stack_states(program, args) -> list[StackState]:
    """Run `program(*args)` in CPython; return its stack before each plain instruction.

    A plain instruction is one of `helpers.mini.vm`: it is the same on all versions of CPython.
    """
    states = []
    numbers_by_call = {}
    for kept in _record_stacks(program, args):
        opname, has_keywords = _plain_names_by_offset(kept.code).get(kept.offset, ("", False))
        if not opname or not is_recorded(kept.code):
            continue  # no plain instruction begins at this offset
        # Calls are numbered again from 0, because some of CPython's calls are left out.
        number = numbers_by_call.setdefault(kept.call, len(numbers_by_call))
        # A plain call has the keywords' names as its argument, and not on the stack.
        stack = kept.stack[:-1] if has_keywords else kept.stack
        states.append(StackState(number, kept.code.co_name, kept.offset, opname, stack))
    return states


def _record_stacks(fn, args) -> list[KeptStack]:
    """Run `fn(*args)`; return the stack before each instruction of its module's functions.

    The order is that in which the instructions ran. The values of a stack are texts.
    """
    recorded = []
    # fold=False: a long loop is recorded in full, because each round is compared.
    for moment in record_instructions(fn, args, fold=False, most=MOST_STEPS).moments:
        if type(moment) is not RecordedMoment or moment.slots is None:
            continue  # no instruction, or a frame whose memory could not be read
        tables = moment.activation.tables
        opnames = {step.offset: step.opname for step in decode_instructions(tables.code)}
        offset = moment.offset
        while opnames[offset] == "EXTENDED_ARG":  # a prefix, so the instruction comes after it
            offset += 2

        # `slots` has a text for each variable of the frame, then one for each value on its stack.
        values = moment.slots[len(tables.names) :]
        # CPython pushes NULL beside some callables; plain instructions have none.
        stack = tuple(text for text in values if text != "NULL")
        kept = KeptStack(moment.activation.number, tables.code, offset, stack)
        # An instruction with a prefix is recorded at the prefix, or at both. Here it counts once.
        has_prefix = opnames.get(offset - 2) == "EXTENDED_ARG"
        if has_prefix and recorded and recorded[-1] == kept:
            continue
        recorded.append(kept)
    return recorded


@lru_cache(maxsize=200)
def _plain_names_by_offset(code: CodeType) -> dict[int, tuple[str, bool]]:
    """Return offset -> (name of the plain instruction, whether CPython calls by CALL_KW there).

    CALL_KW, new in Python 3.13, has the names of its keyword arguments on top of the stack.
    """
    steps, _ = vm.plain(code)  # the instructions, and the exception table
    keyword_calls = {step.offset for step in decode_instructions(code) if step.opname == "CALL_KW"}
    names = {}
    for step in steps:
        if step.first:  # several plain instructions can stand for one real instruction
            names[step.offset] = step.opname, step.offset in keyword_calls
    return names


@exercise(
    "Read the function from left to right. What is computed first, and where does it wait?",
    "Each operator pops its two operands and pushes one result. Results wait on the stack.",
    "The results of the first two operators are below the two operands of the third.",
)
def stack_at(guess, fn, args, offset):
    """You separated the waiting values from the operands."""
    items = require_items(guess, limit=100, what="the guess")
    places = {f"place {number}, from the bottom,": item for number, item in enumerate(items, 1)}
    require_attempts(places)

    recorded = kept_by_cpython(fn, args)
    indices = [index for index, (place, _) in enumerate(recorded) if place == offset]
    if not indices:
        return f"no instruction starts at offset {short_repr(offset)} in a run of {short_repr(fn)}"

    for item in items:
        if type(item) is not int:
            kind = "text" if isinstance(item, str) else f"a {type(item).__name__}"
            return f"the values here are whole numbers, but {short_repr(item)} is {kind}"

    index = indices[0]
    _, stack = recorded[index]
    next_stack = recorded[index + 1][1] if index + 1 < len(recorded) else None
    return _advise_on_stack(tuple(map(short_repr, items)), stack, next_stack)


def _advise_on_stack(guess: tuple, stack: tuple, next_stack: tuple | None) -> str | None:
    """Return what a guessed stack is instead, or None if it is right."""
    if guess == stack:
        return None
    if guess == stack[-2:]:
        return OPERANDS
    if guess == stack[::-1]:
        return REVERSED
    if guess == next_stack:
        return AFTER
    return RUN_IT
