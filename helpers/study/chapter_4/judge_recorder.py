"""Step 2 of the mini-Dynamo: the recorder's graph holds the calls that the finished one's holds.

Each input and each call is looked at when it is made, and so is what the whole graph gives.
"""

import operator
from dataclasses import replace

from helpers.capture.text.value import brief
from helpers.study.answers import parts_tried
from helpers.study.chapter_4.forms import method_of
from helpers.study.chapter_4.recorder_nodes import (
    check_call,
    check_graph,
    check_input,
    run,
    size,
)
from helpers.study.check import tried

SHARED = "two recorders share what they hold: make the graph and the dict in __init__"


def judge_recorder(answer):
    """Judge step 2 call by call, then on programs."""
    from helpers.mini.dynamo import PARTS
    from helpers.study.chapter_4 import programs, trial

    if not isinstance(answer, type):
        return "give the class itself: check.dynamo_recorder(Recorder)"
    method_of(answer, "input", "source")
    method_of(answer, "call", "fn, args, kwargs")
    _parts_tried(answer)
    looked_at = _looked_at(answer)
    if because := _two(looked_at):
        return because
    x, y = programs.numbers()
    fns = (programs.minus, programs.toy, programs.keywords, programs.joined, programs.shaped)
    parts = replace(PARTS, recorder=looked_at)
    return trial.first(trial.parts_from(fn, [(x, y)], parts) for fn in fns)


def recorded(answer):
    """Return the graph that the learner's recorder made of a program."""
    from helpers.capture.torch.fx_graph import fx_graph
    from helpers.mini.dynamo import PARTS, eval_frame
    from helpers.study.chapter_4 import programs

    compiled = eval_frame.compile(programs.toy, parts=replace(PARTS, recorder=answer))
    compiled(*programs.numbers())
    return fx_graph(compiled.graphs[0], "What your recorder wrote down of toy(a, b)")


def _parts_tried(answer: type) -> None:
    """Raise Untried, with the names of the methods that are still the stub's."""
    from helpers.mini.dynamo import Known

    recorder = run("Recorder()", answer)
    made = run("call", recorder.call, operator.neg, (Known(1),), {})
    parts_tried({"input": run("input", recorder.input, "a"), "call": made})


def _looked_at(answer: type) -> type:
    """Return the learner's class, which then looks at each node that it gives."""
    from helpers.mini.dynamo import written

    class Tried(answer):
        def input(self, source):
            before, graph = size(self), self.graph
            node = tried(run("input", super().input, source), "input")
            check_graph(self, graph)
            check_input(self, node, source, before)
            return node

        def call(self, fn, args, kwargs):
            before, graph = size(self), self.graph
            want = tuple(map(written, args)), {k: written(v) for k, v in kwargs.items()}
            node = tried(run("call", super().call, fn, args, kwargs), "call")
            check_graph(self, graph)
            check_call(self, node, fn, want, before)
            return node

    return Tried


def _two(kind: type) -> str | None:
    """Use two recorders in turn; return what they share, if anything."""
    from helpers.mini.dynamo import Known, Tensor

    first, second = (run("Recorder()", kind) for _ in range(2))
    if size(first) or getattr(first, "inputs", None):  # one has been used before
        return SHARED
    tensors = [Tensor(first.input(source), None, source) for source in ("a", "b[0]", "G['c']")]
    if list(first.inputs) != ["a", "b[0]", "G['c']"]:
        return f"self.inputs should hold the sources in order, and holds {brief(first.inputs)}"
    first.call(operator.sub, tuple(tensors[:2]), {})
    first.call("sum", (tensors[2],), {"dim": Known(0), "keepdim": Known(True)})
    first.call(print, (), {})
    if size(second) or second.inputs:
        return SHARED
    second.input("a")
    return None
