"""Step 2 of the mini-Dynamo: the recorder's graph holds the calls that the finished one's holds."""

import operator
from dataclasses import replace

from helpers.capture.text.value import brief
from helpers.study.engine import Case, Exercise, find_difference, parts_tried

INPUT = "add self.graph.placeholder('arg0'), 'arg1', … and keep it: self.inputs[source] = node"
CALL = "a text names a method: call_method; written(value) gives what stands in the graph"


def _judge(recorder: type):
    from helpers.mini.dynamo import PARTS

    if not isinstance(recorder, type):
        return "give the class itself: check.dynamo_recorder(Recorder)"
    return find_difference(recorder, PARTS.recorder, _cases(), "the finished one")


def _cases():
    """Yield cases: a part of each method, a second recorder, and one more step each time."""
    from helpers.mini.dynamo import Known, Tensor

    def both(kind):
        made = kind()
        call = made.call(operator.neg, (Known(1),), {})
        parts_tried({"input": made.input("a"), "call": call})

    def second(kind):
        kind().input("a")
        return _look(kind(), None)

    yield Case("an input and a call", both, CALL)
    yield Case("a second recorder", second, "make the graph and the dict in __init__")
    calls = (
        ("operator.sub", operator.sub, (0, 1), {}),
        ("'sum'", "sum", (2,), {"dim": Known(0), "keepdim": Known(True)}),
        ("print", print, (), {}),
    )

    def steps(count):
        def run(kind):
            made = kind()
            given = [made.input(source) for source in ("a", "b[0]", "G['c']")[:count]]
            tensors, found = [Tensor(node, None) for node in given], given[-1]
            for _, fn, places, kwargs in calls[: max(count - 3, 0)]:
                found = made.call(fn, tuple(tensors[place] for place in places), kwargs)
            return _look(made, found)

        return run

    for count in range(1, 7):
        which = f"call of {calls[count - 4][0]}" if count > 3 else f"input number {count}"
        yield Case(f"after the {which}", steps(count), CALL if count > 3 else INPUT)


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
