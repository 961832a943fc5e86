"""One call of a Python function -> a record of every instruction that ran, with what it found.

The tracer is called by CPython before each instruction (`f_trace_opcodes`) and reads the frame's
own slots. It keeps words, never objects: watching must not keep anything alive.
"""

import sys
from bisect import bisect_left
from collections.abc import Callable
from types import CodeType, FrameType
from typing import NamedTuple

from helpers.capture.cpython import disassembly, stack_effects
from helpers.capture.cpython.settrace import Printed, Result, traced
from helpers.capture.cpython.unwrapping import Unwrapped
from helpers.capture.cpython.value_stack_reader import reader
from helpers.capture.text.value import brief
from helpers.internals import interpreter_frame
from helpers.mini.versions import JUMPS
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.patches import undone

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

MOST_STEPS = 3000
MOST_EVENTS = 200_000
KEPT_ROUNDS = 4  # of a loop: the first two, and the last two (the very last only asks and leaves)
LINES = sys.version_info >= (3, 12)  # from there on CPython saves its depth only at lines
LEAVING = {"YIELD_VALUE": "yields", "RETURN_VALUE": "returns", "RETURN_CONST": "returns"}


class Tables:
    """What is known of one code object before it runs. `slots`: offset -> slots in use, or None."""

    def __init__(self, code: CodeType, number: int):
        self.code, self.number = code, number
        self.names = interpreter_frame.variables(code)
        self.jumps = back_jumps(code)
        self.leaving = {
            i.offset: LEAVING[i.opname]
            for i in disassembly.instructions(code)
            if i.opname in LEAVING
        }
        self.doubt, self.active = interpreter_frame.doubt(), 0
        try:
            self.origins = stack_effects.origins(code)
        except stack_effects.Doubt as doubt:
            self.origins, self.doubt = {}, str(doubt)
        self.slots = (
            {}
            if self.doubt
            else {offset: len(self.names) + len(stack) for offset, stack in self.origins.items()}
        )


class Activation:
    """One call on its way. `rounds`: loop header -> where its latest rounds began."""

    __slots__ = ("tables", "number", "level", "frame", "previous", "serial", "rounds", "raising")

    def __init__(self, tables, number):
        self.tables, self.number, self.level = tables, number, 0
        self.frame, self.previous, self.serial = None, -1, 0
        self.rounds, self.raising = {}, False


class Moment(NamedTuple):
    """One instruction about to run. `found`: the words of all slots, None where not to be read.

    `level` counts the watched calls below this one, `printed` the characters printed so far.
    `places`: the addresses of the slots, good for this moment alone.
    """

    serial: int
    activation: Activation
    level: int
    offset: int
    found: tuple | None
    printed: int
    places: list | None


class Fold(NamedTuple):
    """What stands for rounds of a loop that were left out; `serial` is that of its first step."""

    serial: int
    activation: Activation
    header: int
    rounds: int
    steps: int


class Recorder:
    """Records one run. `look(object) -> words` is asked for every slot that is in use."""

    def __init__(self, look: Callable = brief, fold: bool = True, most: int = MOST_STEPS):
        self.look, self.fold, self.most = look, fold, most
        self.moments: list[Moment | Fold] = []
        self.endings: dict[int, str] = {}  # serial -> how that instruction left its frame
        self.events, self.calls, self.stopped, self.full = 0, 0, "", False
        self.codes: dict[int, Tables] = {}  # by id: a code's hash asks its constants
        self.printed = Printed()
        self.result: Result | None = None
        self._running, self._suspended, self._globals = [], {}, None
        self._kept, self._words = {}, {}
        self._read = (
            reader(look, self._kept, self._words) if not interpreter_frame.doubt() else None
        )
        self._tracer = self._enter

    def run(self, watched: Unwrapped, args, kwargs) -> "Recorder":
        """Call, and record from the function on; whatever is raised is told by `result`."""
        self.watched, self._globals = watched, watched.function.__globals__
        enough = lambda: self.full  # noqa: E731
        with undone(self._let_go):
            self.result = traced(self._tracer, self.printed, watched, args, kwargs, enough)
        if self.result.tracer_changed and not self.stopped:
            self.stopped = "The tracer was lost (sys.settrace, or Ctrl-C inside it)"
        return self

    def _enter(self, frame: FrameType, event: str, argument):
        """Follow this frame too if its function belongs to the module of the one watched."""
        if frame.f_globals is not self._globals or self.full:
            return None
        if not self.calls and frame.f_code is not self.watched.function.__code__:
            return None
        try:
            activation = self._activation(frame)
            local = self._local(frame, activation)
            frame.f_trace, frame.f_trace_lines = local, LINES  # 3.13: before f_trace_opcodes
            frame.f_trace_opcodes = True
            return local
        except Exception as error:
            return self._stop(f"The tracer failed with {type(error).__name__}")

    def _activation(self, frame: FrameType) -> Activation:
        code = frame.f_code
        tables = self.codes.get(id(code))
        if tables is None:
            tables = self.codes[id(code)] = Tables(code, len(self.codes))
        activation = self._suspended.pop((id(frame), id(code)), None)
        if activation is None:
            self.calls += 1
            activation = Activation(tables, self.calls)
        activation.level, activation.frame = len(self._running), frame
        tables.active += 1
        self._running.append(activation)
        return activation

    def _local(self, frame: FrameType, activation: Activation) -> Callable:
        """Return the function that CPython calls before each instruction of this frame."""
        moments, printed, level = self.moments, self.printed, activation.level
        in_use, most = activation.tables.slots, self.most
        jumps = activation.tables.jumps if self.fold else ()
        look = self._read(frame) if self._read else None
        nothing = (None, None)
        new = tuple.__new__  # what Moment(...) calls, without the way there

        def local(frame, event, argument):
            if event != "opcode":
                return self._other(frame, activation, event, argument, local)
            try:
                offset = frame.f_lasti
                self.events = serial = self.events + 1
                if offset in jumps:
                    self._round(activation, offset, serial)
                activation.previous, activation.serial = offset, serial
                activation.raising = False
                read, count = None, in_use.get(offset)
                if count is not None and (read := look(count)) is None:
                    self._distrust(activation.tables)
                found, places = read or nothing
                moment = (serial, activation, level, offset, found, printed.size, places)
                moments.append(new(Moment, moment))
                if len(moments) < most and serial < MOST_EVENTS:
                    return local
                self._stop(f"The record stops after {serial:,} instructions")
            except Exception as error:
                self._stop(f"The tracer failed with {type(error).__name__}")

        return local

    def _other(self, frame, activation, event, argument, local):
        if event == "line":
            self._check(frame, activation.tables)
        elif event == "exception":
            activation.raising = True
            self._end(activation, f"raises {brief(argument[1])}")
        elif event == "return":
            self._left(frame, activation, argument)
            return None  # what is returned here would become the frame's tracer again
        return local

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why
        self.full = True
        sys.settrace(None)
        self._let_go()

    def _check(self, frame, tables: Tables) -> None:
        """Hold the depth that will be used against the one that CPython has saved."""
        saved, used = interpreter_frame.saved_depth(frame), tables.slots.get(frame.f_lasti)
        if None not in (saved, used) and used - len(tables.names) != saved:
            self._distrust(tables)

    def _distrust(self, tables: Tables) -> None:
        tables.slots.clear()
        tables.doubt = "CPython's own stack pointer says something else"

    def _left(self, frame: FrameType, activation: Activation, value) -> None:
        """Note how the frame was left, and give its trace flags back."""
        if self._running and self._running[-1] is activation:
            self._running.pop()
        activation.frame = None
        verb = activation.tables.leaving.get(activation.previous, "")
        if verb == "yields" and not activation.raising:
            self._suspended[id(frame), id(activation.tables.code)] = activation
        if verb and not activation.raising:
            self._end(activation, f"{verb} {brief(value)}")
        activation.tables.active -= 1
        _untrace(frame, activation.tables.active)

    def _end(self, activation: Activation, words: str) -> None:
        """Note what became of the activation's latest instruction."""
        serial = activation.serial
        before = self.endings.get(serial, "")
        self.endings[serial] = f"{before}; then {words}" if before else words

    def _round(self, activation: Activation, header: int, serial: int) -> None:
        """Leave out the third round from the end once there are more than `KEPT_ROUNDS`."""
        if activation.previous not in activation.tables.jumps[header]:
            activation.rounds[header] = [serial]
            return
        begun = activation.rounds.setdefault(header, [serial])
        begun.append(serial)
        if len(begun) > KEPT_ROUNDS:
            self._drop(activation, header, begun.pop(2), begun[2])

    def _drop(self, activation: Activation, header: int, start: int, end: int) -> None:
        """Put one fold for the steps of serials `start` to `end`; a caller's own steps stay."""
        moments, level = self.moments, activation.level
        first, stop = bisect_left(moments, (start,)), bisect_left(moments, (end,))
        steps, kept = 0, []
        for moment in moments[first:stop]:
            if type(moment) is Fold:
                steps += moment.steps
            elif moment.level >= level:
                steps += 1
                self.endings.pop(moment.serial, None)
            else:
                kept.append(moment)
        fold = Fold(start, activation, header, 1, steps)
        before = moments[first - 1] if first else None
        if type(before) is Fold and before.activation is activation and before.header == header:
            first -= 1
            fold = Fold(before.serial, activation, header, before.rounds + 1, before.steps + steps)
        moments[first:stop] = [fold, *kept]

    def _let_go(self) -> None:
        """Give back the trace flags of frames that are still running, and forget all objects."""
        running, self._running = self._running, []
        for activation in running:
            if activation.frame is not None:
                _untrace(activation.frame, 0)
                activation.frame = None
        self._suspended.clear()
        self._kept.clear()
        self._words.clear()


@disassembly.once_per_code
def back_jumps(code: CodeType) -> dict[int, frozenset[int]]:
    """Return loop header -> the offsets of the instructions that jump back to it."""
    found: dict[int, set[int]] = {}
    for instruction in disassembly.instructions(code):
        jumps = instruction.opcode in JUMPS
        if jumps and instruction.argval <= instruction.offset:
            found.setdefault(instruction.argval, set()).add(instruction.offset)
    return {header: frozenset(offsets) for header, offsets in found.items()}


def _untrace(frame: FrameType, active: int) -> None:
    """Take the tracer off a frame. 3.13 instruments the code object, which others may still use."""
    if active == 0 or sys.version_info < (3, 13):
        frame.f_trace_opcodes = False
    frame.f_trace_lines = True
    frame.f_trace = None
