"""Write the words for each of the six stations of a call, from the CallRecord of the call. A
*station* is a place where something may take over the call: the name, the cache key, the frame, the
frame evaluator, the registry of kernels, the call of C.

Each `describe_…_station` returns whether the call passed the station, two or three words for the
map, and a sentence. The map has the stations in the order of `SPINE`.
"""

import re
from collections import Counter
from dataclasses import dataclass

from ...internals.tensorflow_private import list_graph_ops
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
    """Return a Stop for each station of `SPINE`: what the call did there."""
    # In the order of `SPINE`, in which stations are numbered from 1.
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
    """Return the words of a station; with "then not known" if the recorder for it ended early.

    A station is known from a profiler (STATIONS_FROM_CALLS), from a tracer (STATIONS_FROM_LINES) or
    from both. The program may have replaced either, and the profiler stops after very many frames.
    """
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
    """Return a sentence with "your" replaced by "numpy's" if the called function is NumPy's.

    The same holds for any other installed package. This package's own functions are called the
    learner's.
    """
    if record.library in ("", PACKAGE):
        return sentence
    return re.sub(r"\byours?\b", f"{record.library}'s", sentence)


# -- station 1: the name -----------------------------------------------------------------------


def describe_name_station(record: CallRecord) -> StationWords:
    """Return the words on global and builtin names that the learner's lines looked up.

    `record.names` counts the look-ups of each name. A name of Dynamo's, which has a number that is
    different in each run, is counted without this number.
    """
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
    """Return a name with its value, such as "add (np.add)", or without if they are the same.

    The value KeyError stands for a name that only the builtins have.
    """
    short_name = printable(name, LONGEST)
    value_label = format_label(value)
    if value is KeyError:
        return f"{short_name} (builtin)"
    if name.startswith("__import_"):  # Dynamo's name for a module, which no reader knows
        return value_label
    # Other names of Dynamo, such as `__compiled_fn`, and a value that has the same name.
    if name.startswith("__") or value_label.rstrip("()") == short_name:
        return short_name
    return f"{short_name} ({value_label})"


def describe_no_line(record: CallRecord) -> str:
    """Return the words for a call in which no line of the learner's ran in this thread.

    An op of a graph, such as PyFunc, may call Python in another thread, which is not recorded.
    """
    if list_ops_that_call_python(record):
        return f"{NO_LINE} in this thread"
    return NO_LINE


def list_ops_that_call_python(record: CallRecord) -> list[str]:
    """Return the names of ops, in the graphs that ran, that call a Python function."""
    ops_in_graphs = set()
    for op in record.ops:
        ops_in_graphs.update(list_ops_in_graph(op))
    return sorted(ops_in_graphs & OPS_THAT_CALL_PYTHON)


# -- station 2: the cache key ------------------------------------------------------------------


def describe_key_station(record: CallRecord) -> StationWords:
    """Return the words on caches that were asked for the arguments of a call.

    These are the caches of tf.functions, a cache of functools that is called itself, and other
    caches of functools in the learner's module (the *inner* ones).
    """
    words = _describe_outer_key(record)
    caches = record.caches
    brief = words.brief
    parts = []  # of the sentence
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

    # "no tf.function is called …" is said only if there is nothing else to say.
    if words.is_passed or not parts:
        parts.insert(0, words.sentence)
    return StationWords(
        is_passed=words.is_passed or inner_count > 0,
        brief=brief,
        sentence=_join_parts(*parts),
    )


def _describe_outer_key(record: CallRecord) -> StationWords:
    """Return the words on the cache that is called, or else on the caches of tf.functions.

    A tf.function stores a graph for each key, which it makes of the arguments. If no graph matches,
    it traces: it runs the Python function to build a graph.
    """
    calls = record.tf_function_calls
    traces = record.traces
    if record.caches.hits or record.caches.misses:
        return _describe_called_cache(record)
    if not calls and not traces:
        sentence = "no tf.function is called, so no graph is looked up"
        return _say_not_passed(sentence)
    if calls != 1 or traces > 1:  # there is more than one key, so only counts are given
        brief = format_count(traces, "trace") if traces else "graphs found"
        sentence = f"{format_count(calls, 'call')} of tf.functions, {format_count(traces, 'trace')}"
        return _say_passed(brief, sentence)

    key = f" {record.key}" if record.key else ""
    if traces:
        return _say_passed("traced", f"no graph matches the key{key}: traced")
    # The call has raised, or no op has run a graph.
    if record.outcome or not any(list_ops_in_graph(op) for op in record.ops):
        return _say_passed("no graph", f"the key{key} led to no graph that was run")
    return _say_passed("graph found", f"a graph matches the key{key}: found")


def _describe_called_cache(record: CallRecord) -> StationWords:
    """Return the words on what the called cache of functools found for the arguments."""
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
    """Return the words on the frames that ran.

    `record.frames` counts frames of the learner's module by the owner of the code that ran in them:
    YOU, AUTOGRAPH or DYNAMO. `record.other_frames` counts frames of libraries.
    """
    library_frames = _describe_library_frames(record)
    if not record.frames:  # something has answered without the learner's code
        sentence = describe_no_line(record)
        if record.tf_function_calls and not record.outcome:
            sentence = f"the graph was found, and {sentence}"
        elif record.caches.hits:
            sentence = f"the answer was found, and {sentence}"
        return _say_not_passed(_join_parts(sentence, library_frames))

    if record.frames[DYNAMO]:
        brief = "Dynamo's code"
    elif record.frames[YOU]:
        brief = format_count(record.lines[YOU], "line")
    else:
        brief = "AutoGraph's copy"
    return _say_passed(brief, _join_parts(*_list_own_frames(record), library_frames))


def _list_own_frames(record: CallRecord) -> list[str]:
    """Return a phrase for each owner whose code ran in frames of the learner's module."""
    phrases = []
    if record.frames[YOU]:
        what_ran = format_count(record.lines[YOU], "line")
        operator_count = record.operators.total()
        if operator_count:
            what_ran += f", {format_count(operator_count, 'operator')}"
        phrases.append(f"{format_count(record.frames[YOU], 'frame')} of yours: {what_ran}")
    if record.frames[AUTOGRAPH]:
        copies = format_count(record.frames[AUTOGRAPH], "frame")
        phrases.append(f"{copies} of AutoGraph's copy of yours")
    if record.frames[DYNAMO]:
        compiled_frames = format_count(record.frames[DYNAMO], "frame")
        phrases.append(f"{compiled_frames} of yours, with Dynamo's code in it")
    return phrases


def _describe_library_frames(record: CallRecord) -> str:
    """Return `12 of PyTorch's`, for the framework with the most frames; "" if there are none."""
    package = max(PACKAGE_NAMES, key=lambda package: record.other_frames[package])
    frame_count = record.other_frames[package]
    if not frame_count:
        return ""
    return f"{_format_magnitude(frame_count)} of {PACKAGE_NAMES[package]}'s"


def _format_magnitude(count: int) -> str:
    """Return a count, or words such as "thousands": a large count is different in each run."""
    if count <= MOST_EXACT:
        return f"{count}"
    return next(words for words, least in MAGNITUDES if count >= least)


# -- station 4: the evaluator ------------------------------------------------------------------


def describe_evaluator_station(record: CallRecord) -> StationWords:
    """Return the words on the frame evaluator that was set, and what it did.

    The frame evaluator is the C function that CPython calls to run a frame (PEP 523). torch sets
    its own, which looks for a compiled code object (a cache entry) whose guards hold.
    """
    owners = {frame_hook.evaluator_at(address).owner for address in record.evaluators}
    other_owners = sorted(owner for owner in owners if not owner.startswith("CPython"))
    if not other_owners:
        sentence = "CPython's own evaluator runs the frames; no other one is set"
        return _say_not_passed(sentence)

    evaluator = f"evaluator of {', '.join(other_owners)}"
    if other_owners == ["torch"]:
        evaluator = "torch's evaluator"
    if record.new_dynamo_codes:  # Dynamo makes one for each frame in which it finds a graph
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
    """Return the words on the ops that ran, and on the kernels that the registry chose for them.

    An op that runs a whole graph has a name of its own for each graph. Of the first such op, the
    ops in the graph are listed, too.
    """
    written = ""
    if record.nodes:
        written = f"{format_count(record.nodes, 'node')} written into a graph"
    if not record.ops:
        nothing = "no op of TensorFlow or PyTorch runs; calls of NumPy's ufuncs are not seen"
        return _say_not_passed(_join_parts(nothing, written))

    counts = Counter()  # name of an op, or words for a graph -> how often it ran
    in_first_graph = ""
    for op in record.ops:
        ops_in_graph = list_ops_in_graph(op)
        if not ops_in_graph:
            counts[op.name] += 1
            continue
        counts[f"the graph of {format_op_name(op)}"] += 1
        if not in_first_graph:
            in_first_graph = f"in it {format_names(ops_in_graph, MOST_OPS)}"

    brief = format_count(len(record.ops), "op")
    if in_first_graph and len(record.ops) == 1:
        brief = f"{brief}: the graph"
    op_text = _format_counts(counts, MOST_OPS)
    sentence = _join_parts(op_text, in_first_graph, _describe_kernels(record), written)
    return _say_passed(brief, sentence)


def _describe_kernels(record: CallRecord) -> str:
    """Return `kernels for CPU, float32`, for the kernels of the ops that ran; "" if none is known.

    A kernel is the C++ function that computes an op for one device and dtype. An op that runs a
    graph has no kernel of this kind.
    """
    kernels = []
    for op in record.ops:
        if op.kernel and op.kernel not in kernels and not list_ops_in_graph(op):
            kernels.append(op.kernel)
    if not kernels:
        return ""
    if len(kernels) > 1:  # commas separate the kernels, so "CPU, float32" loses its own
        kernels = [kernel.replace(", ", " ") for kernel in kernels]
    return f"kernels for {format_names(kernels, 2)}"


def list_ops_in_graph(op: RecordedOp) -> tuple[str, ...]:
    """Return the names of the ops in the graph that an op runs; empty for an op of no graph."""
    return list_graph_ops(op.name) if GRAPH_NAME.fullmatch(op.name) else ()


def format_op_name(op: RecordedOp) -> str:
    """Return the name of an op; of an op that runs a graph, the name of the traced function.

    `__inference_step_12` runs a graph of the function `step`.
    """
    if list_ops_in_graph(op):
        return printable(GRAPH_NAME.fullmatch(op.name)[1], LONGEST)
    return op.name


# -- station 6: the call of C ------------------------------------------------------------------


def describe_c_station(record: CallRecord) -> StationWords:
    """Return the words on the C functions that were called.

    Three groups are told apart: TensorFlow's entry points into C, calls that the learner's frames
    made, and all other calls, which are only counted.
    """
    counts = count_c_calls(record)
    if not counts:
        sentence = NO_C_CALL
        if record.operators.total():
            sentence += "; an operator calls its C code within one instruction"
        caches = record.caches
        if caches.is_called or caches.inner_hits or caches.inner_misses:
            sentence += "; the cache itself is in C"
        return _say_not_passed(sentence)

    # Each Counter maps the name of a C function to a count. A subtraction keeps only the names with
    # a positive difference.
    entry_points = Counter()
    for name_start in ENTRY_POINTS:
        matches = {name: count for name, count in counts.items() if name.startswith(name_start)}
        entry_points += Counter(matches)
    own_calls = Counter({name: count for (_, name), count in record.own_c_calls.items()})
    # A Counter keeps the order in which names were added, so the entry points are shown first.
    shown = entry_points + (own_calls - entry_points)
    other_count = (counts - entry_points - own_calls).total()
    other_calls = ""
    if other_count:
        more = " more" if shown else ""
        other_calls = f"{_format_magnitude(other_count)}{more} of the frameworks' own"
    total = counts.total()
    brief = format_count(total, "call") if total <= MOST_EXACT else "many calls"
    return _say_passed(brief, _join_parts(_format_counts(shown, MOST_NAMES), other_calls))


def count_c_calls(record: CallRecord) -> Counter[str]:
    """Return name of a C function -> how many calls of it count.

    All calls of a C function of a framework or of NumPy count. Of any other C function, such as
    `len`, only the calls by the learner's frames count.
    """
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
