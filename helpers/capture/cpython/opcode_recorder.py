"""Run a Python function and record each instruction before it runs, with the values in its frame.
A record of one instruction is a *moment*. It contains text about the values, not the values, so the
record keeps no object of the program alive. An *activation* is one call while it is recorded. The
middle rounds of a long loop are *folded*: one entry replaces all their moments.
"""

import sys
from bisect import bisect_left
from collections.abc import Callable, Mapping
from operator import attrgetter
from types import CodeType, FrameType

from ...internals import interpreter_frame
from ...internals.frame_tracer import StopTracing, ask_for_opcodes, forget_own_tracer
from ..text.value import short_repr
from .code_tables import CodeTables
from .following import RecordingLimits
from .recorded_moments import Activation, FoldedMoments, RecordedMoment
from .settrace import Printed, Result, call_traced
from .slot_reader import make_slot_reader
from .unwrapping import Unwrapped

MOST_STEPS, MOST_EVENTS = 3000, 200_000
# Rounds of a loop that are not folded: the first two and the last two. In the very last round, the
# iterator has no more value, so the loop ends.
KEPT_ROUNDS = 4
_FIRST_ROUNDS = 2
# Instruction that leaves its frame -> the verb in the sentence about it.
_VERBS_OF_LEAVING = {"YIELD_VALUE": "yields", "RETURN_VALUE": "returns", "RETURN_CONST": "returns"}


class InstructionRecorder:
    """Records one run of a function, instruction by instruction.

    Parameters
    ----------
    look : Callable
        `look(value)` returns what is recorded of an object, such as its repr. It is called before
        each instruction, for each variable of the frame and each value on the stack.
    fold : bool
        Whether to leave out the middle rounds of loops.
    most : int
        The number of moments after which the record stops. It is ignored if `limits` is given.
    limits : RecordingLimits or None
        Which calls are recorded, and how many moments. None for all calls of functions with the
        same globals as the watched function, and `most` moments.
    """

    def __init__(
        self,
        look: Callable = short_repr,
        fold: bool = True,
        most: int = MOST_STEPS,
        limits: RecordingLimits | None = None,
    ):
        """Prepare to record; `run` makes the call."""
        #: Which calls are recorded, and how many moments.
        self.limits = limits or RecordingLimits("watch_stack", most=most)
        self.most = self.limits.most
        #: Whether the middle rounds of loops are left out.
        self.fold = fold
        #: The record, in the order in which the instructions ran.
        self.moments: list[RecordedMoment | FoldedMoments] = []
        #: Serial of a moment -> how its instruction left the frame, such as "returns 3".
        self.endings: dict[int, str] = {}
        #: How many instructions ran, also those that were folded.
        self.events = 0
        #: How many recorded calls began.
        self.calls = 0
        #: Why the record ends before the run, as a phrase; "" if it does not.
        self.stopped = ""
        #: Whether the record has reached its largest size.
        self.is_full = False
        #: Id of a code object -> what is known of it. By id, because a hash of a code object calls
        #: the hash of each of its constants.
        self.codes: dict[int, CodeTables] = {}
        #: What the program prints.
        self.printed = Printed()
        #: How the call ended; None before.
        self.result: Result | None = None
        #: The function that `run` calls.
        self.watched: Unwrapped | None = None
        self._globals: dict | None = None  # of the watched function
        #: The recorded calls that run now, the first at the bottom.
        self._running: list[Activation] = []
        #: (id of the frame, id of its code) -> a generator's call that waits to be resumed.
        self._suspended: dict[tuple[int, int], Activation] = {}
        # Reads the values in a frame, and returns `look(value)` for each. None if the layout of
        # frames is not known for this CPython: then no values are recorded.
        can_read = not interpreter_frame.find_unsupported()
        self._read_slots = make_slot_reader(look) if can_read else None

    def run(self, watched: Unwrapped, args: tuple, kwargs: Mapping) -> "InstructionRecorder":
        """Call the function with these arguments, and record its instructions; return self.

        `self.result` then says what the call returned or raised.
        """
        self.watched = watched
        self._globals = watched.function.__globals__
        try:
            self.result = call_traced(
                tracer=self._enter,
                printed=self.printed,
                watched=watched,
                args=args,
                kwargs=kwargs,
                enough=lambda: self.is_full,
            )
        finally:
            self._release_frames()
        # After Ctrl-C before the first moment there is nothing to show: this raises the interrupt.
        self.result.raise_interrupt_if_empty(len(self.moments))
        # `lost` says why the tracer was not called any more, "" if it was.
        self.stopped = self.stopped or self.result.lost
        return self

    def _enter(self, frame: FrameType, event: str, argument) -> Callable | None:
        """Return the tracer of a frame that begins or is resumed; None if it is not recorded.

        CPython calls this, by way of `FrameTracer`, at the start of each frame, and then calls the
        tracer that it returned for each event of the frame.
        """
        if not self._should_record(frame):
            return None
        activation = self._find_activation(frame)
        activation.level = len(self._running)
        activation.frame = frame
        activation.tables.traced_frames += 1
        self._running.append(activation)
        tracer = self._make_tracer(frame, activation)
        ask_for_opcodes(frame)
        return tracer

    def _should_record(self, frame: FrameType) -> bool:
        """Return whether to record a frame that begins or is resumed.

        The first recorded call must be that of the watched function. After it the limits decide.
        """
        if self.is_full:
            return False
        if self.calls:
            if not self.limits.should_record_frame(frame, self._globals):
                return False
        elif frame.f_code is not self.watched.function.__code__:
            return False
        level = 1 + len(self._running)
        return self.limits.is_within_depth(level)

    def _find_activation(self, frame: FrameType) -> Activation:
        """Return the activation of a suspended generator whose frame this is, or a new one."""
        code = frame.f_code
        suspended = self._suspended.pop((id(frame), id(code)), None)
        if suspended is not None:
            return suspended
        tables = self._find_tables(code)
        self.calls += 1
        return Activation(tables, self.calls)

    def _find_tables(self, code: CodeType) -> CodeTables:
        """Return the tables of a code object. They are made at its first call."""
        if id(code) not in self.codes:
            self.codes[id(code)] = CodeTables(code)
        return self.codes[id(code)]

    def _make_tracer(self, frame: FrameType, activation: Activation) -> Callable:
        """Return the function that is called for each event of this frame.

        It is called before each instruction, so it must be fast. It reads local variables of this
        method in place of attributes.
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

        # A tracer usually returns itself. This one returns None, and stays set. A function that
        # refers to itself would be in a reference cycle.
        def trace(frame, event, argument):
            """Record one event of the frame. When full, raise `StopTracing` to end the tracing."""
            if event == "exception":
                _, error, _ = argument
                activation.is_raising = True
                self._note_ending(activation, f"raises {short_repr(error)}")
            elif event == "return":
                self._note_exit(frame, activation, argument)
            if event != "opcode":
                return

            offset = frame.f_lasti
            # On Python 3.11 this may be the offset of a prefix, EXTENDED_ARG, of an instruction.
            offset = reported_prefixes.get(offset, offset)
            self.events = serial = self.events + 1
            if offset in loop_headers:  # the first instruction of a loop
                self._begin_round(activation, offset, serial)
            activation.last_offset = offset
            activation.last_serial = serial
            activation.is_raising = False

            # None if the depth of the stack is unknown, or if the frame cannot be read just now.
            slot_count = slots_in_use.get(offset)
            content = None if slot_count is None else read_slots(frame, slot_count)
            slots, addresses = content or (None, None)
            moments.append(
                RecordedMoment(serial, activation, level, offset, slots, printed.size, addresses)
            )
            if len(moments) < most and serial < MOST_EVENTS:
                return
            self.stopped = self.stopped or f"The record stops after {serial:,} instructions"
            self.is_full = True
            self._release_frames()
            raise StopTracing

        return trace

    def _note_exit(self, frame: FrameType, activation: Activation, value) -> None:
        """Note how a frame returned or yielded, and stop tracing the frame.

        `value` is what the caller gets. CPython calls this after an exception too, with None.
        """
        if self._running and self._running[-1] is activation:
            self._running.pop()
        activation.frame = None

        verb = ""  # "returns" or "yields"; "" after an exception
        last_instruction = activation.tables.instructions.get(activation.last_offset)
        if last_instruction is not None and not activation.is_raising:
            verb = _VERBS_OF_LEAVING.get(last_instruction.opname, "")
        if verb == "yields":
            self._suspended[id(frame), id(activation.tables.code)] = activation
        if verb:
            self._note_ending(activation, f"{verb} {short_repr(value)}")

        activation.tables.traced_frames -= 1
        _stop_tracing(frame, activation.tables.traced_frames)

    def _note_ending(self, activation: Activation, ending: str) -> None:
        """Note how the last instruction of a call ended, such as "raises ValueError()".

        An instruction that has an ending already gets both, joined by "; then".
        """
        previous = self.endings.get(activation.last_serial, "")
        self.endings[activation.last_serial] = f"{previous}; then {ending}" if previous else ending

    def _begin_round(self, activation: Activation, header: int, serial: int) -> None:
        """Note that a round of a loop begins, and fold a middle round if there are too many.

        Parameters
        ----------
        activation : Activation
            The call that runs the loop.
        header : int
            The offset of the loop's first instruction.
        serial : int
            The serial of the moment at which this instruction is about to run.
        """
        # If the last instruction was no jump back, the loop starts anew, for example because it is
        # inside another loop. Then the rounds of its earlier run do not count.
        is_first_round = activation.last_offset not in activation.tables.back_jumps[header]
        if is_first_round:
            activation.round_starts[header] = []
        starts = activation.round_starts.setdefault(header, [])
        starts.append(serial)
        if len(starts) > KEPT_ROUNDS:
            # Fold the third of five rounds. It ends where the fourth starts, which is third now.
            start = starts.pop(_FIRST_ROUNDS)
            self._fold_round(activation, header, start, stop=starts[_FIRST_ROUNDS])

    def _fold_round(self, activation: Activation, header: int, start: int, stop: int) -> None:
        """Replace the moments of one round of a loop by one `FoldedMoments`.

        The round has the moments with serials from `start` to `stop`, without `stop`. If the round
        before is folded too, one fold replaces both. Moments of callers stay in the record: the
        loop may be in a generator, and then its caller runs between two steps of a round.
        """
        moments = self.moments
        read_serial = attrgetter("serial")
        first_index = bisect_left(moments, start, key=read_serial)
        end_index = bisect_left(moments, stop, key=read_serial)
        folded_steps = 0
        moments_of_callers = []
        for moment in moments[first_index:end_index]:
            if type(moment) is FoldedMoments:  # an inner loop, with folded rounds of its own
                folded_steps += moment.steps
            elif moment.level >= activation.level:
                folded_steps += 1
                self.endings.pop(moment.serial, None)
            else:
                moments_of_callers.append(moment)

        rounds = 1
        previous = moments[first_index - 1]
        is_fold = type(previous) is FoldedMoments
        if is_fold and previous.activation is activation and previous.header == header:
            # Join the fold of the round before with this one.
            first_index -= 1
            start = previous.serial
            rounds += previous.rounds
            folded_steps += previous.steps
        fold = FoldedMoments(start, activation, header, rounds, folded_steps)
        moments[first_index:end_index] = [fold, *moments_of_callers]

    def _release_frames(self) -> None:
        """Stop tracing the frames that still run, and drop the references to all frames."""
        running_activations = self._running
        self._running = []
        for activation in running_activations:
            if activation.frame is not None:
                _stop_tracing(activation.frame, traced_frames=0)
                activation.frame = None
        self._suspended.clear()


def _stop_tracing(frame: FrameType, traced_frames: int) -> None:
    """Take the tracer off a frame, and stop its events for single instructions.

    `traced_frames` is how many other frames of the same code object are still traced. CPython 3.13
    switches these events for the code object, so they stay on until no frame of it is traced.
    """
    if traced_frames == 0 or sys.version_info < (3, 13):
        frame.f_trace_opcodes = False
    forget_own_tracer(frame)
