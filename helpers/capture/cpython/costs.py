"""Time several functions against one reference, the *unit*, and list the ratios.
A ratio such as "3.1 times the unit" is shown because a time in seconds differs between machines.
The functions are timed in *rounds*: each round times every function once, one after the other. A
round takes a few *samples* of a function: a sample is a series of calls, timed together.
"""

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
UNCOUNTED_ROUNDS = 1  # the first round only warms up the function
ENOUGH = 0.5  # seconds: a function that has taken so long in the counted rounds is not run again
SHORTEST = 0.002  # seconds: a shorter call is repeated until the sample takes as long as this
SAMPLES, MOST_SAMPLES = 5, 15  # of a function in one round: undisturbed samples, all samples
CALM = 0.01  # the part of an undisturbed sample that may be spent waiting for a processor
ROUND = 0.05  # seconds: after so long, a round takes no further sample of a function
NOTE = (
    f"Each ratio uses the fastest round. {OVERLAP.format('actions')} Time in which other programs "
    "had the processor is left out where the system counts it. Another machine has other ratios."
)
MOST_TOOLS = 6  # of sys.monitoring


class Sample(NamedTuple):
    """Some calls of a function in a row, timed together."""

    #: How long the calls took.
    seconds: float
    #: For how much of this time other programs had the processor.
    seconds_waited: float
    #: How many calls there were.
    calls: int


def measure_costs(
    unit: Callable, actions: Mapping[str, Callable], unit_name: str = "runs of the unit"
) -> Costs:
    """Time functions against a reference, and return a row with the ratio for each.

    Parameters
    ----------
    unit : Callable
        The reference, called without arguments. Its ratio would be 1.
    actions : Mapping of str to Callable
        Name of a row -> the function to time, called without arguments.
    unit_name : str
        What a ratio counts, such as "runs of the unit".
    """
    actions = require_dict(actions, "watch_costs", "name -> function", MOST_ACTIONS)
    for name, action in [("the unit", unit), *actions]:
        if not callable(action):
            raise TypeError(f"{format_text(name)} must be a function, not {short_repr(action)}")
    # The unit has the key None, which no action can have.
    everything = {None: unit, **dict(actions)}
    rounds, interruption = _time_rounds(everything)

    rows = []
    for name, _ in actions:
        ratio = measure_ratio(rounds[name], rounds[None])
        # `between`: the smallest and the largest ratio of two rounds, as text.
        rows.append(Cost(name, ratio, describe_cost(ratio), ratio.between))
    shown = build_columns("", action="action", words=f"in {unit_name}", between="rounds between")
    note = NOTE
    if interruption:
        note += f" {interruption}"
    active = _list_active_tracers()
    if active:
        note += f" It was measured while {' and '.join(active)} was active, which makes all slower."
    return Costs("Measured in one run", shown, tuple(rows), note)


def _time_rounds(everything: dict) -> tuple[dict[object, list[float]], str]:
    """Time each function once in each of `ROUNDS` rounds, a slow function in fewer rounds.

    Parameters
    ----------
    everything : dict
        Name -> function to time. The key of the unit is None.

    Returns
    -------
    rounds : dict
        Name -> the seconds of one call, in each round in which the function was timed.
    interruption : str
        The sentence that Ctrl-C ended the timing early, "" if nothing did.
    """
    rounds = {name: [] for name in everything}
    for finished_rounds in progress.report_each("timing, round", range(ROUNDS)):
        try:
            for name, action in _rotate(list(everything.items()), finished_rounds):
                counted_rounds = rounds[name][UNCOUNTED_ROUNDS:]
                # A quick function is called again and again in a round, for SHORTEST at least.
                spent = sum(max(seconds, SHORTEST) for seconds in counted_rounds)
                has_no_counted_round = finished_rounds <= UNCOUNTED_ROUNDS
                if has_no_counted_round or spent < ENOUGH:
                    with running_user_code():  # Ctrl-C may come here
                        rounds[name].append(_measure_seconds(action))
        except KeyboardInterrupt as error:
            # Some function has no time yet that counts, so there are no ratios to show.
            if finished_rounds <= UNCOUNTED_ROUNDS:
                raise
            note_interrupt(error)
            return rounds, describe_interruption(finished_rounds, "round")
    return rounds, ""


def _rotate(items: list, number: int) -> list:
    """Return the items, starting with another item for each `number`: [b, c, a] for 1.

    So no function always runs after the same other one, which could slow it down each time.
    """
    first = number % len(items)
    return [*items[first:], *items[:first]]


def _measure_seconds(action: Callable) -> float:
    """Return how many seconds one call of a function takes, measured in several samples.

    The result is the fastest undisturbed sample: one in which no other program had the processor.
    If all samples were disturbed, the time of the other programs is subtracted from each. That time
    is not exact, so the median of these samples is returned.
    """
    calm = []  # seconds of a call in each undisturbed sample
    disturbed = []  # seconds of a call in each other sample, without the time that it waited
    for _ in range(MOST_SAMPLES):
        sample = _take_sample(action)
        tolerated_seconds = CALM * sample.seconds
        if sample.seconds_waited <= tolerated_seconds:
            calm.append(sample.seconds / sample.calls)
        else:
            # The clocks of the two times differ a little, so the difference may be 0 or negative.
            # Any small positive number would do instead of it.
            own_seconds = max(sample.seconds - sample.seconds_waited, tolerated_seconds)
            disturbed.append(own_seconds / sample.calls)
        samples = [*calm, *disturbed]
        has_enough_samples = len(calm) == SAMPLES
        # A long call: even one call in each sample takes as long as a round should.
        has_taken_long = len(samples) * min(samples) >= ROUND
        if has_enough_samples or has_taken_long:
            break
    return min(calm) if calm else median(disturbed)


def _take_sample(action: Callable) -> Sample:
    """Call a function again and again until the calls have taken `SHORTEST` seconds together."""
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
    """Return for how many seconds this thread has waited for a processor since it started.

    Linux counts this time in nanoseconds, in the second field of /proc/thread-self/schedstat. Other
    systems have no such file; then 0 is returned.
    """
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as schedstat:
            nanoseconds = int(schedstat.read().split()[1])
    except (OSError, LookupError, ValueError):
        return 0.0
    return nanoseconds / 1e9


def _list_active_tracers() -> list[str]:
    """Return the names of active tracers and profilers: each slows down all that is measured."""
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
    """Return whether a tool of `sys.monitoring`, given as `monitoring`, gets events of all code."""
    for tool_id in range(MOST_TOOLS):
        # `get_events` raises an error for an id that no tool has taken.
        if monitoring.get_tool(tool_id) is not None and monitoring.get_events(tool_id):
            return True
    return False
