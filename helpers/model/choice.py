"""A question, its choices and what running the code gave -> a record to ask and judge from."""

from dataclasses import dataclass

from helpers.model.phrase import stop


@dataclass(frozen=True)
class Choice:
    """A question with its answer. `raised` says that running it ended in an exception.

    `answer` is one of `choices`; for an exception it is the name of its type.
    """

    question: str
    choices: tuple[str, ...]
    answer: str
    why: str = ""
    raised: bool = False

    def __post_init__(self):
        if self.answer not in self.choices:
            raise ValueError(f"the answer {self.answer!r} is none of the choices {self.choices!r}")

    @property
    def outcome(self) -> str:
        """Return what running it gave or raised, as a sentence with its why."""
        verb = "raised" if self.raised else "gave"
        return f"Running it {verb} {self.answer}{stop(self.answer)} {self.why}".strip()


@dataclass(frozen=True)
class Decided:
    """A question that was asked: what the learner `said`, what it `was`; ✓, ✗ or – as its mark."""

    mark: str
    question: str
    said: str
    was: str
