"""Steps 1, 2 and 5 of the mini-Dynamo: a call, the recorder, and what the rest receives.

Each is held against the finished one.
"""

# ruff: noqa: D103 - the program of step 5 says what it is by its name

import inspect
import operator
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

from helpers.capture.text.value import short_repr
from helpers.study.check import InvalidAnswer, tried
from helpers.study.engine import Case, Exercise, advise_by_part, find_difference, parts_tried

WHO, TENSOR = "the finished one", "a tensor"
NOW = "both are known: compute now, in this order, and return a new Known"
LATER = "put one call of OPERATORS[sign] into the graph, left first; return what trace.record gives"
PAIRS = ((7, 3), (1, 0), (TENSOR, 3), (3, TENSOR), (TENSOR, TENSOR))


def _judge_binary_op(binary_op: Callable):
    from helpers.mini.dynamo import OPERATORS, PARTS

    cases = [
        Case(
            f"{left} {sign} {right}",
            partial(_try_operands, sign, (left, right)),
            LATER if TENSOR in (left, right) else NOW,
        )
        for sign in OPERATORS
        for left, right in PAIRS
    ]
    return find_difference(binary_op, PARTS.binary_op, cases, WHO)


def _try_operands(sign: str, pair: tuple, binary_op: Callable) -> dict:
    from helpers.mini.dynamo import OPERATORS, Known, Tensor

    operands = [Tensor(None, None) if side == TENSOR else Known(side) for side in pair]
    recorded, calls = Tensor(None, None), []
    words = "left", "right", "what trace.record gave"
    names = dict(zip(map(id, [*operands, recorded]), words, strict=True))

    def describe(value) -> str:
        known = f"Known({value.value!r})" if isinstance(value, Known) else short_repr(value)
        return names.get(id(value), known)

    def record(fn, *args, **kwargs):
        named = "OPERATORS[sign]" if fn is OPERATORS[sign] else short_repr(fn)
        calls.append(f"{named}({', '.join([*map(describe, args), *kwargs])})")
        return recorded

    result = tried(binary_op(SimpleNamespace(record=record), sign, *operands))
    return {"returns": describe(result), "records": calls}


DYNAMO_BINARY_OP = Exercise(
    "dynamo_binary_op",
    _judge_binary_op,
    "What is known is computed now; what needs a tensor went into the graph.",
    (
        "Which of the two operands can you compute with while there are no numbers?",
        "Both operands Known: compute with their .value, and wrap the result in Known again.",
        "Otherwise trace.record(fn, left, right) puts the call into the graph and returns a "
        "symbolic tensor. Keep the order: left first.",
    ),
)

STEPS = (  # sources of inputs, then calls: what is called, with which of them
    *("a", "b[0]", "G['c']"),
    (operator.sub, (0, 1), {}),
    ("sum", (2,), {"dim": 0, "keepdim": True}),
)
ADVICE_FOR_RECORDER = {
    "graph": "make the graph and the dict in __init__; inputs are placeholders 'arg0', 'arg1', …; "
    "a text names a method, for call_method; written(value) gives what stands in the graph",
    "returns": "return the node that was added",
    "inputs": "keep each input: self.inputs[source] = node",
}


def _judge_recorder(recorder: type):
    from helpers.mini.dynamo import PARTS

    if not isinstance(recorder, type):
        return "give the class itself: check.dynamo_recorder(Recorder)"
    advice = advise_by_part(ADVICE_FOR_RECORDER, WHO)
    names = [
        f"the input {s}" if isinstance(s, str) else f"the call of {_name(s[0])}" for s in STEPS
    ]
    cases = [
        Case(f"a recorder: after {name}", partial(_record_steps, STEPS[:many]), advice)
        for many, name in enumerate(names, 1)
    ]
    return find_difference(recorder, PARTS.recorder, cases, WHO)


def _record_steps(steps: tuple, kind: type) -> dict:
    """Return what a recorder holds, and has just returned, after some inputs and calls."""
    from helpers.mini.dynamo import Known, Tensor

    other = kind()  # two recorders must not share their graph
    call = other.call(operator.neg, (Known(1),), {})
    parts_tried({"input": other.input("a"), "call": call})
    recorder, tensors = kind(), []
    for step in steps:
        if isinstance(step, str):
            found = recorder.input(step)
            tensors.append(Tensor(found, None))
        else:
            fn, places, kwargs = step
            named = {name: Known(value) for name, value in kwargs.items()}
            found = recorder.call(fn, tuple(tensors[place] for place in places), named)
    nodes = list(recorder.graph.nodes)

    def place(node) -> str:
        return next((f"node {at}" for at, one in enumerate(nodes) if one is node), short_repr(node))

    return {
        "graph": [f"{n.op} {_name(n.target)}{n.args}{n.kwargs or ''}" for n in nodes],
        "returns": found and place(found),
        "inputs": {source: place(node) for source, node in recorder.inputs.items()},
    }


def _name(target) -> str:
    return repr(target) if isinstance(target, str) else target.__name__


def _draw_recorded(recorder):
    """Return the graph that the learner's recorder made of a program."""
    import torch

    from helpers.capture.torch.fx_graph import fx_graph
    from helpers.mini.dynamo import PARTS, eval_frame

    def toy(a, b):
        return a / (torch.abs(a) + 1) * b

    compiled = eval_frame.compile(toy, parts=replace(PARTS, recorder=recorder))
    compiled(torch.tensor([1.0, -2.0, 4.0]), torch.tensor([3.0, 0.5, -1.0]))
    return fx_graph(compiled.graphs[0], "What your recorder wrote down of toy(a, b)")


DYNAMO_RECORDER = Exercise(
    "dynamo_recorder",
    _judge_recorder,
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

ADVICE_FOR_RECEIVES = (
    "hand over what can still be read, and no name which nothing reads any more before it is "
    "stored; keep the order of bound"
)


def hand_on(items, found, other, last):
    while True:  # the last step jumps back
        if found:
            return last, items
        for item in items:
            if item:
                found = other
            for other in item:
                last = found + other


def _judge_receives(receives: Callable):
    from helpers.mini.dynamo import PARTS, Code

    body = "; ".join(map(str.strip, inspect.getsource(hand_on).splitlines()[1:])).replace(":;", ":")
    cases = [
        Case(
            f"from line {step.line} on ({step.opname} at {at}) of `{body}`",
            partial(_ask_receives, at),
            ADVICE_FOR_RECEIVES,
        )
        for at, step in enumerate(Code(hand_on.__code__).steps)
    ]
    return find_difference(receives, PARTS.receives, cases, WHO)


def _ask_receives(at: int, receives: Callable) -> list:
    from helpers.mini.dynamo import Code

    bound = list(hand_on.__code__.co_varnames[:: -1 if at % 2 else 1])
    names = tried(receives(Code(hand_on.__code__), at, bound))
    if not isinstance(names, list | tuple):
        must = "receives must return a list, in the order of bound"
        raise InvalidAnswer(f"{must}, not {short_repr(names)}")
    return list(names)


DYNAMO_RECEIVES = Exercise(
    "dynamo_receives",
    _judge_receives,
    "The rest of each function receives what it can still read, and nothing else.",
    (
        "Which names does the rest of the function read before it stores them itself?",
        "Go backwards. Before a step, live is (live after it - what it stores) | what it reads.",
        "Start with an empty set per step. code.after(at) gives no, one or two positions: "
        "unite their sets. A loop jumps back, so go through all steps again until nothing "
        "changes. Then keep the names of bound that are in live[start].",
    ),
)
