"""Chapter 7, cases 3 and 4: a model that torch.compile gives up, and a tool that sees no line.

Case 3: the cure is a module class. It runs compiled, beside the broken one run plainly: results,
gradients, count of calls; and a backend of ours writes down what was compiled and what ran.

Case 4: the cure is a coverage tool. It is given tests that call compiled functions; afterwards
those must be compiled still, by the graphs that they had.
"""

import logging
import sys
from collections.abc import Iterator

from helpers.internals import torch_private
from helpers.model.code_records import Bytecode
from helpers.model.graphs import Graph
from helpers.model.phrase import counted
from helpers.model.torch_records import CompileLedger, GuardGraph
from helpers.safety.arguments import real_isinstance, real_type_name
from helpers.study.chapter_7.diagnosis import Evidence, say_first_part, undiagnosed
from helpers.study.engine import Case, Exercise, InvalidAnswer, find_difference, in_order, tried


class Compiled:
    """What `torch.compile` made of `fn`; `compiles` counts its graphs, `ran` those of a last call.

    The backend runs a graph as it is.
    """

    def __init__(self, fn):
        torch_private.refuse_late_dynamo()
        import torch

        self.compiles, self.ran = 0, 0
        torch._dynamo.reset()
        self.compiled = torch.compile(fn, backend=self._backend)

    def __call__(self, *args):
        """Call it compiled; torch logs no recompiles: a check says it in its own words."""
        self.ran = 0
        logger = logging.getLogger("torch._dynamo")
        level = logger.level
        logger.setLevel(logging.ERROR)
        try:
            return self.compiled(*args)
        finally:
            logger.setLevel(level)

    def _backend(self, graph, inputs):
        computes = any(node.op.startswith("call") for node in graph.graph.nodes)
        self.compiles += computes

        def run(*args):
            self.ran += computes
            return graph(*args)

        return run


COUNTER = "calls"  # of L['self']
CALLS = 14  # more than torch.compile compiles one function
MOST = 4  # graphs: one for a first value, some for what changes
SHAPES = ((1, 2), (3, 2), (2, 4, 2))


def _shows_counter(model: CompileLedger | GuardGraph) -> str | None:
    if real_isinstance(model, GuardGraph):
        found = any(guard.source.endswith(f".{COUNTER}") for guard in model.guards)
        return None if found else f"no guard there looks at {COUNTER} of the module"
    if any(COUNTER in str(failure) for failure in model.failures):
        return None
    return "call what watch_recompiles returned, more than once"


OF_COUNTER = (
    Evidence(  # the guards are the key of Dynamo's cache
        "evaluator", (CompileLedger, GuardGraph), "which guard failed", _shows_counter, "cache key"
    ),
)
NO_COUNTER = {
    "name": "'name': the call leads to the same module each time",
    "frame": "'frame': a frame of forward is made at each call; who gets it first?",
    "registry": "'registry': the kernels are found, and compute the right numbers",
    "C call": "'C call': what arrives there is right, whether compiled or not",
}


SAY_OF_CALLS = {
    "the result": "yours gives {0}, Warmed gives {1}",
    "the gradient for x": "the gradient for x: yours has {0}, Warmed has {1}",
    "the gradient for linear.weight": "the gradient for linear.weight: yours has {0}, not {1}",
    "graph": "call {0} ran no graph: the cured module does not run compiled",
    "calls": "after {0} in calls",
    "graphs": f"{CALLS} calls made {{0}} graphs: each new count still is a new graph",
}


def _judge_model(seam, proof, cured, broken):
    if because := undiagnosed(seam, proof, OF_COUNTER, NO_COUNTER):
        return because
    import torch

    if not real_isinstance(cured, type) or not issubclass(cured, torch.nn.Module):
        return f"cured must be a class, as the broken one is, not {real_type_name(cured)}"
    if _count(broken()) is None:
        raise InvalidAnswer("Warmed is no longer the module of this case: run its cell again")
    with torch_private.same_settings(), torch.enable_grad():
        return find_difference(cured, broken, _cases_of_calls(broken), "Warmed")


def _cases_of_calls(broken) -> Iterator[Case]:
    """Yield a case for each call, of which the answers have made those before."""
    yield Case("two modules share one count", _count_of_another)
    for shape in SHAPES:
        made = {}

        def run(cls, shape=shape, made=made):
            return next(made.setdefault(cls, _calls(cls, shape, compiled=cls is not broken)))

        for number in range(1, CALLS + 1):
            yield Case(f"call {number}, for x of shape {shape}", run, say_first_part(SAY_OF_CALLS))


def _calls(cls, shape, compiled: bool) -> Iterator[dict]:
    """Call a module again and again; yield what each call shows."""
    import torch

    draw, module = torch.Generator().manual_seed(7), tried(cls())
    if not isinstance(getattr(module, "linear", None), torch.nn.Linear):
        raise InvalidAnswer("the cured module has no linear any more")
    with torch.no_grad():
        for each in module.linear.parameters():
            each.copy_(torch.randn(each.shape, generator=draw))
    log = Compiled(module) if compiled else None
    for number in range(1, CALLS + 1):
        x, weight = torch.randn(shape, generator=draw, requires_grad=True), module.linear.weight
        found, slopes = tried((log or module)(x), "forward"), (None, None)
        if found.requires_grad:
            slopes = torch.autograd.grad(found.sum(), (x, weight), allow_unused=True)
        said = f"{counted(number, 'call')} the cured module says {_count(module)}"
        graphs = log.compiles if log and number == CALLS else 0
        yield {
            "the result": _plain(found),
            "the gradient for x": _plain(slopes[0]),
            "the gradient for linear.weight": _plain(slopes[1]),
            "graph": 0 if log is None or log.ran else number,
            "calls": said,
            "graphs": graphs if graphs > MOST else 0,
        }


def _count(module) -> int | None:
    try:
        return int(module.calls)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None


def _count_of_another(cls) -> int:
    import torch

    one, other = tried(cls()), tried(cls())
    tried(one(torch.ones(1, 2)), "forward")
    return _count(other) or 0


def _plain(tensor):
    return "none" if tensor is None else tensor.detach().numpy().round(4).tolist()


GIVES_UP = Exercise(
    "gives_up",
    _judge_model,
    "A few graphs for any number of calls, and the same results, gradients and counts.",
    (
        "The argument has one shape and one dtype in all calls. What else may compiled code depend "
        "on, and who asks about that before each call?",
        "step = watch_recompiles(model.forward), then call step some times with the same tensor. "
        "Each row says which guard failed, and what it found.",
        "An int of the module is a constant in a graph, and a guard holds it to its value. What "
        "is no constant in a graph, and can be counted up by it?",
        'self.register_buffer("calls", torch.tensor(0)) is a tensor that belongs to the module; '
        "torch.clamp(self.calls / 10, max=1.0) is the factor.",
    ),
    seconds=60,
)


MADE = "What Dynamo made of"


def _shows_other_code(model: Graph | Bytecode) -> str | None:
    if real_isinstance(model, Bytecode):
        return None if MADE in model.title else "that code was written by hand: which code runs?"
    if any(node.label == "new code" for node in model.nodes):
        return None
    return "no compiled code is in it: look after the function was called"


OF_TOOL = (
    Evidence("evaluator", (Graph, Bytecode), "which code runs in a call", _shows_other_code),
)
NO_TOOL = {
    "frame": "'frame': CPython's loop tells a tracer of each line of the code that it runs; who "
    "decides whose code that is?",
    "name": "'name': compiled is another object than clipped, but the tool looks for the code of "
    "clipped: which code runs?",
    "cache key": "'cache key': the right graph was found. Who ran it in place of clipped?",
    "registry": "'registry': the kernels have no lines of Python",
    "C call": "'C call': no tracer hears of the inside of C, compiled or not",
}


class Failed(Exception):
    """What a test raises that is to fail."""


def halved(x):
    """Return half of it, its rows summed up."""
    y = x / 2
    if x.dim() > 1:
        y = y.sum(0)
    return y


def summed(x):
    """Return twice the sum of it and the odd places."""
    total = x
    for place in range(x.shape[0]):
        if place % 2:
            total = total + place
    else:
        total = total * 2
    return total


def signed(x, up=True):
    """Return it with one sign."""
    if up:
        return x.abs()
    y = -x.abs()
    return y


PROGRAMS = {  # function -> the arguments of its calls, a shape in place of the tensor
    halved: (((3,),), ((2, 2),)),
    summed: (((1,),), ((3,),)),
    signed: (((2,),), ((2,), False)),
}


SAY_OF_TOOLS = {
    "runs": "it runs the test {0} times: what a test changes is changed once",
    "result": "the first thing that cured returns must be the test's result, not {0}",
    "lines": "yours saw the lines {0}, and {1} ran",
    "tracer": "sys.settrace is not as it was, after the test",
    "raised": "the test failed, and nobody heard of it",
    "stance": "afterwards set_stance({0!r}) is in force still: nothing runs compiled",
    "compiled": "afterwards a call runs no graph: it is not compiled any more",
    "once more": "afterwards it was compiled once more: what it had is lost",
}


def _judge_tool(seam, proof, cured):
    if because := undiagnosed(seam, proof, OF_TOOL, NO_TOOL):
        return because
    if not callable(cured):
        return f"cured must be a function, not {real_type_name(cured)}"
    import torch

    with torch_private.same_settings():
        try:
            return find_difference(cured, _reference, _cases_of_tests())
        finally:
            torch.compiler.set_stance("default")


def _reference(test, function):
    """Run a test with torch.compile aside; return its result and the lines of the function."""
    import torch

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


def _cases_of_tests() -> Iterator[Case]:
    """Yield a case for each choice of calls that a test makes: each alone, all, none, one fails."""
    for function, calls in PROGRAMS.items():
        for some in (*((call,) for call in calls), calls, (), None):
            run = lambda tool, of=(function, calls, some): _run(tool, *of)  # noqa: E731
            yield Case(f"of {function.__name__}", run, say_first_part(SAY_OF_TOOLS))


def _run(tool, function, calls, some) -> dict:
    """Return what a tool makes of a test, and how all is afterwards."""
    import torch

    torch.compiler.set_stance("default")  # whatever another tool has left
    log, runs = Compiled(function), []
    _call(log, calls)  # it is compiled before the tool comes
    graphs, tracer = log.compiles, sys.gettrace()

    def test():
        runs.append(True)
        if some is None:
            raise Failed("a test failed")
        return _call(log, some)

    raised = False
    try:
        pair = tried(tool(test, function))
    except Failed:
        raised = True
    finally:
        left = sys.gettrace()
        sys.settrace(tracer)
    seen = {"runs": len(runs), "raised": raised == (some is None), "tracer": left is tracer}
    if some is not None:
        pair = in_order(pair, 100, "what cured returns")
        if len(pair) != 2:
            raise InvalidAnswer(
                "cured must return two things, the result of the test and the lines"
            )
        seen |= {"result": pair[0], "lines": in_order(pair[1], 1000, "the lines")}
    _call(log, calls)
    seen |= {"stance": torch_private.stance(), "compiled": log.ran > 0}
    return seen | {"once more": log.compiles > graphs}


def _call(function, calls) -> list:
    import torch

    shapes = [(torch.Size(shape), more) for shape, *more in calls]
    return [
        function(torch.arange(1.0, 1 + size.numel()).reshape(size), *more) for size, more in shapes
    ]


BLIND_TOOL = Exercise(
    "blind_tool",
    _judge_tool,
    "Each line that a test runs is seen, and afterwards the compiled code is there as before.",
    (
        "A tracer hears of the lines of the code that the interpreter evaluates. Is that the code "
        "of clipped? Somebody is asked before the interpreter.",
        "show_compiled(compiled), after a call, draws what is kept for the code of clipped, and "
        "what runs in its place.",
        "torch.compile can be told to stand aside for the length of a block, and to keep what it "
        "has: look for a stance in torch.compiler.",
        'with torch.compiler.set_stance("force_eager"): return covered(test, function)',
    ),
    seconds=60,
)
