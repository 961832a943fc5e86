"""A learner's answer -> untried, passed or failed because …, and hints. It never raises."""

import contextlib
import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import signature, unwrap

from helpers.capture.text.error import error_message
from helpers.capture.text.source import file_lines
from helpers.exhibit import Exhibit
from helpers.internals.compiled_apart import earlier_code_kept
from helpers.model.phrase import counted
from helpers.model.study_records import Beside, Outcome
from helpers.safety import former_names, missing_parts, progress
from helpers.safety.arguments import quote_value, require_int
from helpers.safety.limits import Limits, limited
from helpers.safety.restoring import preserves_interpreter_state
from helpers.study.learner_progress import remember
from helpers.study.process_state import unchanged
from helpers.view.progress_view import outcome

PREFIX = "check."
KINDS = {  # annotation of a judge's parameter -> whether an answer fits, and what it must be
    Callable: (callable, "function"),
    type: (lambda answer: isinstance(answer, type), "class"),
}


class NotAttempted(Exception):
    """The answer is still the stub, or the parts that the message names are."""


class InvalidAnswer(Exception):
    """The answer cannot be judged as it is. The message says what it must be."""


class Mismatch(str):
    """A sentence about two answers, perhaps in `beside`. `picture` shows where they differ."""

    beside: Beside | None = None
    picture: object = None


def describe_difference(before: str, yours: str, real: str, who: str, after: str = "") -> Mismatch:
    """Return `<before>yours <yours>, <who> <real><after>`, each with a verb, as in gives 3."""
    words = Mismatch(f"{before}yours {yours}, {who} {real}{after}")
    words.beside = Beside(before, yours, real, who, after)
    return words


def _is_stub(answer) -> bool:
    """Return whether it is `...`, or a function or a class with a method that is only that."""
    parts = vars(answer).values() if isinstance(answer, type) else [answer]
    codes = [getattr(unwrap(part), "__code__", None) for part in parts]
    return answer is ... or any(c and ... in c.co_consts and not c.co_names for c in codes)


def prefix_reason(before: str, because: str, after: str = "") -> str:
    """Return a reason with text around it. It keeps its two answers, if it has them."""
    if not getattr(because, "beside", None):
        return f"{before}{because}{after}"
    b = because.beside
    return describe_difference(before + b.before, b.yours, b.real, b.who, b.after + after)


@dataclass
class Exercise:
    """One exercise: `judge(*answers)` returns None if all is right, or else the reason.

    A parameter's annotation is checked if it is in KINDS. `praise` is shown after a pass.
    `seconds` limits the run, and `picture` returns a model of what was built.
    """

    name: str
    judge: Callable[..., str | None]
    praise: str
    hints: tuple[str, ...]
    seconds: float = 10
    picture: Callable[..., object] | None = None
    _told: int = field(default=0, init=False)

    @partial(preserves_interpreter_state, results=BaseException)
    def __call__(self, *answers) -> Exhibit:
        """Judge the answers and return the outcome. Whatever they do, nothing is raised."""
        try:
            self._require_answers(answers)
            with progress.doing("judging your answer"):
                because = self._judge_in_time(answers)
        except NotAttempted as untried:
            where = f" of {untried}" if str(untried) else ""
            more = f"Replace the ...{where} and run this cell again. {self}"
            return self._outcome("untried", more=more)
        except InvalidAnswer as error:
            because = str(error)
        except Exception as error:
            if words := missing_parts.sentence(error):
                return self._outcome("untried", words)
            raise
        if because:
            shown = getattr(because, "picture", None)
            return self._outcome("failed", because, more=str(self), picture=shown)
        return self._outcome("passed", self.praise, picture=self._draw(answers))

    def _require_answers(self, answers) -> None:
        """Raise InvalidAnswer for a wrong number or kind of answers, NotAttempted for a stub."""
        asked = signature(self.judge)
        try:
            given = asked.bind(*answers).arguments
        except TypeError:
            many, call = counted(len(answers), "answer"), f"{self!r}({', '.join(asked.parameters)})"
            raise InvalidAnswer(f"you passed {many}. The call is {call}") from None
        for name, answer in given.items():
            wanted = KINDS.get(asked.parameters[name].annotation)
            if wanted and answer is not ... and not wanted[0](answer):
                raise InvalidAnswer(f"{name} must be a {wanted[1]}, not {quote_value(answer)}")
        if any(answer is ... for answer in given.values()):
            left = [name for name, answer in given.items() if _is_stub(answer)]
            raise NotAttempted(", ".join(left) if len(answers) > 1 else "")

    def _judge_in_time(self, answers) -> str | None:
        limit = limited(Limits(self.seconds))
        try:
            with unchanged(answers), earlier_code_kept(), limit, quiet():
                because = self.judge(*answers)
        except (NotAttempted, InvalidAnswer):
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and limit.interrupted and not limit.because:
                raise
            if missing_parts.sentence(error):
                raise
            because = f"your code raised {error_message(error)}{where_raised(error)}"
        return limit.because or because

    def _draw(self, answers):
        failing = contextlib.suppress(Exception, KeyboardInterrupt, SystemExit)
        kept = unchanged(answers), earlier_code_kept()
        with failing, kept[0], kept[1], limited(Limits(self.seconds)), quiet():
            return self.picture(*answers) if self.picture else None

    def _outcome(self, state: str, because: str = "", more: str = "", picture=None) -> Exhibit:
        if state != "untried":
            remember({"check": self.name, "is": state})
        beside = getattr(because, "beside", None)
        return Exhibit(Outcome(self.name, state, str(because), more, beside, picture), outcome)

    def hint(self, number: int | None = None) -> Exhibit:
        """Return the next hint, or hint `number` (from 1). After the last one, return it again."""
        many = len(self.hints)
        if number is None:
            number = min(self._told + 1, many)
        self._told = require_int(number, "the number of a hint", many)
        words = self.hints[self._told - 1]
        return self._outcome("hint", f"hint {self._told} of {many}. {words}")

    def __str__(self) -> str:
        return (
            f"Stuck? {PREFIX}{self.name}.hint() shows a hint, and each new call shows the next one."
        )

    def __repr__(self) -> str:
        return f"{PREFIX}{self.name}"


def exercise(*hints: str, **more) -> Callable[[Callable], Exercise]:
    """Return a decorator that makes a judge an exercise. Its docstring becomes the praise."""
    return lambda judge: Exercise(judge.__name__, judge, judge.__doc__, hints, **more)


class Checks:
    """The exercises by name, as in `check.tangle(answer)`. A chapter is imported when needed."""

    def __init__(self, chapters: dict[str, str]):
        self._homes = {name: home for home, names in chapters.items() for name in names.split()}

    def __getattr__(self, name: str) -> Exercise:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._homes:
            try:
                raise former_names.NotOffered(former_names.sentence_of_check(name, self._homes))
            except former_names.NotOffered as error:
                error.__traceback__ = None
                raise  # this form adds no line of the frame
        chapter = import_module(f"{__package__}.{self._homes[name]}")
        return next(exercise for exercise in chapter.EXERCISES if exercise.name == name)

    def __dir__(self):
        return list(self._homes)

    def __iter__(self):
        return (getattr(self, name) for name in self._homes)


def tried(value, part: str = ""):
    """Return the learner's value. Raise NotAttempted, with the `part`, if it is `...`."""
    if value is ...:
        raise NotAttempted(part)
    return value


def where_raised(error: BaseException) -> str:
    """Return the line of the learner's notebook that raised, if the error came from there."""
    walk = [(frame.f_code.co_filename, n) for frame, n in traceback.walk_tb(error.__traceback__)]
    own = [place for place in walk if "ipykernel_" in place[0] or place[0] == "<answer>"]
    file, number = own[-1] if own else ("", 0)
    line = "".join(file_lines(file)[number - 1 : number]).strip() if number else ""
    return f", in line {number} of its cell: {line}" if line else ""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide Python's and TensorFlow's warnings in this block. A check has its own messages."""
    logger, errors = logging.getLogger("tensorflow"), lambda record: record.levelno >= logging.ERROR
    logger.addFilter(errors)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logger.removeFilter(errors)


@contextlib.contextmanager
def expect(*errors: type[BaseException]):
    """Run the block and print the expected error in one line, as a result.

    AssertionError if nothing is raised. An error of another type passes through.
    """
    try:
        yield
    except errors as error:
        print(error_message(error))
    else:
        names = " or ".join(error.__name__ for error in errors)
        raise AssertionError(f"expected {names}, but this block raised nothing")
