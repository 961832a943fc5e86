"""A learner's answer -> untried, passed or failed because …, and hints. It never raises."""

import contextlib
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import signature, unwrap

from helpers.capture.text.error import describe_error
from helpers.exhibit import Exhibit
from helpers.internals.compiled_apart import earlier_code_kept
from helpers.model.phrase import format_count
from helpers.model.question_records import Outcome
from helpers.safety import former_names, missing_parts, progress
from helpers.safety.arguments import quote_value, require_int
from helpers.safety.limits import Limits, limited
from helpers.safety.restoring import preserves_interpreter_state
from helpers.study.answers import InvalidAnswer, NotAttempted
from helpers.study.learner_progress import remember
from helpers.study.process_state import unchanged
from helpers.study.sentences import where_raised
from helpers.view.progress_view import outcome as outcome_view

PREFIX = "check."


def _is_class(answer) -> bool:
    return isinstance(answer, type)


KINDS = {  # annotation of a judge's parameter -> whether an answer fits, and what it must be
    Callable: (callable, "function"),
    type: (_is_class, "class"),
}


@dataclass
class Exercise:
    """One exercise: an answer goes to its judge, whose verdict becomes an exhibit.

    A parameter's annotation is checked if it is in KINDS.
    """

    #: What learners type after `check.`.
    name: str
    #: `judge(*answers)` returns None if all is right, or else the reason.
    judge: Callable[..., str | None]
    #: What is shown after a pass.
    praise: str
    #: From the weakest to the strongest.
    hints: tuple[str, ...]
    #: How long the judge may run.
    seconds: float = 10
    #: `picture(*answers)` returns a model of what was built.
    picture: Callable[..., object] | None = None
    #: The number of the hint that was shown last, from 1.
    _last_hint: int = field(default=0, init=False)

    # results=BaseException: a KeyboardInterrupt that the answer raises is judged, not passed on.
    @partial(preserves_interpreter_state, results=BaseException)
    def __call__(self, *answers) -> Exhibit:
        """Judge the answers and return the outcome. Whatever they do, nothing is raised."""
        outcome = self._decide(answers)
        if outcome.state != "untried":
            remember({"check": self.name, "is": outcome.state})
        return Exhibit(outcome, outcome_view)

    def _decide(self, answers: tuple) -> Outcome:
        """Return the outcome: untried for a stub or a missing library, else passed or failed."""
        try:
            self._require_answers(answers)
            reason = self._judge_in_time(answers)
        except NotAttempted as stub:
            parts = f" of {stub}" if str(stub) else ""
            cure = f"Replace the ...{parts} and run this cell again. {self}"
            return Outcome(self.name, "untried", more=cure)
        except InvalidAnswer as error:
            reason = str(error)
        except Exception as error:
            # `sentence` is empty unless a library or program is missing. Then it is a judge's bug.
            sentence = missing_parts.sentence(error)
            if not sentence:
                raise
            return Outcome(self.name, "untried", sentence)

        if not reason:
            return Outcome(self.name, "passed", self.praise, picture=self._draw(answers))
        return Outcome(
            self.name,
            "failed",
            str(reason),
            more=str(self),
            beside=getattr(reason, "beside", None),
            picture=getattr(reason, "picture", None),
        )

    def _require_answers(self, answers: tuple) -> None:
        """Raise InvalidAnswer for a wrong number or kind of answers, NotAttempted for a stub."""
        judge_signature = signature(self.judge)
        parameters = judge_signature.parameters
        try:
            arguments = judge_signature.bind(*answers).arguments
        except TypeError:
            passed = format_count(len(answers), "answer")
            call = f"{self!r}({', '.join(parameters)})"
            raise InvalidAnswer(f"you passed {passed}. The call is {call}") from None

        for name, answer in arguments.items():
            _require_kind(name, answer, parameters[name].annotation)
        if any(answer is ... for answer in arguments.values()):
            # If one answer is `...`, name the functions whose body is still `...`, too.
            stubs = [name for name, answer in arguments.items() if _is_stub(answer)]
            # A single answer needs no name.
            raise NotAttempted(", ".join(stubs) if len(answers) > 1 else "")

    def _judge_in_time(self, answers: tuple) -> str | None:
        """Return what is wrong with the answers, or None. What they set is restored."""
        earlier_code = earlier_code_kept()
        limit = limited(Limits(self.seconds))
        doing = progress.doing("judging your answer")
        try:
            with doing, unchanged(answers), earlier_code, limit, quiet():
                reason = self.judge(*answers)
        except (NotAttempted, InvalidAnswer):
            raise
        except BaseException as error:
            # Ctrl-C stops the check itself; the time limit interrupts the answer in the same way.
            is_interrupt = isinstance(error, KeyboardInterrupt)
            if is_interrupt and limit.interrupted and not limit.because:
                raise
            if missing_parts.sentence(error):
                raise
            reason = f"your code raised {describe_error(error)}{where_raised(error)}"
        # What broke the limit comes first, because then any other reason may be its consequence.
        return limit.because or reason

    def _draw(self, answers: tuple):
        """Return the picture of right answers, or None: a verdict does not depend on it."""
        if self.picture is None:
            return None
        failing = contextlib.suppress(Exception, KeyboardInterrupt, SystemExit)
        limit = limited(Limits(self.seconds))
        with failing, unchanged(answers), earlier_code_kept(), limit, quiet():
            return self.picture(*answers)

    def hint(self, number: int | None = None) -> Exhibit:
        """Return the next hint, or hint `number` (from 1). After the last one, return it again."""
        count = len(self.hints)
        if number is None:
            number = min(self._last_hint + 1, count)
        self._last_hint = require_int(number, "the number of a hint", count)

        hint = self.hints[self._last_hint - 1]
        remember({"check": self.name, "is": "hint"})
        sentence = f"hint {self._last_hint} of {count}. {hint}"
        return Exhibit(Outcome(self.name, "hint", sentence), outcome_view)

    def __str__(self) -> str:
        call = f"{PREFIX}{self.name}.hint()"
        return f"Stuck? {call} shows a hint, and each new call shows the next one."

    def __repr__(self) -> str:
        return f"{PREFIX}{self.name}"


def _require_kind(name: str, answer, annotation) -> None:
    """Raise InvalidAnswer for an answer that its parameter's annotation does not allow.

    Only annotations in KINDS are checked. The stub `...` is allowed everywhere.
    """
    if annotation not in KINDS or answer is ...:
        return
    fits, noun = KINDS[annotation]
    if not fits(answer):
        raise InvalidAnswer(f"{name} must be a {noun}, not {quote_value(answer)}")


def _is_stub(answer) -> bool:
    """Return whether an answer is `...`, a function with that body, or a class with one."""
    if answer is ...:
        return True
    parts = vars(answer).values() if isinstance(answer, type) else [answer]
    for part in parts:
        code = getattr(unwrap(part), "__code__", None)
        # A stub's code has the constant `...` and looks up no name.
        if code and ... in code.co_consts and not code.co_names:
            return True
    return False


def exercise(*hints: str, **options) -> Callable[[Callable], Exercise]:
    """Return a decorator that makes a judge an exercise. Its docstring becomes the praise."""

    def make_exercise(judge: Callable) -> Exercise:
        return Exercise(judge.__name__, judge, judge.__doc__, hints, **options)

    return make_exercise


class Checks:
    """The exercises by name, as in `check.tangle(answer)`. A chapter is imported when needed."""

    def __init__(self, chapters: dict[str, str]):
        """Note which chapter has which exercise; `chapters`: module -> names with spaces."""
        self._chapters_by_name = {}
        for chapter, names in chapters.items():
            for name in names.split():
                self._chapters_by_name[name] = chapter

    def __getattr__(self, name: str) -> Exercise:
        """Return the exercise of this name; NotOffered, with its newer name, if there is none."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._chapters_by_name:
            sentence = former_names.sentence_of_check(name, self._chapters_by_name)
            # Show the learner only the line of their cell: without a traceback, a bare `raise`
            # adds no line of this frame, while `raise error` would add one.
            try:
                raise former_names.NotOffered(sentence)
            except former_names.NotOffered as error:
                error.__traceback__ = None
                raise
        chapter = import_module(f"{__package__}.{self._chapters_by_name[name]}")
        return next(exercise for exercise in chapter.EXERCISES if exercise.name == name)

    def __dir__(self):
        return list(self._chapters_by_name)

    def __iter__(self):
        return (getattr(self, name) for name in self._chapters_by_name)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Hide Python's and TensorFlow's warnings in this block, because a check has its own messages.

    TensorFlow's errors are still logged.
    """

    def is_error(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.ERROR

    logger = logging.getLogger("tensorflow")
    logger.addFilter(is_error)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        logger.removeFilter(is_error)
