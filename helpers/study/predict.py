"""A question and code that answers it -> a prediction: the learner decides, then sees the answer.

The reasons for the course's questions are in `reasons/`, so that no cell gives them away.
"""

import tomllib
from collections.abc import Callable, Iterable
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
from helpers.safety.arguments import printable, require_str
from helpers.safety.restoring import preserves_interpreter_state, redirected, running_user_code
from helpers.study.learner_progress import remembered
from helpers.view.table_view import table
from helpers.view.widgets.forms import choice as choice_view

LONGEST_ANSWER = 200
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
        chapter, _ = _reason(question)
        event = {"predict": question, "said": said, "was": was, "chapter": chapter}
        return learner_record.record(event)


@partial(preserves_interpreter_state, results=BaseException)
def predict(
    question: str, choices: Iterable[str], *, run: Callable[[], object], why: str = ""
) -> Prediction:
    """Ask `question` before showing the result of `run`. `run` is executed now.

    `why` explains the answer. If it is empty, a question of the course uses its stored reason.
    The answer is what `run()` returns (as str, or as repr if that is the choice), what it prints
    if it returns None, or the exception's type name if it raises, also for SystemExit.
    KeyboardInterrupt is raised. TypeError or ValueError for misuse, or if the result is not among
    the choices. MissingPart, with its cure, if `run` needs something that is missing.
    """
    question, why = require_str(question, "the question"), require_str(why, "the why")
    choices = tuple(require_str(each, "every choice") for each in choices)
    if not 1 < len(set(choices)) == len(choices):
        raise ValueError("choices must be at least two strings, all of them different")
    if type(run) is FunctionType:
        refuse_async(run, "predict")
    candidates, error = _run(run)
    answer = next((one for one in candidates if one in choices), None)
    if answer is not None:
        why = why or _reason(question)[1]
        asked = Prediction(Choice(question, choices, answer, why, error is not None))
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
        chapters = {_reason(question)[0] for question in _ASKED} - {None}
        before = [one for one in before if _reason(one.question)[0] in chapters]
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


def read_reasons(number: int) -> dict[str, str]:
    """Return question -> reason of one chapter. FileNotFoundError if it has none."""
    place = files("helpers.study").joinpath("reasons", f"{number}.toml")
    found = tomllib.loads(place.read_text("utf-8"))
    return {each["asked"]: " ".join(each["why"].split()) for each in found["reason"]}


@cache
def _reasons() -> dict[str, tuple[int, str]]:
    return {asked: (n, why) for n in range(8) for asked, why in read_reasons(n).items()}


def _reason(question: str) -> tuple[int | None, str]:
    return _reasons().get(question, (None, ""))


@cache
def _decided() -> dict[str, Decided]:
    events = remembered().events
    return {e["predict"]: _row(e["predict"], e["said"], e["was"]) for e in events if "predict" in e}


def _row(question: str, said: str, was: str) -> Decided:
    mark = ("✓" if said == was else "✗") if said else "–"
    return Decided(mark, question, said or "nothing yet", was if said else "decide first")
