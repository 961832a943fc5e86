"""What came of one look at a learner's answer."""

from dataclasses import dataclass

STATES = ("untried", "passed", "failed", "hint")


@dataclass(frozen=True)
class Beside:
    """Two answers that part: `yours`, and what `who` gives; the words before and after them."""

    before: str
    yours: str
    real: str
    who: str
    after: str = ""


@dataclass(frozen=True)
class Outcome:
    """`state`: untried, passed, failed or hint; `because`: why, in words; `more`: what to do.

    `beside`: the same reason with its two answers apart. `picture`: the model of what was built.
    """

    exercise: str
    state: str
    because: str = ""
    more: str = ""
    beside: Beside | None = None
    picture: object = None

    def __post_init__(self):
        if self.state not in STATES:
            raise ValueError(f"state {self.state!r} is unknown; use one of {', '.join(STATES)}")
