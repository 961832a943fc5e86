"""A learner's machine and a program -> the end, the output and the stacks of its run."""

import ast
import copy
import inspect
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from helpers.capture.text.error import describe_error_alone
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.model.tables import Column, Listing
from helpers.safety.limits import count_characters
from helpers.safety.standard_output import redirected
from helpers.study.answers import NotAttempted
from helpers.study.chapter_3.kept_stacks import StackState, is_recorded, list_stack_states

MOST_HANDLERS = 3_000  # of one run: the longest program here needs some 300
LONGEST_BODY = 60  # characters of a program in a message
MOST_ROWS = 40
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class StubHandler(vm.Halt):
    """A handler is not written yet, because it returned `...`."""


class WrongHandler(vm.Halt):
    """A handler did something that is wrong in every program. The message says what."""


@dataclass
class ProgramRun:
    """What was observed of a run, on a machine or in CPython."""

    #: "gives …" or "raises …".
    end: str = ""
    #: "prints …".
    printed: str = ""
    #: The stack before each instruction.
    states: list[StackState] = field(default_factory=list)
    #: For each handler that a machine ran: how many states there were, and its name.
    handlers: list[tuple[int, str]] = field(default_factory=list)


def run_in_cpython(program: Callable, args: tuple) -> ProgramRun:
    """Run `program(*args)` twice: once for the stacks, and once for the end and the output.

    Each run gets its own copy of the arguments, because a program may change them.
    """
    run = ProgramRun(states=list_stack_states(program, copy.deepcopy(args)))

    def call(fn, *arguments):
        return fn(*arguments)

    _note_end(run, call, program, args)
    return run


def run_machine(machine: type, program: Callable, args: tuple) -> ProgramRun:
    """Run `program(*args)` on a subclass of the machine that notes every handler that runs.

    NotAttempted for a stub. WrongHandler for a handler that is wrong whatever the program.
    """
    run = ProgramRun()
    # id of a frame -> (number of its call, the frame). While a frame is kept, its id stays its own.
    frames = {}

    def note_state(frame, step) -> None:
        """Add the stack before this instruction, if it is one of the program's own."""
        is_own = frame.globals is program.__globals__ and is_recorded(frame.code)
        if step.first and is_own:
            call, _ = frames.setdefault(id(frame), (len(frames), frame))
            stack = tuple(map(short_repr, frame.stack))
            state = StackState(call, frame.code.co_name, step.offset, step.opname, stack)
            run.states.append(state)

    def watch_handler(name: str) -> Callable:
        """Return a method that notes the state, and then calls the machine's handler `name`."""

        def run_handler(self, *arguments):
            # `self` is a frame of the machine, `arguments` those of the instruction.
            step = self.steps[self.at - 1]  # the machine has already moved on to the next one
            if len(run.handlers) > MOST_HANDLERS:
                raise WrongHandler("yours never ends")
            if step.opname == name:  # else another handler calls this one
                note_state(self, step)
                run.handlers.append((len(run.states), name))
            # `super` needs its arguments here, because this is not in the body of a class.
            handler = getattr(super(WatchedMachine, self), name)
            if handler(*arguments) is ...:
                raise StubHandler(name)
            if name in ("RAISE_VARARGS", "RERAISE"):
                raise WrongHandler(f"your {name} must raise, but it returned")

        return run_handler

    handlers = {name: watch_handler(name) for name in vm.opcodes(machine)}
    # `type` and not `class`, because the methods are not known before. Each object is a frame.
    WatchedMachine = type("frame", (machine,), handlers)  # noqa: N806
    _note_end(run, WatchedMachine().run, program, args)
    return run


def _note_end(run: ProgramRun, call: Callable, program: Callable, args: tuple) -> None:
    """Call `call(program, *args)`; note in `run` what it gives or raises, and what it prints.

    NotAttempted if a handler is still a stub. WrongHandler passes.
    """
    printed = io.StringIO()
    try:
        with redirected(count_characters(printed)):
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
    """Return an exception with its causes and contexts, in words.

    Parameters
    ----------
    error
        What the program raised.
    program_globals
        The globals of the program. An exception that was raised in other code is left out: a
        handler of the machine has caught it, and CPython's run has none.
    earlier
        The exceptions that led to this one. If a chain leads back to one of them, it ends there.
    """
    text = describe_error_alone(error)
    earlier = (*earlier, error)
    links = (
        (" from ", error.__cause__),
        (" while handling ", error.__context__),
    )
    for relation, link in links:
        if link is None or _was_caught_by_handler(link, program_globals):
            continue
        if error.__suppress_context__ and error.__cause__ is None:
            return f"{text} from None"
        if any(link is each for each in earlier):
            return f"{text}{relation}{describe_error_alone(link)} again"
        return f"{text}{relation}{_write_chain(link, program_globals, earlier)}"
    return text


def _was_caught_by_handler(error: BaseException, program_globals: dict) -> bool:
    """Return whether an exception was raised in other code than the program with these globals."""
    trace = error.__traceback__
    return trace is not None and trace.tb_frame.f_globals is not program_globals


def list_stacks(machine: type, program: Callable, args: tuple) -> Listing:
    """Return what was on the machine's stack before each instruction of a run."""
    columns = (
        Column("function", "in"),
        Column("offset", "offset"),
        Column("opname", "about to run", code=True),
        Column("stack", "your stack (top at the right)", code=True),
    )
    states = run_machine(machine, program, args).states
    rows = [replace(state, stack=write_stack(state.stack)) for state in states[:MOST_ROWS]]
    hidden_count = len(states) - len(rows)
    note = f"{hidden_count} more instructions ran." if hidden_count else ""
    title = f"What your machine did in {show_call(program, args)}"
    return Listing(title, columns, tuple(rows), note)


def write_stack(stack: tuple[str, ...]) -> str:
    """Return a stack as a list, the bottom first."""
    return f"[{', '.join(stack)}]"


def show_call(program: Callable, args: tuple) -> str:
    """Return a call as it would be written, with the program's body if that is short."""
    first_line, *lines = inspect.getsource(program).strip().splitlines()
    arguments = f"({', '.join(map(short_repr, args))})"
    name = program.__name__
    if name == "<lambda>":
        # The line is an item of a list in vm_programs, perhaps as `*(… for …),`.
        tree = ast.parse(first_line.strip().strip("*,"))
        node = next(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))
        return f"({ast.unparse(node)}){arguments}"

    # On one line. After a colon, the first statement of a block follows without a semicolon.
    body = "; ".join(line.strip() for line in lines if line).replace(":;", ":")
    if len(body) > LONGEST_BODY:
        return f"{name}{arguments}"
    return f"{name}{arguments} of `{body}`"
