"""Actions, timed in one run -> a listing of ratios; one time says nothing about a machine."""

import sys
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from time import perf_counter

from ...internals.own_hooks import is_of_program, profiler_setter, tracer_setter
from ...model.code_records import columns
from ...model.noise import OVERLAP, Ratio, cost_words, measure_ratio
from ...model.phrase import interrupted
from ...model.tables import Listing
from ...safety import progress
from ...safety.arguments import table
from ...safety.dynamo_aside import leave_to_python
from ...safety.restoring import note_interrupt, running_user_code
from ..text.value import plain, short_repr
from .aside import OF_FRAMES, OF_SYS, PROFILER, TRACER, say_found, say_set_again
from .objects import GENERATOR, names_used
from .stack_run import record
from .unwrapping import to_run

ROUNDS, MOST_ACTIONS = 7, 1000
ENOUGH = 0.5  # seconds: what has taken so long in two rounds or more is not run once again
SHORTEST = 0.002  # seconds: what is quicker is repeated, so that the clock can tell it
SAMPLES, MOST_SAMPLES = 5, 15  # in one round: calm ones, and all
CALM = 0.01  # part of a sample that may be spent waiting for a processor
ROUND = 0.05  # seconds: a round that takes so long has fewer samples
NOTE = (
    f"Each ratio uses the fastest round. {OVERLAP.format('actions')} Time in which other programs "
)
NOTE += (
    "had the processor is left out where the system counts it. Another machine has other ratios."
)
TOOL = "watch_tracers"
MOST_TOOLS = 6  # of sys.monitoring
COPIED = sys.version_info < (3, 13)
COPIES = "It reads its variables as a dict. Up to Python 3.12 a tracer of sys.settrace writes that "
COPIES += "dict anew at each event, so a call under one may do something else than a call alone."
ITERATED = "It is a generator function: a call alone only makes the generator, and watch_stack's "
ITERATED += "record runs it to its end."
_READS_VARIABLES = {"locals", "vars", "eval", "exec", "dir", "f_locals", "_getframe"}
# One action; `ratio` says how many runs of the unit it takes as long as; `between`: its rounds.
Cost = namedtuple("Cost", "action ratio words between")


@dataclass(frozen=True)
class Costs(Listing):
    """A listing of costs that can be asked for one ratio."""

    def ratio(self, action: str) -> Ratio:
        """Return the ratio of this action, a float; KeyError if it was not measured."""
        return {row.action: row.ratio for row in self.rows}[action]


def costs_listing(
    unit: Callable, actions: Mapping[str, Callable], unit_name: str = "runs of the unit"
) -> Costs:
    """Time `actions` (a dict from name to callable) against `unit` in one run."""
    actions = table(actions, "watch_costs", "name -> function", MOST_ACTIONS)
    for name, action in [("the unit", unit), *actions]:
        if not callable(action):
            raise TypeError(f"{plain(name)} must be a function, not {short_repr(action)}")
    everything = {None: unit, **dict(actions)}
    rounds = {name: [] for name in everything}
    stopped = ""
    for done in progress.counted("timing, round", range(ROUNDS)):
        try:
            for name, action in _rotated(list(everything.items()), done):
                # The first round warms up, so its time says nothing of the others.
                if done < 2 or sum(max(each, SHORTEST) for each in rounds[name][1:]) < ENOUGH:
                    with running_user_code():
                        rounds[name].append(_measure_seconds(action))
        except KeyboardInterrupt as error:
            if done < 2:  # the first round of each is not counted
                raise
            note_interrupt(error)
            stopped = f" {interrupted(done, 'round')}"
            break
    rows = []
    for name, _ in actions:
        ratio = measure_ratio(rounds[name], rounds[None])
        rows.append(Cost(name, ratio, cost_words(ratio), ratio.between))
    shown = columns("", action="action", words=f"in {unit_name}", between="rounds between")
    note = NOTE + stopped
    if active := _active_tracers():
        note += f" It was measured while {' and '.join(active)} was active, which makes all slower."
    return Costs("Measured in one run", shown, tuple(rows), note)


def _measure_seconds(action: Callable) -> float:
    """Return the seconds of one call in one round, without those that others had the processor.

    A sample in which no other program had it is the best. The fastest of them decides.
    """
    calm, disturbed = [], []
    for _ in range(MOST_SAMPLES):
        seconds, waited, calls = _take_sample(action)
        if waited <= CALM * seconds:
            calm.append(seconds / calls)
        else:
            disturbed.append(max(seconds - waited, CALM * seconds) / calls)
        samples = [*calm, *disturbed]
        if len(calm) == SAMPLES or len(samples) * min(samples) >= ROUND:
            break
    return min(calm) if calm else median(disturbed)


def _rotated(items: list, by: int) -> list:
    """Return the items, begun with another one in each round.

    So none of them always follows the same one, which may leave the processor to other programs.
    """
    at = by % len(items)
    return [*items[at:], *items[:at]]


def _take_sample(action: Callable) -> tuple[float, float, int]:
    """Return how long some calls took, how long they waited for a processor, how many they were."""
    calls, passed, waited = 0, 0.0, seconds_waited()
    start = perf_counter()
    while passed < SHORTEST:
        action()
        calls += 1
        passed = perf_counter() - start
    return passed, seconds_waited() - waited, calls


def seconds_waited() -> float:
    """Return how long this thread has waited for a processor; 0 where no system counts that.

    Linux counts it in nanoseconds, in the second field of /proc/thread-self/schedstat.
    """
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as counted:
            return int(counted.read().split()[1]) / 1e9
    except (OSError, LookupError, ValueError):
        return 0.0


def tracer_costs(fn, /, *args, **kwargs) -> Costs:
    """Time `fn(*args)` under each kind of tracer, as a multiple of a call without one."""
    function, peeled, call = to_run(fn, TOOL, args)
    if any(hasattr(type(value), "__next__") for value in (*args, *kwargs.values())):
        why = "calls the function many times, and an iterator can be used only once"
        raise TypeError(f"{TOOL} {why}: pass a list")
    call, unit = partial(call, *args, **kwargs), f"calls of {plain(function.__name__)} alone"
    changed: set[str] = set()
    with _without_tracers(changed) as aside:
        listing = costs_listing(call, tracers(function, call, changed), unit)
    found = say_found(function.__code__, (*OF_SYS, *OF_FRAMES))
    sentences = [*filter(None, (say_set_again(aside), found))]
    is_generator = bool(function.__code__.co_flags & GENERATOR)
    sentences += [ITERATED] * is_generator
    sentences += [COPIES] if COPIED and _reads_variables(function.__code__) else []
    return replace(listing, note=" ".join((*peeled, listing.note, *sentences)))


def _reads_variables(code) -> bool:
    """Return whether code asks for its variables as a dict, as far as its names tell."""
    return bool(_READS_VARIABLES & {*code.co_names, *names_used(code)})


@contextmanager
def _without_tracers(changed: set[str]) -> Iterator[dict[str, bool]]:
    """Put an active tracer and profiler aside: under them all would be slow, and look alike.

    Yield their words, and whether they are set again, which is known when the block has ended.
    What the program sets in the block stays; `changed`: what it has set, or taken away.
    """
    hooks = {TRACER: (sys.gettrace, tracer_setter()), PROFILER: (sys.getprofile, profiler_setter())}
    before = {words: read() for words, (read, _) in hooks.items()}
    aside = {words: False for words, hook in before.items() if is_of_program(hook)}
    sys.settrace(None)
    sys.setprofile(None)
    try:
        yield aside
    finally:
        for words, (read, set_again) in reversed(hooks.items()):  # a tracer would report the rest
            is_free = read() is None and words not in changed
            if is_free:
                set_again()
            if words in aside:
                aside[words] = is_free and read() is before[words]


def _active_tracers() -> list[str]:
    """Return what slows down all that is measured, in words."""
    active = {"a tracer (sys.settrace)": sys.gettrace(), "a profiler": sys.getprofile()}
    found = [words for words, function in active.items() if function is not None]
    tools = getattr(sys, "monitoring", None)
    found += ["a tool of sys.monitoring"] if tools and _monitoring_tools(tools) else []
    return found


def _monitoring_tools(monitoring) -> list[int]:
    used = [number for number in range(MOST_TOOLS) if monitoring.get_tool(number) is not None]
    return [number for number in used if monitoring.get_events(number)]


def tracers(function, call: Callable, changed: set[str]) -> dict[str, Callable]:
    """Return name -> a function that makes the call under that tracer.

    `changed` gets the words of each hook that the program sets, or takes away.
    """
    traced = partial(_call_traced, call, function.__code__, changed)
    return {
        "sys.setprofile: calls": partial(traced, "profile"),
        "sys.settrace: calls": partial(traced, ""),
        "sys.settrace: lines": partial(traced, "lines"),
        "sys.settrace: instructions": partial(traced, "opcodes"),
        "watch_stack's record": partial(record, call.func, call.args),
    }


def _call_traced(call: Callable, code, changed: set[str], wanted: str):
    def local(frame, event, argument):
        return local

    def enter(frame, event, argument):
        if frame.f_code is not code or not wanted:
            return None
        frame.f_trace = local
        frame.f_trace_lines, frame.f_trace_opcodes = wanted == "lines", wanted == "opcodes"
        return local

    def profile(frame, event, argument):
        pass

    leave_to_python(local, enter, profile)
    words, get, put, ours = TRACER, sys.gettrace, sys.settrace, enter
    if wanted == "profile":
        words, get, put, ours = PROFILER, sys.getprofile, sys.setprofile, profile
    before = get()
    sys._getframe().f_trace_opcodes = wanted == "opcodes"  # 3.12 wants to know before settrace
    try:
        put(ours)
        return call()
    finally:
        if get() is ours:
            put(before)
        else:
            changed.add(words)
        sys._getframe().f_trace_opcodes = False
