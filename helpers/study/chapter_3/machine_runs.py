"""A learner's machine and a program -> how its run differs from CPython's, in words, or None."""

import ast
import copy
import inspect
import io
import re
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import zip_longest

from helpers.capture.text.error import error_words
from helpers.capture.text.value import short_repr
from helpers.mini import vm
from helpers.model.tables import Column, Listing
from helpers.safety.limits import counted
from helpers.safety.standard_output import redirected
from helpers.study.chapter_3.kept_stacks import Place, is_told, plain_places
from helpers.study.check import Mismatch, NotAttempted, describe_difference

MOST_HANDLERS = 3_000  # of one run: the longest program here needs some 300
LONGEST_BODY, MOST_ROWS, MOST_BESIDE = 60, 40, 12
Row = namedtuple("Row", "mark at mine right")  # of two runs side by side
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
OUTSIDE = "Your machine did not run that frame. Let self.call make the call."
MISSING = "A value is missing. Either one too many was popped, or a result was not pushed."
TOO_MANY = "There is one value too many. It was left on the stack, or pushed without need."
ON_TOP = {"BINARY_OP": "right operand", "COMPARE_OP": "right operand", "CALL": "last argument"}
ON_TOP |= {"CONTAINS_OP": "container", "BINARY_SUBSCR": "key"}
ON_TOP |= dict.fromkeys(("BUILD_LIST", "BUILD_TUPLE"), "last item")
TIPS = {name: f"Before it runs, the {what} is on top." for name, what in ON_TOP.items()}
TIPS |= {
    "COPY": "COPY(1) means the top itself, and COPY(2) means the value below it.",
    "SWAP": "SWAP(n) exchanges the top and the n-th value from the top, but what is between stays.",
    "FOR_ITER": "The iterator stays below the item until StopIteration. Let other errors through.",
}


class _Stub(vm.Halt):
    """A handler is not written yet, because it returned `...`."""


class _Wrong(vm.Halt):
    """A handler did something that is wrong in every program. The message says what."""


@dataclass
class Run:
    """The end, output and stacks of a run. A machine's also has (places so far, handler)."""

    end: str = ""
    printed: str = ""
    places: list[Place] = field(default_factory=list)
    handlers: list[tuple[int, str]] = field(default_factory=list)


def difference(machine: type, program: Callable, args: tuple, own=()) -> str | None:
    """Return how the machine's run of `program(*args)` differs from CPython's, or None."""
    call = f"{show_call(program, args)}: "
    real = Run(places=plain_places(program, copy.deepcopy(args)))
    _finish(real, lambda fn, *given: fn(*given), program, args)
    try:
        ours = run_machine(machine, program, args)
    except (_Wrong, vm.Missing) as wrong:
        return f"{call}{wrong}"
    why = "" if ours.places == real.places else f". {_say_where(ours, real, own)}"
    ends = (ours.end, real.end), (ours.printed, real.printed)
    apart = next(((mine, right) for mine, right in ends if mine != right), None)
    if not (apart or why):
        return None
    words = Mismatch(f"{call}yours {ours.end}, as in CPython, but the runs differ on the way{why}")
    words = describe_difference(call, *apart, "CPython", why) if apart else words
    words.picture = compare_stacks(ours.places, real.places) if why else None
    return words


def compare_stacks(ours: list[Place], real: list[Place]) -> Listing:
    """Return both stacks before each instruction, up to the first difference."""
    pairs = [*zip_longest(ours, real)]
    end = next(n for n, (mine, right) in enumerate(pairs, 1) if mine != right)
    start = max(0, end - MOST_BESIDE)
    names = {"mark": "same", "at": "about to run", "mine": "your stack", "right": "CPython's stack"}
    columns = tuple(Column(field, words, code=field != "mark") for field, words in names.items())
    rows = [_write_pair(*pair) for pair in pairs[start:end]]
    note = f"≠: the first difference. Left out: {start} earlier instructions, where both agree."
    title = "Both runs, up to the first difference"
    return Listing(title, columns, tuple(rows), note if start else note.partition(" Left")[0])


def _write_pair(mine: Place | None, right: Place | None) -> Row:
    at = ["the end" if one is None else f"{one.offset} {one.opname}" for one in (mine, right)]
    stacks = ("" if one is None else f"[{', '.join(one.stack)}]" for one in (mine, right))
    both = at[0] if at[0] == at[1] else f"yours: {at[0]}; CPython: {at[1]}"
    return Row("≠" if mine != right else "=", both, *stacks)


def list_stacks(machine: type, program: Callable, args: tuple) -> Listing:
    """Return what was on the machine's stack before each instruction of a run."""
    columns = (
        *(Column("function", "in"), Column("offset", "offset")),
        Column("opname", "about to run", code=True),
        Column("stack", "your stack (top at the right)", code=True),
    )
    places = run_machine(machine, program, args).places
    rows = [place._replace(stack=f"[{', '.join(place.stack)}]") for place in places]
    rest = f"{len(rows) - MOST_ROWS} more instructions ran." if len(rows) > MOST_ROWS else ""
    title = f"What your machine did in {show_call(program, args)}"
    return Listing(title, columns, tuple(rows[:MOST_ROWS]), rest)


def show_call(program: Callable, args: tuple) -> str:
    """Return a call as it would be written, with the program's body if that is short."""
    first, *lines = inspect.getsource(program).strip().splitlines()
    given, name = f"({', '.join(map(short_repr, args))})", program.__name__
    if name == "<lambda>":
        nodes = ast.walk(ast.parse(first.strip().strip("*,")))
        return f"({ast.unparse(next(n for n in nodes if isinstance(n, ast.Lambda)))}){given}"
    body = "; ".join(line.strip() for line in lines if line).replace(":;", ":")
    return f"{name}{given} of `{body}`" if len(body) <= LONGEST_BODY else f"{name}{given}"


def run_machine(machine: type, program: Callable, args: tuple) -> Run:
    """Run `program(*args)` on the machine, with a note of every handler that runs."""
    run, calls = Run(), {}

    def watching(name: str):
        def run_it(self, *arguments):
            step = self.steps[self.at - 1]
            own = self.globals is program.__globals__ and is_told(self.code)
            if len(run.handlers) > MOST_HANDLERS:
                raise _Wrong("yours never ends")
            if step.opname == name:  # else another handler calls this one
                if step.first and own:
                    call, _ = calls.setdefault(id(self), (len(calls), self))
                    stack = tuple(map(short_repr, self.stack))
                    run.places.append(Place(call, self.code.co_name, step.offset, name, stack))
                run.handlers.append((len(run.places), name))
            if getattr(super(Watched, self), name)(*arguments) is ...:
                raise _Stub(name)
            if name in ("RAISE_VARARGS", "RERAISE"):
                raise _Wrong(f"your {name} must raise, but it returned")

        return run_it

    handlers = {name: watching(name) for name in vm.opcodes(machine)}
    Watched = type("frame", (machine,), handlers)  # noqa: N806
    _finish(run, Watched().run, program, args)
    return run


def _finish(run: Run, call: Callable, program: Callable, args: tuple) -> None:
    printed = io.StringIO()
    try:
        with redirected(counted(printed)):
            run.end = f"gives {ADDRESS.sub('', repr(call(program, *copy.deepcopy(args))))}"
    except (_Stub, vm.Unwritten) as stub:
        raise NotAttempted(stub if type(stub) is _Stub else "") from None
    except vm.Halt:
        raise
    except (Exception, GeneratorExit, SystemExit) as error:
        run.end = f"raises {_write_chain(error, program.__globals__)}"
    run.printed = f"prints {printed.getvalue()!r}"


def _write_chain(error: BaseException, space: dict, before: tuple = ()) -> str:
    """Return an exception with its causes and contexts, without what a handler caught.

    `before`: the exceptions that led to this one. Where a chain is a circle, it ends there.
    """
    words, before = error_words(error), (*before, error)
    for how, link in ((" from ", error.__cause__), (" while handling ", error.__context__)):
        trace = link.__traceback__ if link is not None else None
        if link is None or (trace is not None and trace.tb_frame.f_globals is not space):
            continue
        if error.__suppress_context__ and error.__cause__ is None:
            return f"{words} from None"
        if any(link is each for each in before):
            return f"{words}{how}{error_words(link)} again"
        return f"{words}{how}{_write_chain(link, space, before)}"
    return words


def _say_where(ours: Run, real: Run, own) -> str:
    """Return where two runs first differ, which handler ran there, and what that usually means."""
    pairs = enumerate(zip_longest(real.places, ours.places))
    at, there, here = next((at, there, here) for at, (there, here) in pairs if there != here)
    ran = [name for seen, name in ours.handlers if seen <= at]
    name = next((one for one in ran[::-1] if not own or one in own), ran[-1])
    tip = TIPS.get(name, "")
    if there is None or here is None:
        what = "one of the two runs ends there"
    elif there.call != here.call:
        what, tip = f"CPython continued in {there.function}", OUTSIDE
    elif there.offset != here.offset:
        what = f"yours continued at offset {here.offset}, CPython at {there.offset}"
        tip = f"{name} jumps only on its condition." if "IF" in name else tip
    else:
        what = f"yours left [{', '.join(here.stack)}], CPython left [{', '.join(there.stack)}]"
        more = len(here.stack) - len(there.stack)
        if more and name not in ("COPY", "SWAP", "FOR_ITER"):
            tip = MISSING if more < 0 else TOO_MANY
    return f"They first differ at {name}: {what}. {tip}".strip()
