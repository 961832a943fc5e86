"""A learner's machine and a program -> how its run parts from CPython's, in words, or None.

Output, value and exception are compared with CPython's. So are the stacks before every instruction
of every function of the program with those that CPython itself kept, read from its memory. The
first place where they part is told, with the last of the learner's own handlers that ran there.
"""

import copy
import io
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from helpers.capture.text.value import brief
from helpers.mini import vm
from helpers.model.phrase import stop
from helpers.safety.answer_limits import counted
from helpers.safety.output import redirected
from helpers.study.chapter_3.kept_stacks import is_told, plain_places
from helpers.study.chapter_3.parting import Place, parting
from helpers.study.chapter_3.run_words import called, end_of
from helpers.study.check import Untried
from helpers.study.two_answers import parted

MOST_HANDLERS = 3_000  # of one run: the longest program here needs some 300
COUNTED = ("CALL", "BUILD_LIST", "BUILD_TUPLE")  # their first argument counts their operands
RAISES = ("RAISE_VARARGS", "RERAISE")
OTHER_STACK = (
    "puts another list in the place of self.stack, and self.push and self.pop keep to the first; "
    "change the list itself, as in self.stack[-1] = value"
)
DEEPEST = 40  # values of a stack that are looked at: no program here has half as many


class _Stub(vm.Halt):
    """A handler returned `...`: it is not written yet."""


class _Silent(vm.Halt):
    """A handler returned where it must raise."""


class _OtherStack(vm.Halt):
    """A handler put another list in the place of its frame's stack."""


class _TooLong(vm.Halt):
    """The machine goes on and on."""


class Run(NamedTuple):
    """What a run did. `end`: what it gave or raised, `exact`: the same to the last digit."""

    end: str
    exact: str
    printed: str


class Trail:
    """What a machine did. `places`: before every instruction; `handlers`: all that ran.

    A handler is noted with the number of places before it, its own included; so is what one of them
    `raised`.
    """

    def __init__(self):
        self.places: list[Place] = []
        self.raised: dict[int, BaseException] = {}
        self.handlers: list[tuple[int, str, int]] = []
        self._calls: dict[int, tuple[int, object]] = {}

    def note(self, frame, name: str, space: dict) -> None:
        """Write down that a handler is about to run."""
        step = frame.steps[frame.at - 1]
        if step.first and frame.globals is space and is_told(frame.code):
            call, _ = self._calls.setdefault(id(frame), (len(self._calls), frame))
            stack = tuple(map(brief, frame.stack[-DEEPEST:]))
            self.places.append(Place(call, frame.code.co_name, step.offset, name, stack))
        self.handlers.append((len(self.places), name, step.offset))


def difference(machine: type, program, *args, own=()) -> str | None:
    """Return how the machine's run of `program(*args)` differs from CPython's, or None.

    `own`: the names of the handlers that may be to blame; all, if none is given. Untried, with its
    name, if a handler returns `...`.
    """
    trail, machine = Trail(), watched(machine)
    machine.begin(trail, program.__globals__)

    def mends(name: str) -> bool:
        """Tell whether all is well where this handler finds its operands in reverse order."""
        again, turned = Trail(), watched(_turned(machine.__bases__[0], name))
        turned.begin(again, program.__globals__)
        with suppress(vm.Halt):
            return (_run(turned().run, program, args), again.places) == (real, places)
        return False

    try:
        ours = _run(machine().run, program, args)
    except _Stub as stub:
        raise Untried(str(stub)) from None
    except vm.Unwritten:
        raise Untried from None
    except _Silent as silent:
        return f"{called(program, args)}: your {silent} must raise, and it returned"
    except _OtherStack as other:
        return f"{called(program, args)}: your {other} {OTHER_STACK}"
    except vm.Missing as missing:
        return str(missing)
    real, places = _real(program, _Given(args))
    told = called(program, args)
    if real.exact != ours.exact:
        yours, cpythons = _told_apart(ours, real)
        why = parting(trail, places, program, own, mends)
        return parted(f"{told}: ", yours, cpythons, "CPython", f"{stop(cpythons)} {why}")
    if real.printed != ours.printed:
        part = trail.places != places
        why = parting(trail, places, program, own, mends) if part else ""
        why = why or " ".join(f"Look at your {name}." for name in own if len(own) == 1)
        printed = f"prints {ours.printed!r}", f"prints {real.printed!r}"
        return parted(f"{told}: ", *printed, "CPython", f". {why}".rstrip())
    if places and trail.places != places:
        why = parting(trail, places, program, own, mends)
        return f"{told}: yours {ours.end}, as in CPython, but by another way. {why}"
    return None


def _told_apart(ours: Run, real: Run) -> tuple[str, str]:
    return (ours.end, real.end) if ours.end != real.end else (ours.exact, real.exact)


def watched(machine: type) -> type:
    """Return the machine with `begin(trail, space)`, after which every handler writes to `trail`.

    One that is watched already comes back as it is.
    """
    if hasattr(machine, "begin"):
        return machine
    now = {}

    def begin(trail: Trail, space: dict) -> None:
        now.update(count=iter(range(MOST_HANDLERS)), trail=trail, space=space, busy=set())

    def watching(name):
        def run_it(self, *arguments):
            if next(now["count"], None) is None:
                raise _TooLong
            busy, me, stack = now["busy"], id(self), self.stack
            if is_first := me not in busy:  # not one that another handler calls
                now["trail"].note(self, name, now["space"])
                busy.add(me)
            try:
                given = getattr(super(Watched, self), name)(*arguments)
            except Exception as error:
                now["trail"].raised[len(now["trail"].places)] = error
                raise
            finally:
                if is_first:
                    busy.discard(me)
            if self.stack is not stack:
                raise _OtherStack(name)
            if given is ...:
                raise _Stub(name)
            if name in RAISES:
                raise _Silent(name)

        return run_it

    methods = {name: watching(name) for name in vm.opcodes(machine)}
    Watched = type("frame", (machine,), methods | {"begin": staticmethod(begin)})  # noqa: N806
    return Watched


def _turned(machine: type, name: str) -> type:
    """Return the machine in which one handler finds its operands in reverse order."""

    def turned(self, *arguments):
        count = arguments[0] if name in COUNTED else 2
        self.stack.extend([self.stack.pop() for _ in range(count)])
        return getattr(super(Turned, self), name)(*arguments)

    Turned = type("frame", (machine,), {name: turned})  # noqa: N806
    return Turned


class _Given:
    """Arguments as a key: the same ones, or others that are written the same way."""

    def __init__(self, args):
        self.args, self._words = args, repr(args)

    def __eq__(self, other):
        return self._words == other._words

    def __hash__(self):
        return hash(self._words)


@lru_cache(maxsize=1000)
def _real(program, given: _Given) -> tuple[Run, list[Place]]:
    """Return what CPython does with the program: it is asked once."""
    run = _run(lambda fn, *args: fn(*args), program, given.args)
    return run, plain_places(program, _fresh(given.args))


def _fresh(args):
    """Return a copy that a wrong handler may spoil."""
    return copy.deepcopy(args)


def _run(call, program, args) -> Run:
    printed, space = io.StringIO(), program.__globals__
    try:
        with redirected(counted(printed)):
            value = call(program, *_fresh(args))
    except _TooLong:
        end = exact = "gives nothing: it never ends"
    except vm.Halt:
        raise
    except (Exception, GeneratorExit, SystemExit) as error:
        end, exact = end_of(error, space, raised=True)
    else:
        end, exact = end_of(value, space)
    return Run(end, exact, printed.getvalue())
