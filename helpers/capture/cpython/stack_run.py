"""One call of a Python function -> its instructions, with the real value stack before each."""

import sys
from types import MethodType

from helpers.capture.cpython.code_rows import MOST_NAMED
from helpers.capture.cpython.opcode_recorder import MOST_STEPS, Fold, Recorder
from helpers.capture.cpython.raised_here import raised_here
from helpers.capture.cpython.settrace import MOST_PRINTED
from helpers.capture.cpython.stack_steps import Draft
from helpers.capture.cpython.unwrapping import to_run
from helpers.capture.text.value import plain, seen
from helpers.internals import interpreter_frame
from helpers.model.stack import StackRun
from helpers.safety.arguments import is_a


def record(fn, args=(), kwargs=None, **options) -> Recorder:
    """Return the raw record of one call; see `Recorder` for the options.

    TypeError for what has no bytecode to run; RuntimeError on an interpreter that is not read.
    """
    if interpreter_frame.unsupported():
        raise RuntimeError(interpreter_frame.unsupported())
    return Recorder(**options).run(to_run(fn, args, "watch_stack"), args, dict(kwargs or {}))


def stack_run(fn, *args, **kwargs) -> StackRun:
    """Return a step per instruction that `fn(*args, **kwargs)` runs, with the real stack before it.

    Followed are the functions of the same module, called however deep; any other call is one step.
    A generator function is run to its end. Rounds of a loop after the second and before the last
    are left out, and the record stops after `MOST_STEPS`; notes say so. What the function raises is
    part of the record. TypeError and RuntimeError as `record`.

    Where `fn` is the `run` of a machine of handlers (mini/vm), the first argument is the function,
    and the stack is the machine's own.
    """
    if _is_machines_run(fn):
        from helpers.capture.cpython.machine_steps import machine_run

        return machine_run(fn, *args, **kwargs)
    recorder = record(fn, args, kwargs, look=seen)
    draft, function = Draft(recorder), recorder.watched.function
    draft.pages.place(function.__code__)
    steps = tuple(raised_here(draft.steps()))
    title = f"{plain(function.__name__)}, instruction by instruction"
    return StackRun(
        title,
        draft.pages.text,
        steps,
        _note(recorder),
        outcome=recorder.result.sentence,
        real=not any(tables.doubt for tables in recorder.codes.values()),
        recorded=recorder.events,
        codes=draft.listed(),
    )


def _is_machines_run(fn) -> bool:
    """Tell whether `fn` is the `run` of a machine; there is none while its module is not loaded."""
    vm = sys.modules.get("helpers.mini.vm")
    own = vm is not None and type(fn) is MethodType and is_a(fn.__self__, vm.Loop)
    return own and fn.__func__ is vm.Loop.run


def _note(recorder: Recorder) -> str:
    watched = recorder.watched
    parts = [*watched.sentences, recorder.result.sentence, watched.unreached(recorder.calls > 0)]
    if recorder.result.driven:
        parts.append("The generator was run to its end.")
    if any(type(moment) is Fold for moment in recorder.moments):
        parts.append("Of each loop the first two and the last rounds are shown.")
    if recorder.stopped:
        parts.append(f"{recorder.stopped}; the run went on unrecorded.")
    if recorder.printed.more:
        parts.append(f"Only the first {MOST_PRINTED:,} characters that it printed are kept.")
    for name, number in _many_names(recorder).items():
        parts.append(f"Of the {number:,} variables of {name} the first {MOST_NAMED} are shown.")
    doubts = {plain(t.code.co_name): t.doubt for t in recorder.codes.values() if t.doubt}
    for name, doubt in doubts.items():
        parts.append(f"The stack of {name} is recomputed from its bytecode, not read: {doubt}.")
    return " ".join(filter(None, parts))


def _many_names(recorder: Recorder) -> dict[str, int]:
    """Return the functions that have more variables than are shown, and how many."""
    numbers = ((t.code.co_name, len(t.names)) for t in recorder.codes.values())
    return {plain(name): number for name, number in numbers if number > MOST_NAMED}


__all__ = ["MOST_STEPS", "record", "stack_run"]
