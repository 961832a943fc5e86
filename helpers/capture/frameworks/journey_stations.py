"""The record of one call -> a sentence for each of the six stations that a call may pass.

Each `describe_…_station` returns whether the call passed the station, two or three words for the
map, and a sentence. The map has the stations in the order of `SPINE`.
"""

import re
from collections import Counter
from dataclasses import dataclass

from ...internals.tensorflow_private import graph_ops
from ...mini import frame_hook
from ...model.journey_records import Stop
from ...model.phrase import format_count, format_names
from ...safety import PACKAGE
from ...safety.arguments import printable
from ..text.value import format_label
from .journey_call import LIBRARIES
from .journey_record import AUTOGRAPH, DYNAMO, YOU, CallRecord, RecordedOp

MOST_NAMES = 4
MOST_OPS = 5
MOST_EXACT = 200  # a larger count is given only by its order of magnitude
LONGEST = 60  # characters of a name
NOT_PASSED = "–"
STATIONS_FROM_CALLS = {2, 3, 4, 6}  # the numbers of the stations that the profiler tells of
STATIONS_FROM_LINES = {1, 3}  # the numbers of the stations that the tracer tells of
PACKAGE_NAMES = {"tensorflow": "TensorFlow", "keras": "Keras", "torch": "PyTorch", "numpy": "NumPy"}
# The names that Dynamo gives to its functions end in a part that is different in each run.
DYNAMO_NAME = re.compile(r"(__compiled_fn|__resume_at)_[0-9a-f_]+.*")
GRAPH_NAME = re.compile(r"__(?:inference|forward|backward)_(.+?)_\d+")
# The words for a large count, and the least count that they stand for.
MAGNITUDES = (
    ("millions", 10**6),
    ("hundreds of thousands", 10**5),
    ("tens of thousands", 10**4),
    ("thousands", 10**3),
    ("hundreds", 0),
)
NO_LINE = "none of your lines ran"
OPS_THAT_CALL_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}  # ops of a graph
NO_C_CALL = (
    "none seen from your lines; calls of classes and of ufuncs such as np.add are not reported"
)
ENTRY_POINTS = ("TFE_Py_E", "TFE_Py_Fast")  # how the names of TensorFlow's functions in C begin


@dataclass(frozen=True)
class StationWords:
    """What is said of one station of one call."""

    #: Whether the call passed the station.
    is_passed: bool
    #: Two or three words for the map.
    brief: str
    #: What happened at the station, or why the call did not pass it.
    sentence: str


def _say_passed(brief: str, sentence: str) -> StationWords:
    """Return the words of a station that the call passed."""
    return StationWords(is_passed=True, brief=brief, sentence=sentence)


def _say_not_passed(reason: str) -> StationWords:
    """Return the words of a station that the call did not pass."""
    return StationWords(is_passed=False, brief=NOT_PASSED, sentence=reason)


def list_stops(record: CallRecord) -> tuple[Stop, ...]:
    """Return the stop of a call at each station of `SPINE`."""
    stations = (
        describe_name_station(record),
        describe_key_station(record),
        describe_frame_station(record),
        describe_evaluator_station(record),
        describe_registry_station(record),
        describe_c_station(record),
    )
    stops = []
    for number, words in enumerate(stations, start=1):
        words = _limit_to_what_was_recorded(number, words, record)
        sentence = name_owner_of_lines(words.sentence, record)
        stops.append(Stop(number, words.is_passed, words.brief, sentence))
    return tuple(stops)


# -- what ends early, and whose lines they are -------------------------------------------------


def _limit_to_what_was_recorded(
    number: int, words: StationWords, record: CallRecord
) -> StationWords:
    """Return the words of a station, with until when they hold if its recorder ended early."""
    end = record.end
    is_replaced = (end.is_profiler_replaced and number in STATIONS_FROM_CALLS) or (
        end.is_tracer_replaced and number in STATIONS_FROM_LINES
    )
    if is_replaced:
        how_it_ended = "was replaced"
    elif end.is_stopped and number in STATIONS_FROM_CALLS:
        how_it_ended = "stopped"
    else:
        return words

    if words.is_passed:
        return _say_passed(words.brief, f"{words.sentence}; then not known")
    sentence = f"until the recorder {how_it_ended}: {words.sentence}; then not known"
    return StationWords(is_passed=False, brief="not known", sentence=sentence)


def name_owner_of_lines(sentence: str, record: CallRecord) -> str:
    """Return a sentence on "your" lines; the lines of a library's function are the library's."""
    if record.library in ("", PACKAGE):
        return sentence
    return re.sub(r"\byours?\b", f"{record.library}'s", sentence)


# -- station 1: the name -----------------------------------------------------------------------


def describe_name_station(record: CallRecord) -> StationWords:
    """Return which names the learner's lines looked up outside their own variables."""
    if not record.has_globals:
        return _say_not_passed("no Python function of yours is called")
    if not record.frames:
        sentence = f"{describe_no_line(record)}, so none of their names was looked up"
        return _say_not_passed(sentence)
    if not record.names:
        sentence = "your lines use only their own arguments and variables"
        return _say_not_passed(sentence)

    counts = Counter()
    for name, count in record.names.items():
        stable_name = DYNAMO_NAME.sub(r"\1", name)
        counts[_format_name(stable_name, record.values_by_name.get(name))] += count
    return _say_passed(format_count(len(counts), "name"), _format_counts(counts, MOST_NAMES))


def _format_name(name: str, value) -> str:
    """Return a name and, where that says more, its value; the value KeyError is for a builtin."""
    short_name = printable(name, LONGEST)
    value_label = format_label(value)
    if value is KeyError:
        return f"{short_name} (builtin)"
    if name.startswith("__import_"):  # Dynamo's name for a module
        return value_label
    if name.startswith("__") or value_label.rstrip("()") == short_name:
        return short_name
    return f"{short_name} ({value_label})"


def describe_no_line(record: CallRecord) -> str:
    """Return the words for a call in which no line of the learner's ran, as far as is known."""
    if list_ops_that_call_python(record):
        return f"{NO_LINE} in this thread"
    return NO_LINE


def list_ops_that_call_python(record: CallRecord) -> list[str]:
    """Return the names of ops in the graphs that ran by which a graph calls a Python function."""
    ops_in_graphs = set()
    for op in record.ops:
        ops_in_graphs.update(list_ops_in_graph(op))
    return sorted(ops_in_graphs & OPS_THAT_CALL_PYTHON)


# -- station 2: the cache key ------------------------------------------------------------------


def describe_key_station(record: CallRecord) -> StationWords:
    """Return what caches found under the arguments: tf.functions', and those of functools."""
    words = _describe_outer_key(record)
    caches = record.caches
    brief = words.brief
    parts = []
    inner_count = caches.inner_hits + caches.inner_misses
    if inner_count:
        answers = format_count(caches.inner_hits, "answer")
        parts.append(
            f"caches of functools in your module: {answers} found, {caches.inner_misses} not"
        )
        if not words.is_passed:
            brief = format_count(inner_count, "look-up")
    if caches.is_cleared:
        parts.append("what a cache found before your code cleared it is not known")
        if not words.is_passed and not inner_count:
            brief = "not known"

    if words.is_passed or not parts:
        parts.insert(0, words.sentence)
    return StationWords(
        is_passed=words.is_passed or inner_count > 0,
        brief=brief,
        sentence=_join_parts(*parts),
    )


def _describe_outer_key(record: CallRecord) -> StationWords:
    """Return what tf.functions found under their arguments, or the cache that is called."""
    calls = record.tf_function_calls
    traces = record.traces
    if record.caches.hits or record.caches.misses:
        return _describe_called_cache(record)
    if not calls and not traces:
        sentence = "no tf.function is called, so no graph is looked up"
        return _say_not_passed(sentence)
    if calls != 1 or traces > 1:
        brief = format_count(traces, "trace") if traces else "graphs found"
        sentence = f"{format_count(calls, 'call')} of tf.functions, {format_count(traces, 'trace')}"
        return _say_passed(brief, sentence)

    key = f" {record.key}" if record.key else ""
    if traces:
        return _say_passed("traced", f"no graph matches the key{key}: traced")
    if record.outcome or not any(list_ops_in_graph(op) for op in record.ops):
        return _say_passed("no graph", f"the key{key} led to no graph that was run")
    return _say_passed("graph found", f"a graph matches the key{key}: found")


def _describe_called_cache(record: CallRecord) -> StationWords:
    """Return what the called cache of functools found under the arguments."""
    hits = record.caches.hits
    misses = record.caches.misses
    if hits + misses > 1:
        answers = format_count(hits, "answer")
        sentence = f"the cache of functools: {answers} found, {misses} not found"
        return _say_passed(f"{answers} found", sentence)
    if hits:
        sentence = "the cache of functools has an answer for these arguments"
        return _say_passed("answer found", sentence)
    sentence = "the cache of functools has none for these arguments: your function is called"
    return _say_passed("no answer", sentence)


# -- station 3: the frame ----------------------------------------------------------------------


def describe_frame_station(record: CallRecord) -> StationWords:
    """Return how many frames ran: the learner's, by owner of the code, and a library's."""
    # Of the frameworks, only the one with the most frames is named.
    package = max(PACKAGE_NAMES, key=lambda package: record.other_frames[package])
    package_frames = record.other_frames[package]
    of_package = ""
    if package_frames:
        of_package = f"{_format_magnitude(package_frames)} of {PACKAGE_NAMES[package]}'s"

    if not record.frames:
        sentence = describe_no_line(record)
        if record.tf_function_calls and not record.outcome:
            sentence = f"the graph was found, and {sentence}"
        elif record.caches.hits:
            sentence = f"the answer was found, and {sentence}"
        return _say_not_passed(_join_parts(sentence, of_package))

    parts = []
    lines = format_count(record.lines[YOU], "line")
    if record.frames[YOU]:
        what_ran = lines
        operator_count = record.operators.total()
        if operator_count:
            what_ran = f"{lines}, {format_count(operator_count, 'operator')}"
        parts.append(f"{format_count(record.frames[YOU], 'frame')} of yours: {what_ran}")
    if record.frames[AUTOGRAPH]:
        copies = format_count(record.frames[AUTOGRAPH], "frame")
        parts.append(f"{copies} of AutoGraph's copy of yours")
    if record.frames[DYNAMO]:
        compiled_frames = format_count(record.frames[DYNAMO], "frame")
        parts.append(f"{compiled_frames} of yours, with Dynamo's code in it")
    sentence = _join_parts(*parts, of_package)

    if record.frames[DYNAMO]:
        brief = "Dynamo's code"
    elif record.frames[YOU]:
        brief = lines
    else:
        brief = "AutoGraph's copy"
    return _say_passed(brief, sentence)


def _format_magnitude(count: int) -> str:
    """Return a count, or about how large it is: a large one may be another in each run."""
    if count <= MOST_EXACT:
        return f"{count}"
    return next(words for words, least in MAGNITUDES if count >= least)


# -- station 4: the evaluator ------------------------------------------------------------------


def describe_evaluator_station(record: CallRecord) -> StationWords:
    """Return whose frame evaluator was set, and what it did with the learner's code."""
    owners = {frame_hook.evaluator_at(address).owner for address in record.evaluators}
    other_owners = sorted(owner for owner in owners if not owner.startswith("CPython"))
    if not other_owners:
        sentence = "CPython's own evaluator runs the frames; no other one is set"
        return _say_not_passed(sentence)

    evaluator = f"evaluator of {', '.join(other_owners)}"
    if other_owners == ["torch"]:
        evaluator = "torch's evaluator"
    if record.new_dynamo_codes:
        # A frame in which Dynamo finds no graph gets no code of its own.
        codes = format_count(record.new_dynamo_codes, "new code object")
        sentence = f"{evaluator}; no cache entry matches: Dynamo makes {codes} from yours"
        return _say_passed("translated", sentence)
    if record.frames[DYNAMO]:
        compiled_frames = format_count(record.frames[DYNAMO], "frame")
        sentence = f"{evaluator}; the guards of an entry hold, for {compiled_frames}"
        return _say_passed("entry found", sentence)
    if record.frames:
        return _say_passed("asked", f"{evaluator}, which lets your code run as it is")
    return _say_passed("asked", f"{evaluator}, and no code of yours ran")


# -- station 5: the registry -------------------------------------------------------------------


def describe_registry_station(record: CallRecord) -> StationWords:
    """Return which ops of TensorFlow and PyTorch ran, and for which kernels."""
    written = ""
    if record.nodes:
        written = f"{format_count(record.nodes, 'node')} written into a graph"
    if not record.ops:
        nothing = "no op of TensorFlow or PyTorch runs; calls of NumPy's ufuncs are not seen"
        return _say_not_passed(_join_parts(nothing, written))

    counts = Counter()
    kernels = []
    in_first_graph = ""
    for op in record.ops:
        ops_in_graph = list_ops_in_graph(op)
        if ops_in_graph:
            counts[f"the graph of {format_op_name(op)}"] += 1
            if not in_first_graph:
                in_first_graph = f"in it {format_names(ops_in_graph, MOST_OPS)}"
            continue
        counts[op.name] += 1
        if op.kernel and op.kernel not in kernels:
            kernels.append(op.kernel)

    chosen = ""
    if len(kernels) > 1:  # without their own commas, because they are listed with commas
        kernels = [kernel.replace(", ", " ") for kernel in kernels]
    if kernels:
        chosen = f"kernels for {format_names(kernels, 2)}"
    brief = format_count(len(record.ops), "op")
    if in_first_graph and len(record.ops) == 1:
        brief = f"{brief}: the graph"
    sentence = _join_parts(_format_counts(counts, MOST_OPS), in_first_graph, chosen, written)
    return _say_passed(brief, sentence)


def list_ops_in_graph(op: RecordedOp) -> tuple[str, ...]:
    """Return the names of the ops in the graph that an op runs; empty for an op of no graph."""
    return graph_ops(op.name) if GRAPH_NAME.fullmatch(op.name) else ()


def format_op_name(op: RecordedOp) -> str:
    """Return the name of an op; of an op that runs a graph, the name of the traced function."""
    if list_ops_in_graph(op):
        return printable(GRAPH_NAME.fullmatch(op.name)[1], LONGEST)
    return op.name


# -- station 6: the call of C ------------------------------------------------------------------


def describe_c_station(record: CallRecord) -> StationWords:
    """Return which C functions were called: the entry points first, then the learner's calls."""
    counts = count_c_calls(record)
    if not counts:
        sentence = NO_C_CALL
        if record.operators.total():
            sentence += "; an operator calls its C code within one instruction"
        caches = record.caches
        if caches.is_called or caches.inner_hits or caches.inner_misses:
            sentence += "; the cache itself is in C"
        return _say_not_passed(sentence)

    entry_points = Counter()
    for name_start in ENTRY_POINTS:
        entry_points += Counter(
            {name: count for name, count in counts.items() if name.startswith(name_start)}
        )
    own_calls = Counter({name: count for (_, name), count in record.own_c_calls.items()})
    # A Counter keeps the order in which its names came: the entry points are shown first.
    shown = entry_points + (own_calls - entry_points)
    rest = (counts - entry_points - own_calls).total()
    frameworks_own = ""
    if rest:
        more = " more" if shown else ""
        frameworks_own = f"{_format_magnitude(rest)}{more} of the frameworks' own"
    total = counts.total()
    brief = format_count(total, "call") if total <= MOST_EXACT else "many calls"
    return _say_passed(brief, _join_parts(_format_counts(shown, MOST_NAMES), frameworks_own))


def count_c_calls(record: CallRecord) -> Counter[str]:
    """Return C function -> calls by the learner's frames, and by the frameworks' own."""
    counts = Counter()
    for key, count in record.c_calls.items():
        package, name = key
        counts[name] += count if package in LIBRARIES else record.own_c_calls[key]
    return +counts  # drops the names with 0 calls: functions that only other code called


# -- short text --------------------------------------------------------------------------------


def _join_parts(*parts: str) -> str:
    """Return the parts that are not empty, with semicolons between them."""
    return "; ".join(filter(None, parts))


def _format_counts(counts: Counter[str], most: int) -> str:
    """Return the first `most` names, each with how often it was counted, such as `len ×3`."""
    names = []
    for name, count in counts.items():
        times = f" ×{count:,}" if count > 1 else ""
        names.append(printable(name, LONGEST) + times)
    return format_names(names, most)
