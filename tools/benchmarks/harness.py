"""What to compare, and the goal -> both sides measured in turns: the ratio's median and quartiles.

A benchmark is a function `measure_…` in a file beside this one, which yields a `Goal` per ratio:

    yield Goal("one way", run, "another way", run_it_otherwise, at_most=2)

says that the first takes at most twice the time of the second. Both run in one process, one after
the other in each round; a round gives one ratio. Without a bound, the ratio is only told.
"""

import contextlib
import gc
import importlib.util
import shutil
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import process_time

ENOUGH = 0.03  # seconds of one side in one round: what is quicker is repeated
MOST_CALLS = 2**20
MET, MISSED, NOISY, TOLD = "met", "missed", "too noisy to say", "no goal"
LACKING, ENDED, RAN = "not measured", "ended early", "ran once"


@dataclass(frozen=True)
class Goal:
    """`one` against `other`; a side that is `prepared` is made ready in each round, unmeasured."""

    name: str
    one: Callable
    other_name: str
    other: Callable
    at_most: float | None = None
    at_least: float | None = None
    rounds: int = 15
    clock: Callable[[], float] = process_time  # of this process; children need perf_counter


@dataclass(frozen=True)
class Result:
    """How many times as long as the other side the one takes, and what that says of the goal."""

    compared: str
    verdict: str
    goal: str = ""
    median: float | None = None
    quartiles: tuple[float, float] | None = None


class _Length:
    """How long the benchmarks of this process run: `short` or not."""

    short = False


def shorten() -> None:
    """Let the benchmarks of this process run once each, with their smallest sizes."""
    _Length.short = True


def size(usual, smallest):
    """Return a size: the usual one, or the smallest that still runs all the code, if short."""
    return smallest if _Length.short else usual


class Missing(Exception):
    """What the rest of a benchmark needs and this machine has not."""


def needs(*modules: str, program: str = "") -> None:
    """Raise Missing unless these modules can be imported, and the program be started."""
    lacking = [name for name in modules if not importlib.util.find_spec(name)]
    lacking += [program] if program and not shutil.which(program) else []
    if lacking:
        raise Missing(f"{' and '.join(lacking)} not installed")


class prepared:  # noqa: N801 - a decorator
    """Make a side of a generator function: it yields what is measured, once in each round."""

    def __init__(self, function: Callable[..., Iterator[Callable]]):
        self.ready = contextlib.contextmanager(function)


def measured(goals: Iterable[Goal]) -> Iterator[Result]:
    """Yield the result of each goal; what `goals` sets up for one stands until the next.

    Where something is missing, that is the last. A short run judges no goal.
    """
    try:
        for goal in goals:
            gc.collect()
            compared = f"{goal.name} / {goal.other_name}"
            if _Length.short:
                for side in (goal.one, goal.other):
                    seconds(side, 1, goal.clock)
                yield Result(compared, RAN)
                continue
            low, median, high = statistics.quantiles(ratios(goal), n=4)
            yield Result(compared, *judged(goal, low, high), median, (low, high))
    except Missing as lacking:
        yield Result(str(lacking), LACKING)


def ratios(goal: Goal) -> list[float]:
    """Return one ratio a round; the sides change places, so that what drifts meets both."""
    sides = {side: repeats(side, goal.clock) for side in (goal.one, goal.other)}
    found = []
    for number in range(goal.rounds):
        turn = list(sides)[:: -1 if number % 2 else 1]
        took = {side: seconds(side, sides[side], goal.clock) for side in turn}
        found.append(took[goal.one] / took[goal.other])
    return found


def seconds(side: Callable | prepared, calls: int, clock: Callable[[], float]) -> float:
    """Return what one call takes, as the mean of so many."""
    ready = side.ready() if isinstance(side, prepared) else contextlib.nullcontext(side)
    with ready as call:
        start = clock()
        for _ in range(calls):
            call()
        return (clock() - start) / calls


def repeats(side: Callable | prepared, clock: Callable[[], float]) -> int:
    """Return how many calls the clock can tell; the first one only warms the side up."""
    calls, _ = 1, seconds(side, 1, clock)
    if isinstance(side, prepared):
        return 1
    while seconds(side, calls, clock) * calls < ENOUGH and calls < MOST_CALLS:
        calls *= 2
    return calls


def judged(goal: Goal, low: float, high: float) -> tuple[str, str]:
    """Return what the quartiles say of a goal, and the goal in words.

    Where a bound lies between them, nothing can be said.
    """
    if goal.at_most is None and goal.at_least is None:
        return TOLD, ""
    most = float("inf") if goal.at_most is None else goal.at_most
    least = float("-inf") if goal.at_least is None else goal.at_least
    words = [f"at least {least:g}"] * (goal.at_least is not None)
    words += [f"at most {most:g}"] * (goal.at_most is not None)
    met = MET if high <= most and low >= least else MISSED
    return met if met == MET or low > most or high < least else NOISY, " and ".join(words)
