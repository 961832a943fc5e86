"""Record a run of the learner's bytecode machine: its stack before each instruction.
Learners build a small bytecode machine with `mini/vm`. They write a class with one method, a
*handler*, for each instruction, such as `BINARY_OP`. An object of this class is a frame: it has the
variables and the stack of one call. The record has the same form as that of a run by CPython.
"""

from collections.abc import Callable
from os.path import commonprefix
from types import CodeType, FunctionType, MethodType

from ...internals.interpreter_frame import list_slot_names
from ...mini import vm
from ...mini.vm.instructions import Plain
from ...model.code_records import Handler
from ...safety.restoring import note_interrupt
from ...safety.standard_output import redirect_prints
from ..text.value import ValueWords, describe_value, format_text, short_repr
from .code_tables import ListedInstruction
from .recorded_moments import Activation, RecordedMoment
from .settrace import Printed, Result

MOST_STEPS = 2000
# Opname -> how many values the instruction takes at least. This is needed where a handler pushes
# again an object that it took, as `x += y` does for a list: then the stack looks untouched.
_LEAST_TAKEN = {
    "BINARY_OP": 2,
    "BINARY_SUBSCR": 2,
    "COMPARE_OP": 2,
    "GET_ITER": 1,
    "UNARY_POSITIVE": 1,
}


class MachineTables:
    """What a recorder needs of a code object that a machine runs; stands in for `CodeTables`."""

    #: As in `CodeTables`. The stack of a machine is a Python list, so it can always be read.
    why_stack_is_unknown = ""

    def __init__(self, code: CodeType):
        """Translate `code` into the instructions that a machine runs, and list them.

        They are CPython's, without what differs between its versions. A frame of a machine has no
        slots in memory, but its variables are listed in the order of CPython's slots.
        """
        self.code = code
        self.names = list_slot_names(code)
        self.labels = self.names
        self._steps, exception_table = vm.plain(code)
        self.handlers = [Handler(*row) for row in exception_table]
        self.listing = [_list_step(position, step) for position, step in enumerate(self._steps)]

    def count_taken(
        self, moment: RecordedMoment, depth: int, next_moment: RecordedMoment | None
    ) -> int:
        """Return how many of the `depth` values on the stack the handler took.

        A learner wrote the handler, so the name of the instruction does not say how many it takes.
        The stack is compared with the stack at the next moment of the same call.
        """
        opname = self._steps[moment.offset].opname
        least_taken = min(_LEAST_TAKEN.get(opname, 0), depth)
        leaves_frame = opname in ("RETURN_VALUE", "YIELD_VALUE")
        if leaves_frame or next_moment is None:  # no later stack shows what was taken
            takes_result = opname == "RETURN_VALUE" and depth > 0
            return least_taken or int(takes_result)

        variable_count = len(self.names)
        stack_before = moment.addresses[variable_count:]
        stack_after = next_moment.addresses[variable_count:]
        untouched_count = len(commonprefix([stack_before, stack_after]))  # equal from the bottom
        return depth - min(untouched_count, depth - least_taken)


def _list_step(position: int, step: Plain) -> ListedInstruction:
    """Return the plain instruction at a position of the machine's list as an entry of the listing.

    A jump has the position of its target as last argument.
    """
    is_jump = "JUMP" in step.opname or step.opname in ("FOR_ITER", "SEND")
    if is_jump:
        target = step.arguments[-1]
        text = f"to {target}"
    else:
        target = -1
        # An empty tuple is left out: it says that a call has no arguments passed by name.
        text = ", ".join(_format_argument(value) for value in step.arguments if value != ())
    return ListedInstruction(position, step.opname, text, target, step.offset)


def _format_argument(value: object) -> str:
    """Return an argument of a plain instruction as text; a string is a name, without quotes."""
    return format_text(value) if type(value) is str else short_repr(value)


class MachineRecord:
    """One run of a function on a machine. It has the attributes of an `InstructionRecorder`.

    Parameters
    ----------
    fn : FunctionType
        The function that the machine runs. Only frames of functions with the same globals are
        recorded.
    """

    def __init__(self, fn: FunctionType):
        """Start with an empty record."""
        self.moments: list[RecordedMoment] = []
        #: Serial of a moment -> how its instruction ended, such as "returns 3".
        self.endings: dict[int, str] = {}
        #: How many instructions ran.
        self.events = 0
        #: Id of a code object -> what is known of the code object.
        self.codes: dict[int, MachineTables] = {}
        self.printed = Printed()
        self.result: Result | None = None
        #: The sentence on how the run, or its record, ended.
        self.note = ""
        self._globals = fn.__globals__
        # Id of a frame of the machine -> (its call, the frame). The frame is kept alive, so that no
        # other frame can get the same id.
        self._calls: dict[int, tuple[Activation, object]] = {}

    def build_watched_machine(self, machine: type) -> type:
        """Return a subclass of `machine` that records each instruction before its handler runs.

        The subclass has a method for each handler of the learner, which calls the handler.
        """

        def watch_handler(name: str) -> Callable:
            """Return the method of the subclass for the handler with this name."""

            def run_handler(frame, *arguments):
                """Record the instruction, then run the learner's handler for it."""
                serial = self._note_instruction(frame)
                try:
                    return getattr(super(watched_machine, frame), name)(*arguments)
                except BaseException as error:
                    # A `Halt` comes from the machine, which cannot go on, not from the program.
                    is_of_program = not isinstance(error, vm.Halt)
                    if serial and is_of_program:
                        self.endings[serial] = f"raises {short_repr(error)}"
                    raise

            return run_handler

        handlers = {name: watch_handler(name) for name in vm.opcodes(machine)}
        watched_machine = type("frame", (machine,), handlers)
        return watched_machine

    def forget_frames(self) -> None:
        """Drop the references to the machine's frames. Called when the run has ended."""
        self._calls.clear()

    def _note_instruction(self, frame) -> int:
        """Record the instruction that a frame is about to run, and return its serial.

        Return 0 for an instruction that is not recorded, because its function has other globals
        than the watched one. Raise `vm.Halt` if the record is full.
        """
        if frame.globals is not self._globals:
            return 0
        if len(self.moments) >= MOST_STEPS:
            raise vm.Halt("the record is full")

        activation = self._find_activation(frame)
        names = activation.tables.names
        slots = [_describe_variable(frame.value_of_slot(name)) for name in names]
        slots += map(describe_value, frame.stack)
        # Only values on the stack are compared by address, so variables have None.
        addresses = [None] * len(names)
        addresses += map(id, frame.stack)

        serial = len(self.moments) + 1
        self.events = serial
        position = frame.at - 1  # `at` is the position of the next instruction already
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
        """Return the record of a frame's call. It is made at the first instruction of the frame."""
        if id(frame) not in self._calls:
            code = frame.code
            if id(code) not in self.codes:
                self.codes[id(code)] = MachineTables(code)
            activation = Activation(self.codes[id(code)], len(self._calls) + 1)
            self._calls[id(frame)] = activation, frame
        activation, _ = self._calls[id(frame)]
        return activation

    def _count_callers(self, frame) -> int:
        """Return how many recorded frames lie directly below this one.

        Frames below a frame that is not recorded are not counted.
        """
        level = 0
        caller = frame.back
        while caller is not None and id(caller) in self._calls:
            level += 1
            caller = caller.back
        return level


def _describe_variable(value: object) -> ValueWords:
    """Return a variable's value and type as text; "NULL" for a variable that has no value."""
    return ValueWords("NULL", "") if value is vm.NULL else describe_value(value)


def record_machine(run: MethodType, fn, *args, **kwargs) -> MachineRecord:
    """Run `fn(*args, **kwargs)` on a machine, and return the record of its instructions.

    Parameters
    ----------
    run : MethodType
        The bound method `run` of the learner's machine, as it was passed to `watch_stack`.
    fn, *args, **kwargs
        The call that the machine runs.
    """
    record = MachineRecord(fn)
    watched_machine = record.build_watched_machine(type(run.__self__))
    value_text = ""
    verb = "It raised"
    interrupt = None
    try:
        with redirect_prints(record.printed):
            value_text = short_repr(watched_machine().run(fn, *args, **kwargs))
            verb = "It returned"
    except vm.Halt as halt:
        value_text = str(halt)
        verb = "The machine stopped:"
    except KeyboardInterrupt as error:
        interrupt = error
        note_interrupt(error)
    except BaseException as error:
        value_text = short_repr(error)

    record.result = Result(
        value_text, verb, is_generator_run=False, lost="", kind="", interrupt=interrupt
    )
    record.result.raise_interrupt_if_empty(len(record.moments))
    if record.events >= MOST_STEPS:
        record.note = f"The record stops after {MOST_STEPS:,} steps."
    else:
        record.note = record.result.sentence(record.events, "step")
    record.forget_frames()
    return record
