"""Actions, timed in one run -> a listing of ratios; one time says nothing about a machine."""

import sys
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import NamedTuple

from ...model.code_records import build_columns
from ...model.cost_records import Cost, Costs
from ...model.noise import OVERLAP, describe_cost, measure_ratio
from ...model.phrase import describe_interruption
from ...safety import progress
from ...safety.arguments import require_dict
from ...safety.restoring import note_interrupt, running_user_code
from ..text.value import format_text, short_repr

ROUNDS, MOST_ACTIONS = 7, 1000
UNCOUNTED_ROUNDS = 1  # the first, which warms up
ENOUGH = 0.5  # seconds: what has taken so long in two rounds or more is not run once again
SHORTEST = 0.002  # seconds: what is quicker is repeated, so that the clock can measure it
SAMPLES, MOST_SAMPLES = 5, 15  # in one round: calm ones, and all
CALM = 0.01  # part of a sample that may be spent waiting for a processor
ROUND = 0.05  # seconds: a round that takes so long has fewer samples
NOTE = (
    f"Each ratio uses the fastest round. {OVERLAP.format('actions')} Time in which other programs "
    "had the processor is left out where the system counts it. Another machine has other ratios."
)
MOST_TOOLS = 6  # of sys.monitoring


class Sample(NamedTuple):
    """Some calls of an action in a row, timed."""

    #: How long they took.
    seconds: float
    #: How long they waited for a processor.
    seconds_waited: float
    calls: int


def measure_costs(
    unit: Callable, actions: Mapping[str, Callable], unit_name: str = "runs of the unit"
) -> Costs:
    """Time `actions` (a dict from name to callable) against `unit` in one run."""
    actions = require_dict(actions, "watch_costs", "name -> function", MOST_ACTIONS)
    for name, action in [("the unit", unit), *actions]:
        if not callable(action):
            raise TypeError(f"{format_text(name)} must be a function, not {short_repr(action)}")
    # The unit has the key None, which no action can have.
    everything = {None: unit, **dict(actions)}
    rounds, stop = _time_rounds(everything)

    rows = []
    for name, _ in actions:
        ratio = measure_ratio(rounds[name], rounds[None])
        rows.append(Cost(name, ratio, describe_cost(ratio), ratio.between))
    shown = build_columns("", action="action", words=f"in {unit_name}", between="rounds between")
    note = NOTE
    if stop:
        note += f" {stop}"
    active = _list_active_tracers()
    if active:
        note += f" It was measured while {' and '.join(active)} was active, which makes all slower."
    return Costs("Measured in one run", shown, tuple(rows), note)


def _time_rounds(everything: dict) -> tuple[dict[object, list[float]], str]:
    """Time each action once in each round, but a slow one in fewer rounds.

    `everything` maps the names to the actions, and None to the unit. Return the seconds of each
    round of each action, and the sentence on an interrupt, or "".
    """
    rounds = {name: [] for name in everything}
    for finished in progress.counted("timing, round", range(ROUNDS)):
        try:
            for name, action in _rotate(list(everything.items()), finished):
                counted_rounds = rounds[name][UNCOUNTED_ROUNDS:]
                # A quick action is repeated in a round, which takes SHORTEST at least.
                spent = sum(max(seconds, SHORTEST) for seconds in counted_rounds)
                if finished <= UNCOUNTED_ROUNDS or spent < ENOUGH:
                    with running_user_code():
                        rounds[name].append(_measure_seconds(action))
        except KeyboardInterrupt as error:
            if finished <= UNCOUNTED_ROUNDS:  # not every action has a round that counts
                raise
            note_interrupt(error)
            return rounds, describe_interruption(finished, "round")
    return rounds, ""


def _rotate(items: list, number: int) -> list:
    """Return the items, begun with another one in each round.

    So none of them always follows the same one, which may leave the processor to other programs.
    """
    first = number % len(items)
    return [*items[first:], *items[:first]]


def _measure_seconds(action: Callable) -> float:
    """Return the seconds of one call in one round, without those that others had the processor.

    The fastest sample decides among those in which no other program had it. If there is none, the
    median of the others does, because what is subtracted from each is not exact.
    """
    calm = []
    disturbed = []
    for _ in range(MOST_SAMPLES):
        sample = _take_sample(action)
        tolerated_seconds = CALM * sample.seconds
        if sample.seconds_waited <= tolerated_seconds:
            calm.append(sample.seconds / sample.calls)
        else:
            # The two clocks differ a little, so that the difference may be 0 or less.
            own_seconds = max(sample.seconds - sample.seconds_waited, tolerated_seconds)
            disturbed.append(own_seconds / sample.calls)
        # The round ends with enough calm samples, or when it has taken long enough.
        samples = [*calm, *disturbed]
        if len(calm) == SAMPLES or len(samples) * min(samples) >= ROUND:
            break
    return min(calm) if calm else median(disturbed)


def _take_sample(action: Callable) -> Sample:
    """Call an action until the clock can measure how long the calls took."""
    calls = 0
    seconds = 0.0
    waited_before = seconds_waited()
    start = perf_counter()
    while seconds < SHORTEST:
        action()
        calls += 1
        seconds = perf_counter() - start
    return Sample(seconds, seconds_waited() - waited_before, calls)


def seconds_waited() -> float:
    """Return how long this thread has waited for a processor; 0 where no system counts that.

    Linux counts it in nanoseconds, in the second field of /proc/thread-self/schedstat.
    """
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as counted:
            return int(counted.read().split()[1]) / 1e9
    except (OSError, LookupError, ValueError):
        return 0.0


def _list_active_tracers() -> list[str]:
    """Return, in words, what slows down all that is measured."""
    active = []
    if sys.gettrace() is not None:
        active.append("a tracer (sys.settrace)")
    if sys.getprofile() is not None:
        active.append("a profiler")
    monitoring = getattr(sys, "monitoring", None)  # Python 3.12 and later
    if monitoring is not None and _has_active_tool(monitoring):
        active.append("a tool of sys.monitoring")
    return active


def _has_active_tool(monitoring) -> bool:
    """Return whether a tool of `sys.monitoring` listens to an event in all code."""
    for number in range(MOST_TOOLS):
        # `get_events` raises for a number that no tool has taken.
        if monitoring.get_tool(number) is not None and monitoring.get_events(number):
            return True
    return False
