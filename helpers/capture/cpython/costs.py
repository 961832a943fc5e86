"""Actions, timed in one run -> a listing of ratios; a time alone says nothing about a machine."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from helpers.capture.cpython.function import can_be_called
from helpers.capture.text.value import brief, plain
from helpers.model.listing import Column, Listing
from helpers.safety import progress
from helpers.safety.interpreter_state import theirs

ROUNDS = 7
ENOUGH = 0.5  # seconds: what has taken so long in two rounds or more is not run once again
SHORTEST = 0.002  # seconds: what is quicker is repeated, so that the clock can tell it
NOTE = (
    "The fastest round of each counts; the middle one took up to {:,.1f} times as long. On another "
    "machine, or a busy one, the ratios differ more."
)


@dataclass(frozen=True)
class Cost:
    """One action; `ratio` says how many runs of the unit it takes as long as."""

    action: str
    ratio: float
    words: str


@dataclass(frozen=True)
class Costs(Listing):
    """A listing of costs that can be asked for one ratio."""

    def ratio(self, action: str) -> float:
        """Return the ratio of this action; KeyError if it was not measured."""
        return {row.action: row.ratio for row in self.rows}[action]


def costs_listing(
    unit: Callable, actions: dict[str, Callable], unit_name: str = "runs of the unit"
) -> Costs:
    """Return what each action costs in runs of `unit`: the fastest of a few rounds, interleaved.

    What one of them raises is raised. TypeError names what cannot be called, or has no name.
    """
    if type(actions) is not dict:
        raise TypeError(f"actions must be a dict of name -> function, not {brief(actions)}")
    if not actions:
        raise ValueError("watch_costs needs at least one action to time")
    if type(unit_name) is not str:
        raise TypeError(f"unit_name must be a str, not {brief(unit_name)}")
    for name, action in [("the unit", unit), *actions.items()]:
        if type(name) is not str:
            raise TypeError(f"the name of an action must be a str, not {brief(name)}")
        if not can_be_called(action):
            raise TypeError(
                f"{plain(name)} must be a function to call without arguments, not {brief(action)}"
            )
    actions = dict(actions)  # one that is timed may change the learner's own
    rounds = {name: [] for name in (None, *actions)}
    for done in progress.counted("timing, round", range(ROUNDS)):
        for name, action in [(None, unit), *actions.items()]:
            if done < 2 or sum(max(each, SHORTEST) for each in rounds[name]) < ENOUGH:
                rounds[name].append(_seconds(action))
    best = {name: min(seconds) for name, seconds in rounds.items()}
    rows = [
        Cost(name, best[name] / best[None], _rounded(best[name] / best[None])) for name in actions
    ]
    columns = (Column("action", "action"), Column("words", f"in {unit_name}"))
    note = NOTE.format(max(median(rounds[name][1:]) / best[name] for name in best))
    return Costs("Measured in one run", columns, tuple(rows), note)


def _seconds(action: Callable) -> float:
    """Return seconds per call, repeated until the clock can tell."""
    calls, passed = 0, 0.0
    start = perf_counter()
    with theirs():
        while passed < SHORTEST:
            action()
            calls += 1
            passed = perf_counter() - start
    return passed / calls


def _rounded(ratio: float) -> str:
    """Return the ratio to one or two digits; more would pretend to a precision it lacks."""
    if ratio < 0.1:
        return "less than a tenth of one"
    return f"about {float(f'{ratio:.1g}'):,g}" if ratio >= 10 else f"about {ratio:.1f}"
