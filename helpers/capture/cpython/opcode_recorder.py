"""One call of a Python function -> a record of every instruction that ran, in words, no objects."""

import ctypes
import sys
from bisect import bisect_left
from collections import namedtuple
from collections.abc import Callable
from itertools import pairwise
from struct import unpack
from types import CodeType, FrameType

from ...internals import interpreter_frame
from ...internals.frame_tracer import Enough, ask_for_opcodes, forget_own_tracer
from ...mini.versions import JUMPS
from ..text.value import Seen, described, short_repr
from . import disassembly
from .bytecode import argument
from .following import Limits
from .settrace import Printed, traced
from .unwrapping import Unwrapped

MOST_STEPS, MOST_EVENTS = 3000, 200_000
KEPT_ROUNDS = 4  # of a loop: the first two, and the last two (the very last only asks and leaves)
LEAVING = {"YIELD_VALUE": "yields", "RETURN_VALUE": "returns", "RETURN_CONST": "returns"}


class Tables:
    """What is known of one code object before it runs. `slots`: offset -> slots in use."""

    def __init__(self, code: CodeType):
        self.code, self.names = code, interpreter_frame.variables(code)
        found = disassembly.instructions(code)
        self.instructions = {i.offset: i for i in found}
        shared = {*code.co_cellvars, *code.co_freevars}
        self.named = tuple(f"{n} (cell)" if n in shared else n for n in self.names)
        self.handlers, self.active = disassembly.handlers(code), 0
        self.listing, self.jumps = [], {}  # for `CodeRows`; loop header -> what jumps back to it
        for i in found:
            target = i.argval if i.opcode in JUMPS else -1
            self.listing.append((i.offset, i.opname, argument(i, code), target, i.offset))
            if 0 <= target <= i.offset:
                self.jumps.setdefault(target, set()).add(i.offset)
        # CPython 3.11 tells of an EXTENDED_ARG, and then not of its instruction.
        told = pairwise(found if sys.version_info < (3, 12) else ())
        self.begun = {i.offset: then.offset for i, then in told if i.opname == "EXTENDED_ARG"}
        self.doubt, self.slots, count = interpreter_frame.unsupported(), {}, len(self.names)
        try:
            depths = {} if self.doubt else disassembly.depths(code)
            self.slots = {offset: count + depth for offset, depth in depths.items()}
        except disassembly.Doubt as doubt:
            self.doubt = str(doubt)

    def taken(self, moment, depth: int, after) -> int:
        """Return how many of the values on the stack the instruction works on."""
        return disassembly.taken(self.instructions[moment.offset], depth)


class Activation:
    """One call on its way. `rounds`: loop header -> where its latest rounds began."""

    def __init__(self, tables, number):
        self.tables, self.number, self.level = tables, number, 0
        self.frame, self.previous, self.serial = None, -1, 0
        self.rounds, self.raising = {}, False


# One instruction about to run. `found`: the words of all slots, None where not to be read.
# `level`: the watched calls below; `places`: the addresses of the slots, only for this moment.
Moment = namedtuple("Moment", "serial activation level offset found printed places")
# A placeholder for rounds of a loop that were left out; `serial` is that of its first step.
Fold = namedtuple("Fold", "serial activation header rounds steps")


class Recorder:
    """Records one run. `look(object) -> words` is asked for every slot that is in use."""

    def __init__(self, look: Callable = short_repr, fold=True, most=MOST_STEPS, limits=None):
        self.limits = limits or Limits("watch_stack", most=most)
        self.fold, self.most = fold, self.limits.most
        self.moments: list[Moment | Fold] = []
        self.endings: dict[int, str] = {}  # serial -> how that instruction left its frame
        self.events, self.calls, self.stopped, self.full = 0, 0, "", False
        self.codes: dict[int, Tables] = {}  # by id: a code's hash asks its constants
        self.printed, self.result = Printed(), None
        self._running, self._suspended, self._globals = [], {}, None
        self._read = None if interpreter_frame.unsupported() else reader(look)

    def run(self, watched: Unwrapped, args, kwargs) -> "Recorder":
        """Call, and record from the function on; `result` reports what is raised."""
        self.watched, self._globals = watched, watched.function.__globals__
        try:
            how = self.printed, watched, args, kwargs
            self.result = traced(self._enter, *how, lambda: self.full)
        finally:
            self._let_go()
        self.result.require_record(len(self.moments))
        self.stopped = self.stopped or self.result.lost
        return self

    def _enter(self, frame: FrameType, event: str, argument):
        code, limits = frame.f_code, self.limits
        if self.full or not (self.calls or code is self.watched.function.__code__):
            return None
        if self.calls and not limits.follows(frame, self._globals):
            return None
        if not limits.reaches(1 + len(self._running)):
            return None
        tables = self.codes.get(id(code)) or self.codes.setdefault(id(code), Tables(code))
        activation = self._suspended.pop((id(frame), id(code)), None)
        if activation is None:
            self.calls += 1
            activation = Activation(tables, self.calls)
        activation.level, activation.frame = len(self._running), frame
        tables.active += 1
        self._running.append(activation)
        local = self._make_tracer(frame, activation)
        ask_for_opcodes(frame)
        return local

    def _make_tracer(self, frame: FrameType, activation: Activation) -> Callable:
        """Return the function that CPython calls before each instruction of this frame."""
        moments, printed, level = self.moments, self.printed, activation.level
        in_use, most = activation.tables.slots, self.most
        jumps, begun = activation.tables.jumps if self.fold else (), activation.tables.begun
        read = self._read

        def local(frame, event, argument):  # it does not refer to itself: that would be a cycle
            if event == "exception":
                activation.raising = True
                self._end(activation, f"raises {short_repr(argument[1])}")
            elif event == "return":
                self._leave(frame, activation, argument)
            if event != "opcode":
                return
            offset = frame.f_lasti
            offset = begun.get(offset, offset)
            self.events = serial = self.events + 1
            if offset in jumps:
                self._begin_round(activation, offset, serial)
            activation.previous, activation.serial = offset, serial
            activation.raising = False
            count = in_use.get(offset)
            found, places = (count is not None and read(frame, count)) or (None, None)
            moments.append(Moment(serial, activation, level, offset, found, printed.size, places))
            if len(moments) < most and serial < MOST_EVENTS:
                return
            self.stopped = self.stopped or f"The record stops after {serial:,} instructions"
            self.full = True
            self._let_go()
            raise Enough

        return local

    def _leave(self, frame: FrameType, activation: Activation, value) -> None:
        """Note how the frame was left, and give its trace flags back."""
        if self._running and self._running[-1] is activation:
            self._running.pop()
        activation.frame = None
        last = activation.tables.instructions.get(activation.previous)
        verb = "" if activation.raising or not last else LEAVING.get(last.opname, "")
        if verb == "yields":
            self._suspended[id(frame), id(activation.tables.code)] = activation
        if verb:
            self._end(activation, f"{verb} {short_repr(value)}")
        activation.tables.active -= 1
        _untrace(frame, activation.tables.active)

    def _end(self, activation: Activation, words: str) -> None:
        before = self.endings.get(activation.serial, "")
        self.endings[activation.serial] = f"{before}; then {words}" if before else words

    def _begin_round(self, activation: Activation, header: int, serial: int) -> None:
        """Leave out the third round from the end once there are more than `KEPT_ROUNDS`."""
        if activation.previous not in activation.tables.jumps[header]:
            activation.rounds[header] = []
        begun = activation.rounds.setdefault(header, [])
        begun.append(serial)
        if len(begun) <= KEPT_ROUNDS:
            return
        moments, start = self.moments, begun.pop(2)
        first, stop = bisect_left(moments, (start,)), bisect_left(moments, (begun[2],))
        steps, kept = 0, []  # a caller's own steps stay
        for moment in moments[first:stop]:
            if type(moment) is Fold:
                steps += moment.steps
            elif moment.level >= activation.level:
                steps += 1
                self.endings.pop(moment.serial, None)
            else:
                kept.append(moment)
        before, rounds = moments[first - 1], 1
        if type(before) is Fold and before.activation is activation and before.header == header:
            first, start, rounds = first - 1, before.serial, before.rounds + 1
            steps += before.steps
        moments[first:stop] = [Fold(start, activation, header, rounds, steps), *kept]

    def _let_go(self) -> None:
        running, self._running = self._running, []
        for activation in running:
            if activation.frame is not None:
                _untrace(activation.frame, 0)
                activation.frame = None
        self._suspended.clear()


def _untrace(frame: FrameType, active: int) -> None:
    """Take the tracer off a frame. 3.13 instruments the code object, which others may still use."""
    if active == 0 or sys.version_info < (3, 13):
        frame.f_trace_opcodes = False
    forget_own_tracer(frame)


def reader(look: Callable) -> Callable:
    """Return `read(frame, count)`: the words of the first slots, and their addresses, or None."""
    offsets, word = interpreter_frame.layout(), interpreter_frame.WORD
    slot = ctypes.py_object.from_address
    nothing = {described: Seen("NULL", ""), short_repr: "NULL"}.get(look)

    def read(frame: FrameType, count: int):
        address = interpreter_frame.base(frame)
        saved = ctypes.c_int.from_address(address + offsets.stacktop).value
        # The depth may be another than was worked out; the slots above the real top hold what was
        # left there, and must not be touched.
        if saved >= 0 and saved != count:
            return None
        first = address + offsets.localsplus
        # Addresses are copied out first: describing an object may run the collector.
        places = unpack(f"{count}P", ctypes.string_at(first, word * count))
        found = [
            look(slot(first + word * n).value) if at else nothing for n, at in enumerate(places)
        ]
        return tuple(found), places

    return read
