"""Chapter 7, case 4: a coverage tool that sees no line of what torch.compile runs.

The cure is the tool. It is given tests that call compiled functions; afterwards those must be
compiled still, by the graphs that they had.
"""

import sys
from collections.abc import Iterator

from helpers.internals import torch_private
from helpers.model.bytecode import Bytecode
from helpers.model.graph import Graph
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_7.compile_log import Compiled
from helpers.study.chapter_7.diagnosis import Evidence, say_first_part, undiagnosed
from helpers.study.engine import Case, Exercise, Unfit, find_difference, in_order, tried

MADE = "What Dynamo made of"


def _shows_other_code(model: Graph | Bytecode) -> str | None:
    if is_a(model, Bytecode):
        return None if MADE in model.title else "that code was written by hand: which code runs?"
    if any(node.label == "new code" for node in model.nodes):
        return None
    return "no compiled code is in it: look after the function was called"


EVIDENCE = (
    Evidence("evaluator", (Graph, Bytecode), "which code runs in a call", _shows_other_code),
)
ELSEWHERE = {
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


SAY = {
    "runs": "it runs the test {0} times: what a test changes is changed once",
    "result": "the first thing that cured returns must be the test's result, not {0}",
    "lines": "yours saw the lines {0}, and {1} ran",
    "tracer": "sys.settrace is not as it was, after the test",
    "raised": "the test failed, and nobody heard of it",
    "stance": "afterwards set_stance({0!r}) is in force still: nothing runs compiled",
    "compiled": "afterwards a call runs no graph: it is not compiled any more",
    "once more": "afterwards it was compiled once more: what it had is lost",
}


def _judge(seam, proof, cured):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    if not callable(cured):
        return f"cured must be a function, not {kind_of(cured)}"
    import torch

    with torch_private.same_settings():
        try:
            return find_difference(cured, _reference, _cases())
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


def _cases() -> Iterator[Case]:
    """Yield a case for each choice of calls that a test makes: each alone, all, none, one fails."""
    for function, calls in PROGRAMS.items():
        for some in (*((call,) for call in calls), calls, (), None):
            run = lambda tool, of=(function, calls, some): _run(tool, *of)  # noqa: E731
            yield Case(f"of {function.__name__}", run, say_first_part(SAY))


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
            raise Unfit("cured must return two things, the result of the test and the lines")
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
    _judge,
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
