"""The one exercise of the first notebook: how many names does a call look up?"""

from numbers import Integral
from operator import index

from helpers.capture.text.value import brief
from helpers.safety.arguments import kind_of
from helpers.study.check import Exercise

EXPRESSION = "f(x)"


def _judge(count):
    names = compile(EXPRESSION, "<warm-up>", "eval").co_names
    if issubclass(type(count), bool) or not issubclass(type(count), Integral):
        quotes = "; write it without quotes" if issubclass(type(count), str) else ""
        given = f"{brief(count)} ({kind_of(count)})"
        return f"the answer must be a whole number such as 7, not {given}{quotes}"
    count = int.__index__(count) if issubclass(type(count), int) else index(count)
    if count == len(names) - 1:
        return "the argument is looked up by name too"
    if count != len(names):
        return f"CPython compiled {EXPRESSION} and listed the names {', '.join(names)}"
    return None


WARM_UP = Exercise(
    "warm_up",
    _judge,
    "The code object of f(x) lists two names: f and x. Each is looked up when the line runs.",
    (
        "Read f(x) aloud, word by word. Which words are names?",
        "Not only the function is reached through a name.",
        "Count f, and count x.",
    ),
)

EXERCISES = (WARM_UP,)
