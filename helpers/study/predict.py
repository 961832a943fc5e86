"""A question and code that answers it -> a prediction: the learner decides, then the run tells."""

import contextlib
import io
from collections.abc import Callable, Iterable

from helpers.exhibit import Exhibit
from helpers.model.choice import Choice
from helpers.view import choice as choice_view

LONGEST_ANSWER = 200


class Revealed(str):
    """A sentence that a notebook shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Prediction(Exhibit):
    """A question on show. `.model` holds its answer, `.reveal()` says it."""

    def __init__(self, model: Choice):
        super().__init__(model, choice_view)

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the choices, in the order in which they are shown."""
        return self.model.choices

    @property
    def answer(self) -> str:
        """Return the choice that running the code gave."""
        return self.model.answer

    def reveal(self) -> Revealed:
        """Return what running it gave and why, as a sentence."""
        return Revealed(self.model.outcome)


def predict(
    question: str, choices: Iterable[str], *, run: Callable[[], object], why: str = ""
) -> Prediction:
    """Ask `question` before showing what `run` gives; `run` is executed now.

    The answer is what `run()` returns (as str, or as repr where that is the choice), what it
    printed when it returns None, or the name of the exception's type when it raises.

    Raises:
        TypeError: `run` is not callable, or the question or a choice is not a str.
        ValueError: the question is empty, there are fewer than two different choices, or
            running gave something that is none of them.
    """
    choices = _checked(question, choices, run)
    candidates, raised, detail = _outcome(run)
    for answer in candidates:
        if answer in choices:
            return Prediction(Choice(question, choices, answer, why, raised))
    offered = ", ".join(map(repr, choices))
    gave = f"raised {candidates[0]}{detail}" if raised else f"gave {_short(candidates[0])!r}"
    raise ValueError(f"running it {gave}, which is none of the choices {offered}")


def _checked(question, choices, run) -> tuple[str, ...]:
    if not isinstance(question, str):
        raise TypeError(f"the question must be a str, not {type(question).__name__}")
    if not question.strip():
        raise ValueError("the question is empty; write what the learner is to decide")
    if isinstance(choices, str) or not isinstance(choices, Iterable):
        raise TypeError(f"choices must be a list of str, not {choices!r}")
    choices = tuple(choices)
    for choice in choices:
        if not isinstance(choice, str):
            raise TypeError(f"every choice must be a str; {choice!r} is not")
        if not choice.strip():
            raise ValueError("a choice is empty; write what the learner could decide for")
    if len(set(choices)) < 2 or len(set(choices)) != len(choices):
        raise ValueError("choices must be at least two different strings, none of them twice")
    if not callable(run):
        raise TypeError(f"run must be something to call without arguments, not {run!r}")
    return choices


def _outcome(run) -> tuple[tuple[str, ...], bool, str]:
    """Run it -> (candidate answers, whether it raised, words of the exception)."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = run()
            candidates = () if result is None else (str(result), repr(result))
    except Exception as error:
        return (type(error).__name__,), True, _message(error)
    return candidates or (printed.getvalue().strip() or "None",), False, ""


def _message(error: Exception) -> str:
    try:
        words = str(error)
    except Exception:
        words = ""
    return f" ({_short(words)})" if words else ""


def _short(words: str) -> str:
    return words if len(words) <= LONGEST_ANSWER else words[:LONGEST_ANSWER] + "…"
