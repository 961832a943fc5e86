"""Chapter 4: write the guards of one compiled call; the real ones and the results judge them."""

import inspect
from collections.abc import Callable
from contextlib import suppress

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.capture.torch import results
from helpers.capture.torch.guard_sets import Real, neighbours
from helpers.study.chapter_4.farther_calls import farther
from helpers.study.chapter_4.forms import function
from helpers.study.check import Exercise, Unfit, Untried, tried


def _judge_guard_set(holds: Callable, fn: Callable, *first):
    import torch

    with torch.enable_grad():
        return _judged(holds, fn, first)


def _judged(holds, fn, first) -> str | None:
    real = Real(fn, *results.copied(first)[0])
    holds = _by_position(holds, real.first)
    for call in (*neighbours(real.function, real.first), *farther(real.function, real.first)):
        with call.world():
            if because := _parted(holds, real, fn, call):
                return f"counter-example ({call.words}): {because}"
    return None


def _parted(holds, real, fn, call) -> str | None:
    """Return how the answer parts from the real guards at this call, if it does."""
    because = real.why_not(**call.arguments)
    before = _state(call.arguments)
    try:
        said_so = tried(holds(*call.arguments.values()))
        mine = _said_yes(said_so)
    except (Untried, Unfit):
        raise
    except Exception as error:
        return f"your guards raised {said(error)}; a guard looks and says no, and never raises"
    if _state(call.arguments) != before:
        return "your guards change what they are given; a guard only looks"
    if mine == (because is None):
        return None
    if not mine:
        none = "; yours give None, which is no" if said_so is None else ""
        return f"too strict: yours refuse, and Dynamo hits; it would compile anew for nothing{none}"
    stale, fresh = (_gives(f, call.arguments) for f in (real.unguarded, fn))
    if stale != fresh:
        return (
            f"too lax: yours accept, and the compiled code gives {stale} where Python gives {fresh}"
        )
    return (
        f"too lax: yours accept, and Dynamo refuses ({because}). This backend would give the "
        "right numbers even so; one that wrote machine code for the first call need not"
    )


def _by_position(holds, first: dict):
    """Return the answer as a function of the arguments in order; it may name them in any order."""
    if callable(holds) and not isinstance(holds, type):
        with suppress(TypeError, ValueError):
            inspect.signature(holds).bind(**first)
            return lambda *values: holds(**dict(zip(first, values, strict=True)))
    return function(holds, "holds", ", ".join(first))


def _said_yes(answer) -> bool:
    """Return what the guards say. A list of verdicts, or a generator, is true whatever is in it."""
    if answer and not hasattr(type(answer), "__int__"):
        raise Unfit(f"holds must say True or False, and yours gives {brief(answer)}")
    return bool(answer)


def _state(arguments: dict) -> list:
    """Return what would tell that an argument has been changed."""
    return [
        getattr(value, "_version", list(value) if type(value) is list else None)
        for value in arguments.values()
    ]


def _gives(fn, arguments) -> str:
    try:
        result = fn(**arguments)
        return brief(result.detach().flatten().tolist())
    except Exception as error:
        return said(error)


GUARD_SET = Exercise(
    "guard_set",
    _judge_guard_set,
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
