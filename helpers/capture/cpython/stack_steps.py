"""Turn the record of a run into steps: one for each instruction, one for folded rounds of a loop.
An entry of the record is a *moment*, an instruction that was about to run, or a *fold*, which
replaces the moments of a loop's middle rounds. A *step* is what a reader sees of it: the stack, the
variables, the other calls as cards, and a sentence.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...model.phrase import format_count
from ...model.stack_records import StackStep, Value
from ...model.stage_records import Card, Panel
from ..text.source_pages import SourcePages
from .code_rows import CodeRows
from .instruction_sentences import InstructionFacts, describe_instruction
from .recorded_moments import FoldedMoments, RecordedMoment, find_next_moments

# Types of which it does not matter which object a value is: an equal one serves as well. For other
# types a step shows that a value on the stack is the same object as a variable.
_TYPES_WITHOUT_IDENTITY = {
    "int", "float", "complex", "bool", "str", "bytes", "NoneType", "ellipsis", "cell", "",
}  # fmt: skip


class Variable(NamedTuple):
    """A variable of a frame that has a value."""

    name: str
    #: The value as text.
    words: str
    #: The name of the value's type.
    kind: str


@dataclass(frozen=True)
class StackBefore:
    """The stack of a call before its latest instruction. The next stack is compared with it."""

    #: The key of each value, bottom first; see `_find_keys`.
    keys: Sequence[int] = ()
    #: The address of each value, bottom first.
    addresses: Sequence[int] = ()
    #: How many values, from the bottom, the instruction leaves where they are.
    untouched_count: int = 0


@dataclass(frozen=True)
class CallState:
    """How a call looked at its latest instruction. A card shows this while the call waits."""

    #: The name of the function.
    function: str
    #: The line in the text of `StackStepBuilder.pages`, 0 for none.
    line: int
    #: (name, value as text) of each variable that has a value.
    names: tuple[tuple[str, str], ...]
    #: The values that the instruction leaves on the stack, as text, bottom first.
    stack: tuple[str, ...]


class StackStepBuilder:
    """Makes the steps of one record.

    Parameters
    ----------
    recorder : InstructionRecorder or MachineRecord
        A run that has ended.
    """

    def __init__(self, recorder):
        """Start before the first step."""
        self.recorder = recorder  # a run that has ended: an `InstructionRecorder`, for example
        #: The sources of all functions that ran, one below the other.
        self.pages = SourcePages()
        #: Id of a code object -> its rows, in the order in which the code objects first ran.
        self.codes: dict[int, CodeRows] = {}
        # In what follows, a call is given by its number in the run.
        self._running_calls: list[int] = []  # the first call first
        # Call -> serial of its last entry in the record.
        self._last_serials = _find_last_serials(recorder.moments)
        self._stacks_before: dict[int, StackBefore] = {}  # call -> its stack at the latest step
        self._states: dict[int, CallState] = {}  # call -> how it looked at its latest step
        self._cards_of_suspended: dict[int, Card] = {}  # call of a suspended generator -> its card
        self._last_key = 0  # the last key that `_find_keys` has given to a value

    def build_steps(self) -> Iterator[StackStep]:
        """Yield a step for each moment, and one step for folds that follow one another."""
        moments = self.recorder.moments
        next_moments = find_next_moments(moments)  # position of a moment -> the next of its call
        folds = []  # those since the last moment
        for position, entry in enumerate(moments):
            if type(entry) is RecordedMoment:
                if folds:
                    yield self._build_folded_step(folds)
                    folds = []
                yield self._build_step(position, entry, next_moments.get(position))
            else:
                folds.append(entry)
        if folds:  # Ctrl-C ended the record at a fold
            yield self._build_folded_step(folds)

    def _find_code_rows(self, tables) -> CodeRows:
        """Return the rows of a code object. They are made at the first step of the code object."""
        key = id(tables.code)
        if key not in self.codes:
            self.codes[key] = CodeRows(tables, self.pages, number=len(self.codes))
        return self.codes[key]

    def _build_step(
        self, position: int, moment: RecordedMoment, next_moment: RecordedMoment | None
    ) -> StackStep:
        """Return the step of the moment at `position` in the record.

        `next_moment` is the next moment of the same call. It is None if the call has no later
        moment, or if a fold comes before it.
        """
        code_rows = self._find_code_rows(moment.activation.tables)
        number = moment.activation.number
        row = code_rows.rows[moment.offset]  # of the instruction, in the listing
        line = code_rows.lines[moment.offset]
        handler = code_rows.handlers[moment.offset]
        ending = self.recorder.endings.get(moment.serial, "")  # such as "returns 3"
        is_read = moment.slots is not None  # the values in the frame were read

        values = ()
        taken_count = 0
        if is_read:
            # An instruction with an ending has raised, or has left the frame. Then the stack of the
            # next moment does not show which values the instruction took.
            later_moment = None if ending else next_moment
            values, taken_count = self._build_values(moment, code_rows, later_moment)
        stack = tuple(value.words for value in values)
        untouched_count = len(stack) - taken_count
        variables = _list_variables(moment, code_rows)
        names = tuple((variable.name, variable.words) for variable in variables)

        callers, suspended = self._list_other_calls(moment)
        self._states[number] = CallState(code_rows.function, line, names, stack[:untouched_count])
        # A generator that is never resumed has no later moment. It is not shown as suspended.
        is_suspended = ending.startswith("yields") and self._last_serials[number] > moment.serial
        if is_suspended:
            self._cards_of_suspended[number] = self._build_card(number, "put aside")

        facts = InstructionFacts(
            opname=row.opname,
            argument=row.argument,
            taken=stack[untouched_count:],
            top=stack[-1] if stack else "",
            pushed=_find_pushed(code_rows, untouched_count, moment, next_moment),
            jumped=next_moment is not None and next_moment.offset == row.target,
            ending=ending,
            handler=handler,
        )
        return StackStep(
            label=self._format_label(code_rows, row, ending),
            line=line,
            panels=self._build_panels(moment),
            function=code_rows.function,
            call=number,
            offset=moment.offset,
            code=code_rows.number,
            span=row.span,
            lane=row.lane,
            handler=handler,
            stack=stack,
            values=values,
            names=names,
            variables=tuple(Value(variable.words, variable.kind) for variable in variables),
            taken=taken_count,
            real=is_read,
            callers=callers,
            shelf=suspended,
            opname=row.opname,
            argrepr=row.argument,
            says=describe_instruction(facts),
            printed=self._find_printed(position),
            ending=ending,
        )

    def _find_printed(self, position: int) -> str:
        """Return what the program printed from the moment at `position` to the next moment.

        The next moment may be one of another call.
        """
        moments = self.recorder.moments
        start = moments[position].printed_size
        end = self.recorder.printed.size
        for moment in moments[position + 1 :]:
            if type(moment) is RecordedMoment:
                end = moment.printed_size
                break
        return self.recorder.printed.text(end)[start:] if end > start else ""

    def _build_panels(self, moment: RecordedMoment) -> tuple[Panel, ...]:
        """Return the panel with what was printed before a moment; () if the run prints nothing."""
        if not self.recorder.printed.size:
            return ()
        text = self.recorder.printed.text(moment.printed_size)
        return (Panel("printed so far", text),)

    def _format_label(self, code_rows: CodeRows, row, ending: str) -> str:
        """Return the title of a step, such as "f · 12 RETURN_VALUE · returns 3".

        The name of the function is left out if only one function ran.
        """
        label = f"{row.offset} {row.opname} {row.argument}".rstrip()
        if len(self.recorder.codes) > 1:
            label = f"{code_rows.function} · {label}"
        if ending:
            label = f"{label} · {ending}"
        return label

    def _list_other_calls(
        self, moment: RecordedMoment
    ) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
        """Return the cards of the callers that wait, and the cards of suspended generators.

        First note that the call of this moment runs now.
        """
        number = moment.activation.number
        self._cards_of_suspended.pop(number, None)  # if it was suspended, it has been resumed
        # The call lies above `moment.level` other calls. Those that were above it have ended.
        self._running_calls[moment.level :] = [number]
        callers = []
        for caller in self._running_calls[:-1]:
            if caller in self._states:  # not a caller of which no step was recorded
                callers.append(self._build_card(caller, "waits"))
        return tuple(callers), tuple(self._cards_of_suspended.values())

    def _build_card(self, number: int, state: str) -> Card:
        """Return the card of the call with this number; `state` is text such as "waits"."""
        call_state = self._states[number]
        return Card(
            number,
            call_state.function,
            call_state.line,
            state,
            call_state.names,
            call_state.stack,
        )

    def _build_values(
        self, moment: RecordedMoment, code_rows: CodeRows, next_moment: RecordedMoment | None
    ) -> tuple[tuple[Value, ...], int]:
        """Return the values on the stack, bottom first, and how many the instruction takes."""
        variable_count = len(code_rows.tables.names)
        # A frame has first a slot for each variable, then one for each value on the stack.
        stack_slots = moment.slots[variable_count:]
        stack_addresses = moment.addresses[variable_count:]
        number = moment.activation.number
        keys = self._find_keys(number, stack_addresses)
        variable_names = {}  # address of an object -> the variable that refers to the object
        variable_addresses = moment.addresses[:variable_count]
        for label, address in zip(code_rows.labels, variable_addresses, strict=True):
            if address:  # 0 or None for a variable without a value
                variable_names[address] = label

        values = []
        for slot, address, key in zip(stack_slots, stack_addresses, keys, strict=True):
            text, type_name = slot
            same_as = ""  # the variable that refers to the same object
            if type_name not in _TYPES_WITHOUT_IDENTITY:
                same_as = variable_names.get(address, "")
            values.append(Value(text, type_name, same_as, key))

        taken_count = code_rows.tables.count_taken(moment, len(values), next_moment)
        untouched_count = len(values) - taken_count
        self._stacks_before[number] = StackBefore(keys, stack_addresses, untouched_count)
        return tuple(values), taken_count

    def _find_keys(self, number: int, addresses: Sequence[int]) -> list[int]:
        """Return a key for each value on the stack of the call with this number.

        A key is a number that a value keeps from step to step while it stays on the stack. With the
        keys, a picture shows which values move. `addresses` are those of the values, bottom first.
        """
        before = self._stacks_before.get(number, StackBefore())
        keys = []
        # A value has stayed if the last instruction did not take it, and its address is the same.
        for index in range(min(len(addresses), before.untouched_count)):
            if addresses[index] != before.addresses[index]:
                break
            keys.append(before.keys[index])
        # All values above it are new.
        while len(keys) < len(addresses):
            self._last_key += 1
            keys.append(self._last_key)
        return keys

    def _build_folded_step(self, folds: list[FoldedMoments]) -> StackStep:
        """Return the step that says which rounds of which loops were left out."""
        # (line of the loop, name of its function) -> how many rounds were left out
        rounds_by_loop: Counter[tuple[int, str]] = Counter()
        for fold in folds:
            code_rows = self._find_code_rows(fold.activation.tables)
            rounds_by_loop[code_rows.lines[fold.header], code_rows.function] += fold.rounds

        phrases = []
        for (line, _), rounds in rounds_by_loop.items():
            phrases.append(f"{format_count(rounds, 'round')} at line {self.pages.number(line)}")
        steps = sum(fold.steps for fold in folds)
        label = f"… left out: {', '.join(phrases)}; {steps} instructions"
        line, function = next(iter(rounds_by_loop))  # the step is placed at the first loop
        return StackStep(label, line, function=function, left_out=steps)


def _find_last_serials(moments: Iterable[RecordedMoment | FoldedMoments]) -> dict[int, int]:
    """Return number of a call -> serial of the last entry of this call in the record."""
    return {moment.activation.number: moment.serial for moment in moments}


def _list_variables(moment: RecordedMoment, code_rows: CodeRows) -> list[Variable]:
    """Return the variables that have a value at a moment; [] if the frame was not read."""
    variables = []
    # The first slots are those of the variables. The others, of the stack, have no label.
    for label, (text, type_name) in zip(code_rows.labels, moment.slots or (), strict=False):
        has_value = text not in ("NULL", "empty cell")
        if has_value:
            variables.append(Variable(label, text.removeprefix("cell: "), type_name))
    return variables


def _find_pushed(
    code_rows: CodeRows,
    untouched_count: int,
    moment: RecordedMoment,
    next_moment: RecordedMoment | None,
) -> tuple[str, ...] | None:
    """Return the values that an instruction pushed, as text; None if they were not recorded.

    `untouched_count` is how many values the instruction did not take from the stack. The values
    above these in `next_moment`, the next of the same call, are those that it pushed.
    """
    if next_moment is None or next_moment.slots is None or moment.slots is None:
        return None
    first_pushed = len(code_rows.tables.names) + untouched_count
    return tuple(text for text, _ in next_moment.slots[first_pushed:])


def mark_steps_after_raise(steps: Iterable[StackStep]) -> Iterator[StackStep]:
    """Yield each step; those of an exception handler get the place where the exception was raised.

    A step is in a handler if the same call has raised an exception before, and has not run
    POP_EXCEPT since, which ends the handler. The offset and the line of the instruction that
    raised are added to the step, as `raised` and `left`.
    """
    raising_steps: dict[int, StackStep] = {}  # number of a call -> its step that raised
    for step in steps:
        raising_step = raising_steps.get(step.call)
        is_in_handler = raising_step is not None and not step.left_out
        if is_in_handler:
            line = raising_step.line
            deed = "raised" if line else ""
            yield replace(step, raised=raising_step.offset, left=line, deed=deed)
        else:
            yield step

        if step.ending.startswith("raises"):
            # RERAISE in a handler raises the same exception again: another instruction raised it.
            is_raised_again = is_in_handler and step.opname == "RERAISE"
            if not is_raised_again:
                raising_steps[step.call] = step
        elif step.opname == "POP_EXCEPT":
            raising_steps.pop(step.call, None)
