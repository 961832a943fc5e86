"""Judge a learner's answer to an exercise, as in `check.tangle(answer)`, and show hints.
The outcome of a check is "untried", "passed" or "failed" with a reason. Whatever the answer does, a
check raises no error. Each exercise has a *judge*, a function that gets the answers.
"""

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
from helpers.internals.compiled_apart import keep_earlier_code
from helpers.model.phrase import format_count
from helpers.model.question_records import Outcome
from helpers.safety import former_names, missing_parts, progress
from helpers.safety.arguments import quote_value, require_int
from helpers.safety.limits import Limits, enforce_limits
from helpers.safety.restoring import preserves_interpreter_state
from helpers.study.answers import InvalidAnswer, NotAttempted
from helpers.study.learner_progress import record_event_or_print
from helpers.study.process_state import restore_process_state
from helpers.study.sentences import describe_raising_line
from helpers.view.progress_view import outcome as outcome_view

PREFIX = "check."


def _is_class(answer) -> bool:
    return isinstance(answer, type)


# annotation of a judge's parameter -> (function that says if an answer fits, what it must be)
KINDS = {
    Callable: (callable, "function"),
    type: (_is_class, "class"),
}


@dataclass
class Exercise:
    """One exercise. Calling it judges the learner's answers, and returns the outcome to show.

    If the annotation of a judge's parameter is in `KINDS`, an answer of another kind is refused.
    """

    #: What learners type after `check.`.
    name: str
    #: `judge(*answers)` returns None if the answers are right, else a sentence on what is wrong.
    judge: Callable[..., str | None]
    #: What is shown for right answers.
    praise: str
    #: From the weakest to the strongest.
    hints: tuple[str, ...]
    #: How long the judge may run.
    seconds: float = 10
    #: `picture(*answers)` returns a model, drawn for right answers, of what the learner has built.
    picture: Callable[..., object] | None = None
    #: The number of the hint that was shown last, from 1.
    _last_hint: int = field(default=0, init=False)

    # With results=BaseException, a KeyboardInterrupt that the answer raises counts as a wrong
    # answer, and is not raised again.
    @partial(preserves_interpreter_state, results=BaseException)
    def __call__(self, *answers) -> Exhibit:
        """Judge the answers and return the outcome. Whatever they do, nothing is raised."""
        outcome = self._decide(answers)
        if outcome.state != "untried":
            record_event_or_print({"check": self.name, "is": outcome.state})
        return Exhibit(outcome, outcome_view)

    def _decide(self, answers: tuple) -> Outcome:
        """Return the outcome of judging the answers.

        It is "untried" if an answer is a stub or if a needed library is not installed, else
        "passed" or "failed".
        """
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
            # `_judge_in_time` has turned errors of the answer into a reason. So this error is about
            # a missing library or program, or else a mistake in the judge.
            sentence = missing_parts.describe_missing_part(error)
            if not sentence:
                raise
            return Outcome(self.name, "untried", sentence)

        if not reason:
            return Outcome(self.name, "passed", self.praise, picture=self._draw(answers))
        # A reason may be a `sentences.Mismatch`, which has two more attributes than a str.
        return Outcome(
            self.name,
            "failed",
            str(reason),
            more=str(self),
            beside=getattr(reason, "beside", None),
            picture=getattr(reason, "picture", None),
        )

    def _require_answers(self, answers: tuple) -> None:
        """Raise InvalidAnswer if there are too many or too few answers, or one is of a wrong kind.

        Raise NotAttempted if an answer is still `...`.
        """
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
            # The message names all stubs, also functions whose body is still `...`.
            stubs = [name for name, answer in arguments.items() if _is_stub(answer)]
            # If the exercise has a single answer, no name is needed.
            raise NotAttempted(", ".join(stubs) if len(answers) > 1 else "")

    def _judge_in_time(self, answers: tuple) -> str | None:
        """Run the judge within its limits; return what is wrong with the answers, or None.

        Settings of the process that the answers change are restored. An error that the answers
        raise is a reason. Raised are NotAttempted, InvalidAnswer, an error about a missing library,
        and KeyboardInterrupt if the learner pressed Ctrl-C.
        """
        compiled_code = keep_earlier_code()  # code that torch compiled for the learner before
        limit = enforce_limits(Limits(self.seconds))
        activity = progress.report_activity("judging your answer")
        try:
            with activity, restore_process_state(answers), compiled_code, limit, hide_warnings():
                reason = self.judge(*answers)
        except (NotAttempted, InvalidAnswer):
            raise
        except BaseException as error:
            # The time limit raises KeyboardInterrupt in the answer, too. Only the learner's own
            # Ctrl-C stops the check.
            is_interrupt = isinstance(error, KeyboardInterrupt)
            if is_interrupt and limit.interrupted and not limit.passed_limit:
                raise
            if missing_parts.describe_missing_part(error):
                raise
            reason = f"your code raised {describe_error(error)}{describe_raising_line(error)}"
        # If a limit was passed, that is the reason. Any other may be a consequence of it.
        return limit.passed_limit or reason

    def _draw(self, answers: tuple):
        """Return the model of a picture of right answers.

        Return None if the exercise has no picture, or if drawing it fails. A failure does not
        change the verdict.
        """
        if self.picture is None:
            return None
        ignore_errors = contextlib.suppress(Exception, KeyboardInterrupt, SystemExit)
        limit = enforce_limits(Limits(self.seconds))
        with (
            ignore_errors,
            restore_process_state(answers),
            keep_earlier_code(),
            limit,
            hide_warnings(),
        ):
            return self.picture(*answers)

    def hint(self, number: int | None = None) -> Exhibit:
        """Return the next hint, or hint `number` (from 1). After the last one, return it again."""
        count = len(self.hints)
        if number is None:
            number = min(self._last_hint + 1, count)
        self._last_hint = require_int(number, "the number of a hint", count)

        hint = self.hints[self._last_hint - 1]
        record_event_or_print({"check": self.name, "is": "hint"})
        sentence = f"hint {self._last_hint} of {count}. {hint}"
        return Exhibit(Outcome(self.name, "hint", sentence), outcome_view)

    def __str__(self) -> str:
        call = f"{PREFIX}{self.name}.hint()"
        return f"Stuck? {call} shows a hint, and each new call shows the next one."

    def __repr__(self) -> str:
        return f"{PREFIX}{self.name}"


def _require_kind(name: str, answer, annotation) -> None:
    """Raise InvalidAnswer if an answer is not of the kind that an annotation demands.

    `name` and `annotation` are those of the judge's parameter. Only annotations in `KINDS` are
    checked, and the stub `...` is allowed for each of them.
    """
    if annotation not in KINDS or answer is ...:
        return
    fits, noun = KINDS[annotation]
    if not fits(answer):
        raise InvalidAnswer(f"{name} must be a {noun}, not {quote_value(answer)}")


def _is_stub(answer) -> bool:
    """Return whether an answer is `...`, or a function with that body, or a class with such one."""
    if answer is ...:
        return True
    members = vars(answer).values() if isinstance(answer, type) else [answer]
    for member in members:
        code = getattr(unwrap(member), "__code__", None)
        # The code of a function with the body `...` has that constant, and looks up no name.
        if code and ... in code.co_consts and not code.co_names:
            return True
    return False


def exercise(*hints: str, **options) -> Callable[[Callable], Exercise]:
    """Return a decorator that makes an Exercise from a judge.

    The judge's docstring is shown for right answers. `options` are further fields of `Exercise`.
    """

    def make_exercise(judge: Callable) -> Exercise:
        return Exercise(judge.__name__, judge, judge.__doc__, hints, **options)

    return make_exercise


class Checks:
    """The exercises by name, as in `check.tangle(answer)`. A chapter is imported when needed."""

    def __init__(self, chapters: dict[str, str]):
        """Note which chapter has which exercise.

        `chapters` is module of a chapter -> names of its exercises, separated by spaces.
        """
        self._chapters_by_name = {}
        for chapter, names in chapters.items():
            for name in names.split():
                self._chapters_by_name[name] = chapter

    def __getattr__(self, name: str) -> Exercise:
        """Return the exercise of this name, and import its chapter.

        If there is none, raise NotOffered, whose message says which name to use instead.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._chapters_by_name:
            sentence = former_names.describe_unknown_exercise(name, self._chapters_by_name)
            # The learner should see only the line of their own cell. The traceback is removed, and
            # a bare `raise` adds no line for this frame. `raise error` would add one.
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
def hide_warnings() -> Iterator[None]:
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
