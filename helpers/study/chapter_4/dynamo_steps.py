"""The five steps of the mini-Dynamo, each compared with the finished one."""

# ruff: noqa: D103 - the name of step 5's program says what it is

import inspect
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from types import SimpleNamespace

from helpers.capture.text.value import short_repr
from helpers.mini import dynamo
from helpers.study.check import InvalidAnswer, Mismatch, describe_difference, exercise, tried
from helpers.study.engine import (
    Case,
    advise_by_part,
    find_difference,
    in_order,
    make_cases,
    parts_tried,
    torch,
)

WHO, TENSOR = "the finished one", "a tensor"
NOW = "both are known, so compute now, in this order, and return a new Known"
LATER = "record one call of OPERATORS[sign], left first, and return what trace.record returns"
PAIRS = ((7, 3), (1, 0), (TENSOR, 3), (3, TENSOR), (TENSOR, TENSOR))


def _find_difference(answer, part: str, cases: list[Case]):
    return find_difference(answer, getattr(dynamo.PARTS, part), cases, WHO)


@exercise(
    "A tensor has no numbers here. With which of the two operands can you compute?",
    "If both operands are Known, compute with their .value, and wrap the result in Known again.",
    "Otherwise trace.record(fn, left, right) adds the call to the graph and returns a "
    "symbolic tensor. Keep the order, left first.",
)
def dynamo_binary_op(binary_op: Callable):
    """You compute with known values now, and record operations on tensors in the graph."""
    cases = []
    for sign, (left, right) in product(dynamo.OPERATORS, PAIRS):
        run = partial(_try_operands, sign, left=left, right=right)
        cases.append(Case(f"{left} {sign} {right}", run, LATER if TENSOR in (left, right) else NOW))
    return _find_difference(binary_op, "binary_op", cases)


def _try_operands(sign: str, binary_op: Callable, **sides) -> dict:
    operands, calls = [], []
    for name, value in sides.items():
        operands.append(dynamo.Tensor(name, None) if value == TENSOR else dynamo.Known(value))

    def record(fn, *args, **kwargs):
        named = "OPERATORS[sign]" if fn is dynamo.OPERATORS[sign] else short_repr(fn)
        calls.append(f"{named}({', '.join([*map(_show, args), *kwargs])})")
        return dynamo.Tensor("what trace.record returned", None)

    result = tried(binary_op(SimpleNamespace(record=record), sign, *operands))
    return {"returns": _show(result), "records": calls}


def _show(value) -> str:
    if isinstance(value, dynamo.Known):
        return f"Known({value.value!r})"
    return str(value.node) if isinstance(value, dynamo.Tensor) else short_repr(value)


STEPS = (  # sources of inputs, then calls: what is called, with which of them
    *("a", "b[0]", "G['c']"),
    (operator.sub, (0, 1), {}),
    ("sum", (2,), {"dim": 0, "keepdim": True}),
)
ADVICE_FOR_RECORDER = {
    "graph": "make the graph and the dict in __init__; name the placeholders 'arg0', 'arg1', …; "
    "use call_method if fn is a str; pass each argument through written(value)",
    "returns": "return the node that you added",
    "inputs": "store each input, as in self.inputs[source] = node",
}


def _draw_recorded(recorder: type):
    from helpers.capture.torch.fx_graph import fx_graph
    from helpers.mini.dynamo import PARTS, eval_frame

    def toy(a, b):
        return a / (torch.abs(a) + 1) * b

    compiled = eval_frame.compile(toy, parts=replace(PARTS, recorder=recorder))
    compiled(torch.tensor([1.0, -2.0, 4.0]), torch.tensor([3.0, 0.5, -1.0]))
    return fx_graph(compiled.graphs[0], "What your recorder recorded for toy(a, b)")


@exercise(
    "self.graph.placeholder(name) adds an input node. Where do you note its source?",
    "Store each input in order, as in self.inputs[source] = node. written(value) turns a "
    "symbolic value into its node or its constant.",
    "Call self.graph.call_method(fn, args, kwargs) if fn is a str, and otherwise "
    "self.graph.call_function(fn, args, kwargs). Both need a tuple and a dict of written "
    "values.",
    picture=_draw_recorded,
)
def dynamo_recorder(recorder: type):
    """Your graph contains the same nodes as the finished one's."""
    advice = advise_by_part(ADVICE_FOR_RECORDER, WHO)
    rows = []
    for many, step in enumerate(STEPS, 1):
        what = f"input {step}" if isinstance(step, str) else f"call of {_name(step[0])}"
        rows.append((f"after the {what}", STEPS[:many]))
    return _find_difference(recorder, "recorder", make_cases(_record_steps, rows, advice))


def _record_steps(steps: tuple, kind: type) -> dict:
    other = kind()  # two recorders must not share their graph
    call = other.call(operator.neg, (dynamo.Known(1),), {})
    parts_tried({"input": other.input("a"), "call": call})
    recorder, tensors = kind(), []
    for step in steps:
        if isinstance(step, str):
            found = recorder.input(step)
            tensors.append(dynamo.Tensor(found, None))
        else:
            fn, places, kwargs = step
            named = {name: dynamo.Known(value) for name, value in kwargs.items()}
            found = recorder.call(fn, tuple(tensors[place] for place in places), named)
    nodes = recorder.graph.nodes
    return {
        "graph": [f"{n.op} {_name(n.target)}{n.args}{n.kwargs or ''}" for n in nodes],
        "returns": short_repr(found),
        "inputs": {source: short_repr(node) for source, node in recorder.inputs.items()},
    }


def _name(target) -> str:
    return repr(target) if isinstance(target, str) else target.__name__


HOLD, FAIL = "all guards hold", "a guard fails"
TOO_STRICT = (
    "Dynamo compiles again for nothing. Guard what decides the graph, not a tensor's numbers or "
    "which object it is"
)


@exercise(
    "Which properties of a tensor may the function have looked at during the trace?",
    "Guard a tensor's type, dtype, shape and requires_grad, and a number's type and value.",
    "1 == 1.0 == True, and 0.0 == -0.0. Guard type(k) to distinguish the first three, and "
    "k.hex() for the other two.",
)
def dynamo_guards(guards: Callable):
    """A guard fails if the graph would be wrong, and none fails for other numbers in a tensor."""
    cases = []
    for value, other, looks in _pairs():
        why = f"a function may look at {looks}, so the graph would be wrong" if looks else ""
        for source in ("k", "pair[1]"):
            words = f"{source} = {value!r}, and then {source} = {other!r}"
            run = partial(_hold_for_other, source, value, other)
            cases.append(Case(words, run, partial(_advise_guards, why or TOO_STRICT)))
    return _find_difference(guards, "guards", cases)


def _advise_guards(words: str, mine, real) -> Mismatch | None:
    """Return both verdicts and what the difference means; None for an error, which says it all."""
    if not isinstance(mine, str):
        return None
    return describe_difference("", f"gives {mine!r}", f"gives {real!r}", WHO, f"; {words}")


def _hold_for_other(source: str, value, other, guards: Callable) -> str:
    texts = in_order(tried(guards(source, value)), 100, "what guards returns")
    for text in texts:
        if not isinstance(tried(text, "the list"), str):
            raise InvalidAnswer(f"guards must return a list of str, not {short_repr(texts)}")
        if not _ask(text, value):
            raise InvalidAnswer(f"your guard {text!r} is false even for {source} = {value!r}")
    try:
        return HOLD if all(_ask(text, other) for text in texts) else FAIL
    except Exception:  # such as an attribute that the other one does not have
        return FAIL


def _ask(text: str, value):
    from helpers.mini.dynamo.builder import ALWAYS

    return eval(text, {**ALWAYS, "k": value, "pair": (None, value)})


def _pairs() -> Iterator[tuple]:
    """Yield (value, other, what a function may look at); "" if one graph is right for both."""
    x, square, inf = torch.tensor([1.0, -2.0, 4.0]), torch.arange(6.0).reshape(2, 3), math.inf
    slope, cube = x.clone().requires_grad_(), square.reshape(1, 2, 3)
    wider = x.as_subclass(type("DerivedTensor", (torch.Tensor,), {}))
    derived = type("DerivedFloat", (float,), {})(0.5), type("DerivedInt", (int,), {})(2)
    alike = ((x, x + 1), (x, x * math.nan), (slope, (x + 1).requires_grad_()), (True, True))
    alike += ((None, None), (1000, int("1000")), (-2.5, float("-2.5")), (-inf, float("-inf")))
    alike += ((math.nan, float("nan")), ("it's", "".join(["it", "'s"])), ('a "\n\\', 'a "\n\\'))
    yield from ((value, other, "") for value, other in alike)
    yield x.long(), x, "x.dtype"
    for shape, other in ((x, x[:2]), (square, square.reshape(3, 2)), (cube, cube.mT)):
        yield shape, other.contiguous(), "x.shape"
    yield from ((x, slope, "x.requires_grad"), (slope, x, "x.requires_grad"), (x, wider, "type(x)"))
    for one, other in ((2, 3), (0.1, 0.1 + 2e-17), (inf, -inf), ("sum", "mean"), (None, 1)):
        yield one, other, "k"
    yield from ((0.0, -0.0, "1 / k"), (inf, math.nan, "1 / k"))
    same = ((1, 1.0), (True, 1.0), (True, 1), (0, False), (1.0, 1))
    yield from ((*pair, "type(k)") for pair in (*same, (0.5, derived[0]), (2, derived[1])))


ADVICE_FOR_LOOKUP = (
    "return the first entry that fits, or None, and for each before it the first guard that fails"
)


def _make_entry(k: int):
    """Return an entry for calls with this k; the guard on its type comes first or last."""
    from helpers.mini.dynamo.convert_frame import Entry, guarded

    words = [f"k == {k}", "type(k) is int"]
    guards, accepts = guarded(words if k % 2 else words[::-1], ("x", "k"), {})
    return Entry(guards, accepts, lambda x, k: x * k)


@exercise(
    "For each entry, find the first guard that does not hold.",
    "guard.holds(values) tests a guard. Report guard.text, in the order of the entries.",
    "next((g for g in entry.guards if not g.holds(values)), None) is the first failing "
    "guard. None means that the entry fits, so return it at once.",
)
def dynamo_lookup(lookup: Callable):
    """You find the same entries as the finished one, and report the same failing guards."""
    entries = [_make_entry(k) for k in (1, 2, 3)]
    many = product(([], entries, [*entries[::-1], *entries]), (1, 2, 3.0))
    rows = ((f"with {len(kept)} in the cache, for k = {k}", kept, (0.5, k)) for kept, k in many)
    return _find_difference(lookup, "lookup", make_cases(_look_up, rows, ADVICE_FOR_LOOKUP))


def _look_up(kept: list, args: tuple, lookup: Callable):
    found = tried(lookup(list(kept), args))
    if not isinstance(found, tuple | list) or len(found) != 2:
        return f"{short_repr(found)}, which is not a pair"
    entry, misses = tried(found[0], "the entry"), tried(found[1], "misses")
    place = next((at for at, one in enumerate(kept) if one is entry), short_repr(entry))
    if isinstance(misses, tuple | list):
        misses = [text if isinstance(text, str) else short_repr(text) for text in misses]
    return {"entry": place, "misses": misses}


HAND_OVER = (
    "return each name of bound that the rest can still read before storing it, and no other; "
    "keep the order of bound"
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


@exercise(
    "Which names does the rest of the function read before it stores them?",
    "Go backwards. Before a step, live is (live after it - what it stores) | what it reads.",
    "Start with an empty set per step. code.after(at) returns zero, one or two positions. "
    "Unite their sets. A loop jumps back, so go through all steps again until nothing "
    "changes. Then keep the names of bound that are in live[start].",
)
def dynamo_receives(receives: Callable):
    """From every position, the rest receives the names that it can still read, and no others."""
    body = "; ".join(map(str.strip, inspect.getsource(hand_on).splitlines()[1:])).replace(":;", ":")
    steps = enumerate(dynamo.Code(hand_on.__code__).steps)
    rows = ((f"from line {s.line} on ({s.opname} at {at}) of `{body}`", at) for at, s in steps)
    return _find_difference(receives, "receives", make_cases(_ask_receives, rows, HAND_OVER))


def _ask_receives(at: int, receives: Callable) -> list:
    bound = list(hand_on.__code__.co_varnames[:: -1 if at % 2 else 1])
    names = tried(receives(dynamo.Code(hand_on.__code__), at, bound))
    if not isinstance(names, list | tuple):
        must = "receives must return a list, in the order of bound"
        raise InvalidAnswer(f"{must}, not {short_repr(names)}")
    return list(names)
