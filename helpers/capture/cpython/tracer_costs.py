"""One call under each kind of tracer -> how many calls without one take as long."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import CodeType, FunctionType
from typing import NamedTuple

from ...internals.own_hooks import is_of_program, profiler_setter, tracer_setter
from ...model.cost_records import Costs
from ...safety.dynamo_aside import leave_to_python
from ..text.value import format_text
from .aside import OF_FRAMES, OF_SYS, PROFILER, TRACER, describe_findings, describe_set_again
from .costs import measure_costs
from .objects import GENERATOR, list_global_names
from .stack_run import record_instructions
from .unwrapping import find_watched_function

VERB = "watch_tracers"
# Up to Python 3.12 `frame.f_locals` is a dict that is made anew.
COPIES_VARIABLES = sys.version_info < (3, 13)
COPIES = (
    "It reads its variables as a dict. Up to Python 3.12 a tracer of sys.settrace writes that "
    "dict anew at each event, so a call under one may do something else than a call alone."
)
ITERATED = (
    "It is a generator function: a call alone only makes the generator, and watch_stack's "
    "record runs it to its end."
)
_READS_VARIABLES = {"locals", "vars", "eval", "exec", "dir", "f_locals", "_getframe"}


class Hook(NamedTuple):
    """One of the two places where a program can set a tracer."""

    #: Returns what is set.
    read: Callable
    #: Takes no argument, and sets again what was set when the hook was read.
    set_again: Callable


def measure_tracers(fn, /, *args, **kwargs) -> Costs:
    """Time `fn(*args)` under each kind of tracer, as a multiple of a call without one."""
    function, sentences, call = find_watched_function(fn, VERB, args)
    if any(hasattr(type(value), "__next__") for value in (*args, *kwargs.values())):
        raise TypeError(
            f"{VERB} calls the function many times, and an iterator can be used only once: "
            "pass a list"
        )
    call = partial(call, *args, **kwargs)
    changed: set[str] = set()
    with _without_tracers(changed) as aside:
        actions = list_tracers(function, call, changed)
        listing = measure_costs(call, actions, f"calls of {format_text(function.__name__)} alone")

    code = function.__code__
    notes = [
        *sentences,
        listing.note,
        # These two may be "".
        describe_set_again(aside),
        describe_findings(code, (*OF_SYS, *OF_FRAMES)),
    ]
    if code.co_flags & GENERATOR:
        notes.append(ITERATED)
    if COPIES_VARIABLES and _reads_variables(code):
        notes.append(COPIES)
    return replace(listing, note=" ".join(filter(None, notes)))


def _reads_variables(code: CodeType) -> bool:
    """Return whether code asks for its variables as a dict, as far as its names tell."""
    return bool(_READS_VARIABLES & {*code.co_names, *list_global_names(code)})


@contextmanager
def _without_tracers(changed: set[str]) -> Iterator[dict[str, bool]]:
    """Put an active tracer and profiler aside: under them all would be slow, and look alike.

    Yield the words for each that was set -> whether it is set again, which is known when the block
    has ended. What the program sets in the block stays.

    Parameters
    ----------
    changed : set of str
        The words for each hook that the program has set, or taken away, in the block.
    """
    hooks = {
        TRACER: Hook(sys.gettrace, tracer_setter()),
        PROFILER: Hook(sys.getprofile, profiler_setter()),
    }
    before = {words: hook.read() for words, hook in hooks.items()}
    aside = {words: False for words, function in before.items() if is_of_program(function)}
    sys.settrace(None)
    sys.setprofile(None)
    try:
        yield aside
    finally:
        # The tracer comes last, because it would report what runs here for the profiler.
        for words, hook in reversed(hooks.items()):
            is_free = hook.read() is None and words not in changed
            if is_free:  # else the program has set its own in the block, or taken ours away
                hook.set_again()
            if words in aside:
                aside[words] = is_free and hook.read() is before[words]


def list_tracers(function: FunctionType, call: Callable, changed: set[str]) -> dict[str, Callable]:
    """Return name -> a function that makes the call under that tracer.

    Parameters
    ----------
    function : FunctionType
        The function whose frame is traced.
    call : functools.partial
        Makes the call.
    changed : set of str
        Gets the words for each hook that the program sets, or takes away.
    """
    call_traced = partial(_call_traced, call, function.__code__, changed)
    return {
        "sys.setprofile: calls": partial(call_traced, "profile"),
        "sys.settrace: calls": partial(call_traced, "calls"),
        "sys.settrace: lines": partial(call_traced, "lines"),
        "sys.settrace: instructions": partial(call_traced, "opcodes"),
        "watch_stack's record": partial(record_instructions, call.func, call.args),
    }


def _call_traced(call: Callable, code: CodeType, changed: set[str], wanted: str):
    """Make a call under a tracer or a profiler that does nothing, and return its result.

    Parameters
    ----------
    call : Callable
        Makes the call.
    code : CodeType
        The code object whose frames send lines or instructions.
    changed : set of str
        Gets the words for the hook if the program sets it, or takes it away.
    wanted : str
        Which events are sent: profile, calls, lines or opcodes.
    """

    def trace_frame(frame, event, argument):
        """Do nothing, and stay the tracer of the frame."""
        return trace_frame

    def enter(frame, event, argument):
        """Choose the events of a frame that begins."""
        if frame.f_code is not code or wanted == "calls":
            return None
        frame.f_trace = trace_frame
        frame.f_trace_lines = wanted == "lines"
        frame.f_trace_opcodes = wanted == "opcodes"
        return trace_frame

    def profile(frame, event, argument):
        pass

    leave_to_python(trace_frame, enter, profile)
    if wanted == "profile":
        words, read, write, own_function = PROFILER, sys.getprofile, sys.setprofile, profile
    else:
        words, read, write, own_function = TRACER, sys.gettrace, sys.settrace, enter
    before = read()
    # Python 3.12 sends instructions only if some frame asked for them before `settrace`.
    sys._getframe().f_trace_opcodes = wanted == "opcodes"
    try:
        write(own_function)
        return call()
    finally:
        if read() is own_function:
            write(before)
        else:  # the program has set a hook of its own, which stays
            changed.add(words)
        sys._getframe().f_trace_opcodes = False
