"""Step 1 of the mini-Dynamo: what is computed now, and what goes into the graph."""

from collections.abc import Callable

from helpers.capture.text.value import brief
from helpers.study.engine import Case, Exercise, find_difference, tried

TENSOR = object()
NOW = "both are known: compute now, in this order, and return a new Known"
LATER = "put one call of OPERATORS[sign] into the graph, left first; return what trace.record gives"
PAIRS = (
    *(((7, 3), NOW), ((1, 0), NOW), ((2.5, -0.5), NOW)),
    *(((TENSOR, 3), LATER), ((3, TENSOR), LATER), ((TENSOR, TENSOR), LATER)),
)


def _judge(binary_op: Callable):
    from helpers.mini.dynamo import OPERATORS, PARTS

    cases = [_case(sign, *pair, advice) for sign in OPERATORS for pair, advice in PAIRS]
    return find_difference(binary_op, PARTS.binary_op, cases, "the finished one")


def _case(sign: str, left, right, advice: str) -> Case:
    from helpers.mini.dynamo import OPERATORS, Known, Tensor

    class Trace:
        """Stands in for the trace: keeps what is recorded."""

        def __init__(self, names: dict):
            self.names, self.calls = names, []

        def record(self, fn, *args, **kwargs):
            """Return a symbolic tensor for a call."""
            named = "OPERATORS[sign]" if fn is OPERATORS[sign] else brief(fn)
            given = [*map(self.describe, args), *kwargs]
            self.calls.append(f"{named}({', '.join(given)})")
            made = Tensor(None, None)
            self.names[made] = "what trace.record gave"
            return made

        def describe(self, value) -> str:
            known = isinstance(value, Known) and f"Known({value.value!r})"
            symbolic = known or isinstance(value, Tensor)
            return (self.names.get(value) if symbolic else None) or known or brief(value)

    def run(answer):
        operands = [Tensor(None, None) if v is TENSOR else Known(v) for v in (left, right)]
        trace = Trace(dict(zip(operands, ("left", "right"), strict=True)))
        result = tried(answer(trace, sign, *operands))
        return {"returns": trace.describe(result), "records": trace.calls}

    shown = ["a tensor" if side is TENSOR else repr(side) for side in (left, right)]
    return Case(f"{shown[0]} {sign} {shown[1]}", run, advice)


DYNAMO_BINARY_OP = Exercise(
    "dynamo_binary_op",
    _judge,
    "What is known is computed now; what needs a tensor went into the graph.",
    (
        "Which of the two operands can you compute with while there are no numbers?",
        "Both operands Known: compute with their .value, and wrap the result in Known again.",
        "Otherwise trace.record(fn, left, right) puts the call into the graph and returns a "
        "symbolic tensor. Keep the order: left first.",
    ),
)
