"""A call, timed in runs of its own -> which part of its time passed in whose code.

`cProfile` is written in C and adds little; nothing else watches meanwhile.
"""

from collections.abc import Iterator
from cProfile import Profile
from time import perf_counter
from types import CodeType

from helpers.capture.cpython.settrace import Printed
from helpers.capture.frameworks.journey.recorder import through
from helpers.capture.frameworks.journey.tally import Tally
from helpers.model.journey import SHARES
from helpers.safety.interpreter_state import theirs
from helpers.safety.output import redirected

ENOUGH, MOST_RUNS = 0.2, 200  # seconds, and calls


def shares(fn, args: tuple, kwargs: dict, again: Tally) -> tuple[tuple[str, float], ...]:
    """Return the parts of the time, which sum up to 1; () if that could not be measured."""
    if again.outcome:
        return ()
    yours = set(again.seen.codes)
    try:
        with redirected(Printed()), theirs():
            runs = list(_runs(fn, args, kwargs))
    except KeyboardInterrupt:
        raise
    except BaseException:  # it may raise this time, and another profiler refuses
        return ()
    found = min((_parts(run, yours) for run in runs), key=lambda parts: sum(parts.values()))
    total = sum(found.values())
    return tuple((name, part / total) for name, part in found.items()) if total else ()


def _runs(fn, args, kwargs) -> Iterator[Profile]:
    """Yield a profile of each of several calls: the quickest is the one that nothing disturbed."""
    start, runs = perf_counter(), 0
    while runs < MOST_RUNS and (not runs or perf_counter() - start < ENOUGH):
        runs, profile = runs + 1, Profile()
        profile.enable()
        try:
            through(fn, args, kwargs)
        finally:
            profile.disable()
        yield profile


def _parts(profile: Profile, yours: set[int]) -> dict[str, float]:
    found = dict.fromkeys(SHARES, 0.0)
    for entry in profile.getstats():
        if entry.code is not through.__code__:
            found[_whose(entry.code, yours)] += entry.inlinetime
    return found


def _whose(code: CodeType | str, yours: set[int]) -> str:
    if type(code) is not CodeType:
        return SHARES[2]
    return SHARES[0] if id(code) in yours else SHARES[1]
