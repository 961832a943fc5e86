"""Records of questions to a learner: a choice of answers, the verdict of a check, a sandbox.

In a *sandbox*, a learner picks options from several controls. The options together make a call, and
the learner predicts what the call does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ..safety.arguments import quote_value
from .phrase import find_full_stop


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with its answer.

    Attributes
    ----------
    question : str
        The question.
    choices : tuple of str
        The answers to choose from.
    answer : str
        The right answer, one of `choices`. If running it raised, this is the error type's name.
    why : str
        The reason for the answer, as sentences; "" for none.
    raised : bool
        Whether running it raised.
    """

    question: str
    choices: tuple[str, ...]
    answer: str
    why: str = ""
    raised: bool = False

    @property
    def outcome(self) -> str:
        """Return what running the program returned or raised, as a sentence, and the reason."""
        verb = "raised" if self.raised else "gave"
        full_stop = find_full_stop(self.answer)
        return f"Running it {verb} {self.answer}{full_stop} {self.why}".strip()


@dataclass(frozen=True, slots=True)
class Decided:
    """A question that was asked, with the learner's answer.

    Attributes
    ----------
    mark : str
        ✓ for the right answer, ✗ for a wrong one, – for none yet.
    question : str
        The question.
    said : str
        The answer of the learner.
    was : str
        The right answer.
    """

    mark: str
    question: str
    said: str
    was: str


@dataclass(frozen=True, slots=True)
class Beside:
    """Two answers that differ, with the words around them.

    Attributes
    ----------
    before : str
        The words before both answers.
    yours : str
        The answer of the learner's code.
    real : str
        The answer of the reference.
    who : str
        Who gives the reference's answer, such as CPython.
    after : str
        The words after both answers.
    """

    before: str
    yours: str
    real: str
    who: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check says of an exercise.

    Attributes
    ----------
    exercise : str
        The name of the exercise.
    state : str
        `untried`, `passed`, `failed` or `hint`.
    because : str
        The reason, as sentences.
    more : str
        What to do next.
    beside : Beside or None
        The two answers that differ, if the reason compares two.
    picture : object
        A model that a view draws below the reason, None for no picture.
    """

    exercise: str
    state: str
    because: str = ""
    more: str = ""
    beside: Beside | None = None
    picture: object = None


@dataclass(frozen=True, slots=True)
class Control:
    """One choice in a sandbox.

    Attributes
    ----------
    name : str
        The name of the choice.
    options : tuple of str
        The options to choose from.
    of : str
        The control on which it depends whether this one matters, "" if it always matters.
    matters : tuple of str
        The options of that control for which this one matters.
    """

    name: str
    options: tuple[str, ...]
    of: str = ""
    matters: tuple[str, ...] = ()

    @property
    def first(self) -> str:
        """Return the option that is picked at first."""
        return self.options[0]


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Controls from which a learner picks a call, to predict what the call does.

    Attributes
    ----------
    title : str
        The title of the exhibit.
    note : str
        What to do with it.
    controls : tuple of Control
        The controls, in order.
    verdicts : tuple of str
        The answers that a learner may predict.
    code : str
        A line of code that does the same without a widget.
    """

    title: str
    note: str
    controls: tuple[Control, ...]
    verdicts: tuple[str, ...]
    code: str

    def start(self) -> dict[str, str]:
        """Return name of a control -> the option that is picked at first."""
        return {control.name: control.first for control in self.controls}

    def different(self) -> Iterator[dict[str, str]]:
        """Yield every combination of options that makes another call.

        A combination maps the name of a control to the option that is picked. Controls that do not
        matter for the call are left out. Such a control is idle, because of the option that is
        picked in the control on which it depends.
        """
        for options in product(*(control.options for control in self.controls)):
            picked = dict(zip(self.start(), options, strict=True))
            idle_controls = [
                control
                for control in self.controls
                if control.of and picked[control.of] not in control.matters
            ]
            # Combinations that differ only in idle controls make the same call. Yield the one in
            # which the idle controls have their first options.
            if all(picked[control.name] == control.first for control in idle_controls):
                for control in idle_controls:
                    del picked[control.name]
                yield picked

    def picked(self, **changes: str) -> dict[str, str]:
        """Return name of a control -> option, for the first options with these changes.

        ValueError if there is no such control, or if the control has no such option.
        """
        options_by_name = {control.name: control.options for control in self.controls}
        for name, option in changes.items():
            require_option(name, tuple(options_by_name), "the controls are")
            require_option(option, options_by_name[name], f"{name} can be")
        return {**self.start(), **changes}


def require_option(given: object, options: tuple[str, ...], what: str) -> str:
    """Return `given` if it is one of the options, otherwise raise ValueError.

    The message begins with `what`, such as "the controls are", and lists the options.
    """
    # Only a plain str, because a subclass may define `==` in another way.
    if type(given) is not str or given not in options:
        raise ValueError(f"{what} {', '.join(options)}; {quote_value(given)} is not one of them")
    return given
