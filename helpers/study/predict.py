"""A question and code that answers it -> a prediction: the learner decides, then the run tells."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from types import FunctionType

from helpers.capture.cpython.objects import refuse_async
from helpers.capture.cpython.settrace import Printed
from helpers.capture.text.value import brief, type_name
from helpers.exhibit import Exhibit
from helpers.model.choice import Choice
from helpers.model.listing import Column, Listing
from helpers.safety import missing_parts
from helpers.safety.arguments import printable, word
from helpers.safety.restoring import redirected, theirs, whole
from helpers.study import decisions
from helpers.study.reasons import reason
from helpers.view.table_view import table
from helpers.view.widgets.forms import choice as choice_view

LONGEST_ANSWER = 200
NONE_SAID = "You have not decided yet: choose in each prediction, and press Check."
MOST_CHOICES = 100

_ASKED: dict[str, "Prediction"] = {}  # question -> the last prediction that asked it


class Revealed(str):
    """A sentence that a notebook shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Prediction(Exhibit):
    """A question on show. `.model` holds its answer, `.reveal()` says it.

    `predict.reveal()` says that of the last question, whatever names it has.
    """

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

    @property
    def said(self) -> str:
        """Return the choice that the learner has checked, now or before this kernel; else ""."""
        said = decisions.said(self.model.question)
        return said if said in self.choices else ""

    def reveal(self, *given) -> Revealed:
        """Return the question, what running it gave and why, as sentences.

        TypeError if it is given anything: which question it is, is known.
        """
        if given:
            asked = "predict.reveal() takes words of a question"
            raise TypeError(f"reveal() of one prediction takes nothing, {asked}")
        return Revealed(f"{self.model.question}\n{self.model.outcome}")

    def _widget(self):
        """Return the form, as the learner left it; what is checked in it is kept."""
        form = super()._widget()
        if self.said:
            form.picked, form.checked = self.choices.index(self.said), True

        def keep(change):
            if form.checked and 0 <= form.picked < len(self.choices):
                decisions.decide(self.model.question, self.choices[form.picked], self.answer)
                form.kept += 1

        form.keeps = True
        form.observe(keep, names=["picked", "checked"])
        return form


@partial(whole, raises=False)
def predict(
    question: str, choices: Iterable[str], *, run: Callable[[], object], why: str = ""
) -> Prediction:
    """Ask `question` before showing what `run` gives; `run` is executed now.

    `why`: what is said with the answer; for a question of the course, its own reason if empty.
    The answer is what `run()` returns (as str, or as repr where that is the choice), what it
    printed when it returns None, or the name of the exception's type when it raises, SystemExit
    too; KeyboardInterrupt is raised.

    Raises:
        TypeError: `run` is not callable, or is async, or the question, the why or a choice is not
            a str.
        ValueError: one of these is empty or very long, there are fewer than two different choices
            or more than a hundred, or running gave something that is none of them.
        MissingPart: running it needs a part of the course that is missing; says the cure.
    """
    question = word(question, "the question")
    why = word(why, "the why") or reason(question)
    choices = _require_choices(question, choices, run)
    candidates, error = _outcome(run)
    raised = error is not None
    for answer in candidates:
        if answer in choices:
            asked = Prediction(Choice(question, choices, answer, why, raised))
            _ASKED.pop(question, None)  # the last one stands last
            _ASKED[question] = asked
            return asked
    if raised and (words := missing_parts.sentence(error)):
        raise missing_parts.MissingPart(words)
    offered = ", ".join(repr(_short(choice)) for choice in choices)
    gave = (
        f"raised {candidates[0]}{_message(error)}" if raised else f"gave {_short(candidates[0])!r}"
    )
    raise ValueError(f"running it {gave}, which is none of the choices {offered}")


def reveal(question: str = "") -> Revealed:
    """Return what the last prediction gave, or the last one whose question holds these words.

    ValueError where nothing was asked yet, or no question holds them; TypeError for no words.
    """
    if not issubclass(type(question), str):
        takes = "takes words of a question as text, or nothing for the last one"
        raise TypeError(f"predict.reveal() {takes}, not {brief(question)}")
    words = word(question, "the question")
    for asked in reversed(_ASKED.values()):
        if words in asked.model.question:
            return asked.reveal()
    if not _ASKED:
        raise ValueError("nothing was asked yet; run a cell with a predict(…) first")
    raise ValueError(f"no question that was asked here holds {_short(words)!r}")


predict.reveal = reveal


def show_predictions() -> Exhibit:
    """Show what this kernel asked, and before that what was decided in the same chapters earlier.

    What you said, and what running gave. Earlier is known where `show_progress` knows it.
    """
    rows = decisions.rows({words: (asked.said, asked.answer) for words, asked in _ASKED.items()})
    marks = [row.mark for row in rows]
    said, right = len(rows) - marks.count("–"), marks.count("✓")
    note = f"You decided {said} of {len(rows)}; right: {right}." if said else NONE_SAID
    columns = (
        *(Column("mark", ""), Column("question", "question")),
        *(Column("said", "you said"), Column("was", "it was")),
    )
    return Exhibit(Listing("What you predicted", columns, rows, note), table)


def _require_choices(question: str, choices, run) -> tuple[str, ...]:
    if not question.strip():
        raise ValueError("the question is empty; write what the learner is to decide")
    if isinstance(choices, (str, bytes)) or not isinstance(choices, Iterable):
        raise TypeError(f"choices must be a list of str, not {brief(choices)}")
    choices = tuple(word(each, "every choice") for each in islice(choices, MOST_CHOICES + 1))
    if len(choices) > MOST_CHOICES:
        raise ValueError(f"there are more than {MOST_CHOICES} choices; give the learner a few")
    if not all(choice.strip() for choice in choices):
        raise ValueError("a choice is empty; write what the learner could decide for")
    if len(set(choices)) < 2 or len(set(choices)) != len(choices):
        raise ValueError("choices must be at least two different strings, none of them twice")
    if not callable(run):
        raise TypeError(f"run must be something to call without arguments, not {brief(run)}")
    if type(run) is FunctionType:
        refuse_async(run, "predict")
    return choices


def _outcome(run) -> tuple[tuple[str, ...], BaseException | None]:
    """Run it -> (candidate answers, what it raised)."""
    printed = Printed()
    try:
        with redirected(printed), theirs():
            result = run()
            candidates = () if result is None else (_exact(str(result)), _exact(repr(result)))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return (type_name(error),), error
    return candidates or (printed.text().strip() or "None",), None


def _message(error: BaseException) -> str:
    try:
        words = _exact(str(error))
    except Exception:
        words = ""
    return f" ({printable(words, LONGEST_ANSWER)})" if words.strip() else ""


def _exact(words: str) -> str:
    """Return the text alone: a `__str__` may give a str of a class that answers for itself."""
    return word(words, "its words")


def _short(words: str) -> str:
    return words if len(words) <= LONGEST_ANSWER else words[:LONGEST_ANSWER] + "…"
