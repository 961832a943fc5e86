"""One run of a machine of handlers (mini/vm) -> a record of its stack before each instruction."""

from os.path import commonprefix
from types import CodeType, MethodType

from ...internals.interpreter_frame import variables
from ...mini import vm
from ...model.code_records import Handler
from ...safety.restoring import note_interrupt
from ...safety.standard_output import redirected
from ..text.value import Seen, described, plain, short_repr
from .opcode_recorder import Activation, Moment
from .settrace import Printed, Result

MOST_STEPS = 2000
# An operator may give the very object that it took.
_LEAST = {"BINARY_OP": 2, "BINARY_SUBSCR": 2, "COMPARE_OP": 2, "GET_ITER": 1, "UNARY_POSITIVE": 1}


class MachineTables:
    """What is known of one code object that the machine runs; see `CodeRows`."""

    doubt = ""

    def __init__(self, code: CodeType):
        self.code, self.names = code, variables(code)
        self.named, (self._steps, table) = self.names, vm.plain(code)
        self.handlers, self.listing = [Handler(*row) for row in table], []
        for place, step in enumerate(self._steps):
            jumps = "JUMP" in step.opname or step.opname in ("FOR_ITER", "SEND")
            target = step.arguments[-1] if jumps else -1
            given = (a for a in step.arguments if a != ())
            shown = (plain(a) if type(a) is str else short_repr(a) for a in given)
            words = f"to {target}" if jumps else ", ".join(shown)
            self.listing.append((place, step.opname, words, target, step.offset))

    def taken(self, moment: Moment, depth: int, after: Moment | None) -> int:
        """Return how many of the values on the stack the handler took, by what it left there."""
        opname, count = self._steps[moment.offset].opname, len(self.names)
        least = min(_LEAST.get(opname, 0), depth)
        if opname in ("RETURN_VALUE", "YIELD_VALUE") or after is None:
            return least or int(opname == "RETURN_VALUE" and depth > 0)
        now, then = moment.places[count:], after.places[count:]
        return depth - min(len(commonprefix([now, then])), depth - least)


class MachineRecord:
    """One run of a function on a machine, in the form of `Recorder`."""

    def __init__(self, fn):
        self.space, self.printed, self.codes = fn.__globals__, Printed(), {}
        self.moments, self.endings, self.events = [], {}, 0
        self._frames: dict[int, tuple[Activation, object]] = {}  # by id; they must live as long

    def watch(self, machine: type) -> type:
        """Return the machine with handlers that are noted before they run."""

        def watching(name):
            def run_it(frame, *arguments):
                serial = self._note(frame)
                try:
                    return getattr(super(watched, frame), name)(*arguments)
                except BaseException as error:
                    if serial and not isinstance(error, vm.Halt):
                        self.endings[serial] = f"raises {short_repr(error)}"
                    raise

            return run_it

        methods = {name: watching(name) for name in vm.opcodes(machine)}
        watched = type("frame", (machine,), methods)
        return watched

    def _note(self, frame) -> int:
        if frame.globals is not self.space:
            return 0
        if len(self.moments) >= MOST_STEPS:
            raise vm.Halt("the record is full")
        if id(frame) not in self._frames:
            tables = self.codes.get(id(frame.code)) or MachineTables(frame.code)
            self.codes[id(frame.code)] = tables
            self._frames[id(frame)] = Activation(tables, len(self._frames) + 1), frame
        activation, level, back = self._frames[id(frame)][0], 0, frame.back
        while back is not None and id(back) in self._frames:
            level, back = level + 1, back.back
        held = [frame.value_of_slot(name) for name in activation.tables.names]
        names = [Seen("NULL", "") if value is vm.NULL else described(value) for value in held]
        found = (*names, *map(described, frame.stack))
        places = [*[None] * len(names), *map(id, frame.stack)]
        self.events = serial = len(self.moments) + 1
        at = frame.at - 1
        if frame.steps[at].opname == "RETURN_VALUE" and frame.stack:
            self.endings[serial] = f"returns {found[-1].words}"
        size = self.printed.size
        self.moments.append(Moment(serial, activation, level, at, found, size, places))
        return serial


def machine_record(run: MethodType, fn, *args, **kwargs) -> MachineRecord:
    """Return the record of each instruction of `fn`'s module that the machine runs."""
    record = MachineRecord(fn)
    watched, interrupt = record.watch(type(run.__self__)), None
    try:
        with redirected(record.printed):
            words, verb = short_repr(watched().run(fn, *args, **kwargs)), "It returned"
    except vm.Halt as halt:
        words, verb = str(halt), "The machine stopped:"
    except KeyboardInterrupt as error:
        words, verb, interrupt = "", "It raised", error
        note_interrupt(error)
    except BaseException as error:
        words, verb = short_repr(error), "It raised"
    record.result = Result(words, verb, False, "", "", interrupt)
    record.result.require_record(len(record.moments))
    full = f"The record stops after {MOST_STEPS:,} steps."
    outcome = record.result.sentence(record.events, "step")
    record.note = full if record.events >= MOST_STEPS else outcome
    record._frames.clear()
    return record
