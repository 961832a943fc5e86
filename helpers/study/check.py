"""A learner's answer -> untried, passed or failed because; hints that rise; and never an error.

An exercise is judged by running it against the real thing. What a judge finds wrong it returns as
words; what a learner's code raises is told the same way.
"""

import builtins
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from inspect import isasyncgenfunction, iscoroutinefunction, signature
from types import FunctionType

from helpers.capture.text.error import said
from helpers.exhibit import Exhibit
from helpers.model.outcome import Outcome
from helpers.model.phrase import counted
from helpers.safety import missing_parts, progress, settings_left
from helpers.safety.answer_limits import Limits, limited
from helpers.safety.arguments import deadly, is_a, shown
from helpers.safety.interpreter_state import whole
from helpers.safety.patches import patched
from helpers.safety.threads_left import left_running, running
from helpers.study import rehearsal
from helpers.study.quiet import quiet
from helpers.study.remembering import remember
from helpers.study.two_answers import Parted
from helpers.view import outcome

PREFIX = "check."


class Untried(Exception):
    """The answer, or the parts that the words name, are still the stub."""


class Unfit(Exception):
    """The answer cannot be judged as it is; the words say what it must be."""


@dataclass
class Exercise:
    """One exercise: `judge(*answers)` returns None when all is well, or why it is not.

    `praise` is what a pass is told, and `picture(*answers)` gives the model of what was built, to
    be looked at; `hints` rise from a question to near the solution. After `seconds` of processor
    time, or of waiting, the answer is stopped. It is `rehearsed` unless the judge itself runs it in
    another process.
    """

    name: str
    judge: Callable[..., str | None]
    praise: str
    hints: tuple[str, ...]
    seconds: float = 10
    rehearsed: bool = True
    picture: Callable[..., object] | None = None
    _told: int = field(default=0, init=False)

    @partial(whole, raises=False)
    def __call__(self, *answers) -> Exhibit:
        """Judge the answers and return the outcome; whatever they do, nothing is raised."""
        try:
            self._fitting(answers)
            self._all_tried(answers)
            with progress.doing("trying your answer"):
                because = self._why_not(answers)
            with progress.doing("judging your answer"):
                because = because or self._judged(answers, limited(Limits(self.seconds)))
        except Untried as untried:
            where = f" of {untried}" if str(untried) else ""
            more = f"Replace the ...{where} and run this cell again. {self}"
            return self._outcome("untried", more=more)
        except Unfit as error:
            because = str(error)
        except Exception as error:
            if words := missing_parts.sentence(error):
                return self._outcome("untried", words)
            raise
        if because:
            return self._outcome("failed", because, more=str(self))
        return self._outcome("passed", self.praise, picture=self._pictured(answers))

    def _why_not(self, answers) -> str:
        """Return why the answers fail without being judged here, after a try in a copy."""

        def act() -> str:
            limit, before = limited(Limits(self.seconds)), running()
            with suppress(BaseException):
                self._judged(answers, limit)
            return limit.because or _left(before)

        return rehearsal.why_not(act, self.seconds) if self.rehearsed else ""

    def _judged(self, answers, limit: limited) -> str:
        """Return what is wrong with the answers, or why judging them was stopped; "" if nothing."""
        before, settings = running(), settings_left.read()
        try:
            with limit, quiet(), patched(builtins, input=_nobody_answers):
                because = _refused(answers) or self.judge(*answers)
        except Untried:
            raise
        except Unfit as error:
            because = str(error)
        except BaseException as error:
            if is_a(error, KeyboardInterrupt) and limit.interrupted and not limit.because:
                raise
            if missing_parts.sentence(error):
                raise
            because = f"your code raised {said(error)}{where_raised(error)}"
        finally:
            changed = settings_left.left(settings)
        return limit.because or because or changed or _left(before)

    def hint(self, number: int | None = None) -> Exhibit:
        """Return the next hint, or hint `number` (from 1); the last one again after the last.

        TypeError or ValueError for what is no such number.
        """
        if number is not None and (type(number) is not int or number < 1):
            kind = ValueError if type(number) is int else TypeError
            takes = f"takes the number of a hint, 1 to {len(self.hints)}, or nothing for the next"
            raise kind(f"{PREFIX}{self.name}.hint() {takes}, not {shown(number)}")
        self._told = min(number or self._told + 1, len(self.hints))
        words = self.hints[self._told - 1]
        return self._outcome("hint", f"hint {self._told} of {len(self.hints)}. {words}")

    def __str__(self) -> str:
        return f"Stuck? {PREFIX}{self.name}.hint() gives a hint, and the next one each time."

    def __repr__(self) -> str:
        return f"{PREFIX}{self.name}"

    def _fitting(self, answers) -> None:
        """Raise Unfit, with the names of what is asked for, if there are more or fewer answers.

        And if one that the judge calls (it says so: `Callable`) cannot be called.
        """
        asked = signature(self.judge)
        try:
            given = asked.bind(*answers).arguments
        except TypeError:
            call = f"{PREFIX}{self.name}({', '.join(asked.parameters)})"
            raise Unfit(f"{counted(len(answers), 'answer')} given; the call is {call}") from None
        for name, answer in given.items():
            if asked.parameters[name].annotation is not Callable or answer is ...:
                continue
            if not callable(answer):
                raise Unfit(f"{name} must be a function, not {shown(answer)}")
            if iscoroutinefunction(answer) or isasyncgenfunction(answer):
                raise Unfit(f"{name} is an async function: a call runs nothing. Write a plain def")

    def _all_tried(self, answers) -> None:
        """Raise Untried, with the names of those that are still `...`, if any is."""
        names = self.judge.__code__.co_varnames if isinstance(self.judge, FunctionType) else ()
        left = [k for k, answer in enumerate(answers) if answer is ...]
        if left:
            told = [names[k] for k in left if k < len(names)]
            raise Untried(", ".join(told) if len(answers) > 1 else "")

    def _pictured(self, answers):
        """Return the model of what was built; None if it has none, or what is built fails here."""
        if self.picture is None:
            return None
        limit = limited(Limits(self.seconds))
        try:
            with limit, quiet():
                return self.picture(*answers)
        except BaseException as error:
            if is_a(error, KeyboardInterrupt) and limit.interrupted and not limit.because:
                raise
            return None

    def _outcome(self, state: str, because: str = "", more: str = "", picture=None) -> Exhibit:
        if state != "untried":
            remember({"check": self.name, "is": state})
        beside = because.beside if type(because) is Parted else None
        told = Outcome(self.name, state, str.__str__(because), more, beside, picture)
        return Exhibit(told, outcome)


class Checks:
    """The exercises by name: `check.tangle(answer)`. `chapters`: module of this room -> names.

    A chapter is imported when one of its exercises is asked for.
    """

    def __init__(self, chapters: dict[str, str]):
        self._homes = {name: home for home, names in chapters.items() for name in names.split()}

    def __getattr__(self, name: str) -> Exercise:
        homes = self.__dict__.get("_homes", {})
        if name not in homes:
            near = " or ".join(get_close_matches(name, homes, n=2, cutoff=0))
            why = f"did you mean {near}? show_progress() lists all" if near else "there is none"
            raise AttributeError(f"there is no exercise {name!r}; {why}")
        chapter = import_module(f"{__package__}.{homes[name]}")
        return next(exercise for exercise in chapter.EXERCISES if exercise.name == name)

    def __dir__(self):
        return list(self._homes)

    def __iter__(self):
        return (getattr(self, name) for name in self._homes)


def tried(value, part: str = ""):
    """Return what the learner's code gave; Untried if that is the stub's `...`.

    `part`: which part of the answer it is, in words, where there are more.
    """
    if value is ...:
        raise Untried(part)
    return value


def where_raised(error: BaseException) -> str:
    """Return the line of the learner's notebook that raised, if the error came from there."""
    walk = traceback.walk_tb(error.__traceback__)
    return rehearsal.line_at([(frame.f_code.co_filename, lineno) for frame, lineno in walk])


def _left(before: frozenset[int]) -> str:
    """Say that a thread of the answer's runs on, if one does; empty otherwise."""
    places = left_running(before)
    return "" if places is None else f"your code left a thread running{rehearsal.line_at(places)}"


def _nobody_answers(prompt=""):
    """Stand for `input`: a notebook would show no prompt here, and wait."""
    raise EOFError("a check answers no input()")


def _refused(answers) -> str:
    """Say why an answer is not even looked at; empty where it is."""
    whys = (deadly(answer) for answer in answers)
    return next((f"your answer {why}" for why in whys if why), "")
