"""Runs a program on a learner's machine, or in CPython, and records the run. A *machine* is a small
bytecode interpreter, a class of `helpers.mini.vm`. A *handler* is its method for one opcode. A
run's *end* is a text on its result or its error. A *state* is the stack before one instruction.
"""

import ast
import copy
import inspect
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from helpers.capture.text.error import describe_error_without_causes
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.model.tables import Column, Listing
from helpers.safety.limits import count_characters
from helpers.safety.standard_output import redirect_prints
from helpers.study.answers import NotAttempted
from helpers.study.chapter_3.kept_stacks import StackState, is_recorded, list_stack_states

HANDLER_LIMIT = 3_000  # calls of handlers in one run; the longest program here needs some 300
LONGEST_BODY = 60  # characters of a program in a message
ROW_LIMIT = 40
# An address in a repr, which differs from run to run.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class StubHandler(vm.Halt):
    """A handler returned `...`, so the learner has not written it yet."""


class WrongHandler(vm.Halt):
    """A handler did something that is wrong in every program. The message says what."""


@dataclass
class ProgramRun:
    """The record of a run, on a machine or in CPython."""

    #: Its result or its error: "gives …" or "raises …".
    end: str = ""
    #: Its output: "prints …".
    printed: str = ""
    #: The stack before each instruction.
    states: list[StackState] = field(default_factory=list)
    #: For each handler that ran: (number of states recorded until then, name of the handler).
    handlers: list[tuple[int, str]] = field(default_factory=list)


def run_in_cpython(program: Callable, args: tuple) -> ProgramRun:
    """Run `program(*args)` in CPython, and return its record.

    The program runs twice, once for the stacks and once for the end and the output. Each run gets a
    copy of the arguments, because a program may change them.
    """
    run = ProgramRun(states=list_stack_states(program, copy.deepcopy(args)))

    def call(fn, *arguments):
        return fn(*arguments)

    _run_and_record_end(run, call, program, args)
    return run


def run_machine(machine: type, program: Callable, args: tuple) -> ProgramRun:
    """Run `program(*args)` on a learner's machine, and return the record of the run.

    A subclass of the machine records each handler that runs, and then calls it. NotAttempted is
    raised for a handler that is a stub, WrongHandler for one that is wrong whatever the program.
    """
    recorder = _MachineRecorder(program)
    watched_machine = _make_watched_machine(machine, recorder)
    _run_and_record_end(recorder.run, watched_machine().run, program, args)
    return recorder.run


class _MachineRecorder:
    """Records the handlers and the stacks of a program's run on a machine."""

    def __init__(self, program: Callable):
        """Begin with an empty record, `run`."""
        self.run = ProgramRun()
        self._program_globals = program.__globals__
        # id of a frame -> (number of its call, the frame). The frame is kept alive, so no other
        # frame gets its id.
        self._calls_by_frame_id = {}

    def record_handler(self, frame, name: str) -> None:
        """Record that the handler `name` is about to run in a frame of the machine, and the stack.

        WrongHandler if so many handlers have run that the program probably never ends.
        """
        step = frame.steps[frame.at - 1]  # `at` is already the position of the next instruction
        if len(self.run.handlers) > HANDLER_LIMIT:
            raise WrongHandler("yours never ends")
        # A handler may also call another handler, which is not an instruction of its own.
        if step.opname == name:
            self._record_state(frame, step)
            self.run.handlers.append((len(self.run.states), name))

    def _record_state(self, frame, step) -> None:
        """Record the stack before an instruction, if the instruction is one of the program.

        Instructions of library functions are left out. Several plain instructions may stand for one
        of CPython. All but the first are left out.
        """
        is_own = frame.globals is self._program_globals and is_recorded(frame.code)
        if not step.first or not is_own:
            return
        new_number = len(self._calls_by_frame_id)
        number, _ = self._calls_by_frame_id.setdefault(id(frame), (new_number, frame))
        stack = tuple(map(short_repr, frame.stack))
        state = StackState(number, frame.code.co_name, step.offset, step.opname, stack)
        self.run.states.append(state)


def _make_watched_machine(machine: type, recorder: _MachineRecorder) -> type:
    """Return a subclass of a machine whose handlers first call the recorder.

    An object of the class is a frame. Its handlers raise StubHandler or WrongHandler if the
    learner's handler did not do its part.
    """

    def watch_handler(name: str) -> Callable:
        """Return a method that tells the recorder, and then calls the machine's handler `name`."""

        def run_handler(self, *arguments):
            # `arguments` has the argument of the instruction, if the opcode has one.
            recorder.record_handler(self, name)
            # `super` needs its arguments here, because this is not in the body of a class.
            handler = getattr(super(WatchedMachine, self), name)
            if handler(*arguments) is ...:
                raise StubHandler(name)
            if name in ("RAISE_VARARGS", "RERAISE"):
                raise WrongHandler(f"your {name} must raise, but it returned")

        return run_handler

    handlers = {name: watch_handler(name) for name in vm.opcodes(machine)}
    WatchedMachine = type("frame", (machine,), handlers)  # noqa: N806 - it is a class
    return WatchedMachine


def _run_and_record_end(run: ProgramRun, call: Callable, program: Callable, args: tuple) -> None:
    """Call `call(program, *args)`; set `run.end` and `run.printed`.

    An error of the program is recorded. NotAttempted is raised if a handler is still a stub, and a
    WrongHandler of the machine is passed on.
    """
    printed = io.StringIO()
    try:
        with redirect_prints(count_characters(printed)):
            result = repr(call(program, *copy.deepcopy(args)))
        run.end = f"gives {ADDRESS.sub('', result)}"
    except StubHandler as stub:
        raise NotAttempted(stub) from None
    except vm.Unwritten:
        raise NotAttempted("") from None
    except vm.Halt:  # such as WrongHandler: the machine failed, not the program
        raise
    except (Exception, GeneratorExit, SystemExit) as error:
        run.end = f"raises {_write_chain(error, program.__globals__)}"
    run.printed = f"prints {printed.getvalue()!r}"


def _write_chain(error: BaseException, program_globals: dict, earlier: tuple = ()) -> str:
    """Return a text on an exception with its causes and contexts, such as "A(…) from B(…)".

    Parameters
    ----------
    error
        What the program raised.
    program_globals
        The globals of the program. An exception that was raised in other code is left out: a
        handler of the machine has caught it, and CPython's run has none.
    earlier
        The exceptions before this one in the chain. If the chain leads back to one of them, the
        text ends there.
    """
    text = describe_error_without_causes(error)
    earlier = (*earlier, error)
    links = (
        (" from ", error.__cause__),
        (" while handling ", error.__context__),
    )
    for relation, link in links:
        if link is None or _was_caught_by_handler(link, program_globals):
            continue
        if error.__suppress_context__ and error.__cause__ is None:  # raised by `raise … from None`
            return f"{text} from None"
        if any(link is previous for previous in earlier):
            return f"{text}{relation}{describe_error_without_causes(link)} again"
        return f"{text}{relation}{_write_chain(link, program_globals, earlier)}"
    return text


def _was_caught_by_handler(error: BaseException, program_globals: dict) -> bool:
    """Return whether an exception was raised outside the program with these globals.

    Then a handler of the machine has raised and caught it, such as StopIteration at the end of a
    loop.
    """
    trace = error.__traceback__
    return trace is not None and trace.tb_frame.f_globals is not program_globals


def list_stacks(machine: type, program: Callable, args: tuple) -> Listing:
    """Run a program on a machine; return a table of its stack before each instruction."""
    columns = (
        Column("function", "in"),
        Column("offset", "offset"),
        Column("opname", "about to run", code=True),
        Column("stack", "your stack (top at the right)", code=True),
    )
    states = run_machine(machine, program, args).states
    rows = [replace(state, stack=write_stack(state.stack)) for state in states[:ROW_LIMIT]]
    hidden_count = len(states) - len(rows)
    note = f"{hidden_count} more instructions ran." if hidden_count else ""
    title = f"What your machine did in {format_call(program, args)}"
    return Listing(title, columns, tuple(rows), note)


def write_stack(stack: tuple[str, ...]) -> str:
    """Return a stack as text, the bottom first: "[1, 'a']"."""
    return f"[{', '.join(stack)}]"


def format_call(program: Callable, args: tuple) -> str:
    """Return a call as source, for messages: "(lambda a: -a)(2)" or "f(1) of `return a + 1`".

    The body is left out if it is long.
    """
    first_line, *lines = inspect.getsource(program).strip().splitlines()
    arguments = f"({', '.join(map(short_repr, args))})"
    name = program.__name__
    if name == "<lambda>":
        # The line is an item of a list in vm_programs, perhaps as `*(… for …),`.
        tree = ast.parse(first_line.strip().strip("*,"))
        node = next(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))
        return f"({ast.unparse(node)}){arguments}"

    # The lines of the body become one line. Between `if x:` and the next line there is no
    # semicolon.
    body = "; ".join(line.strip() for line in lines if line).replace(":;", ":")
    if len(body) > LONGEST_BODY:
        return f"{name}{arguments}"
    return f"{name}{arguments} of `{body}`"
