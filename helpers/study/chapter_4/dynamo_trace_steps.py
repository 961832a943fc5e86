"""Judge two parts of a small Dynamo that a learner writes: binary_op, and the recorder of a graph.

The small Dynamo traces a function without running it. A value that is known while it traces is a
`Known`, and a tensor is a symbolic `Tensor`, which is a node of the graph. `binary_op` computes
with known values, and records an operation on tensors in the graph. The recorder writes the nodes.
An answer is compared with the finished part of `helpers.mini.dynamo`.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from types import SimpleNamespace

from helpers.capture.text.value import short_repr
from helpers.mini import dynamo
from helpers.study.answers import require_no_stub, require_no_stubs
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_by_part, find_difference, make_cases
from helpers.study.frameworks import torch

FINISHED = "the finished one"
TENSOR = "a tensor"
NOW = "both are known, so compute now, in this order, and return a new Known"
LATER = "record one call of OPERATORS[sign], left first, and return what trace.record returns"
OPERANDS = ((7, 3), (1, 0), (TENSOR, 3), (3, TENSOR), (TENSOR, TENSOR))


def find_part_difference(answer, part: str, cases: list[JudgedCase]) -> str | None:
    """Return how a learner's part of the small Dynamo differs from the finished part, or None.

    `part` is the name of the part in `dynamo.PARTS`, such as "guards".
    """
    return find_difference(answer, getattr(dynamo.PARTS, part), cases, FINISHED)


@exercise(
    "A tensor has no numbers here. With which of the two operands can you compute?",
    "If both operands are Known, compute with their .value, and wrap the result in Known again.",
    "Otherwise trace.record(fn, left, right) adds the call to the graph and returns a "
    "symbolic tensor. Keep the order, left first.",
)
def dynamo_binary_op(binary_op: Callable):
    """You compute with known values now, and record operations on tensors in the graph."""
    cases = []  # each runs `_apply_operator` with the answer and with the finished `binary_op`
    for sign, (left, right) in product(dynamo.OPERATORS, OPERANDS):
        run = partial(_apply_operator, sign, left, right)
        advice = LATER if TENSOR in (left, right) else NOW
        cases.append(JudgedCase(f"{left} {sign} {right}", run, advice))
    return find_part_difference(binary_op, "binary_op", cases)


def _apply_operator(sign: str, left, right, binary_op: Callable) -> dict:
    """Return what an answer's `binary_op` returns for two operands, and the calls that it records.

    `left` and `right` are numbers, or TENSOR for a symbolic tensor. In the result, "returns" is the
    returned value as text, and "records" has a text for each call of `trace.record`.
    """
    calls = []

    def record(fn, *args, **kwargs):
        """Note a call as text, in place of adding a node to a graph."""
        name = "OPERATORS[sign]" if fn is dynamo.OPERATORS[sign] else short_repr(fn)
        # A right answer passes no keywords, so their names are enough to show a wrong one.
        arguments = [*map(_write_value, args), *kwargs]
        calls.append(f"{name}({', '.join(arguments)})")
        return dynamo.Tensor("what trace.record returned", None)

    trace = SimpleNamespace(record=record)
    left_value = _make_operand("left", left)
    right_value = _make_operand("right", right)
    result = require_no_stub(binary_op(trace, sign, left_value, right_value))
    return {"returns": _write_value(result), "records": calls}


def _make_operand(name: str, value):
    """Return an operand as the tracer has it: a symbolic tensor of this name, or a Known number."""
    if value == TENSOR:
        return dynamo.Tensor(name, None)  # None: no example value, which `binary_op` does not read
    return dynamo.Known(value)


def _write_value(value) -> str:
    """Return a traced value as text, such as `Known(7)`, or the name of a tensor's node."""
    if isinstance(value, dynamo.Known):
        return f"Known({value.value!r})"
    if isinstance(value, dynamo.Tensor):
        return str(value.node)
    return short_repr(value)


@dataclass(frozen=True)
class RecordedCall:
    """A call that a recorder writes into its graph."""

    #: What is called; the name of a method as a str.
    target: Callable | str
    #: The positions of its arguments among the inputs.
    inputs: tuple[int, ...]
    #: Its keyword arguments, which are constants.
    options: dict = field(default_factory=dict)


# A recorder writes these nodes: an input for each str, which is the source of the input, and then
# calls with some of the inputs.
STEPS = (
    "a",
    "b[0]",
    "G['c']",
    RecordedCall(operator.sub, (0, 1)),
    RecordedCall("sum", (2,), {"dim": 0, "keepdim": True}),
)
ADVICE_FOR_RECORDER = {
    "graph": "make the graph and the dict in __init__; name the placeholders 'arg0', 'arg1', …; "
    "use call_method if fn is a str; pass each argument through written(value)",
    "returns": "return the node that you added",
    "inputs": "store each input, as in self.inputs[source] = node",
}


def _draw_recorded(recorder: type):
    """Return the graph of a small function, which the learner's recorder has recorded."""
    from helpers.capture.torch.fx_graph import build_fx_graph
    from helpers.mini.dynamo import PARTS, eval_frame

    def toy(a, b):
        return a / (torch.abs(a) + 1) * b

    compiled = eval_frame.compile(toy, parts=replace(PARTS, recorder=recorder))
    compiled(torch.tensor([1.0, -2.0, 4.0]), torch.tensor([3.0, 0.5, -1.0]))
    return build_fx_graph(compiled.graphs[0], "What your recorder recorded for toy(a, b)")


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
    advice = advise_by_part(ADVICE_FOR_RECORDER, FINISHED)
    # One case for each step: all steps up to it, so that the first wrong node is reported.
    rows = []  # (text, argument of `_record_steps`)
    for count, step in enumerate(STEPS, 1):
        if isinstance(step, str):
            shows = f"after the input {step}"
        else:
            shows = f"after the call of {_write_target(step.target)}"
        rows.append((shows, STEPS[:count]))
    return find_part_difference(recorder, "recorder", make_cases(_record_steps, rows, advice))


def _record_steps(steps: tuple, make_recorder: type) -> dict:
    """Have a learner's recorder write these steps into a graph, and return the graph as text.

    A step is the source of an input, as a str, or a RecordedCall. In the result, "graph" has a text
    for each node, "returns" is what the recorder returned for the last step, and "inputs" maps the
    source of an input to its node.
    """
    _record_elsewhere(make_recorder)
    recorder = make_recorder()
    tensors = []  # the symbolic tensors of the inputs
    for step in steps:
        if isinstance(step, str):
            node = recorder.input(step)
            # None: no example value, which a recorder does not read.
            tensors.append(dynamo.Tensor(node, None))
        else:
            args = tuple(tensors[position] for position in step.inputs)
            kwargs = {name: dynamo.Known(value) for name, value in step.options.items()}
            node = recorder.call(step.target, args, kwargs)

    return {
        "graph": [_write_node(entry) for entry in recorder.graph.nodes],
        "returns": short_repr(node),
        "inputs": {source: short_repr(entry) for source, entry in recorder.inputs.items()},
    }


def _record_elsewhere(make_recorder: type) -> None:
    """Write two nodes with another recorder of the same class.

    If an answer has its graph in the class and not in `__init__`, the nodes appear in the graph of
    the recorder that is judged, and the answer is refused.
    """
    recorder = make_recorder()
    call = recorder.call(operator.neg, (dynamo.Known(1),), {})
    require_no_stubs({"input": recorder.input("a"), "call": call})


def _write_node(node) -> str:
    """Return a node of an FX graph as text, without its name."""
    return f"{node.op} {_write_target(node.target)}{node.args}{node.kwargs or ''}"


def _write_target(target: Callable | str) -> str:
    """Return the target of a call: a function by its name, a method's name in quotes."""
    return repr(target) if isinstance(target, str) else target.__name__
