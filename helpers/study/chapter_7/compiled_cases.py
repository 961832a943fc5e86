"""Chapter 7: compiled code that a tool does not see, and a switch that no guard checks."""

import os
import sys
from collections.abc import Callable
from math import prod
from unittest.mock import patch

from helpers.internals import dynamo_settings, torch_private
from helpers.internals.compiled_apart import compiled_apart
from helpers.study.answers import InvalidAnswer, require_attempt, require_items
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, read_parts
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.frameworks import torch
from helpers.study.graph_log import GraphLog


class CompiledLog(GraphLog):
    """A compiled `fn`, with what its backend has compiled; `runs` has those of the last call."""

    def __init__(self, fn):
        """Prepare `fn`, a function or module, to be compiled at its first call."""
        torch_private.refuse_late_dynamo()
        super().__init__()
        self._compiled_function = torch.compile(fn, backend=self.backend)

    def __call__(self, *args):
        """Call the compiled function, and note the runs of its graphs."""
        self.runs.clear()
        return self._compiled_function(*args)


def _count_up(shape: tuple[int, ...]):
    """Return a tensor of the numbers from 1 on."""
    return torch.arange(1.0, 1 + prod(shape)).reshape(shape)


def _shows_other_code(model) -> bool:
    """Return whether an exhibit's model shows the code that Dynamo wrote.

    A drawing of what torch keeps has a node for it, and `show_compiled` a title.
    """
    labels = [getattr(node, "label", "") for node in read_parts(model, "nodes")]
    has_title = "What Dynamo made of" in getattr(model, "title", "")
    return "new code" in labels or has_title


def halved(x):
    """Return half of it, its rows summed up."""
    y = x / 2
    if x.dim() > 1:
        y = y.sum(0)
    return y


TESTS = (  # shapes of the calls that a test makes; None: the test fails
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
    # `@diagnosed` has judged seam and proof. `cured(test, function)` is the learner's tool.
    rows = [("for halved", shapes) for shapes in TESTS]
    with dynamo_settings.restore_config():
        try:
            cases = make_cases(_run_tool, rows, advise_on_first_part())
            return find_difference(cured, _trace_with_stance, cases)
        finally:
            torch.compiler.set_stance("default")


def _trace_with_stance(test: Callable, function):
    """Do what a right answer does: torch.compile steps aside while a tracer notes the lines.

    Return what the test returns, and the lines of the function that ran, from its `def`.
    """
    code = function.__code__
    lines = set()

    def tracer(frame, event, arg):
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
    """Return what a learner's tool notes of a test, and what is left of the compiled function.

    `tool(test, function)` runs the test and returns its result and the lines. The test calls the
    compiled function for each of the `shapes`, or raises LookupError if they are None.
    """
    torch.compiler.set_stance("default")  # whatever another tool has left
    log = CompiledLog(halved)
    _call_with_shapes(log)  # it is compiled before the tool comes
    graph_count = log.compiled
    saved_tracer = sys.gettrace()
    test_runs = []
    has_propagated = False

    def test():
        test_runs.append(True)
        if shapes is None:
            raise LookupError("a test failed")
        return _call_with_shapes(log, shapes)

    try:
        pair = require_attempt(tool(test, halved))
    except LookupError:
        has_propagated = True
    finally:
        remaining_tracer = sys.gettrace()
        sys.settrace(saved_tracer)  # whatever the tool has left

    if shapes is None:
        pair = (None, ())  # a test that fails has no result, whether its error came out or not
    pair = require_items(pair, limit=100, what="the result of cured")
    if len(pair) != 2:
        raise InvalidAnswer("cured must return the result of the test and the lines")
    result, lines = pair

    # If the tool left all as it was, this runs graphs, and compiles none.
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
SETTINGS = ("1", "10", "0.5", "10", None, "1", "-3")  # None: it is not set, and 1 holds
SHAPES = ((1, 2), (3, 2), (2, 4, 2))  # of x


def _shows_no_guard(model) -> bool:
    """Return whether a model's guards check `os.getenv` but not `os.environ`, or it has a hit."""
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
    """Return label -> the result for each setting of the switch, and whether a graph ran.

    `cls` is the learner's module, which is compiled, or `broken`, which runs uncompiled as the
    reference.
    """
    x = _count_up(shape)
    module = require_attempt(cls())
    log = None if cls is broken else CompiledLog(module)

    values = {}
    for number, setting in enumerate(SETTINGS, 1):
        words = f"call {number}, {SWITCH} is {setting or 'not set'}"
        with patch.dict(os.environ, {SWITCH: setting or ""}):
            if setting is None:
                del os.environ[SWITCH]  # patch.dict restores it
            result = require_attempt((log or module)(x), "forward")
            values[f"{words}: the result"] = _round_result(result)
            values[f"{words}: a graph ran"] = log is None or len(log.runs) > 0

    graph_count = log.compiled if log else 0
    limit = len(set(SETTINGS))  # a graph for each setting is allowed
    values[f"graphs beyond {limit}"] = max(0, graph_count - limit)
    return values


def _round_result(tensor) -> list | str:
    """Return rounded numbers in lists, or "none" for None."""
    if tensor is None:
        return "none"
    return tensor.detach().numpy().round(4).tolist()
