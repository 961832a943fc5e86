"""A call, under each way in which CPython lets itself be watched -> what each costs, as ratios."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from helpers.capture.cpython.costs import Costs, costs_listing
from helpers.capture.cpython.function import function_of, refuse_async
from helpers.capture.cpython.stack_run import record
from helpers.capture.text.value import brief, plain
from helpers.safety.patches import undone

TOOL = "watch_tracers"
mro_of, vars_of = (type.__dict__[name].__get__ for name in ("__mro__", "__dict__"))
STICKY = (
    "Python 3.12 remembers that some frame asked for instructions: from then on every use of "
    "sys.settrace in this process pays for them."
)


def tracer_costs(fn, *args) -> Costs:
    """Return what a call of `fn(*args)` costs under each tracer, in calls without one.

    The callbacks do nothing but count, so this is the price of being called. sys.monitoring is
    there from 3.12 on. What was traced or monitored before goes on afterwards. TypeError if `fn` is
    no Python function, or an argument is an iterator; RuntimeError if sys.monitoring has no tool id
    left. What `fn` raises is raised.
    """
    function, own = function_of(fn, "watch_tracers")
    refuse_async(function, "watch_tracers")
    for value in args:
        if any("__next__" in vars_of(kind) for kind in mro_of(type(value))):
            raise TypeError(
                "watch_tracers calls the function many times, and an iterator can be used only "
                f"once: give it a list in the place of {brief(value)}"
            )
    call = partial(function, *own, *args)
    name = plain(function.__name__)
    with undone(partial(_give_back, function)):
        found = costs_listing(call, tracers(function, call), f"calls of {name} alone")
    sticky = sys.version_info[:2] == (3, 12)
    return replace(found, note=f"{STICKY} {found.note}") if sticky else found


def tracers(function, call: Callable) -> dict[str, Callable]:
    """Return name -> a function that makes the call under that tracer."""
    actions = {
        "sys.setprofile: calls": partial(_profiled, call),
        "sys.settrace: calls": partial(_traced, call, function.__code__, {}),
        "sys.settrace: lines": partial(_traced, call, function.__code__, {"lines": True}),
        "sys.settrace: instructions": partial(_traced, call, function.__code__, {"opcodes": True}),
    }
    if hasattr(sys, "monitoring"):
        for name, event in _events().items():
            actions[f"sys.monitoring: {name}"] = partial(_monitored, call, function, event)
    actions["watch_stack's record"] = partial(record, call.func, call.args)
    return actions


def _profiled(call: Callable):
    before = sys.getprofile()
    try:
        sys.setprofile(lambda frame, event, argument: None)
        return call()
    finally:
        sys.setprofile(before)


def _traced(call: Callable, code, wanted: dict):
    def local(frame, event, argument):
        return local

    def enter(frame, event, argument):
        if frame.f_code is not code or not wanted:
            return None
        frame.f_trace = local
        frame.f_trace_lines, frame.f_trace_opcodes = "lines" in wanted, "opcodes" in wanted
        return local

    before, own = sys.gettrace(), sys._getframe()
    own.f_trace_opcodes = "opcodes" in wanted  # 3.12 wants to know before settrace
    try:
        sys.settrace(enter)
        return call()
    finally:
        sys.settrace(before)
        own.f_trace_opcodes = False


def _monitored(call: Callable, function, event: int):
    monitoring = sys.monitoring
    free = [number for number in range(5, -1, -1) if monitoring.get_tool(number) is None]
    if not free:
        raise RuntimeError("all tool ids of sys.monitoring are in use: free one of them first")
    try:
        monitoring.use_tool_id(free[0], TOOL)
        monitoring.register_callback(free[0], event, lambda *found: None)
        monitoring.set_local_events(free[0], function.__code__, event)
        return call()
    finally:
        _give_back(function)


def _give_back(function) -> None:
    """Leave no tool of ours with sys.monitoring, nor events that it asked for."""
    monitoring = getattr(sys, "monitoring", None)
    for number in range(6) if monitoring else ():
        if monitoring.get_tool(number) == TOOL:
            monitoring.set_local_events(number, function.__code__, 0)
            for event in _events().values():
                monitoring.register_callback(number, event, None)
            monitoring.free_tool_id(number)


def _events() -> dict[str, int]:
    events = sys.monitoring.events
    return {"calls": events.PY_START, "lines": events.LINE, "instructions": events.INSTRUCTION}
