"""Chapter 7, case 4: a coverage tool that sees no line of what torch.compile runs.

The cure is the tool. It is given tests that call compiled functions; afterwards those must be
compiled still, by the graphs that they had.
"""

import sys
from contextlib import contextmanager

from helpers.capture.text.value import brief
from helpers.internals import torch_private
from helpers.model.bytecode import Bytecode
from helpers.model.graph import Graph
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_7.compile_log import Compiled
from helpers.study.chapter_7.covered_programs import PROGRAMS, Failed, Program
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.engine import in_order

MADE = "What Dynamo made of"


def _shows_other_code(model: Graph | Bytecode) -> str | None:
    """Ask for the code that runs in place of the one that was written."""
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


def _judge_blind_tool(seam, proof, cured):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    if not callable(cured):
        return f"cured must be a function, not {kind_of(cured)}"
    with _as_before():
        whys = (_unlike(cured, program) for program in PROGRAMS)
        return next((because for because in whys if because), None)


def _unlike(cured, program: Program) -> str | None:
    """Return what is wrong with the coverage of one program, or with what it leaves behind."""
    log = Compiled(program.function)
    program.results(log)  # it is compiled before the tool comes
    graphs, tracer = log.compiles, sys.gettrace()
    for some in program.choices():
        if because := _miscovered(cured, program, log, some):
            return because
        if sys.gettrace() is not tracer:
            return "sys.settrace is not as it was, after the test"
    if because := _unheard(cured, log):
        return because
    program.results(log)
    name = program.function.__name__
    if not log.ran and (stance := torch_private.stance()) != "default":
        return f"afterwards set_stance({stance!r}) is in force still: nothing runs compiled"
    if not log.ran:
        return f"afterwards a call of {name} runs no graph: it is not compiled any more"
    if log.compiles > graphs:
        return f"afterwards {name} was compiled once more: what it had is lost"
    return None


def _miscovered(cured, program: Program, log, some) -> str | None:
    runs = []

    def test():
        runs.append(True)
        return program.results(log, some)

    pair = in_order(tried(cured(test, program.function)), 100, "what cured returns")
    if len(runs) > 1:
        return f"it runs the test {len(runs)} times: what a test changes is changed once"
    if len(pair) != 2:
        raise Unfit("cured must return two things, the result of the test and the lines")
    if not program.are_results(pair[0], some):
        return f"the first thing that cured returns must be the test's result, not {brief(pair[0])}"
    lines, wanted = in_order(pair[1], 1000, "the lines"), program.lines(some)
    if lines != wanted:
        return f"of {program.function.__name__}, yours saw the lines {lines}, and {wanted} ran"
    return None


def _unheard(cured, log) -> str | None:
    """Return whether a test that fails does so unheard, or leaves a tracer behind."""
    tracer = sys.gettrace()

    def test():
        raise Failed("a test failed")

    try:
        cured(test, log.compiled)
    except Failed:
        return "when the test fails, the tracer stays" if sys.gettrace() is not tracer else None
    return "the test failed, and nobody heard of it"


@contextmanager
def _as_before():
    """Put back what an answer may have told torch.compile."""
    import torch

    config, tracer = torch_private.config, sys.gettrace()
    before = config.get_config_copy()
    try:
        yield
    finally:
        sys.settrace(tracer)
        torch.compiler.set_stance("default")
        after = config.get_config_copy()
        for name in [name for name in before if after.get(name) != before[name]]:
            setattr(config, name, before[name])


BLIND_TOOL = Exercise(
    "blind_tool",
    _judge_blind_tool,
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
