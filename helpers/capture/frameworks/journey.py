"""Call a function twice, and return its Journey: which of six stations each of the calls passed. A
*station* is a place where something may take over a call, such as a cache, a frame evaluator or
the registry of kernels. A Journey has a Passage for each call, and a Passage has a Stop for each
station.

Each call runs under all recorders at once (journey_call.py), which gives a CallRecord.
journey_stations.py writes the words for each station, and journey_sentences.py writes the sentences
below the map. Shares of time are measured in a third call, under `cProfile` alone.
"""

import contextlib
import sys
from cProfile import Profile
from dataclasses import replace
from importlib import import_module
from types import FunctionType

from ...internals import dynamo_state
from ...internals.own_hooks import build_profiler_setter
from ...model.journey_records import NOT_CALLED, SHARES, Journey, Passage, Stop
from ...model.phrase import clip_text
from ...model.spine import SPINE
from ...safety import PACKAGE
from ...safety.arguments import require_bool
from ...safety.restoring import is_interrupted
from ...safety.standard_output import redirect_prints
from ..cpython.frameworks_of_callables import UNSEEN, find_frameworks
from ..cpython.objects import GENERATOR, read_title_name
from ..cpython.settrace import Printed, run_to_end
from ..text.source import find_source
from ..text.value import short_repr
from .framework_ways import COMPILED, PLAIN, PreparedCall, prepare_calls
from .journey_call import record_call
from .journey_record import DYNAMO, CallRecord
from .journey_recorder import call_from_learner
from .journey_sentences import (
    describe_interrupted_call,
    describe_lines,
    describe_runner,
    list_notes_on_recorders,
)
from .journey_stations import (
    LONGEST,
    NOT_PASSED,
    count_c_calls,
    format_op_name,
    list_stops,
    name_owner_of_lines,
)
from .runnable import require_runnable

# Imported only where `ways=True` needs it, because it imports what it restores.
RANDOM_STATES = f"{PACKAGE}.internals.random_states"
CONVERTED = "Numbers and arrays are passed to each framework as its tensors."
NO_COMPILER = (
    '`torch.compile` is called with `backend="eager"`: it runs what Dynamo found op by op.'
)
SEEDED = "TensorFlow cannot put back what a random op with a seed has drawn: it drew in each call."
ONLY_A_GENERATOR = "The call only made a generator. None of its body ran."
NO_TIME = "No time was measured because the call raises."
FAULT = "The recorder failed with {}. What came after that is unknown."


def build_journey(fn, /, *args, ways: bool = False, shares: bool = False, **kwargs) -> Journey:
    """Run `fn(*args, **kwargs)` twice, and return which of the six stations each call passed.

    `ways=True` also calls `fn` behind `tf.function` and behind `torch.compile`. `shares=True` also
    measures whose code takes the time. An error of `fn` is not raised, but is in the journey.
    """
    # The Python function inside `fn`, which may be wrapped; None if there is none.
    function = require_runnable(fn, "show_journey", args)
    if require_bool(ways, "ways=") and function is not fn:
        needed = f"ways=True needs a plain Python function, not {short_repr(fn)}"
        raise TypeError(f"{needed}: write a function that calls it")
    require_bool(shares, "shares=")
    if not ways:
        first = record_call(fn, args, kwargs, function)
        return _call_again(first, fn, args, kwargs, function, with_shares=shares)

    # Both frameworks are imported before the first call that is recorded, because an import inside
    # a recorded call would be counted.
    prepared_calls = prepare_calls(fn, args, kwargs)
    first = record_call(fn, args, kwargs, function)
    # Random numbers that are drawn in this block do not change what the program draws later.
    with import_module(RANDOM_STATES).restore_random_numbers() as random_use:
        plain = _call_again(first, fn, args, kwargs, function, with_shares=shares)
        others = tuple(_build_journey_of_way(way, call) for way, call in prepared_calls.items())

    notes = [plain.note, CONVERTED]
    if not prepared_calls[COMPILED].reason:
        notes.append(NO_COMPILER)
    if random_use and random_use.has_own_seed:
        notes.append(SEEDED)
    return replace(
        plain,
        title=f"Who runs {read_title_name(fn)}? One function, three ways to call it",
        note=_join_notes(notes),
        way=PLAIN,
        source=find_source(fn.__code__).text,
        others=others,
    )


def _build_journey_of_way(way: str, call: PreparedCall) -> Journey:
    """Return the journey of one way to call a function; an empty one if there is a reason.

    `way` is "tf.function" or "torch.compile".
    """
    reason = call.reason
    if not reason and is_interrupted():
        reason = "It was interrupted before this way."
    if reason:
        return Journey("", Passage(()), Passage(()), note=reason, way=way)

    # In this block, what Dynamo compiles is stored apart from what it has compiled for the program.
    is_compiled = way == COMPILED
    with dynamo_state.as_if_new_where_possible() if is_compiled else contextlib.nullcontext():
        first = record_call(call.fn, call.args, call.kwargs, call.function)
        journey = _call_again(first, call.fn, call.args, call.kwargs, call.function)
    return replace(journey, way=way)


def _call_again(
    first: CallRecord,
    fn,
    args: tuple,
    kwargs: dict,
    function: FunctionType | None,
    with_shares: bool = False,
) -> Journey:
    """Call a function for the second time; return the journey of both calls.

    `first` is the record of the first call. `function` is the Python function behind `fn`, None if
    there is none. `with_shares` calls `fn` a third time, to measure whose code takes the time.
    """
    if first.is_interrupted:  # the learner pressed Ctrl-C, so there is no second call
        return _build_interrupted_journey(fn, first)

    second = record_call(fn, args, kwargs, function)
    shares = ()
    if with_shares and not second.is_interrupted:
        shares = _measure_shares(fn, args, kwargs, second)

    code = function.__code__ if function is not None else None
    notes = []
    if with_shares and not shares and not is_interrupted():
        notes.append(NO_TIME)  # because the call raises
    else:
        if code is not None and code.co_flags & GENERATOR:
            notes.append(ONLY_A_GENERATOR)
        if "jax" in find_frameworks(fn, (*args, *kwargs.values())):
            notes.append(UNSEEN)
    if second.is_interrupted:
        notes.append(describe_interrupted_call(second, "In the second call, y"))
    fault = second.end.fault or first.end.fault
    if fault:
        notes.append(FAULT.format(fault))
    notes += list_notes_on_recorders(first, second, code)
    return Journey(
        title=f"The journey of {read_title_name(fn)}, called twice",
        first=_build_passage(first),
        again=_build_passage(second),
        shares=shares,
        note=_join_notes(notes),
    )


def _build_interrupted_journey(fn, first: CallRecord) -> Journey:
    """Return the journey of a first call that Ctrl-C has ended, so that there is no second call.

    KeyboardInterrupt is raised if nothing was recorded, because there is nothing to show.
    """
    if not first.event_count:
        raise KeyboardInterrupt
    # The second call has a stop at each station, which says that there was no call.
    not_called = "the function was not called again"
    stops = [Stop(number, False, NOT_PASSED, not_called) for number in range(1, len(SPINE) + 1)]
    notes = [describe_interrupted_call(first, "In the first call, y"), first.end.set_aside]
    return Journey(
        title=f"The journey of {read_title_name(fn)}, interrupted",
        first=_build_passage(first),
        again=Passage(tuple(stops), ran=NOT_CALLED),
        note=_join_notes(notes),
    )


def _measure_shares(
    fn, args: tuple, kwargs: dict, second: CallRecord
) -> tuple[tuple[str, float], ...]:
    """Call a function under a profiler in C; return each of `SHARES` with its part of the time.

    The parts add up to 1. Nothing is returned if this call or the one before raised.
    """
    if second.outcome:
        return ()

    # `profile` replaces a profiler that the program may have set. `restore_profiler()` sets the
    # program's profiler again.
    profile = Profile()
    restore_profiler = build_profiler_setter()
    with redirect_prints(Printed()):  # the third call must not print again
        error_text = run_to_end(lambda: profile.runcall(call_from_learner, fn, args, kwargs))
    if sys.getprofile() is None:  # otherwise the program has set another profiler meanwhile
        restore_profiler()
    if error_text:
        return ()

    yours, python_of_libraries, c_functions = SHARES
    seconds_by_share = dict.fromkeys(SHARES, 0.0)
    for entry in profile.getstats():
        if isinstance(entry.code, str):  # a C function has no code object, but a name
            share = c_functions
        elif id(entry.code) in second.codes:  # the learner's code objects by id
            share = yours
        else:
            share = python_of_libraries
        seconds_by_share[share] += entry.inlinetime  # without the functions that it calls
    total_seconds = sum(seconds_by_share.values())
    return tuple((share, seconds / total_seconds) for share, seconds in seconds_by_share.items())


def _build_passage(record: CallRecord) -> Passage:
    """Return the passage of one call: its stops, its counts and its sentences."""
    printed = record.printed.strip().replace("\n", " / ")
    return Passage(
        stops=list_stops(record),
        counts=_list_counts(record),
        ops=tuple(format_op_name(op) for op in record.ops),
        outcome=record.outcome,
        printed=clip_text(printed, LONGEST),
        # Which of the learner's lines ran, and who ran them or what ran instead.
        ran=name_owner_of_lines(describe_lines(record), record),
        instead=name_owner_of_lines(describe_runner(record), record),
    )


def _list_counts(record: CallRecord) -> tuple[tuple[str, int], ...]:
    """Return (what was counted, how many) for each row of the exhibit, in its order.

    Frames and lines of code that Dynamo made are not in "frames" and "lines", because nobody wrote
    that code.
    """
    caches = record.caches
    return (
        ("keys", record.tf_function_calls),
        ("traces", record.traces),
        ("translated", record.new_dynamo_codes),
        ("nodes", record.nodes),
        ("names", record.names.total()),
        ("operators", record.operators.total()),
        ("frames of others", record.other_frames.total()),
        ("ops", len(record.ops)),
        ("frames of Dynamo's", record.frames[DYNAMO]),
        ("cache hits", caches.hits + caches.inner_hits),
        ("cache misses", caches.misses + caches.inner_misses),
        ("C calls", count_c_calls(record).total()),
        ("frames", record.frames.total() - record.frames[DYNAMO]),
        ("lines", record.lines.total() - record.lines[DYNAMO]),
    )


def _join_notes(sentences: list[str]) -> str:
    """Return the sentences that are not empty, with spaces between them."""
    return " ".join(filter(None, sentences))
