"""Chapter 3: which functions keep an object alive after they have returned?"""

import gc
import weakref
from collections.abc import Mapping

from helpers.capture.text.value import brief
from helpers.study.answers import by_name
from helpers.study.check import Exercise

NOT_THE_FIVE = "not what it was by now: run the cell again that makes the five"
_WHY = {
    "error": "the error has a traceback, the traceback the frame, and the frame its locals",
    "closure": "only what the inner function names goes into a cell; it names nothing here",
    "generator": "a generator that has not ended keeps its frame, and the frame its locals",
    "ended": "the generator has run to its end, and its frame was cleared",
    "frame": "a frame that somebody keeps, keeps its locals",
}


_TRUTH = dict.fromkeys(_WHY, True) | {"closure": False, "ended": False}


class _Thing:
    """An object whose end can be noticed."""


def _alive_after(fn) -> bool:
    thing = _Thing()
    watch = weakref.ref(thing)
    kept = fn(thing)
    del thing
    alive = watch() is not None
    del kept
    return alive


def _judge_keepers(guess, functions):
    given = by_name(guess, _WHY)
    if not issubclass(type(functions), Mapping) or set(functions) != set(_WHY):
        return f"functions is {NOT_THE_FIVE}"
    for name, answer in given.items():
        if not _is_yes_or_no(answer):
            return f"{name} must be True (it keeps the object alive) or False, not {brief(answer)}"
    truth = {name: _alive_after(fn) for name, fn in functions.items()}
    gc.collect()  # An error and its frame hold each other.
    if truth != _TRUTH:
        return f"{next(n for n in _WHY if truth[n] != _TRUTH[n])} is {NOT_THE_FIVE}"
    for name, answer in given.items():
        if bool(answer) != truth[name]:
            verb = "keeps" if truth[name] else "does not keep"
            return f"{name} {verb} the object alive: {_WHY[name]}"
    return None


def _is_yes_or_no(answer) -> bool:
    """Return whether it is a bool: Python's own, or an array library's."""
    kind = type(answer)
    return kind is bool or (kind.__name__ in ("bool", "bool_") and hasattr(kind, "dtype"))


KEPT_ALIVE = Exercise(
    "kept_alive",
    _judge_keepers,
    "You followed the references: frame → locals → object.",
    (
        "For each result ask: does it lead to the frame of the call?",
        "An error leads to a traceback, a waiting generator to its frame. What does a function "
        "lead to, if its body names none of the outer variables?",
        "error, generator and frame keep a frame alive; closure and ended do not.",
    ),
)
