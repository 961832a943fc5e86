"""The run of a learner's machine and CPython's -> where they first differ, in words and rows."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

from helpers.mini import vm
from helpers.model.tables import Column, Listing
from helpers.study.chapter_3.kept_stacks import StackState
from helpers.study.chapter_3.machine_runs import (
    ProgramRun,
    WrongHandler,
    run_in_cpython,
    run_machine,
    show_call,
    write_stack,
)
from helpers.study.sentences import Mismatch, describe_difference

MOST_PAIRS = 12  # instructions of both runs, side by side
OUTSIDE = "Your machine did not run that frame. Let self.call make the call."
MISSING = "A value is missing. Either one too many was popped, or a result was not pushed."
TOO_MANY = "There is one value too many. It was left on the stack, or pushed without need."
ON_TOP = {
    "BINARY_OP": "right operand",
    "COMPARE_OP": "right operand",
    "CALL": "last argument",
    "CONTAINS_OP": "container",
    "BINARY_SUBSCR": "key",
    "BUILD_LIST": "last item",
    "BUILD_TUPLE": "last item",
}
TIPS = {name: f"Before it runs, the {what} is on top." for name, what in ON_TOP.items()}
TIPS |= {
    "COPY": "COPY(1) means the top itself, and COPY(2) means the value below it.",
    "SWAP": "SWAP(n) exchanges the top and the n-th value from the top, but what is between stays.",
    "FOR_ITER": "The iterator stays below the item until StopIteration. Let other errors through.",
}
WITH_OWN_TIP = ("COPY", "SWAP", "FOR_ITER")  # their tips say more than MISSING and TOO_MANY
COLUMNS = (
    Column("mark", "same"),
    Column("at", "about to run", code=True),
    Column("mine", "your stack", code=True),
    Column("right", "CPython's stack", code=True),
)


@dataclass(frozen=True)
class StackPair:
    """One moment of both runs."""

    #: "=" or "≠".
    mark: str
    #: The instruction that is about to run.
    at: str
    #: The machine's stack.
    mine: str
    #: CPython's stack.
    right: str


def find_run_difference(
    machine: type, program: Callable, args: tuple, own: tuple | list = ()
) -> str | None:
    """Return how the machine's run of `program(*args)` differs from CPython's, or None.

    Parameters
    ----------
    machine
        A class of `helpers.mini.vm` with the learner's handlers.
    program, args
        The call that both run.
    own
        The names of the handlers that the learner wrote. The message blames one of them; any
        handler if there are none.
    """
    call = f"{show_call(program, args)}: "
    real = run_in_cpython(program, args)
    try:
        mine = run_machine(machine, program, args)
    except (WrongHandler, vm.Missing) as wrong:
        return f"{call}{wrong}"

    # Where the stacks first differ, "" if nowhere. What is seen from outside is compared first.
    place = "" if mine.states == real.states else f". {_describe_place(mine, real, own)}"
    if mine.end != real.end:
        sentence = describe_difference(call, mine.end, real.end, "CPython", place)
    elif mine.printed != real.printed:
        sentence = describe_difference(call, mine.printed, real.printed, "CPython", place)
    elif place:
        same_end = f"yours {mine.end}, as in CPython, but the runs differ on the way"
        sentence = Mismatch(f"{call}{same_end}{place}")
    else:
        return None

    sentence.picture = _pair_stacks(mine.states, real.states) if place else None
    return sentence


def _pair_stacks(mine: list[StackState], real: list[StackState]) -> Listing:
    """Return both stacks before each instruction, up to the first difference."""
    pairs = list(zip_longest(mine, real))
    end = 1 + next(index for index, (own, right) in enumerate(pairs) if own != right)
    start = max(0, end - MOST_PAIRS)
    rows = [_write_pair(own, right) for own, right in pairs[start:end]]

    note = "≠: the first difference."
    if start:
        note += f" Left out: {start} earlier instructions, where both agree."
    return Listing("Both runs, up to the first difference", COLUMNS, tuple(rows), note)


def _write_pair(mine: StackState | None, right: StackState | None) -> StackPair:
    """Return a row of both stacks at one moment; None stands for a run that has ended."""
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
    return "the end" if state is None else f"{state.offset} {state.opname}"


def _describe_place(mine: ProgramRun, real: ProgramRun, own: tuple | list) -> str:
    """Return where two runs first differ, which handler ran there, and what that usually means.

    `own` are the names of the handlers that the learner wrote.
    """
    pairs = enumerate(zip_longest(mine.states, real.states))
    index, (here, there) = next(entry for entry in pairs if entry[1][0] != entry[1][1])
    name = _find_handler(mine, index, own)
    tip = TIPS.get(name, "")
    if there is None or here is None:
        what = "one of the two runs ends there"
    elif there.call != here.call:
        what = f"CPython continued in {there.function}"
        tip = OUTSIDE
    elif there.offset != here.offset:
        what = f"yours continued at offset {here.offset}, CPython at {there.offset}"
        if "IF" in name:
            tip = f"{name} jumps only on its condition."
    else:
        what = f"yours left {write_stack(here.stack)}, CPython left {write_stack(there.stack)}"
        surplus = len(here.stack) - len(there.stack)
        if surplus and name not in WITH_OWN_TIP:
            tip = MISSING if surplus < 0 else TOO_MANY
    return f"They first differ at {name}: {what}. {tip}".strip()


def _find_handler(run: ProgramRun, index: int, own: tuple | list) -> str:
    """Return the name of the handler that probably caused the state at `index` of a run.

    It is the last one before that state: of the learner's `own` handlers, or of all if none ran.
    """
    names = [name for state_count, name in run.handlers if state_count <= index]
    for name in reversed(names):
        if not own or name in own:
            return name
    return names[-1]
