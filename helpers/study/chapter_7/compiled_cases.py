"""Chapter 7: compiled code that a tool does not see, and a switch that no guard checks."""

import os
import sys
from collections.abc import Callable
from math import prod
from unittest.mock import patch

from helpers.internals import torch_private
from helpers.internals.compiled_apart import compiled_apart
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import find_difference, in_order, make_cases, say_first_part, torch
from helpers.study.graph_log import GraphLog


class _Compiled(GraphLog):
    """What `torch.compile` made of `fn`; `runs` is of the last call."""

    def __init__(self, fn):
        torch_private.refuse_late_dynamo()
        super().__init__()
        self._fn = torch.compile(fn, backend=self.backend)

    def __call__(self, *args):
        self.runs.clear()
        return self._fn(*args)


SHAPES = ((1, 2), (3, 2), (2, 4, 2))


def _plain(tensor):
    return "none" if tensor is None else tensor.detach().numpy().round(4).tolist()


def _shows_other_code(model) -> bool:
    labels = [getattr(node, "label", "") for node in parts(model, "nodes")]
    return "new code" in labels or "What Dynamo made of" in getattr(model, "title", "")


def halved(x):
    """Return half of it, its rows summed up."""
    y = x / 2
    if x.dim() > 1:
        y = y.sum(0)
    return y


TESTS = (((3,),), ((2, 2),), ((3,), (2, 2)), (), None)  # shapes of calls; the last one fails


@exercise(
    "A tracer sees the lines of the code object that the interpreter runs. Is that the code of "
    "clipped? Something else decides before the interpreter runs it.",
    "After a call, show_compiled(compiled) draws what torch keeps for the code of clipped, and "
    "what runs instead of it.",
    "torch.compile can step aside for the length of a block and keep what it has compiled. Look "
    "for a stance in torch.compiler.",
    'with torch.compiler.set_stance("force_eager"): return covered(test, function)',
    seconds=60,
)
@diagnosed(
    {"name": "the tool looks for the code of clipped, but which code runs?"},
    Evidence(
        "evaluator",
        _shows_other_code,
        "the code that runs in a call, which nobody wrote by hand. Look after a call of it",
        "frame",  # a tracer sees the frame that runs, which has another code object
    ),
)
def blind_tool(seam, proof, cured: Callable):
    """The tool sees each line that a test runs, and the compiled code is still there afterwards."""
    with torch_private.same_settings():
        try:
            cases = make_cases(_run, (("for halved", shapes) for shapes in TESTS), say_first_part())
            return find_difference(cured, _reference, cases)
        finally:
            torch.compiler.set_stance("default")


def _reference(test, function):
    code, lines, before = function.__code__, set(), sys.gettrace()

    def tracer(frame, event, arg):
        if event == "line" and frame.f_code is code:
            lines.add(frame.f_lineno - code.co_firstlineno)
        return tracer

    with torch.compiler.set_stance("force_eager"):
        sys.settrace(tracer)
        try:
            return test(), sorted(lines)
        finally:
            sys.settrace(before)


@compiled_apart()
def _run(shapes, tool) -> dict:
    torch.compiler.set_stance("default")  # whatever another tool has left
    log, runs, raised = _Compiled(halved), [], False
    _call(log)  # it is compiled before the tool comes
    graphs, tracer = log.compiled, sys.gettrace()

    def test():
        runs.append(True)
        if shapes is None:
            raise LookupError("a test failed")
        return _call(log, shapes)

    try:
        pair = tried(tool(test, halved))
    except LookupError:
        raised = True
    finally:
        left = sys.gettrace()
        sys.settrace(tracer)
    pair = (None, ()) if shapes is None else in_order(pair, 100, "the result of cured")
    if len(pair) != 2:
        raise InvalidAnswer("cured must return the result of the test and the lines")
    _call(log)
    return {
        "the runs of the test": len(runs),
        "an error of the test propagates": raised == (shapes is None),
        "the tracer is as before": left is tracer,
        "the result of the test": pair[0],
        "the lines": in_order(pair[1], 1000, "the lines"),
        "the stance afterwards": torch_private.stance(),
        "compiled afterwards": len(log.runs) > 0,
        "graphs compiled once more": log.compiled - graphs,
    }


def _call(function, shapes=((3,), (2, 2))) -> list:
    return [function(torch.arange(1.0, 1 + prod(shape)).reshape(shape)) for shape in shapes]


SWITCH = "CLINIC_GAIN"
SETTINGS = ("1", "10", "0.5", "10", None, "1", "-3")  # None: it is not set, and 1 holds


def _shows_no_guard(model) -> bool:
    asked = [guard.source for guard in parts(model, "guards")]
    unasked = any("getenv" in one for one in asked) and not any("environ" in one for one in asked)
    return unasked or "hit" in parts(model, "verdicts")


@exercise(
    "What does Gained read besides its argument? What checks before each call that it has not "
    "changed?",
    "After a call of the compiled model, show_guards(model.forward) lists what is checked. Look "
    "for the function that reads the switch, and for what it reads.",
    "Read the switch where Python runs, in a method that @torch.compiler.disable keeps out of the "
    "graph. Pass the number on as a tensor, because a tensor's value is not part of a key.",
    seconds=60,
)
@diagnosed(
    {
        "cache key": "Dynamo's key is its guards. At which station are they asked?",
        "name": "the name os.getenv refers to the right function, but does anything call it?",
        "frame": "the second call evaluates no frame of getenv. What decided that?",
        "C call": "the C call multiplies correctly. Where does its factor come from?",
    },
    Evidence(
        "evaluator",
        _shows_no_guard,
        "what is checked before a call, or a hit although the switch has changed",
    ),
)
def dead_switch(seam, proof, cured: type, broken):
    """The switch works in compiled code, with no more graphs than settings."""
    if not issubclass(cured, torch.nn.Module):
        return f"cured must be a subclass of torch.nn.Module, not {cured.__name__}"
    rows = ((f"for x of shape {shape}", shape, broken) for shape in SHAPES)
    with torch_private.same_settings():
        cases = make_cases(_run_settings, rows, say_first_part("eager code"))
        return find_difference(cured, broken, cases, "eager code")


@compiled_apart()
def _run_settings(shape, broken, cls) -> dict:
    x, module, seen = torch.arange(1.0, 1 + prod(shape)).reshape(shape), tried(cls()), {}
    log = None if cls is broken else _Compiled(module)
    for number, setting in enumerate(SETTINGS, 1):
        with patch.dict(os.environ, {SWITCH: setting or ""}):
            if setting is None:
                del os.environ[SWITCH]
            words = f"call {number}, {SWITCH} is {setting or 'not set'}"
            seen |= {
                f"{words}: the result": _plain(tried((log or module)(x), "forward")),
                f"{words}: a graph ran": log is None or len(log.runs) > 0,
            }
    graphs, most = log.compiled if log else 0, len({*SETTINGS})
    return seen | {f"graphs beyond {most}": max(0, graphs - most)}
