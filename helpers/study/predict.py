"""Ask a learner to predict what code gives, and then show the answer, which running the code gave.
Each possible answer may have a reason. Only the reason of the measured answer is shown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import FunctionType

from helpers.capture.cpython.objects import refuse_async
from helpers.capture.cpython.settrace import Printed
from helpers.exhibit import Exhibit
from helpers.model.phrase import clip_text
from helpers.model.question_records import Choice, Decided
from helpers.model.tables import Column, Listing
from helpers.safety import learner_record, missing_parts
from helpers.safety.arguments import printable, quote_value, real_type_name, require_str
from helpers.safety.restoring import preserves_interpreter_state, running_user_code
from helpers.safety.standard_output import redirect_prints
from helpers.study.learner_progress import read_own_record
from helpers.study.stored_reasons import choose_reason, find_chapter, find_reasons
from helpers.view.table_view import table
from helpers.view.widgets.forms import choice as choice_view

LONGEST_ANSWER = 200  # characters in a message
LONGEST_EXAMPLE = 80
NONE_SAID = "You have not decided yet. Choose in each prediction, and press Check."
COLUMNS = (
    Column("mark", ""),
    Column("question", "question"),
    Column("said", "you said"),
    Column("was", "it was"),
)

# question -> the last prediction that asked it, in the order of asking
_ASKED: dict[str, "Prediction"] = {}


class Revealed(str):
    """A sentence that a notebook shows without quotes."""

    __repr__ = str.__str__


class Prediction(Exhibit):
    """A question on show. `.model` has the answer. `.reveal()` or `predict.reveal()` shows it."""

    def __init__(self, model: Choice):
        super().__init__(model, choice_view)

    @property
    def answer(self) -> str:
        """Return the choice that running the code produced."""
        return self.model.answer

    @property
    def said(self) -> str:
        """Return the choice that the learner has checked, in this kernel or earlier, else ""."""
        decided = _read_decided().get(self.model.question)
        if decided and decided.said in self.model.choices:
            return decided.said
        return ""

    def reveal(self) -> Revealed:
        """Return the question, the result of running it, and why, as sentences."""
        return Revealed(f"{self.model.question}\n{self.model.outcome}")

    def _widget(self):
        """Return the form, with the choice that the learner has made earlier.

        When the learner presses the button Check, the form sends the number of the choice. The
        choice is recorded. If that fails, the form shows the reason.
        """
        # The form shares these attributes with its JavaScript: `picked` is the number of the chosen
        # answer, `checked` says whether Check was pressed, `keeps` whether a press sends a message,
        # and `told` is the reply to a press.
        form = super()._widget()
        choices = self.model.choices
        if self.said:
            form.picked = choices.index(self.said)
            form.checked = True

        def on_message(_, content, buffers):
            """Record the choice in a message of the form, and reply why it is not recorded."""
            number = content.get("said")
            if type(number) is int and 0 <= number < len(choices):
                reason = self._record(choices[number])
                form.told = {"press": content.get("press", ""), "why": reason}

        form.keeps = True
        form.on_msg(on_message)
        return form

    def _record(self, said: str) -> str:
        """Record a choice of the learner; return a sentence on why that failed, or ""."""
        question = self.model.question
        # `_read_decided` returns the same cached dict each time. So this kernel knows the choice
        # even if it cannot be written to the file.
        _read_decided()[question] = _make_decided(question, said, self.answer)
        event = {
            "predict": question,
            "said": said,
            "was": self.answer,
            "chapter": find_chapter(question),
        }
        return learner_record.record_event(event)


@partial(preserves_interpreter_state, results=BaseException)
def predict(
    question: str,
    choices: Iterable[str],
    *,
    run: Callable[[], object],
    why: Mapping[str, str] | None = None,
) -> Prediction:
    """Ask a question before showing what its code gives. The code runs now, once.

    Parameters
    ----------
    question
        What the learner decides.
    choices
        At least two answers as text, all of them different.
    run
        Code that answers the question. The answer is what it returns (as str, or as repr if that is
        a choice), what it prints if it returns None, or the type's name of what it raises, also for
        SystemExit. KeyboardInterrupt is raised.
    why
        Choice -> its reason. The reason of the answer is shown, and never another one. Without
        `why`, a question of the course uses its stored reasons.

    Returns
    -------
    Prediction
        The question on show. `.answer` and `.reveal()` tell the answer.

    Raises
    ------
    TypeError, ValueError
        For misuse, and if the answer is none of the choices.
    MissingPart
        If the code needs something that is missing; it says the cure.

    Examples
    --------
    >>> asked = predict("1 + 1?", ["2", "11"], run=lambda: 1 + 1, why={"2": "It adds."})
    >>> asked.reveal()
    1 + 1?
    Running it gave 2. It adds.
    """
    question = require_str(question, "the question")
    choices = tuple(require_str(choice, "every choice") for choice in choices)
    if len(choices) < 2 or len(set(choices)) != len(choices):
        raise ValueError("choices must be at least two strings, all of them different")
    reasons = find_reasons(question) if why is None else _require_reasons(why, choices)
    if type(run) is FunctionType:
        refuse_async(run, "predict")

    ending = _run_code(run)
    answer = next((text for text in ending.candidates if text in choices), None)
    if answer is None:
        _refuse_ending(ending, choices)
    reason = choose_reason(answer, reasons)
    has_raised = ending.error is not None
    prediction = Prediction(Choice(question, choices, answer, reason, has_raised))
    _ASKED.pop(question, None)  # so that a question asked again moves to the end
    _ASKED[question] = prediction
    return prediction


@dataclass(frozen=True)
class CodeEnding:
    """What the code of a question returned, printed or raised."""

    #: The result as text, in one or two forms. One of them should be a choice of the question.
    candidates: tuple[str, ...]
    #: The error that the code raised, or None.
    error: BaseException | None = None


def _run_code(run: Callable[[], object]) -> CodeEnding:
    """Run the code of a question, and return its result as text.

    The text is the returned value, by `str` and by `repr`. If that value is None, the text is what
    the code printed. If the code raised an error, the text is the name of the error's type.
    """
    printed = Printed()
    try:
        with redirect_prints(printed), running_user_code():
            result = run()
            candidates = () if result is None else (str(result), repr(result))
    except (Exception, GeneratorExit, SystemExit) as error:  # but not KeyboardInterrupt
        return CodeEnding((real_type_name(error),), error)
    if candidates:
        return CodeEnding(candidates)
    return CodeEnding((printed.text().strip() or "None",))


def _refuse_ending(ending: CodeEnding, choices: tuple[str, ...]) -> None:
    """Raise ValueError on a question whose code gave none of its `choices`.

    Raise MissingPart instead if the code failed because a package is not installed.
    """
    text = ending.candidates[0]
    if ending.error is None:
        outcome = f"gave {clip_text(text, LONGEST_ANSWER)!r}"
    else:
        missing = missing_parts.describe_missing_part(ending.error)
        if missing:
            raise missing_parts.MissingPart(missing)
        message = printable(str(ending.error), LONGEST_ANSWER)
        outcome = f"raised {text} ({message})" if message else f"raised {text}"

    offered = ", ".join(repr(clip_text(choice, LONGEST_ANSWER)) for choice in choices)
    raise ValueError(f"running it {outcome}, which is not one of the choices {offered}")


def reveal(question: str = "") -> Revealed:
    """Return the answer of the last prediction, or the last whose question contains this text."""
    for prediction in reversed(_ASKED.values()):
        if question in prediction.model.question:
            return prediction.reveal()
    if not _ASKED:
        raise ValueError("nothing was asked yet. Run a cell with a predict(…) first")
    raise ValueError(f"no question asked here contains {question!r}")


predict.reveal = reveal


def show_predictions() -> Exhibit:
    """Show what this kernel asked, what you said, and your earlier answers in these chapters."""
    rows = _list_earlier()
    for question, prediction in _ASKED.items():
        rows.append(_make_decided(question, prediction.said, prediction.answer))

    marks = [row.mark for row in rows]
    said_count = len(rows) - marks.count("–")
    note = NONE_SAID
    if said_count:
        right_count = marks.count("✓")
        note = f"You decided {said_count} of {len(rows)} and got {right_count} right."
    return Exhibit(Listing("What you predicted", COLUMNS, tuple(rows), note), table)


def _list_earlier() -> list[Decided]:
    """Return the learner's decisions in earlier kernels, on questions not asked in this one.

    They are limited to the chapters whose questions this kernel has asked. If it has asked none,
    return all decisions.
    """
    earlier = [row for row in _read_decided().values() if row.question not in _ASKED]
    if not _ASKED:
        return earlier
    chapters = {find_chapter(question) for question in _ASKED} - {None}
    return [row for row in earlier if find_chapter(row.question) in chapters]


def _require_reasons(why: object, choices: tuple[str, ...]) -> dict[str, str]:
    """Return `why` as a dict, choice -> reason. It is the argument `why` of `predict`.

    Raise TypeError if it is no mapping or a reason is no text, and ValueError for a key that is no
    choice.
    """
    if not isinstance(why, Mapping):
        example = clip_text(f"{{{choices[0]!r}: 'because …'}}", LONGEST_EXAMPLE)
        raise TypeError(f"why must be a dict of choice -> reason, such as {example}")
    reasons = {}
    for choice, reason in why.items():
        if choice not in choices:
            raise ValueError(f"why has a reason for {quote_value(choice)}, which is no choice")
        reasons[choice] = require_str(reason, "every reason")
    return reasons


@cache
def _read_decided() -> dict[str, Decided]:
    """Return question -> the learner's last decision, as a row of the table.

    The decisions are read from the learner's record once. `Prediction._record` adds those of this
    kernel to the same dict.
    """
    rows_by_question = {}
    for event in read_own_record().events:
        if "predict" in event:
            question = event["predict"]
            rows_by_question[question] = _make_decided(question, event["said"], event["was"])
    return rows_by_question


def _make_decided(question: str, said: str, was: str) -> Decided:
    """Return a row of the table of predictions.

    `said` is the learner's choice, "" for none, and `was` is the right answer. The right answer is
    not in the row if the learner has not chosen yet.
    """
    if not said:
        return Decided("–", question, "nothing yet", "decide first")
    return Decided("✓" if said == was else "✗", question, said, was)
