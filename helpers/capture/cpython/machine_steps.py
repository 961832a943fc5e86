"""One run of a machine of handlers (mini/vm) -> a record of its stack before each instruction."""

from collections.abc import Callable
from os.path import commonprefix
from types import CodeType, FunctionType, MethodType

from ...internals.interpreter_frame import list_slot_names
from ...mini import vm
from ...mini.vm.instructions import Plain
from ...model.code_records import Handler
from ...safety.restoring import note_interrupt
from ...safety.standard_output import redirected
from ..text.value import ValueWords, describe_value, format_text, short_repr
from .code_tables import ListedInstruction
from .recorded_moments import Activation, RecordedMoment
from .settrace import Printed, Result

MOST_STEPS = 2000
# These take at least so many values, also where the handler leaves the very object that it took:
# `x += y` of a list pushes the list again.
_LEAST_TAKEN = {
    "BINARY_OP": 2,
    "BINARY_SUBSCR": 2,
    "COMPARE_OP": 2,
    "GET_ITER": 1,
    "UNARY_POSITIVE": 1,
}


class MachineTables:
    """What is known of one code object that the machine runs, in the form of `CodeTables`."""

    #: The stack of a machine is always known.
    doubt = ""

    def __init__(self, code: CodeType):
        """Translate `code` into the machine's plain instructions, and list these."""
        self.code = code
        self.names = list_slot_names(code)
        self.labels = self.names
        self._steps, ranges = vm.plain(code)
        self.handlers = [Handler(*row) for row in ranges]
        self.listing = [_list_step(position, step) for position, step in enumerate(self._steps)]

    def taken(self, moment: RecordedMoment, depth: int, next_moment: RecordedMoment | None) -> int:
        """Return how many of the `depth` values on the stack the handler took.

        A handler is the learner's, so what it left on the stack tells how many it took.
        """
        # Values that the handler took and pushed again look untouched: the table corrects that.
        opname = self._steps[moment.offset].opname
        least = min(_LEAST_TAKEN.get(opname, 0), depth)
        if opname in ("RETURN_VALUE", "YIELD_VALUE") or next_moment is None:
            takes_result = opname == "RETURN_VALUE" and depth > 0
            return least or int(takes_result)

        count = len(self.names)
        stacks = [moment.addresses[count:], next_moment.addresses[count:]]
        untouched = len(commonprefix(stacks))
        return depth - min(untouched, depth - least)


def _list_step(position: int, step: Plain) -> ListedInstruction:
    """Return a plain instruction as a line of the listing."""
    is_jump = "JUMP" in step.opname or step.opname in ("FOR_ITER", "SEND")
    if is_jump:
        target = step.arguments[-1]
        text = f"to {target}"
    else:
        target = -1
        text = ", ".join(_format_argument(value) for value in step.arguments if value != ())
    return ListedInstruction(position, step.opname, text, target, step.offset)


def _format_argument(value: object) -> str:
    """Return an argument of a plain instruction as text; a string is a name, without quotes."""
    return format_text(value) if type(value) is str else short_repr(value)


class MachineRecord:
    """One run of a function on a machine, in the form of `InstructionRecorder`.

    Parameters
    ----------
    fn : FunctionType
        The function that the machine runs. Only frames with its globals are recorded.
    """

    def __init__(self, fn: FunctionType):
        """Start with an empty record."""
        self.moments: list[RecordedMoment] = []
        #: Serial of a moment -> how that instruction ended, as text.
        self.endings: dict[int, str] = {}
        #: How many instructions ran.
        self.events = 0
        #: By id, as in `InstructionRecorder`.
        self.codes: dict[int, MachineTables] = {}
        self.printed = Printed()
        self.result: Result | None = None
        #: The sentence on how the run, or its record, ended.
        self.note = ""
        self._globals = fn.__globals__
        # By id of the machine's frame. The frame is kept too, so that no other gets its id.
        self._calls: dict[int, tuple[Activation, object]] = {}

    def build_watched_machine(self, machine: type) -> type:
        """Return a subclass of a machine, whose handlers are recorded before they run."""

        def watch_handler(name: str) -> Callable:
            """Return the method of the subclass for the handler with this name."""

            def run_handler(frame, *arguments):
                """Record the instruction, then run the learner's handler for it."""
                serial = self._note_instruction(frame)
                try:
                    return getattr(super(watched_machine, frame), name)(*arguments)
                except BaseException as error:
                    # `Halt` says that the machine cannot go on; the program has raised nothing.
                    if serial and not isinstance(error, vm.Halt):
                        self.endings[serial] = f"raises {short_repr(error)}"
                    raise

            return run_handler

        handlers = {name: watch_handler(name) for name in vm.opcodes(machine)}
        watched_machine = type("frame", (machine,), handlers)
        return watched_machine

    def forget_frames(self) -> None:
        """Let the machine's frames go when the run has ended."""
        self._calls.clear()

    def _note_instruction(self, frame) -> int:
        """Record the instruction that a frame is about to run; return its serial, 0 for none."""
        if frame.globals is not self._globals:
            return 0
        if len(self.moments) >= MOST_STEPS:
            raise vm.Halt("the record is full")

        activation = self._find_activation(frame)
        names = activation.tables.names
        slots = [_describe_variable(frame.value_of_slot(name)) for name in names]
        slots += map(describe_value, frame.stack)
        # A variable's address is of no use: only values on the stack are compared.
        addresses = [None] * len(names)
        addresses += map(id, frame.stack)

        serial = len(self.moments) + 1
        self.events = serial
        position = frame.at - 1
        if frame.steps[position].opname == "RETURN_VALUE" and frame.stack:
            self.endings[serial] = f"returns {slots[-1].words}"
        level = self._count_callers(frame)
        moment = RecordedMoment(
            serial=serial,
            activation=activation,
            level=level,
            offset=position,
            slots=tuple(slots),
            printed_size=self.printed.size,
            addresses=addresses,
        )
        self.moments.append(moment)
        return serial

    def _find_activation(self, frame) -> Activation:
        """Return the activation of a machine's frame, made at its first instruction."""
        if id(frame) not in self._calls:
            code = frame.code
            if id(code) not in self.codes:
                self.codes[id(code)] = MachineTables(code)
            activation = Activation(self.codes[id(code)], len(self._calls) + 1)
            self._calls[id(frame)] = activation, frame
        activation, _ = self._calls[id(frame)]
        return activation

    def _count_callers(self, frame) -> int:
        """Return how many recorded frames wait below this one, without a gap between them."""
        level = 0
        caller = frame.back
        while caller is not None and id(caller) in self._calls:
            level += 1
            caller = caller.back
        return level


def _describe_variable(value: object) -> ValueWords:
    """Return what is recorded of a variable's slot; NULL where the name has no value."""
    return ValueWords("NULL", "") if value is vm.NULL else describe_value(value)


def record_machine(run: MethodType, fn, *args, **kwargs) -> MachineRecord:
    """Return the record of each instruction of `fn`'s module that a machine runs.

    Parameters
    ----------
    run : MethodType
        The method `run` of the machine, as a learner passes it to `watch_stack`.
    fn, *args, **kwargs
        The call that the machine runs.
    """
    record = MachineRecord(fn)
    watched_machine = record.build_watched_machine(type(run.__self__))
    words = ""
    verb = "It raised"
    interrupt = None
    try:
        with redirected(record.printed):
            words = short_repr(watched_machine().run(fn, *args, **kwargs))
            verb = "It returned"
    except vm.Halt as halt:
        words = str(halt)
        verb = "The machine stopped:"
    except KeyboardInterrupt as error:
        interrupt = error
        note_interrupt(error)
    except BaseException as error:
        words = short_repr(error)

    record.result = Result(words, verb, driven=False, lost="", kind="", interrupt=interrupt)
    record.result.require_record(len(record.moments))
    if record.events >= MOST_STEPS:
        record.note = f"The record stops after {MOST_STEPS:,} steps."
    else:
        record.note = record.result.sentence(record.events, "step")
    record.forget_frames()
    return record
