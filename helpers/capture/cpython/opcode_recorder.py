"""One call of a Python function -> a record of every instruction that ran, in words, no objects."""

import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping
from operator import attrgetter
from types import CodeType, FrameType

from ...internals import interpreter_frame
from ...internals.frame_tracer import Enough, ask_for_opcodes, forget_own_tracer
from ..text.value import short_repr
from .code_tables import CodeTables
from .following import RecordingLimits
from .recorded_moments import Activation, FoldedMoments, RecordedMoment
from .settrace import Printed, Result, call_traced
from .slot_reader import make_slot_reader
from .unwrapping import Unwrapped

MOST_STEPS, MOST_EVENTS = 3000, 200_000
# Of a loop: the first two rounds and the last two, of which the very last only asks and leaves.
KEPT_ROUNDS = 4
_FIRST_ROUNDS = 2
_VERBS_OF_LEAVING = {"YIELD_VALUE": "yields", "RETURN_VALUE": "returns", "RETURN_CONST": "returns"}


class InstructionRecorder:
    """Records one run of a function, instruction by instruction.

    Parameters
    ----------
    look : Callable
        `look(value)` returns what is recorded of an object. It is called for each slot of a frame
        that is in use: for its variables and for the values on its stack.
    fold : bool
        Leave out the middle rounds of loops.
    most : int
        The number of steps after which the record stops; `limits` overrules it.
    limits : RecordingLimits or None
        Which calls are recorded, and how many steps; None for the default with `most`.
    """

    def __init__(
        self,
        look: Callable = short_repr,
        fold: bool = True,
        most: int = MOST_STEPS,
        limits: RecordingLimits | None = None,
    ):
        """Prepare to record; `run` makes the call."""
        self.limits = limits or RecordingLimits("watch_stack", most=most)
        self.most = self.limits.most
        self.fold = fold
        self.moments: list[RecordedMoment | FoldedMoments] = []
        #: Serial of a moment -> how that instruction left its frame, as text.
        self.endings: dict[int, str] = {}
        #: How many instructions ran, and how many calls began.
        self.events = 0
        self.calls = 0
        #: Why the record ends before the run, "" if it does not.
        self.stopped = ""
        self.is_full = False
        #: By id, because the hash of a code object calls that of its constants.
        self.codes: dict[int, CodeTables] = {}
        self.printed = Printed()
        self.result: Result | None = None
        self.watched: Unwrapped | None = None
        self._globals: dict | None = None
        #: The recorded calls that run now, the first at the bottom.
        self._running: list[Activation] = []
        #: (id of the frame, id of its code) -> a generator's call that waits to be resumed.
        self._suspended: dict[tuple[int, int], Activation] = {}
        # None in a CPython whose frames cannot be read: then no stack is known.
        can_read = not interpreter_frame.find_unsupported()
        self._read_slots = make_slot_reader(look) if can_read else None

    def run(self, watched: Unwrapped, args: tuple, kwargs: Mapping) -> "InstructionRecorder":
        """Call the function and record; `result` says what the call returned or raised."""
        self.watched = watched
        self._globals = watched.function.__globals__
        try:
            self.result = call_traced(
                self._enter, self.printed, watched, args, kwargs, lambda: self.is_full
            )
        finally:
            self._release_frames()
        self.result.require_record(len(self.moments))
        self.stopped = self.stopped or self.result.lost
        return self

    def _enter(self, frame: FrameType, event: str, argument) -> Callable | None:
        """Return the tracer of a frame that is to be recorded; None for any other.

        `FrameTracer` calls this when a frame begins, and when that of a generator is resumed.
        """
        if not self._is_recorded(frame):
            return None
        activation = self._find_activation(frame)
        activation.level = len(self._running)
        activation.frame = frame
        activation.tables.traced_frames += 1
        self._running.append(activation)
        tracer = self._make_tracer(frame, activation)
        ask_for_opcodes(frame)
        return tracer

    def _is_recorded(self, frame: FrameType) -> bool:
        """Return whether a frame that begins is recorded; the first is the watched function's."""
        if self.is_full:
            return False
        if not self.calls:
            is_first = frame.f_code is self.watched.function.__code__
            return is_first and self.limits.reaches(1 + len(self._running))
        if not self.limits.follows(frame, self._globals):
            return False
        return self.limits.reaches(1 + len(self._running))

    def _find_activation(self, frame: FrameType) -> Activation:
        """Return the activation of a generator that is resumed, or a new one."""
        code = frame.f_code
        suspended = self._suspended.pop((id(frame), id(code)), None)
        if suspended is not None:
            return suspended
        tables = self._find_tables(code)
        self.calls += 1
        return Activation(tables, self.calls)

    def _find_tables(self, code: CodeType) -> CodeTables:
        """Return the tables of a code object, made at its first call."""
        if id(code) not in self.codes:
            self.codes[id(code)] = CodeTables(code)
        return self.codes[id(code)]

    def _make_tracer(self, frame: FrameType, activation: Activation) -> Callable:
        """Return the function that `FrameTracer` calls for each event of this frame.

        It runs before each instruction. To be fast, it finds what it needs in local variables.
        """
        moments = self.moments
        printed = self.printed
        level = activation.level
        most = self.most
        tables = activation.tables
        slots_in_use = tables.slots_in_use
        loop_headers = tables.back_jumps if self.fold else ()
        reported_prefixes = tables.reported_prefixes
        read_slots = self._read_slots

        # It returns no tracer, unlike others: a function that refers to itself is in a cycle.
        def trace(frame, event, argument):
            """Record one event; raise `Enough` where the record is full."""
            if event == "exception":
                activation.is_raising = True
                self._note_ending(activation, f"raises {short_repr(argument[1])}")
            elif event == "return":
                self._leave(frame, activation, argument)
            if event != "opcode":
                return

            offset = frame.f_lasti
            offset = reported_prefixes.get(offset, offset)
            self.events = serial = self.events + 1
            if offset in loop_headers:
                self._begin_round(activation, offset, serial)
            activation.last_offset = offset
            activation.last_serial = serial
            activation.is_raising = False

            # The depth of the stack may be unknown, or the frame may not be readable just now.
            count = slots_in_use.get(offset)
            content = None if count is None else read_slots(frame, count)
            slots, addresses = content or (None, None)
            moments.append(
                RecordedMoment(serial, activation, level, offset, slots, printed.size, addresses)
            )
            if len(moments) < most and serial < MOST_EVENTS:
                return
            self.stopped = self.stopped or f"The record stops after {serial:,} instructions"
            self.is_full = True
            self._release_frames()
            raise Enough

        return trace

    def _leave(self, frame: FrameType, activation: Activation, value) -> None:
        """Note how the frame was left, and restore its trace flags.

        `value` is what the caller gets; it is None after an exception, too.
        """
        if self._running and self._running[-1] is activation:
            self._running.pop()
        activation.frame = None

        verb = ""
        last = activation.tables.instructions.get(activation.last_offset)
        if last is not None and not activation.is_raising:
            verb = _VERBS_OF_LEAVING.get(last.opname, "")
        if verb == "yields":
            self._suspended[id(frame), id(activation.tables.code)] = activation
        if verb:
            self._note_ending(activation, f"{verb} {short_repr(value)}")

        activation.tables.traced_frames -= 1
        _stop_tracing(frame, activation.tables.traced_frames)

    def _note_ending(self, activation: Activation, ending: str) -> None:
        """Note how the last instruction of a call ended.

        One instruction may have two endings: it raises, and then the frame is left.
        """
        previous = self.endings.get(activation.last_serial, "")
        self.endings[activation.last_serial] = f"{previous}; then {ending}" if previous else ending

    def _begin_round(self, activation: Activation, header: int, serial: int) -> None:
        """Note that a round of a loop begins, and fold a middle round if there are too many.

        `header` is the offset of the loop's first instruction, `serial` the number of the moment at
        which it is about to run.
        """
        # The loop is entered from above, and not by a jump back: its earlier runs do not count.
        is_first_round = activation.last_offset not in activation.tables.back_jumps[header]
        if is_first_round:
            activation.round_starts[header] = []
        starts = activation.round_starts.setdefault(header, [])
        starts.append(serial)
        if len(starts) > KEPT_ROUNDS:
            # The oldest round behind those that are kept; it ends where the next one starts.
            start = starts.pop(_FIRST_ROUNDS)
            self._fold_round(activation, header, start, stop=starts[_FIRST_ROUNDS])

    def _fold_round(self, activation: Activation, header: int, start: int, stop: int) -> None:
        """Replace the moments with serials from `start` to before `stop` by one fold.

        The fold is joined with that of the round before. Moments of callers of the loop's function
        stay: a generator's loop is also left and resumed by them.
        """
        moments = self.moments
        serial_of = attrgetter("serial")
        first = bisect_left(moments, start, key=serial_of)
        end = bisect_left(moments, stop, key=serial_of)
        steps = 0
        moments_of_callers = []
        for moment in moments[first:end]:
            if type(moment) is FoldedMoments:
                steps += moment.steps
            elif moment.level >= activation.level:
                steps += 1
                self.endings.pop(moment.serial, None)
            else:
                moments_of_callers.append(moment)

        rounds = 1
        previous = moments[first - 1]
        is_same_loop = previous.activation is activation and type(previous) is FoldedMoments
        if is_same_loop and previous.header == header:
            first -= 1
            start = previous.serial
            rounds += previous.rounds
            steps += previous.steps
        fold = FoldedMoments(start, activation, header, rounds, steps)
        moments[first:end] = [fold, *moments_of_callers]

    def _release_frames(self) -> None:
        """Stop tracing the frames that still run, and forget all frames."""
        running = self._running
        self._running = []
        for activation in running:
            if activation.frame is not None:
                _stop_tracing(activation.frame, traced_frames=0)
                activation.frame = None
        self._suspended.clear()


def _stop_tracing(frame: FrameType, traced_frames: int) -> None:
    """Take the tracer off a frame; `traced_frames` other frames of its code are still traced.

    CPython 3.13 instruments the code object, so its events stay on until the last of them ends.
    """
    if traced_frames == 0 or sys.version_info < (3, 13):
        frame.f_trace_opcodes = False
    forget_own_tracer(frame)
