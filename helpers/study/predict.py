"""A question and code that answers it -> a prediction: the learner decides, then sees the answer.

The reasons for the course's questions are in `reasons/`, so that no cell gives them away. A reason
belongs to one answer. It is shown only when running the code gave that answer.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from importlib.resources import files
from types import FunctionType

from helpers.capture.cpython.objects import refuse_async
from helpers.capture.cpython.settrace import Printed
from helpers.capture.text.value import type_name
from helpers.exhibit import Exhibit
from helpers.model.phrase import clipped
from helpers.model.study_records import Choice, Decided
from helpers.model.tables import Column, Listing
from helpers.safety import learner_record, missing_parts
from helpers.safety.arguments import printable, quote_value, require_str
from helpers.safety.restoring import preserves_interpreter_state, running_user_code
from helpers.safety.standard_output import redirected
from helpers.study.learner_progress import remembered
from helpers.view.table_view import table
from helpers.view.widgets.forms import choice as choice_view

LONGEST_ANSWER = 200
NO_REASON = "This page has a reason for another answer, and none for this one."
NONE_SAID = "You have not decided yet. Choose in each prediction, and press Check."

_ASKED: dict[str, "Prediction"] = {}  # question -> the last prediction that asked it


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
        before = _decided().get(self.model.question)
        return before.said if before and before.said in self.model.choices else ""

    def reveal(self) -> Revealed:
        """Return the question, the result of running it, and why, as sentences."""
        return Revealed(f"{self.model.question}\n{self.model.outcome}")

    def _widget(self):
        """Return the form as the learner left it. It records what they check, and answers so."""
        form, choices = super()._widget(), self.model.choices
        if self.said:
            form.picked, form.checked = choices.index(self.said), True

        def on_message(_, content, buffers):
            number = content.get("said")
            if type(number) is int and 0 <= number < len(choices):
                why = self._record(choices[number])
                form.told = {"press": content.get("press", ""), "why": why}

        form.keeps = True
        form.on_msg(on_message)
        return form

    def _record(self, said: str) -> str:
        """Record a choice; return why it is not recorded, as a sentence, or ""."""
        question, was = self.model.question, self.answer
        _decided()[question] = _row(question, said, was)
        chapter = _chapter(question)
        event = {"predict": question, "said": said, "was": was, "chapter": chapter}
        return learner_record.record(event)


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
    choices = tuple(require_str(each, "every choice") for each in choices)
    if not 1 < len(set(choices)) == len(choices):
        raise ValueError("choices must be at least two strings, all of them different")
    reasons = _reasons_of(question) if why is None else _own_reasons(why, choices)
    if type(run) is FunctionType:
        refuse_async(run, "predict")
    candidates, error = _run(run)
    answer = next((one for one in candidates if one in choices), None)
    if answer is not None:
        reason = choose_reason(answer, reasons)
        asked = Prediction(Choice(question, choices, answer, reason, error is not None))
        _ASKED.pop(question, None)  # keeps the last one at the end
        _ASKED[question] = asked
        return asked
    if error is not None and (words := missing_parts.sentence(error)):
        raise missing_parts.MissingPart(words)
    offered = ", ".join(repr(clipped(choice, LONGEST_ANSWER)) for choice in choices)
    gave = f"gave {clipped(candidates[0], LONGEST_ANSWER)!r}"
    if error is not None:
        message = printable(str(error), LONGEST_ANSWER)
        gave = f"raised {candidates[0]}" + (f" ({message})" if message else "")
    raise ValueError(f"running it {gave}, which is not one of the choices {offered}")


def reveal(question: str = "") -> Revealed:
    """Return the answer of the last prediction, or the last whose question contains this text."""
    for asked in reversed(_ASKED.values()):
        if question in asked.model.question:
            return asked.reveal()
    why = f"no question asked here contains {question!r}"
    raise ValueError(why if _ASKED else "nothing was asked yet. Run a cell with a predict(…) first")


predict.reveal = reveal


def show_predictions() -> Exhibit:
    """Show what this kernel asked, what you said, and your earlier answers in these chapters."""
    before = [one for one in _decided().values() if one.question not in _ASKED]
    if _ASKED:
        chapters = {_chapter(question) for question in _ASKED} - {None}
        before = [one for one in before if _chapter(one.question) in chapters]
    rows = *before, *(_row(words, asked.said, asked.answer) for words, asked in _ASKED.items())
    marks = [row.mark for row in rows]
    said, right = len(rows) - marks.count("–"), marks.count("✓")
    note = f"You decided {said} of {len(rows)} and got {right} right." if said else NONE_SAID
    names = {"mark": "", "question": "question", "said": "you said", "was": "it was"}
    columns = tuple(Column(*pair) for pair in names.items())
    return Exhibit(Listing("What you predicted", columns, rows, note), table)


def _run(run) -> tuple[tuple[str, ...], BaseException | None]:
    printed = Printed()
    try:
        with redirected(printed), running_user_code():
            result = run()
            candidates = () if result is None else (str(result), repr(result))
    except (Exception, GeneratorExit, SystemExit) as error:
        return (type_name(error),), error
    return candidates or (printed.text().strip() or "None",), None


def choose_reason(answer: str, reasons: Mapping[str, str]) -> str:
    """Return the reason that belongs to a measured answer.

    Parameters
    ----------
    answer
        What running the code gave.
    reasons
        Answer -> its reason; empty for a question that nobody explains.

    Returns
    -------
    str
        The reason of this answer. If there are reasons for other answers only, a sentence that says
        so. If there are none at all, "".
    """
    if not reasons:
        return ""
    return reasons.get(answer, NO_REASON)


def _own_reasons(why: object, choices: tuple[str, ...]) -> dict[str, str]:
    """Return the reasons that a caller passes; TypeError or ValueError for what is none."""
    if not isinstance(why, Mapping):
        example = f"{{{choices[0]!r}: 'because …'}}"
        raise TypeError(f"why must be a dict of choice -> reason, such as {clipped(example, 80)}")
    reasons = {}
    for choice, reason in why.items():
        if choice not in choices:
            raise ValueError(f"why has a reason for {quote_value(choice)}, which is no choice")
        reasons[choice] = require_str(reason, "every reason")
    return reasons


def read_reasons(number: int) -> dict[str, dict[str, str]]:
    """Return question -> {answer: its reason} of one chapter. FileNotFoundError if it has none."""
    place = files("helpers.study").joinpath("reasons", f"{number}.toml")
    reasons = {}
    for entry in tomllib.loads(place.read_text("utf-8"))["reason"]:
        of_question = reasons.setdefault(entry["asked"], {})
        of_question[entry["answer"]] = " ".join(entry["why"].split())
    return reasons


@cache
def _stored_reasons() -> dict[str, tuple[int, dict[str, str]]]:
    return {
        question: (number, reasons)
        for number in range(8)
        for question, reasons in read_reasons(number).items()
    }


def _reasons_of(question: str) -> dict[str, str]:
    """Return answer -> reason of a question of the course; empty for any other question."""
    return _stored_reasons().get(question, (None, {}))[1]


def _chapter(question: str) -> int | None:
    """Return the chapter that asks a question; None for a question of the learner's own."""
    return _stored_reasons().get(question, (None, {}))[0]


@cache
def _decided() -> dict[str, Decided]:
    events = remembered().events
    return {e["predict"]: _row(e["predict"], e["said"], e["was"]) for e in events if "predict" in e}


def _row(question: str, said: str, was: str) -> Decided:
    mark = ("✓" if said == was else "✗") if said else "–"
    return Decided(mark, question, said or "nothing yet", was if said else "decide first")
