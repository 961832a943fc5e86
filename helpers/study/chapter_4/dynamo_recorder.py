"""Step 2 of the mini-Dynamo: the recorder's graph holds the calls that the finished one's holds."""

import operator
from dataclasses import replace

from helpers.capture.text.value import brief
from helpers.study.engine import (
    Case,
    Exercise,
    advise_by_part,
    find_difference,
    parts_tried,
    within,
)

WHO = "the finished one"
ADVICE = "make the graph and the dict in __init__"
ADVICE_BY_PART = {
    "returns": "return the node that was added",
    "inputs": "keep each input: self.inputs[source] = node",
    "graph": "inputs are placeholders 'arg0', 'arg1', …; a text names a method, for call_method; "
    "written(value) gives what stands in the graph",
}


def _judge(recorder: type):
    from helpers.mini.dynamo import PARTS

    if not isinstance(recorder, type):
        return "give the class itself: check.dynamo_recorder(Recorder)"
    cases = [Case("one call, and two recorders", _use_two, ADVICE), Case("a recorder", _use, _say)]
    return find_difference(recorder, PARTS.recorder, cases, WHO)


def _use_two(kind: type) -> dict:
    from helpers.mini.dynamo import Known

    made = kind()
    call = made.call(operator.neg, (Known(1),), {})
    parts_tried({"input": made.input("a"), "call": call})
    return _look(kind(), None)


def _use(kind: type) -> dict:
    """Return what a recorder holds and has returned after each of six steps."""
    from helpers.mini.dynamo import Known, Tensor

    made, tensors, found = kind(), [], {}
    for number, source in enumerate(("a", "b[0]", "G['c']"), 1):
        node = made.input(source)
        tensors.append(Tensor(node, None))
        found[f"after input number {number}"] = _look(made, node)
    for fn, places, kwargs in (
        (operator.sub, (0, 1), {}),
        ("sum", (2,), {"dim": Known(0), "keepdim": Known(True)}),
        (print, (), {}),
    ):
        node = made.call(fn, tuple(tensors[place] for place in places), kwargs)
        found[f"after the call of {_name(fn)}"] = _look(made, node)
    return found


def _look(recorder, found) -> dict:
    """Return what a recorder holds and has just returned, as plain data."""
    nodes = list(recorder.graph.nodes)
    places = {node: f"node {place}" for place, node in enumerate(nodes)}
    kept = {source: places.get(node) or brief(node) for source, node in recorder.inputs.items()}
    lines = [f"{n.op} {_name(n.target)}{n.args}{n.kwargs or ''}" for n in nodes]
    return {
        "returns": found and (places.get(found) or brief(found)),
        "inputs": kept,
        "graph": lines,
    }


def _say(mine, real) -> str:
    """Say what differs at the first step where something does."""
    if type(mine) is not dict:
        return f"yours {mine}; {ADVICE_BY_PART['graph']}"
    where = next(step for step in real if mine[step] != real[step])
    return within(f"{where}: ", advise_by_part(ADVICE_BY_PART, WHO)(mine[where], real[where]))


def _name(target) -> str:
    return repr(target) if isinstance(target, str) else target.__name__


def _draw_recorded(recorder):
    """Return the graph that the learner's recorder made of a program."""
    from helpers.capture.torch.fx_graph import fx_graph
    from helpers.mini.dynamo import PARTS, eval_frame
    from helpers.study.chapter_4 import dynamo_values

    compiled = eval_frame.compile(dynamo_values.toy, parts=replace(PARTS, recorder=recorder))
    compiled(*dynamo_values.numbers())
    return fx_graph(compiled.graphs[0], "What your recorder wrote down of toy(a, b)")


DYNAMO_RECORDER = Exercise(
    "dynamo_recorder",
    _judge,
    "Your graph holds the same calls as the finished one's, and gives eager's numbers.",
    (
        "self.graph.placeholder(name) adds an input node. Who needs to know which is which?",
        "Note each input: self.inputs[source] = node, in order. written(value) turns a "
        "symbolic value into its node or its constant.",
        "self.graph.call_method(fn, args, kwargs) if fn is a str, else "
        "self.graph.call_function(fn, args, kwargs), both with a tuple and a dict of written "
        "values.",
    ),
    picture=_draw_recorded,
)
