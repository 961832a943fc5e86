"""Measure how much slower a call is under each kind of tracer, compared with a call without one.
A *hook* is one of the two places where a program can set a tracer: `sys.settrace` for a tracer,
`sys.setprofile` for a profiler.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import CodeType, FunctionType
from typing import NamedTuple

from ...internals.own_hooks import build_profiler_setter, build_tracer_setter, is_of_program
from ...model.cost_records import Costs
from ...safety.dynamo_aside import leave_to_python
from ..text.value import format_text
from .aside import (
    HOOK_NAMES_IN_SYS,
    HOOK_NAMES_ON_FRAMES,
    PROFILER,
    TRACER,
    describe_set_again,
    describe_visible_hooks,
)
from .costs import measure_costs
from .objects import GENERATOR, list_global_names
from .stack_run import record_instructions
from .unwrapping import find_watched_function

VERB = "watch_tracers"
# Up to Python 3.12, reading `frame.f_locals` copies all variables of a function into a dict.
COPIES_VARIABLES = sys.version_info < (3, 13)
COPIES = (
    "It reads its variables as a dict. Up to Python 3.12 a tracer of sys.settrace writes that "
    "dict anew at each event, so a call under one may do something else than a call alone."
)
ITERATED = (
    "It is a generator function: a call alone only makes the generator, and watch_stack's "
    "record runs it to its end."
)
# Names with which a program may read its variables as a dict.
_READS_VARIABLES = {"locals", "vars", "eval", "exec", "dir", "f_locals", "_getframe"}


class Hook(NamedTuple):
    """One of the two places where a program can set a tracer."""

    #: `read()` returns the tracer or profiler that is set, or None.
    read: Callable
    #: `set_again()` sets the tracer or profiler that was set when this record was made.
    set_again: Callable


def measure_tracers(fn, /, *args, **kwargs) -> Costs:
    """Time `fn(*args, **kwargs)` under each kind of tracer, as a multiple of a call without one."""
    function, sentences, call = find_watched_function(fn, VERB, args)
    if any(hasattr(type(value), "__next__") for value in (*args, *kwargs.values())):
        raise TypeError(
            f"{VERB} calls the function many times, and an iterator can be used only once: "
            "pass a list"
        )
    call = partial(call, *args, **kwargs)
    changed: set[str] = set()
    with _without_tracers(changed) as is_set_again_by_name:
        actions = list_tracers(function, call, changed)
        listing = measure_costs(call, actions, f"calls of {format_text(function.__name__)} alone")

    code = function.__code__
    notes = [
        *sentences,
        listing.note,
        # The next two are "" if the program has set no tracer, and does not ask for one.
        describe_set_again(is_set_again_by_name),
        describe_visible_hooks(code, (*HOOK_NAMES_IN_SYS, *HOOK_NAMES_ON_FRAMES)),
    ]
    if code.co_flags & GENERATOR:
        notes.append(ITERATED)
    if COPIES_VARIABLES and _reads_variables(code):
        notes.append(COPIES)
    return replace(listing, note=" ".join(filter(None, notes)))


def _reads_variables(code: CodeType) -> bool:
    """Return whether code may read its variables as a dict: it has a name such as `locals`."""
    return bool(_READS_VARIABLES & {*code.co_names, *list_global_names(code)})


@contextmanager
def _without_tracers(changed: set[str]) -> Iterator[dict[str, bool]]:
    """Remove the program's tracer and profiler in a `with` block, and set them again after it.

    Under them, every call would be slow, and the kinds of tracers could not be compared.

    Parameters
    ----------
    changed : set of str
        `TRACER` or `PROFILER`, for a hook that the program has changed in the block. What the
        program has set there is not replaced.

    Yields
    ------
    is_set_again_by_name : dict of str to bool
        `TRACER` or `PROFILER`, if the program had set one -> whether it is set again. The values
        are right only after the block.
    """
    hooks = {
        TRACER: Hook(sys.gettrace, build_tracer_setter()),
        PROFILER: Hook(sys.getprofile, build_profiler_setter()),
    }
    earlier_hooks = {name: hook.read() for name, hook in hooks.items()}
    is_set_again_by_name = {}
    for name, earlier_hook in earlier_hooks.items():
        if is_of_program(earlier_hook):
            is_set_again_by_name[name] = False
    sys.settrace(None)
    sys.setprofile(None)
    try:
        yield is_set_again_by_name
    finally:
        # The tracer is set last, because it would be called for the functions that are called here.
        for name, hook in reversed(hooks.items()):
            is_unchanged = hook.read() is None and name not in changed
            if is_unchanged:
                hook.set_again()
            if name in is_set_again_by_name:
                is_set_again_by_name[name] = is_unchanged and hook.read() is earlier_hooks[name]


def list_tracers(function: FunctionType, call: Callable, changed: set[str]) -> dict[str, Callable]:
    """Return name of a kind of tracer -> a function that makes the call under such a tracer.

    Parameters
    ----------
    function : FunctionType
        The function whose lines and instructions are traced.
    call : functools.partial
        `call()` calls the function.
    changed : set of str
        `TRACER` or `PROFILER` is added if the program changes this hook during a call.
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
    """Return `call()`, made under a tracer or a profiler that does nothing.

    Parameters
    ----------
    call : Callable
        Makes the call.
    code : CodeType
        The code object whose frames send events for lines or instructions.
    changed : set of str
        `TRACER` or `PROFILER` is added if the program changes this hook during the call.
    wanted : str
        "profile" for a profiler. For a tracer: "calls", "lines" or "opcodes", which are the events
        that it gets.
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
        name, read_hook, set_hook, own_hook = PROFILER, sys.getprofile, sys.setprofile, profile
    else:
        name, read_hook, set_hook, own_hook = TRACER, sys.gettrace, sys.settrace, enter
    earlier_hook = read_hook()
    # Python 3.12 sends instructions only if some frame asked for them before `settrace`.
    sys._getframe().f_trace_opcodes = wanted == "opcodes"
    try:
        set_hook(own_hook)
        return call()
    finally:
        if read_hook() is own_hook:
            set_hook(earlier_hook)
        else:  # the program has set a hook of its own, or none, which stays
            changed.add(name)
        sys._getframe().f_trace_opcodes = False
