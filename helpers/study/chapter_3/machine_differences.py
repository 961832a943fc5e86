"""Finds the first difference between a program's run on a learner's machine and in CPython. A
*machine* is a small bytecode interpreter, a class of `helpers.mini.vm`, and a *handler* is its
method for one opcode. A run is a `ProgramRun`: its end, its output, and its *states*, the stack
before each instruction.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

from helpers.mini import vm
from helpers.model.tables import Column, Listing
from helpers.study.chapter_3.kept_stacks import StackState
from helpers.study.chapter_3.machine_runs import (
    ProgramRun,
    WrongHandler,
    format_call,
    run_in_cpython,
    run_machine,
    write_stack,
)
from helpers.study.sentences import Mismatch, describe_difference

PAIR_LIMIT = 12  # instructions of both runs, side by side
FRAME_NOT_RUN = "Your machine did not run that frame. Let self.call make the call."
MISSING_VALUE = "A value is missing. Either one too many was popped, or a result was not pushed."
SURPLUS_VALUE = "There is one value too many. It was left on the stack, or pushed without need."
# opcode -> what is on top of the stack before it runs
TOP_VALUES = {
    "BINARY_OP": "right operand",
    "COMPARE_OP": "right operand",
    "CALL": "last argument",
    "CONTAINS_OP": "container",
    "BINARY_SUBSCR": "key",
    "BUILD_LIST": "last item",
    "BUILD_TUPLE": "last item",
}
# opcode -> a sentence that helps if its handler is wrong
TIPS = {name: f"Before it runs, the {what} is on top." for name, what in TOP_VALUES.items()}
TIPS |= {
    "COPY": "COPY(1) means the top itself, and COPY(2) means the value below it.",
    "SWAP": "SWAP(n) exchanges the top and the n-th value from the top, but what is between stays.",
    "FOR_ITER": "The iterator stays below the item until StopIteration. Let other errors through.",
}
OPCODES_WITH_OWN_TIP = ("COPY", "SWAP", "FOR_ITER")  # their tips say more than MISSING and TOO_MANY
COLUMNS = (
    Column("mark", "same"),
    Column("at", "about to run", code=True),
    Column("mine", "your stack", code=True),
    Column("right", "CPython's stack", code=True),
)


@dataclass(frozen=True)
class StackPair:
    """A row of the table: one moment of both runs."""

    #: "=" if both are alike, "≠" if they differ.
    mark: str
    #: The instruction that is about to run.
    at: str
    #: The machine's stack.
    mine: str
    #: CPython's stack.
    right: str


def find_run_difference(
    machine: type, program: Callable, args: tuple, learner_handlers: tuple | list = ()
) -> str | None:
    """Return a sentence on how a machine's run of `program(*args)` differs from CPython's, or None.

    Parameters
    ----------
    machine
        A class of `helpers.mini.vm` with the learner's handlers.
    program, args
        The call that both run.
    learner_handlers
        The names of the handlers that the learner wrote. The sentence blames one of them. If it is
        empty, the sentence may blame any handler.
    """
    call = f"{format_call(program, args)}: "
    real = run_in_cpython(program, args)
    try:
        mine = run_machine(machine, program, args)
    except (WrongHandler, vm.Missing) as wrong:
        return f"{call}{wrong}"

    # A difference in the end or the output is named first. The sentence on where the stacks first
    # differ follows it.
    first_difference = ""
    if mine.states != real.states:
        first_difference = f". {_describe_place(mine, real, learner_handlers)}"
    if mine.end != real.end:
        sentence = describe_difference(call, mine.end, real.end, "CPython", first_difference)
    elif mine.printed != real.printed:
        sentence = describe_difference(
            call, mine.printed, real.printed, "CPython", first_difference
        )
    elif first_difference:
        same_end = f"yours {mine.end}, as in CPython, but the runs differ on the way"
        sentence = Mismatch(f"{call}{same_end}{first_difference}")
    else:
        return None

    # A Mismatch is a str with a picture, which is shown below it.
    sentence.picture = _pair_stacks(mine.states, real.states) if first_difference else None
    return sentence


def _pair_stacks(mine: list[StackState], real: list[StackState]) -> Listing:
    """Return a table of both stacks before each instruction, up to the first difference.

    It has the last PAIR_LIMIT rows. A run that ended earlier has empty cells.
    """
    pairs = list(zip_longest(mine, real))
    end = 1 + next(index for index, (own, right) in enumerate(pairs) if own != right)
    start = max(0, end - PAIR_LIMIT)
    rows = [_write_pair(own, right) for own, right in pairs[start:end]]

    note = "≠: the first difference."
    if start:
        note += f" Left out: {start} earlier instructions, where both agree."
    return Listing("Both runs, up to the first difference", COLUMNS, tuple(rows), note)


def _write_pair(mine: StackState | None, right: StackState | None) -> StackPair:
    """Return the row for one moment of both runs. A state is None if that run has ended."""
    mark = "=" if mine == right else "≠"
    own_step = _write_step(mine)
    right_step = _write_step(right)
    step = own_step
    if own_step != right_step:
        step = f"yours: {own_step}; CPython: {right_step}"
    own_stack = "" if mine is None else write_stack(mine.stack)
    right_stack = "" if right is None else write_stack(right.stack)
    return StackPair(mark, step, own_stack, right_stack)


def _write_step(state: StackState | None) -> str:
    """Return the offset and opcode of a state, "4 BINARY_OP"; "the end" for None."""
    return "the end" if state is None else f"{state.offset} {state.opname}"


def _describe_place(mine: ProgramRun, real: ProgramRun, learner_handlers: tuple | list) -> str:
    """Return a sentence on the first state that differs: the handler to blame, and a tip.

    `learner_handlers` has the names of the handlers that the learner wrote, of which one is blamed.
    """
    pairs = list(zip_longest(mine.states, real.states))
    index = next(index for index, (state, right) in enumerate(pairs) if state != right)
    own_state, right_state = pairs[index]  # None if that run has ended
    name = _find_handler(mine, index, learner_handlers)
    tip = TIPS.get(name, "")
    if right_state is None or own_state is None:
        difference = "one of the two runs ends there"
    elif right_state.call != own_state.call:
        difference = f"CPython continued in {right_state.function}"
        tip = FRAME_NOT_RUN
    elif right_state.offset != own_state.offset:
        difference = (
            f"yours continued at offset {own_state.offset}, CPython at {right_state.offset}"
        )
        if "IF" in name:  # a conditional jump
            tip = f"{name} jumps only on its condition."
    else:
        own_stack = write_stack(own_state.stack)
        right_stack = write_stack(right_state.stack)
        difference = f"yours left {own_stack}, CPython left {right_stack}"
        surplus = len(own_state.stack) - len(right_state.stack)
        if surplus and name not in OPCODES_WITH_OWN_TIP:
            tip = MISSING_VALUE if surplus < 0 else SURPLUS_VALUE
    return f"They first differ at {name}: {difference}. {tip}".strip()


def _find_handler(run: ProgramRun, index: int, learner_handlers: tuple | list) -> str:
    """Return the name of the handler that probably caused the state at `index` of a run.

    It is the last of `learner_handlers` that ran before that state. If this is empty, or if none of
    them ran, it is the last handler of all.
    """
    # `handlers` has (number of states recorded until then, name), in order.
    names = [name for state_count, name in run.handlers if state_count <= index]
    for name in reversed(names):
        if not learner_handlers or name in learner_handlers:
            return name
    return names[-1]
