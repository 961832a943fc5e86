"""The record of a run -> its steps: one for each instruction, one for loop rounds left out."""

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

# Which object has such a value says nothing, because another one that is equal serves as well.
_TYPES_WITHOUT_IDENTITY = {
    "int", "float", "complex", "bool", "str", "bytes", "NoneType", "ellipsis", "cell", "",
}  # fmt: skip


class Variable(NamedTuple):
    """A variable of a frame that has a value."""

    name: str
    words: str
    #: The name of the value's type.
    kind: str


@dataclass(frozen=True)
class StackBefore:
    """The stack of a call before its latest instruction, to compare the next one with."""

    #: The key of each value, bottom first.
    keys: Sequence[int] = ()
    #: The address of each value, bottom first.
    addresses: Sequence[int] = ()
    #: How many values from the bottom the instruction leaves where they are.
    untouched: int = 0


@dataclass(frozen=True)
class CallState:
    """What a card shows of a call that waits, as the call looked at its latest instruction."""

    function: str
    #: The line in the text of the run, 0 for none.
    line: int
    #: (name, words) of each variable that has a value.
    names: tuple[tuple[str, str], ...]
    #: The words of the values that stay on its stack, bottom first.
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
        self.recorder = recorder
        self.pages = SourcePages()
        #: Id of a code object -> its rows, in the order in which the code objects first ran.
        self.codes: dict[int, CodeRows] = {}
        self._stacks_before: dict[int, StackBefore] = {}  # by the number of the call
        self._last_key = 0
        self._last_serials = _find_last_serials(recorder.moments)
        self._running_calls: list[int] = []  # numbers of calls, the first at the bottom
        self._cards_of_suspended: dict[int, Card] = {}  # by the number of the call
        self._states: dict[int, CallState] = {}  # by the number of the call

    def build_steps(self) -> Iterator[StackStep]:
        """Yield a step for each moment, and one for each series of folds next to one another."""
        moments = self.recorder.moments
        next_moments = find_next_moments(moments)
        folds = []
        for position, moment in enumerate(moments):
            if type(moment) is RecordedMoment:
                yield self._build_step(position, moment, next_moments.get(position))
                continue
            folds.append(moment)
            following = moments[position + 1 : position + 2]  # empty: Ctrl-C ended it at a fold
            if not following or type(following[0]) is RecordedMoment:
                yield self._build_folded_step(folds)
                folds = []

    def _find_code(self, tables) -> CodeRows:
        """Return the rows of a code object, made at its first step."""
        key = id(tables.code)
        if key not in self.codes:
            self.codes[key] = CodeRows(tables, self.pages, number=len(self.codes))
        return self.codes[key]

    def _build_step(
        self, position: int, moment: RecordedMoment, next_moment: RecordedMoment | None
    ) -> StackStep:
        """Return the step of the moment at `position` in the record.

        `next_moment` is the moment that follows in the same call, None if none does or if rounds of
        a loop were left out in between.
        """
        code = self._find_code(moment.activation.tables)
        number = moment.activation.number
        row = code.rows[moment.offset]
        line = code.lines[moment.offset]
        handler = code.handlers[moment.offset]
        ending = self.recorder.endings.get(moment.serial, "")
        is_read = moment.slots is not None

        values, taken = (), 0
        if is_read:
            # An instruction that raised did not finish its work, and after one that left the frame
            # the stack is another: the next moment does not show what these took.
            values, taken = self._build_values(moment, code, None if ending else next_moment)
        stack = tuple(value.words for value in values)
        staying = stack[: len(stack) - taken]
        variables = _list_variables(moment, code)
        names = tuple((variable.name, variable.words) for variable in variables)

        callers, shelf = self._list_other_calls(moment)
        self._states[number] = CallState(code.function, line, names, staying)
        # A generator that nobody resumes has no later moment; it is not shown as waiting.
        is_suspended = ending.startswith("yields") and self._last_serials[number] > moment.serial
        if is_suspended:
            self._cards_of_suspended[number] = self._build_card(number, "put aside")

        facts = InstructionFacts(
            opname=row.opname,
            argument=row.argument,
            taken=stack[len(stack) - taken :],
            top=stack[-1] if stack else "",
            pushed=_find_pushed(code, len(staying), moment, next_moment),
            jumped=next_moment is not None and next_moment.offset == row.target,
            ending=ending,
            handler=handler,
        )
        return StackStep(
            label=self._format_label(code, row, ending),
            line=line,
            panels=self._build_panels(moment),
            function=code.function,
            call=number,
            offset=moment.offset,
            code=code.number,
            span=row.span,
            lane=row.lane,
            handler=handler,
            stack=stack,
            values=values,
            names=names,
            variables=tuple(Value(variable.words, variable.kind) for variable in variables),
            taken=taken,
            real=is_read,
            callers=callers,
            shelf=shelf,
            opname=row.opname,
            argrepr=row.argument,
            says=describe_instruction(facts),
            printed=self._find_printed(position),
            ending=ending,
        )

    def _find_printed(self, position: int) -> str:
        """Return what was printed from the moment at `position` to the next recorded moment."""
        moments = self.recorder.moments
        start = moments[position].printed_size
        end = self.recorder.printed.size
        for moment in moments[position + 1 :]:
            if type(moment) is RecordedMoment:
                end = moment.printed_size
                break
        return self.recorder.printed.text(end)[start:] if end > start else ""

    def _build_panels(self, moment: RecordedMoment) -> tuple[Panel, ...]:
        """Return the panel of what was printed so far, if the run prints anything."""
        if not self.recorder.printed.size:
            return ()
        text = self.recorder.printed.text(moment.printed_size)
        return (Panel("printed so far", text),)

    def _format_label(self, code: CodeRows, row, ending: str) -> str:
        """Return the step in a few words; its function is named if several functions ran."""
        label = f"{row.offset} {row.opname} {row.argument}".rstrip()
        if len(self.recorder.codes) > 1:
            label = f"{code.function} · {label}"
        if ending:
            label = f"{label} · {ending}"
        return label

    def _list_other_calls(
        self, moment: RecordedMoment
    ) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
        """Return the cards of the calls that wait, and of those that are suspended."""
        number = moment.activation.number
        self._cards_of_suspended.pop(number, None)  # it runs, so it is not suspended any more
        self._running_calls[moment.level :] = [number]  # the calls above it have ended
        waiting = self._running_calls[:-1]
        callers = [self._build_card(call, "waits") for call in waiting if call in self._states]
        return tuple(callers), tuple(self._cards_of_suspended.values())

    def _build_card(self, number: int, state: str) -> Card:
        """Return a call as a card; `state` is a word such as waits."""
        call = self._states[number]
        return Card(number, call.function, call.line, state, call.names, call.stack)

    def _build_values(
        self, moment: RecordedMoment, code: CodeRows, next_moment: RecordedMoment | None
    ) -> tuple[tuple[Value, ...], int]:
        """Return the values on the stack, bottom first, and how many the instruction takes."""
        variable_count = len(code.tables.names)
        slots = moment.slots[variable_count:]
        addresses = moment.addresses[variable_count:]
        number = moment.activation.number
        keys = self._find_keys(number, addresses)
        names_by_address = {}
        # The labels are fewer: the values on the stack come after the variables.
        for label, address in zip(code.labels, moment.addresses, strict=False):
            if address:
                names_by_address[address] = label

        values = []
        for (words, kind), address, key in zip(slots, addresses, keys, strict=True):
            has_identity = kind not in _TYPES_WITHOUT_IDENTITY
            same = names_by_address.get(address, "") if has_identity else ""
            values.append(Value(words, kind, same, key))

        taken = code.tables.taken(moment, len(values), next_moment)
        self._stacks_before[number] = StackBefore(keys, addresses, len(values) - taken)
        return tuple(values), taken

    def _find_keys(self, number: int, addresses: Sequence[int]) -> list[int]:
        """Return a key for each value on the stack of the call with this number.

        A key is a number that a value keeps as long as it stays on the stack. A value stayed if the
        last instruction left its slot alone and its address is the same.
        """
        before = self._stacks_before.get(number, StackBefore())
        keys = []
        for index in range(min(len(addresses), before.untouched)):
            if addresses[index] != before.addresses[index]:
                break
            keys.append(before.keys[index])
        while len(keys) < len(addresses):
            self._last_key += 1
            keys.append(self._last_key)
        return keys

    def _build_folded_step(self, folds: list[FoldedMoments]) -> StackStep:
        """Return the step that says which rounds of which loops were left out."""
        rounds_by_loop: Counter[tuple[int, str]] = Counter()  # (line, function) -> rounds
        for fold in folds:
            code = self._find_code(fold.activation.tables)
            rounds_by_loop[code.lines[fold.header], code.function] += fold.rounds

        phrases = [
            f"{format_count(rounds, 'round')} at line {self.pages.number(line)}"
            for (line, _), rounds in rounds_by_loop.items()
        ]
        steps = sum(fold.steps for fold in folds)
        label = f"… left out: {', '.join(phrases)}; {steps} instructions"
        line, function = next(iter(rounds_by_loop))
        return StackStep(label, line, function=function, left_out=steps)


def _find_last_serials(moments: Iterable[RecordedMoment | FoldedMoments]) -> dict[int, int]:
    """Return the number of each call -> the serial of its last entry in the record."""
    return {moment.activation.number: moment.serial for moment in moments}


def _list_variables(moment: RecordedMoment, code: CodeRows) -> list[Variable]:
    """Return the variables that have a value at a moment; none if its slots were not read."""
    variables = []
    # The names are fewer than the slots: the values on the stack come after them.
    for label, (words, kind) in zip(code.labels, moment.slots or (), strict=False):
        if words not in ("NULL", "empty cell"):
            variables.append(Variable(label, words.removeprefix("cell: "), kind))
    return variables


def _find_pushed(
    code: CodeRows, untouched: int, moment: RecordedMoment, next_moment: RecordedMoment | None
) -> tuple[str, ...] | None:
    """Return the words of the values that an instruction pushed; None if they are not known.

    `untouched` is the number of values that the instruction left on the stack.
    """
    if next_moment is None or next_moment.slots is None or moment.slots is None:
        return None
    first = len(code.tables.names) + untouched
    return tuple(words for words, _ in next_moment.slots[first:])


def mark_steps_after_raise(steps: Iterable[StackStep]) -> Iterator[StackStep]:
    """Yield each step; a step in the handler of an exception names what raised the exception.

    It gets the offset and the line of that instruction, until POP_EXCEPT ends the handler.
    """
    raised_by: dict[int, StackStep] = {}  # number of a call -> the step that raised
    for step in steps:
        origin = raised_by.get(step.call)
        is_marked = origin is not None and not step.left_out
        if is_marked:
            deed = "raised" if origin.line else ""
            yield replace(step, raised=origin.offset, left=origin.line, deed=deed)
        else:
            yield step

        if step.ending.startswith("raises"):
            # RERAISE passes on an exception that another instruction raised.
            if not (is_marked and step.opname == "RERAISE"):
                raised_by[step.call] = step
        elif step.opname == "POP_EXCEPT":
            raised_by.pop(step.call, None)
