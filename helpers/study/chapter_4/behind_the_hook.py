"""Chapter 4: chapter 3's machine runs every frame of one function, behind the frame hook.

Judged by what the programs give, by the frames that the machine was seen to run, and by the
interpreter's slot before, during and after.
"""

# ruff: noqa: D103 - the functions say what they are by their names

from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache

from helpers.capture.text.error import said
from helpers.mini import frame_hook, vm
from helpers.safety.missing_parts import MissingPart
from helpers.safety.restoring import patched, undone
from helpers.study.chapter_3.machine_runs import show_call, write_exactly
from helpers.study.engine import Case, Exercise, Untried, advise_by_part, say_difference, tried

ENDS, FRAMES, FIRST = "ends", "frames in the machine", "what the machine was set to run"
CALLED, DURING, AFTER, CODE = "calls of program", "hook meanwhile", "hook afterwards", "__code__"
ONLY = "the machine runs frames of fn alone: give the hook `only=fn`"
ADVICE = {
    CALLED: "call program once, under the hook, and return what it returns",
    DURING: "use `with frame_hook.watching(…)`",
    AFTER: "a `with` block takes the hook off, whatever happens",
    CODE: "leave the function as it is; the callback replaces its frames",
    ENDS: "answer with a callable; the hook calls it with the frame's values",
    FIRST: ONLY,
    FRAMES: "every frame of fn is to be run by the machine that you are given",
}


def plus(a, b=10):
    return a + b


def nested(n):
    return [n, *map(nested, range(n))]


def every_kind(a, /, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more


def only_named(*, first, second=2):
    return first, second


def only_more(**more):
    return more


def only_rest(*rest):
    return rest


def share(n):
    try:
        return 12 // n
    finally:
        print("", end="")


CASES = [
    (lambda: (plus(1), plus(b=2, a=3), list(map(plus, [1, 2], [3, 4]))), plus),
    (lambda: nested(2), nested),
    (lambda: (every_kind(1, c=3), every_kind(1, 5, 6, 7, d=0, c=8, z=9)), every_kind),
    (lambda: (only_named(second=3, first=1), only_named(first=0)), only_named),
    (lambda: (only_more(b=1, a=2), only_more()), only_more),
    (lambda: (only_rest(2, 1), only_rest(), only_rest({"a": 1})), only_rest),
    (lambda: (share(4), share(0)), share),
    (lambda: plus(0), nested),
]


@cache
def _finished() -> type:
    return vm.machine(*vm.WHOLE)


def _count_runs(frames: list, first: list) -> type:
    """Return a machine of its own kind, which notes the code of the frames that it runs."""

    class Counted(_finished()):
        def frame(self, code, *given):
            if self.thread.top is None:
                first.append(code.co_name)
            frames.append(code)
            return super().frame(code, *given)

    return Counted


def _judge(behind_the_hook: Callable):
    if because := frame_hook.why_not():
        raise MissingPart(f"This machine has no hook to judge it with: {because}.")
    with _taken_off():
        for program, fn in CASES:
            mine, real = _run(behind_the_hook, program, fn), _expect(program, fn)
            if mine != real:
                case = Case(show_call(program, ()), _run, advise_by_part(ADVICE, "CPython"))
                return say_difference(case, mine, real, "CPython")
    return None


@contextmanager
def _taken_off():
    """Take off the hooks that an answer switches on and leaves on."""
    entered, enter = [], frame_hook.watching.__enter__

    def noting(self):
        entered.append(self)
        return enter(self)

    def off():
        for hook in reversed(entered):
            with suppress(Exception):  # what its callback has raised
                hook.__exit__(None, None, None)

    with undone(off), patched(frame_hook.watching, __enter__=noting):
        yield


def _run(answer: Callable, program: Callable, fn: Callable) -> dict:
    before, code, during, frames, first = _slot(), fn.__code__, [], [], []

    def watched():
        during.append("off" if _slot() == before else "on")
        return program()

    ends = _end(answer, _count_runs(frames, first), fn, watched)
    kept = "as it was" if fn.__code__ is code else "another one"
    fn.__code__ = code
    return {
        CALLED: len(during),
        DURING: during[:1],
        AFTER: "off" if _slot() == before else "on",
        CODE: kept,
        FIRST: sorted({*first} - {fn.__name__}),
        ENDS: ends,
        FRAMES: frames.count(code),
    }


def _expect(program: Callable, fn: Callable) -> dict:
    frames = []
    with frame_hook.watching(lambda code, values: frames.append(code), only=fn):
        ends = _end(program)
    found = {CALLED: 1, DURING: ["on"], AFTER: "off", CODE: "as it was", FIRST: []}
    return found | {ENDS: ends, FRAMES: len(frames)}


def _end(call: Callable, *args) -> str:
    try:
        value = tried(call(*args))
        if type(value) is tuple and any(item is ... for item in value):
            raise Untried("what stands in for the frame")
        return f"gives {write_exactly(value)}"
    except Untried:
        raise
    except (Exception, SystemExit) as error:
        return f"raises {said(error)}"


def _slot() -> list[str]:
    return [evaluator.name for evaluator in frame_hook.installed()]


BEHIND_THE_HOOK = Exercise(
    "behind_the_hook",
    _judge,
    "Your machine ran every frame of that function, and CPython all others.",
    (
        "What may the hook's callback answer, so that the frame is not evaluated at all?",
        "Answer with a callable. The hook calls it with the frame's values, and it returns what "
        "machine().run(fn, …) returns. `only=fn` keeps all other frames away.",
        "The values come in the order of co_varnames: co_argcount of them, then "
        "co_kwonlyargcount, which are given by name. Then the tuple of *args, if co_flags & "
        "inspect.CO_VARARGS, and the dict of **kwargs, if co_flags & inspect.CO_VARKEYWORDS.",
        "with frame_hook.watching(lambda code, values: stand_in, only=fn): return program()",
    ),
)
