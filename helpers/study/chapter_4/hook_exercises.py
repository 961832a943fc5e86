"""Judge an exercise: a frame hook that has one function run on a Python-written bytecode machine.

The learner installs a hook (PEP 523), which CPython calls for each frame that begins. The hook has
to run the frames of one function on a machine, and to leave all other frames to CPython.
"""

# ruff: noqa: D103 - the names of the functions say what they are

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from helpers.mini import frame_hook, vm
from helpers.safety.missing_parts import MissingPart
from helpers.safety.restoring import patched
from helpers.study.answers import require_no_stub
from helpers.study.chapter_3.machine_runs import format_call
from helpers.study.check import exercise
from helpers.study.engine import advise_by_part, find_difference, make_cases
from helpers.study.sentences import describe_result


def nested(n):
    return [n, *map(nested, range(n))]


def every_kind(a, /, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more


def only_rest(*rest):
    return 12 // rest[0], rest[1:]


PROGRAMS = (  # a program, and the function in it whose frames the machine must run
    (lambda: nested(2), nested),
    (lambda: (every_kind(1, c=3), every_kind(1, 5, 6, 7, d=0, c=8, z=9)), every_kind),
    (lambda: only_rest(2, {"a": 1}), only_rest),
    (lambda: only_rest(0), only_rest),
)
ADVICE_BEHIND = {
    "hook afterwards": "a `with` block switches the hook off, whatever happens",
    "frames in the machine": "the machine that you are given must run every frame of fn, and of "
    "fn alone (`only=fn`); call program once",
}


BEHIND_THE_HOOK_HINTS = (
    "What can the hook's callback return so that the frame is not evaluated at all?",
    "Return a callable. The hook calls it with the frame's values, and it returns what "
    "machine().run(fn, …) returns. `only=fn` leaves all other frames to CPython.",
    "The values come in the order of co_varnames. First come co_argcount values, then "
    "co_kwonlyargcount values that you pass by name. Then come the tuple of *args, if co_flags & "
    "inspect.CO_VARARGS, and the dict of **kwargs, if co_flags & inspect.CO_VARKEYWORDS.",
    "with frame_hook.watching(lambda code, values: stand_in, only=fn): return program()",
)


@exercise(*BEHIND_THE_HOOK_HINTS)
def behind_the_hook(behind_the_hook: Callable):
    """Your machine ran every frame of that function, and CPython ran all others."""
    reason = frame_hook.why_not()
    if reason:
        raise MissingPart(f"This machine has no hook for the check: {reason}.")

    # (text, arguments of `_run_behind_hook`)
    rows = [(format_call(program, ()), program, fn) for program, fn in PROGRAMS]
    # Each case runs with the answer, and with `_run_in_cpython` in place of a correct answer.
    cases = make_cases(_run_behind_hook, rows, advise_by_part(ADVICE_BEHIND, "CPython"))
    return find_difference(behind_the_hook, _run_in_cpython, cases, "CPython")


def _run_in_cpython(machine, fn, program):
    """Return what a correct answer returns, for comparison, but let CPython run the frames.

    The frames are counted as if the machine had run them. `machine` is the CountingMachine of
    `_run_behind_hook`.
    """

    def count_frame(code, values):  # it returns None, so the hook leaves the frame to CPython
        machine.frames[code.co_name] += 1

    with frame_hook.watching(count_frame, only=fn):
        return program()


def _run_behind_hook(program: Callable, fn: Callable, answer: Callable) -> dict:
    """Call an answer with a machine, a function and a program that calls the function.

    Return a dict: "hook afterwards" is "on" or "off", "ends" says how the program ended, and
    "frames in the machine" maps the name of a function to how many frames of it the machine ran.
    """
    hook_before = frame_hook.installed()
    real_enter = frame_hook.watching.__enter__
    entered_hooks = []

    def enter_and_note(hook):
        """Enter a hook as usual, and note it, so that `_remove_hooks` can leave it."""
        entered_hooks.append(hook)
        return real_enter(hook)

    class CountingMachine(vm.machine(*vm.WHOLE)):
        frames = Counter()  # name of a code object -> how many frames of it were made

        def frame(self, code, *given):
            self.frames[code.co_name] += 1
            return super().frame(code, *given)

    try:
        with patched(frame_hook.watching, __enter__=enter_and_note):
            ending = describe_result(require_no_stub(answer(CountingMachine, fn, program)))
    except ZeroDivisionError:  # the program `only_rest(0)` raises it, and so must an answer
        ending = "raises ZeroDivisionError"
    finally:
        is_off = frame_hook.installed() == hook_before
        _remove_hooks(entered_hooks)
    return {
        "hook afterwards": "off" if is_off else "on",
        "ends": ending,
        "frames in the machine": dict(CountingMachine.frames),
    }


def _remove_hooks(hooks: list) -> None:
    """Leave the hooks that an answer left on, the last one first."""
    for hook in reversed(hooks):
        with suppress(Exception):  # leaving a hook raises an error of its callback
            hook.__exit__(None, None, None)
