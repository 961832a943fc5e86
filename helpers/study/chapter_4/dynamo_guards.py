"""Step 3 of the mini-Dynamo: guards that are true of their value, no more than is needed.

And false where the graph would be wrong.
"""

from collections.abc import Callable

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.study.engine import Case, Exercise, Unfit, find_difference, in_order, tried

MOST = 100  # texts for one value
HOLD, FAIL = "guards that hold", "a guard that fails"
TOO_STRICT = (
    "it compiles again for nothing. Guard what decides the graph, not a tensor's numbers, and not "
    "which object it is"
)


def _judge(guards: Callable):
    from helpers.mini.dynamo import PARTS
    from helpers.study.chapter_4.dynamo_values import pairs

    cases = [_case(place, *pair) for pair in pairs() for place in ("k", "pair[1]")]
    return find_difference(guards, PARTS.guards, cases, "the finished one")


def _case(source: str, value, other, looks: str) -> Case:
    from helpers.study.chapter_4.dynamo_values import describe

    def run(answer):
        texts = _texts(answer(source, value))
        for text in texts:
            _require_true(text, source, value)
        try:
            return HOLD if all(_ask(text, other) for text in texts) else FAIL
        except Exception:  # such as an attribute that the other one does not have
            return FAIL

    why = f"a function may look at {looks}, and the graph would be wrong" if looks else TOO_STRICT
    words = f"{source} = {describe(value)}, and then {source} = {describe(other)}"
    return Case(words, run, why)


def _texts(given) -> list[str]:
    """Return the guards that were written for a value, if they are texts."""
    listed = [] if tried(given) is None else in_order(given, MOST, "what guards returns")
    if given is None or not all(isinstance(tried(text, "the list"), str) for text in listed):
        raise Unfit(f"guards must return a list of texts, not {brief(given)}")
    return listed


def _require_true(text: str, source: str, value) -> None:
    """Raise Unfit if a text is not true of the value that it was written for."""
    from helpers.study.chapter_4.dynamo_values import describe

    words = f"{source} = {describe(value)}"
    try:
        holds = bool(_ask(text, value))
    except Exception as error:
        instead = f"; write '{source} is None'" if value is None else ""
        known = f": only {source}, torch, usual and the builtins are known there{instead}"
        known = known if isinstance(error, NameError) else ""
        raise Unfit(f"for {words}, your guard {text!r} raised {said(error)}{known}") from None
    if not holds:
        raise Unfit(f"your guard {text!r} is not even true of {words}")


def _ask(text: str, value):
    """Return what a guard says of a value."""
    from helpers.mini.dynamo.builder import ALWAYS

    return eval(text, {**ALWAYS, "k": value, "pair": (None, value)})


DYNAMO_GUARDS = Exercise(
    "dynamo_guards",
    _judge,
    "Whatever would make the graph wrong makes a guard fail, and other numbers do not.",
    (
        "Which properties of a tensor may the function have looked at while it was traced?",
        "A tensor: its type, dtype, shape and requires_grad. A number: its type and its value.",
        "1 == 1.0 == True, and 0.0 == -0.0. type(k) is … tells the first apart, and k.hex() "
        "the second.",
    ),
)
