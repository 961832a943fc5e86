"""Chapter 7, cases 3 and 4: a model that torch.compile gives up, and a tool that sees no line."""

import sys
from collections.abc import Callable
from math import prod

from helpers.internals import torch_private
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import find_difference, in_order, make_cases, say_first_part, torch


class _Compiled:
    """What `torch.compile` made of `fn`; `compiles` counts graphs, `ran` those of a last call."""

    def __init__(self, fn):
        torch_private.refuse_late_dynamo()
        self.compiles, self.ran = 0, 0
        torch._dynamo.reset()
        self.compiled = torch.compile(fn, backend=self._backend)

    def __call__(self, *args):
        self.ran = 0
        return self.compiled(*args)

    def _backend(self, graph, inputs):
        computes = any(node.op.startswith("call") for node in graph.graph.nodes)
        self.compiles += computes

        def run(*args):
            self.ran += computes
            return graph(*args)

        return run


CALLS = 14  # more than torch.compile compiles one function
MOST = 4  # graphs: one for a first value, some for what changes
SHAPES = ((1, 2), (3, 2), (2, 4, 2))


def _shows_counter(model) -> bool:
    guards, notes = parts(model, "guards"), [one.note for one in parts(model, "entries")]
    return any(guard.source.endswith(".calls") for guard in guards) or "calls" in str(notes)


@exercise(
    "The argument has one shape and one dtype in all calls. What else may compiled code depend "
    "on, and who asks about that before each call?",
    "step = watch_recompiles(model.forward), then call step some times with the same tensor. "
    "Each row says which guard failed, and what it found.",
    "An int of the module is a constant in a graph, and a guard holds it to its value. What "
    "is no constant in a graph, and can be counted up by it?",
    'self.register_buffer("calls", torch.tensor(0)) is a tensor that belongs to the module; '
    "torch.clamp(self.calls / 10, max=1.0) is the factor.",
    seconds=60,
)
@diagnosed(
    {
        "frame": "'frame': a frame of forward is made at each call; who gets it first?",
        "registry": "'registry': the kernels are found, and compute the right numbers",
    },
    Evidence(
        "evaluator",
        _shows_counter,
        "which guard failed: call what watch_recompiles returned, more than once",
        "cache key",  # the guards are the key of Dynamo's cache
    ),
)
def gives_up(seam, proof, cured: type, broken):
    """A few graphs for any number of calls, and the same results, gradients and counts."""
    if not issubclass(cured, torch.nn.Module):
        return f"cured must be a class of modules, as the broken one is, not {cured.__name__}"

    rows = ((f"for x of shape {shape}", shape, broken) for shape in SHAPES)
    cases = make_cases(_run_calls, rows, say_first_part("Warmed"))
    with torch_private.same_settings(), torch.enable_grad():
        return find_difference(cured, broken, cases, "Warmed")


def _run_calls(shape, broken, cls) -> dict:
    draw, module, other = torch.Generator().manual_seed(7), tried(cls()), cls()
    with torch.no_grad():
        for each in module.linear.parameters():
            each.copy_(torch.randn(each.shape, generator=draw))
    log, seen = None if cls is broken else _Compiled(module), {}
    for number in range(1, CALLS + 1):
        x, weight = torch.randn(shape, generator=draw, requires_grad=True), module.linear.weight
        found, slopes = tried((log or module)(x), "forward"), (None, None)
        if found.requires_grad:
            slopes = torch.autograd.grad(found.sum(), (x, weight), allow_unused=True)
        seen |= {
            f"call {number}: the result": _plain(found),
            f"call {number}: the gradient for x": _plain(slopes[0]),
            f"call {number}: the gradient for linear.weight": _plain(slopes[1]),
            f"call {number}: a graph ran": log is None or log.ran > 0,
            f"call {number}: int(calls)": int(module.calls),
        }
    graphs = log.compiles if log else 0
    seen[f"{CALLS} calls: graphs beyond {MOST}"] = max(0, graphs - MOST)
    return seen | {"int(calls) of another module": int(other.calls)}


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
    "A tracer hears of the lines of the code that the interpreter evaluates. Is that the code "
    "of clipped? Somebody is asked before the interpreter.",
    "show_compiled(compiled), after a call, draws what is kept for the code of clipped, and "
    "what runs in its place.",
    "torch.compile can be told to stand aside for the length of a block, and to keep what it "
    "has: look for a stance in torch.compiler.",
    'with torch.compiler.set_stance("force_eager"): return covered(test, function)',
    seconds=60,
)
@diagnosed(
    {
        "frame": "CPython's loop tells a tracer of each line that it runs; who decides whose code "
        "that is?",
        "name": "the tool looks for the code of clipped: which code runs?",
    },
    Evidence(
        "evaluator",
        _shows_other_code,
        "which code runs in a call, none written by hand: look after the function was called",
    ),
)
def blind_tool(seam, proof, cured: Callable):
    """Each line that a test runs is seen, and afterwards the compiled code is there as before."""
    with torch_private.same_settings():
        try:
            cases = make_cases(_run, (("of halved", shapes) for shapes in TESTS), say_first_part())
            return find_difference(cured, _reference, cases)
        finally:
            torch.compiler.set_stance("default")


def _reference(test, function):
    """Run a test with torch.compile aside; return its result and the lines of the function."""
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


def _run(shapes, tool) -> dict:
    torch.compiler.set_stance("default")  # whatever another tool has left
    log, runs, raised = _Compiled(halved), [], False
    _call(log)  # it is compiled before the tool comes
    graphs, tracer = log.compiles, sys.gettrace()

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
    pair = (None, ()) if shapes is None else in_order(pair, 100, "what cured returns")
    if len(pair) != 2:
        raise InvalidAnswer("cured must return the result of the test and the lines")
    _call(log)
    return {
        "the runs of the test": len(runs),
        "an error of the test comes through": raised == (shapes is None),
        "the tracer is as before": left is tracer,
        "the result of the test": pair[0],
        "the lines": in_order(pair[1], 1000, "the lines"),
        "the stance afterwards": torch_private.stance(),
        "compiled afterwards": log.ran > 0,
        "graphs compiled once more": log.compiles - graphs,
    }


def _call(function, shapes=((3,), (2, 2))) -> list:
    return [function(torch.arange(1.0, 1 + prod(shape)).reshape(shape)) for shape in shapes]
