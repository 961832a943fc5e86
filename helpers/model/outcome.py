"""What came of one look at a learner's answer."""

from dataclasses import dataclass

STATES = ("untried", "passed", "failed", "hint")


@dataclass(frozen=True)
class Outcome:
    """`state`: untried, passed, failed or hint; `because`: why, in words; `more`: what to do."""

    exercise: str
    state: str
    because: str = ""
    more: str = ""

    def __post_init__(self):
        if self.state not in STATES:
            raise ValueError(f"state {self.state!r} is unknown; use one of {', '.join(STATES)}")
