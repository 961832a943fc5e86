"""Chapter 7: compiled code that a tool does not see, and a switch that no guard checks. Both
exercises ask for a *seam* (the place where something intercepts a call), a *proof* (an exhibit that
shows it) and a *cure* (code). `@diagnosed` judges seam and proof, and the functions here run the
cure. torch.compile (its compiler is called Dynamo) runs a *graph* in place of the Python function,
if the conditions of that graph, its *guards*, still hold.
"""

import os
import sys
from collections.abc import Callable
from math import prod
from unittest.mock import patch

from helpers.internals import dynamo_settings, torch_private
from helpers.internals.compiled_apart import compiled_apart
from helpers.study.answers import InvalidAnswer, require_items, require_no_stub
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, read_parts
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.frameworks import torch
from helpers.study.graph_log import GraphLog


class CompiledLog(GraphLog):
    """A compiled function that counts the graphs which are compiled and which run.

    `compiled` is the number of graphs so far, and `runs` are the graphs that ran in the last call.
    """

    def __init__(self, fn):
        """Prepare to compile `fn`, a function or a torch module, at its first call."""
        torch_private.refuse_late_dynamo()
        super().__init__()
        self._compiled_function = torch.compile(fn, backend=self.backend)

    def __call__(self, *args):
        """Call the compiled function, and note the runs of its graphs."""
        self.runs.clear()
        return self._compiled_function(*args)


def _count_up(shape: tuple[int, ...]):
    """Return a tensor of this shape with the numbers 1, 2, 3, …"""
    return torch.arange(1.0, 1 + prod(shape)).reshape(shape)


def _shows_other_code(model) -> bool:
    """Return whether an exhibit's model shows the code that Dynamo wrote.

    Two exhibits do: a graph that has a node with the label "new code", and that of `show_compiled`,
    which is known by its title.
    """
    labels = [getattr(node, "label", "") for node in read_parts(model, "nodes")]
    has_title = "What Dynamo made of" in getattr(model, "title", "")
    return "new code" in labels or has_title


def halved(x):
    """Return half of a vector, or of a matrix half of the sum of its rows."""
    y = x / 2
    if x.dim() > 1:
        y = y.sum(0)
    return y


# Each item is one test: the shapes of the tensors with which it calls the function, or None for a
# test that fails.
TESTS = (
    ((3,),),
    ((2, 2),),
    ((3,), (2, 2)),
    (),
    None,
)


BLIND_TOOL_HINTS = (
    "A tracer sees the lines of the code object that the interpreter runs. Is that the code of "
    "clipped? Something else decides before the interpreter runs it.",
    "After a call, show_compiled(compiled) draws what torch keeps for the code of clipped, and "
    "what runs instead of it.",
    "torch.compile can step aside for the length of a block and keep what it has compiled. Look "
    "for a stance in torch.compiler.",
    'with torch.compiler.set_stance("force_eager"): return covered(test, function)',
)
BLIND_TOOL_ADVICE = {"name": "the tool looks for the code of clipped, but which code runs?"}
BLIND_TOOL_EVIDENCE = (
    Evidence(
        "evaluator",
        _shows_other_code,
        "the code that runs in a call, which nobody wrote by hand. Look after a call of it",
        "frame",  # a tracer sees the frame that runs, which has another code object
    ),
)


@exercise(*BLIND_TOOL_HINTS, seconds=60)
@diagnosed(BLIND_TOOL_ADVICE, *BLIND_TOOL_EVIDENCE)
def blind_tool(seam, proof, cured: Callable):
    """The tool sees each line that a test runs, and the compiled code is still there afterwards."""
    # `@diagnosed` has judged seam and proof. `cured(test, function)` is the learner's tool. Each
    # case runs it and the reference `_trace_with_stance`, and the first difference is reported.
    rows = [("for halved", shapes) for shapes in TESTS]
    with dynamo_settings.restore_config():
        try:
            cases = make_cases(_run_tool, rows, advise_on_first_part())
            return find_difference(cured, _trace_with_stance, cases)
        finally:
            torch.compiler.set_stance("default")


def _trace_with_stance(test: Callable, function):
    """Do what a right answer does: turn off compiled code, and trace the lines that a test runs.

    This is the reference for the learner's `cured`. Return (result of the test, lines of the
    function that ran), where the line of the `def` is 0.
    """
    code = function.__code__
    lines = set()

    def tracer(frame, event, arg):
        """Note a line of the function. Python calls this at each event of each frame."""
        if event == "line" and frame.f_code is code:
            lines.add(frame.f_lineno - code.co_firstlineno)
        return tracer

    saved_tracer = sys.gettrace()
    with torch.compiler.set_stance("force_eager"):
        sys.settrace(tracer)
        try:
            return test(), sorted(lines)
        finally:
            sys.settrace(saved_tracer)


@compiled_apart()
def _run_tool(shapes: tuple | None, tool: Callable) -> dict:
    """Return label -> observation, for a learner's tool that runs one test.

    `tool(test, function)` runs the test, and returns its result and the lines that ran. The test
    calls a compiled function with a tensor of each of the `shapes`, or raises LookupError if they
    are None. The observations say what the tool returned, whether it has restored tracer and
    stance, and whether the compiled code still runs.
    """
    torch.compiler.set_stance("default")  # another tool may have left another stance
    log = CompiledLog(halved)
    _call_with_shapes(log)  # compiles the function before the tool is called
    graph_count = log.compiled
    saved_tracer = sys.gettrace()
    test_runs = []
    has_propagated = False

    def test():
        """Call the compiled function for each shape. The learner's tool calls this."""
        test_runs.append(True)
        if shapes is None:
            raise LookupError("a test failed")
        return _call_with_shapes(log, shapes)

    try:
        pair = require_no_stub(tool(test, halved))
    except LookupError:
        has_propagated = True
    finally:
        remaining_tracer = sys.gettrace()
        sys.settrace(saved_tracer)  # the tool may have left its own

    if shapes is None:
        pair = (None, ())  # a test that fails has no result, even if the tool has hidden the error
    pair = require_items(pair, limit=100, what="the result of cured")
    if len(pair) != 2:
        raise InvalidAnswer("cured must return the result of the test and the lines")
    result, lines = pair

    # If the tool has left the compiled code alone, this call runs graphs and compiles none.
    _call_with_shapes(log)
    return {
        "the runs of the test": len(test_runs),
        # An error must come out exactly if the test raises one.
        "an error of the test propagates": has_propagated == (shapes is None),
        "the tracer is as before": remaining_tracer is saved_tracer,
        "the result of the test": result,
        "the lines": require_items(lines, limit=1000, what="the lines"),
        "the stance afterwards": dynamo_settings.read_stance(),
        "compiled afterwards": len(log.runs) > 0,
        "graphs compiled once more": log.compiled - graph_count,
    }


def _call_with_shapes(function: Callable, shapes: tuple = ((3,), (2, 2))) -> list:
    """Call a function with a tensor of each shape; return its results."""
    return [function(_count_up(shape)) for shape in shapes]


SWITCH = "CLINIC_GAIN"
SETTINGS = ("1", "10", "0.5", "10", None, "1", "-3")  # None: not set, which means 1
SHAPES = ((1, 2), (3, 2), (2, 4, 2))  # of x


def _shows_no_guard(model) -> bool:
    """Return whether an exhibit's model proves that no guard checks the switch.

    The proof is a table of guards that check the function `os.getenv` and not `os.environ`, or a
    ledger with a hit: compiled code ran although the switch had changed.
    """
    sources = [guard.source for guard in read_parts(model, "guards")]
    guards_function = any("getenv" in source for source in sources)
    guards_setting = any("environ" in source for source in sources)
    has_hit = "hit" in read_parts(model, "verdicts")
    return has_hit or (guards_function and not guards_setting)


DEAD_SWITCH_HINTS = (
    "What does Gained read besides its argument? What checks before each call that it has not "
    "changed?",
    "After a call of the compiled model, show_guards(model.forward) lists what is checked. Look "
    "for the function that reads the switch, and for what it reads.",
    "Read the switch where Python runs, in a method that @torch.compiler.disable keeps out of the "
    "graph. Pass the number on as a tensor, because a tensor's value is not part of a key.",
)
DEAD_SWITCH_ADVICE = {
    "cache key": "Dynamo's key is its guards. At which station are they asked?",
    "name": "the name os.getenv refers to the right function, but does anything call it?",
    "frame": "the second call evaluates no frame of getenv. What decided that?",
    "C call": "the C call multiplies correctly. Where does its factor come from?",
}
DEAD_SWITCH_EVIDENCE = (
    Evidence(
        "evaluator",
        _shows_no_guard,
        "what is checked before a call, or a hit although the switch has changed",
    ),
)


@exercise(*DEAD_SWITCH_HINTS, seconds=60)
@diagnosed(DEAD_SWITCH_ADVICE, *DEAD_SWITCH_EVIDENCE)
def dead_switch(seam, proof, cured: type, broken):
    """The switch works in compiled code, with no more graphs than settings."""
    # `@diagnosed` has judged seam and proof. `broken` is right as long as it is not compiled.
    if not issubclass(cured, torch.nn.Module):
        return f"cured must be a subclass of torch.nn.Module, not {cured.__name__}"
    rows = [(f"for x of shape {shape}", shape, broken) for shape in SHAPES]
    with dynamo_settings.restore_config():
        cases = make_cases(_run_settings, rows, advise_on_first_part("eager code"))
        return find_difference(cured, broken, cases, "eager code")


@compiled_apart()
def _run_settings(shape, broken: type, cls: type) -> dict:
    """Return label -> observation: for each setting of the switch the result, and if a graph ran.

    `cls` is the learner's module, which is compiled. It may also be `broken`, the program of the
    exercise, which runs uncompiled as the reference: its results are right then. The switch is an
    environment variable.
    """
    x = _count_up(shape)
    module = require_no_stub(cls())
    log = None if cls is broken else CompiledLog(module)  # the reference has no log

    values = {}
    for number, setting in enumerate(SETTINGS, 1):
        label = f"call {number}, {SWITCH} is {setting or 'not set'}"
        with patch.dict(os.environ, {SWITCH: setting or ""}):
            if setting is None:
                del os.environ[SWITCH]  # patch.dict restores it
            result = require_no_stub((log or module)(x), "forward")
            values[f"{label}: the result"] = _round_result(result)
            values[f"{label}: a graph ran"] = log is None or len(log.runs) > 0

    graph_count = log.compiled if log else 0
    limit = len(set(SETTINGS))  # one graph for each setting is allowed
    values[f"graphs beyond {limit}"] = max(0, graph_count - limit)
    return values


def _round_result(tensor) -> list | str:
    """Return the numbers of a tensor, rounded, in nested lists, or "none" for None."""
    if tensor is None:
        return "none"
    return tensor.detach().numpy().round(4).tolist()
