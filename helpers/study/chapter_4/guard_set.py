"""Chapter 4: write the guards of one compiled call; the real ones and the results judge them."""

from collections.abc import Callable, Iterator

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch import graph_breaks as results
from helpers.capture.torch.guard_sets import Call, Real, neighbours
from helpers.study.engine import Case, Exercise, Raised, Unfit, find_difference, tried

NOT_HERE = (
    "This backend would give the right numbers even so; one that wrote machine code for the first "
    "call need not"
)


def _judge(holds: Callable, fn: Callable, *first):
    import torch

    with torch.enable_grad():
        real = Real(fn, *results.copied(first)[0])
        calls = [*neighbours(real.function, real.first), *_farther(real.first)]
        return find_difference(holds, real, [_case(real, fn, call) for call in calls], "Dynamo")


def _case(real: Real, fn: Callable, call: Call) -> Case:
    arguments = call.arguments

    def run(guards):
        with call.world():
            verdict = tried(guards(*arguments.values()))
        if verdict and not hasattr(type(verdict), "__int__"):  # a list is true, whatever is in it
            raise Unfit(f"holds must say True or False, and yours gives {brief(verdict)}")
        return bool(verdict)

    def advice(mine, accepted: bool) -> str:
        if isinstance(mine, Raised):
            return f"yours {mine}; a guard looks and says no, and never raises"
        if accepted:
            return "too strict: yours refuse, and Dynamo hits; it would compile anew for nothing"
        with call.world():
            because = real.why_not(**arguments)
            stale, fresh = _result(real.unguarded, arguments), _result(fn, arguments)
        if stale == fresh:
            return f"too lax: yours accept, and Dynamo refuses ({because}). {NOT_HERE}"
        gives = f"the compiled code gives {stale} where Python gives {fresh}"
        return f"too lax: yours accept, and {gives}"

    return Case(f"counter-example ({call.words})", run, advice)


def _result(fn: Callable, arguments: dict) -> str:
    try:
        return brief(fn(**arguments).detach().flatten().tolist())
    except Exception as error:
        return said(error)


def _farther(first: dict) -> Iterator[Call]:
    """Yield calls with one change that the neighbours of the first call do not have."""
    for name, value in first.items():
        for words, other in _others(value):
            yield Call(f"{name} {words}", {**first, name: other})


def _others(value) -> list[tuple]:
    import torch

    if isinstance(value, torch.Tensor):
        return [
            ("with negative numbers", -value),
            ("with nan", value * torch.nan),
            ("that is a part of a longer tensor", torch.cat([value, value])[len(value) :]),
            ("of int64", value.long()),
            ("of stride 0", value[:1].expand(len(value))),
            ("a Parameter that needs no gradient", torch.nn.Parameter(value.clone(), False)),
        ]
    if type(value) is int:
        return [
            ("of a class derived from int", type("Derived", (int,), {})(value)),
            ("= None", None),
        ]
    return [
        ("with numbers", list(range(len(value)))),
        ("as another list that is equal", list(value)),
        ("as one text", "a" * len(value)),
        ("of a class derived from list", type("Derived", (list,), {})(value)),
    ]


GUARD_SET = Exercise(
    "guard_set",
    _judge,
    "No call next to the first one tells your guards from Dynamo's.",
    (
        "Which of the values became part of the compiled code? Each needs a guard. Which did not? "
        "Those need none: a guard on them only costs recompiles.",
        "A tensor's numbers are no part of the code; its type, dtype, shape, stride and "
        "requires_grad are. Of the list, only len(names) is used.",
        "Besides the arguments, the function reads a global, and torch records gradients or does "
        "not: SCALE and torch.is_grad_enabled(). Mind that 2.0 == 2: ask for the type as well.",
    ),
)
