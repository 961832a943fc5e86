"""A call, under each way in which CPython lets itself be watched -> what each costs, as ratios."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from helpers.capture.costs import Costs, costs_listing
from helpers.capture.functions import function_of, refuse_async
from helpers.capture.stack import record

TOOL = "watch_tracers"
STICKY = (
    "Python 3.12 remembers that some frame asked for instructions: from then on every use of "
    "sys.settrace in this process pays for them."
)


def tracer_costs(fn, *args) -> Costs:
    """Return what a call of `fn(*args)` costs under each tracer, in calls without one.

    The callbacks do nothing but count, so this is the price of being called. sys.monitoring is
    there from 3.12 on. What was traced or monitored before goes on afterwards. TypeError if `fn` is
    no Python function.
    """
    function, own = function_of(fn, "watch_tracers")
    refuse_async(function, "watch_tracers")
    call = partial(function, *own, *args)
    found = costs_listing(call, tracers(function, call), f"calls of {function.__name__} alone")
    return replace(found, note=STICKY) if sys.version_info[:2] == (3, 12) else found


def tracers(function, call: Callable) -> dict[str, Callable]:
    """Return name -> a function that makes the call under that tracer."""
    actions = {
        "sys.setprofile: calls": partial(_profiled, call),
        "sys.settrace: calls": partial(_traced, call, function.__code__, {}),
        "sys.settrace: lines": partial(_traced, call, function.__code__, {"lines": True}),
        "sys.settrace: instructions": partial(_traced, call, function.__code__, {"opcodes": True}),
    }
    if hasattr(sys, "monitoring"):
        events = sys.monitoring.events
        for name, event in (
            ("calls", events.PY_START),
            ("lines", events.LINE),
            ("instructions", events.INSTRUCTION),
        ):
            actions[f"sys.monitoring: {name}"] = partial(_monitored, call, function, event)
    actions["watch_stack's record"] = partial(record, call.func, call.args)
    return actions


def _profiled(call: Callable):
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: None)
    try:
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
    sys.settrace(enter)
    try:
        return call()
    finally:
        sys.settrace(before)
        own.f_trace_opcodes = False


def _monitored(call: Callable, function, event: int):
    monitoring = sys.monitoring
    tool = next(n for n in range(5, -1, -1) if monitoring.get_tool(n) is None)
    monitoring.use_tool_id(tool, TOOL)
    monitoring.register_callback(tool, event, lambda *found: None)
    monitoring.set_local_events(tool, function.__code__, event)
    try:
        return call()
    finally:
        monitoring.set_local_events(tool, function.__code__, 0)
        monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
