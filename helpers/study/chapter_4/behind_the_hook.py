"""Chapter 4: chapter 3's machine runs every frame of one function, behind the frame hook.

Judged by what the programs give, by the frames that the machine was seen to run, and by the
interpreter's slot before, during and after.
"""

from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache
from types import CodeType
from typing import NamedTuple

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.mini import frame_hook, vm
from helpers.model.phrase import ended
from helpers.safety.missing_parts import MissingPart
from helpers.safety.patches import patched, undone
from helpers.study.chapter_3.machine_runs import write_exactly as exact
from helpers.study.chapter_4 import hooked_programs as programs
from helpers.study.chapter_4.forms import function
from helpers.study.check import Exercise, Untried, tried

HOOK_KEEPS = "must return None, a code object or something to call"
NO_ONLY = "Your hook has no `only=`, so it is asked about every frame, of fn or not"


class Seen(NamedTuple):
    """What machines of one kind ran: the code of all frames, and of those that a run began with."""

    frames: list[CodeType]
    first: list[CodeType]


def _machine(seen: Seen) -> type:
    """Return a machine of its own kind, which tells what it runs."""

    class Counted(_finished()):
        def run(self, *given, **named):
            if not isinstance(self, Counted):
                raise TypeError("machine is a class: machine() makes one that runs")
            return super().run(*given, **named)

        def frame(self, code, *given):
            if self.thread.top is None:
                seen.first.append(code)
            seen.frames.append(code)
            return super().frame(code, *given)

    return Counted


@cache
def _finished() -> type:
    return vm.machine(*vm.WHOLE)


def _judge(behind_the_hook):
    function(behind_the_hook, "behind_the_hook", "machine, fn, program")
    if because := frame_hook.why_not():
        raise MissingPart(f"This machine has no hook to judge it with: {because}.")
    with _taken_off() as entered:
        whys = (_judge_one(behind_the_hook, program, fn) for program, fn in _cases())
        because = next(filter(None, whys), None)
    asked_of_all = entered and entered[-1]._codes is None
    return f"{ended(because)} {NO_ONLY}" if because and asked_of_all else because


def _cases() -> list[tuple]:
    """Return (program, function); torch's hook replaces no frame that has free variables."""
    torchs = "torch" in frame_hook.available()
    return [case for case in programs.CASES if not (torchs and case[1].__code__.co_freevars)]


@contextmanager
def _taken_off():
    """Give a list of the hooks that an answer switches on; take off those that it has left on."""
    entered, enter = [], frame_hook.watching.__enter__

    def noting(self):
        entered.append(self)
        return enter(self)

    def off():
        for hook in reversed(entered):
            with suppress(Exception):  # what its callback has raised
                hook.__exit__(None, None, None)

    with undone(off), patched(frame_hook.watching, __enter__=noting):
        yield entered


def _judge_one(behind_the_hook, program: Callable, fn) -> str | None:
    real, count = _plainly(program, fn)
    before, code, during, seen = _slot(), fn.__code__, [], Seen([], [])

    def watched():
        during.append((_slot(), fn.__code__))
        return program()

    ours = _end(behind_the_hook, _machine(seen), fn, watched)
    left = _slot()
    if fn.__code__ is not code:
        fn.__code__ = code
        return f"{fn.__name__} has another code object now; leave it, the callback replaces frames"
    if left != before:
        return "the hook is still on afterwards; a `with` block takes it off, whatever happens"
    if not during and ours[1].startswith("raises"):
        return f"yours {ours[1]}, before it called {program.__name__}"
    return _ways(during, before, code, program) or _runs(ours, real, seen, count, program, fn)


def _plainly(program, fn) -> tuple[tuple[str, str], int]:
    """Return how the program ends in CPython, and how many frames of `fn` it starts."""
    frames = []
    with frame_hook.watching(lambda code, values: frames.append(code), only=fn):
        end = _end(program)
    return end, len(frames)


def _end(call, *args) -> tuple[str, str]:
    """Return how a call ends: in words to compare, and in a few to read."""
    try:
        value = tried(call(*args))
        if type(value) is tuple and any(item is ... for item in value):
            raise Untried("what stands in for the frame")
        return f"gives {exact(value)}", f"gives {brief(value)}"
    except Untried:
        raise
    except (Exception, SystemExit) as error:
        return f"raises {said(error)}", f"raises {said(error)}"


def _slot() -> list[str]:
    return [evaluator.name for evaluator in frame_hook.installed()]


def _ways(during, before, code, program) -> str | None:
    """Say what is wrong with the way to the program: called once, under a hook, fn as it was."""
    if len(during) != 1:
        return f"{program.__name__} was called {len(during)} times; call it once, under the hook"
    if during[0][0] == before:
        return "no hook was on while the program ran; use `with frame_hook.watching(…)`"
    if during[0][1] is not code:
        return "the function had another code object meanwhile; leave it to the callback"
    return None


def _runs(ours, real, seen: Seen, count: int, program, fn) -> str | None:
    name, ran = fn.__name__, seen.frames.count(fn.__code__)
    others = [code for code in seen.first if code is not fn.__code__]
    if HOOK_KEEPS in ours[1]:
        return f"yours {ours[1]}. Give the hook something to call, and it will call it"
    if others:
        return f"the machine was set to run {others[0].co_name}; only frames of {name} are its own"
    if ours[0] != real[0]:
        short = 0 if ours[1] == real[1] else 1
        told = f"yours {ours[short]}, CPython {real[short]}"
        return f"{program.__name__}(), with {name} in the machine: {told}"
    if ran != count:
        return (
            f"CPython starts {count} frames of {name} in {program.__name__}(), and the machine "
            f"that you were given ran {ran}"
        )
    return None


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
