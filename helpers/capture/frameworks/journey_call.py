"""Make one call under all recorders at once, and return a CallRecord: what ran in the call, such as
frames, lines, ops, traces and calls of C functions. The *learner's* code is the code whose globals
are those of the called function; all other code belongs to libraries.
"""

import contextlib
import sys
import weakref
from collections import Counter
from collections.abc import Container, Set
from dataclasses import dataclass
from types import FunctionType, MethodType

from ...internals import (
    own_profilers,
    tensorflow_cache,
    tensorflow_private,
    tensorflow_traces,
    torch_private,
)
from ...internals.frame_tracer import FrameTracer
from ...safety import restoring
from ...safety.arguments import real_isinstance
from ...safety.dynamo_aside import leave_to_python
from ...safety.standard_output import redirect_prints
from ..cpython.aside import describe_replaced_hooks
from ..cpython.settrace import INTERRUPTED, Printed, run_to_end
from ..tensorflow.trace_words import TypeNames
from .call_recorder import read_module_name
from .journey_caches import (
    count_new_answers,
    is_cache,
    list_dynamo_codes,
    read_cache_counts,
    read_inner_cache_counts,
)
from .journey_hooks import build_torch_mode, recording_tensorflow_ops
from .journey_record import (
    AUTOGRAPH,
    DYNAMO,
    YOU,
    CacheCounts,
    CallRecord,
    RecordedOp,
    RecorderEnd,
)
from .journey_recorder import JourneyRecorder, call_from_learner, list_recorder_functions

LIBRARIES = ("tensorflow", "keras", "torch", "numpy")
AUTOGRAPH_FILE = "__autograph_generated_file"  # the name of each file that AutoGraph writes
NEW_NODE = "TF_FinishOperation"  # the C function that TensorFlow calls for each node of a graph


def record_call(fn, args: tuple, kwargs: dict, function: FunctionType | None) -> CallRecord:
    """Call `fn(*args, **kwargs)` and return what happened in the call.

    `function` is the Python function behind `fn`, None if there is none. An error of the call is
    not raised: it is in the record, and so is Ctrl-C.
    """
    has_dynamo = restoring.find_loaded_module("torch._dynamo") is not None
    dynamo_codes_before = list_dynamo_codes(function)
    printed = Printed()  # receives what the call prints
    space = _find_learners_globals(fn, function)
    recorder = JourneyRecorder(space, torch_private.set_eval_frame if has_dynamo else None)
    run = _RunUnderRecorder(recorder)
    key = ""
    traces = []  # of tf.functions; the list is filled while the call runs

    # The hooks into the frameworks are installed before the call and removed after it.
    with contextlib.ExitStack() as stack:
        if restoring.find_loaded_module("tensorflow"):
            key = _describe_cache_key(fn, args, kwargs)
            traces = stack.enter_context(tensorflow_traces.collect_traces())
            stack.enter_context(recording_tensorflow_ops(recorder))
        if restoring.find_loaded_module("torch"):
            stack.enter_context(build_torch_mode(recorder))
        stack.enter_context(redirect_prints(printed))
        if has_dynamo:
            _leave_recorder_to_python(recorder)
        stack.enter_context(recorder.collector)

        caches_before = _read_caches(fn, space)
        outcome = run_to_end(lambda: run(fn, args, kwargs))
        caches_after = _read_caches(fn, space)

    dynamo_codes_after = list_dynamo_codes(function)
    ended_call = _EndedCall(
        has_globals=space is not None,
        dynamo_codes=dynamo_codes_before.keys() | dynamo_codes_after.keys(),
        new_dynamo_codes=len(dynamo_codes_after.keys() - dynamo_codes_before.keys()),
        caches=_count_cache_answers(fn, caches_before, caches_after, recorder),
        key=key,
        trace_count=len(traces),
        outcome=outcome,
        printed=printed.text(),
        end=run.describe_end(),
    )
    return _build_record(ended_call, recorder)


@dataclass(frozen=True)
class _EndedCall:
    """What is known of a call that has ended, besides the counts of the recorder."""

    #: Whether there are globals that mark the learner's code.
    has_globals: bool
    #: The ids of the code objects that Dynamo has made of the learner's, before or in the call.
    dynamo_codes: Set[int]
    #: How many of them are new.
    new_dynamo_codes: int
    #: How often the caches of functools had an answer.
    caches: CacheCounts
    #: The arguments as the called tf.function looks them up, in words; or "".
    key: str
    #: How many traces of tf.functions there were.
    trace_count: int
    #: "" if the call returned, INTERRUPTED after Ctrl-C, otherwise the error in words.
    outcome: str
    #: What the call printed.
    printed: str
    #: How the recorder came to its end.
    end: RecorderEnd


def _build_record(ended_call: _EndedCall, recorder: JourneyRecorder) -> CallRecord:
    """Return the record of a call, with the recorder's counts added up for each owner of code."""
    # Dynamo's code objects run under the learner's globals, so the recorder counts them, too. They
    # are told from the learner's code objects by their ids.
    dynamo_codes = ended_call.dynamo_codes
    # A frame of a resume function counts as Dynamo's, but its lines are lines of the learner's.
    dynamo_frame_codes = dynamo_codes | recorder.list_resume_codes()
    operators = _count_by_owner(recorder.operators_by_code, recorder, dynamo_codes)
    del operators[DYNAMO]  # only operators of code that somebody wrote count
    is_interrupted = ended_call.outcome == INTERRUPTED
    return CallRecord(
        has_globals=ended_call.has_globals,
        library=recorder.library,
        codes=recorder.codes,
        frames=_count_by_owner(recorder.frames_by_code, recorder, dynamo_frame_codes),
        traced_frames=_count_by_owner(recorder.traced_frames_by_code, recorder, dynamo_codes),
        lines=_count_by_owner(recorder.lines_by_code, recorder, dynamo_codes),
        distinct_lines=_count_by_owner(recorder.count_distinct_lines(), recorder, dynamo_codes),
        operators=operators,
        names=recorder.names,
        values_by_name=recorder.values_by_name,
        other_frames=recorder.other_frames,
        c_calls=recorder.c_calls,
        own_c_calls=recorder.own_c_calls,
        evaluators=frozenset(recorder.evaluators),
        tf_function_calls=recorder.tf_function_calls,
        traces=ended_call.trace_count,
        nodes=sum(count for (_, name), count in recorder.c_calls.items() if name == NEW_NODE),
        new_dynamo_codes=ended_call.new_dynamo_codes,
        caches=ended_call.caches,
        key=ended_call.key,
        ops=tuple(RecordedOp(name, kernel) for name, kernel in recorder.ops),
        outcome="KeyboardInterrupt" if is_interrupted else ended_call.outcome,
        printed=ended_call.printed,
        is_interrupted=is_interrupted,
        event_count=recorder.count_events(),
        end=ended_call.end,
    )


@dataclass(frozen=True)
class _CacheReading:
    """The counts of all caches of functools that may answer, at one moment."""

    #: (answers found, answers not found) of the called function; (0, 0) if it is no cache.
    called: tuple[int, int]
    #: A weak reference to each other cache of the learner's module -> its two counts.
    inner: dict[weakref.ref, tuple[int, int]]


def _read_caches(fn, space: dict | None) -> _CacheReading:
    """Return the counts of the caches now; `space` is the dict of the learner's globals."""
    return _CacheReading(read_cache_counts(fn), read_inner_cache_counts(fn, space))


def _count_cache_answers(
    fn, before: _CacheReading, after: _CacheReading, recorder: JourneyRecorder
) -> CacheCounts:
    """Return how often caches had an answer between two readings."""
    hits_before, misses_before = before.called
    hits_after, misses_after = after.called
    inner_hits, inner_misses = count_new_answers(before.inner, after.inner)
    return CacheCounts(
        is_called=is_cache(fn),
        # The function may clear its cache, which sets the counts to zero: no negative difference.
        hits=max(hits_after - hits_before, 0),
        misses=max(misses_after - misses_before, 0),
        inner_hits=inner_hits,
        inner_misses=inner_misses,
        is_cleared=any(name.endswith(".cache_clear") for _, name in recorder.own_c_calls),
    )


def _find_learners_globals(fn, function: FunctionType | None) -> dict | None:
    """Return the globals that mark the learner's code: a frame with these globals is the learner's.

    They are the globals of the function. But a function of a framework is not the learner's. Then
    the globals are those of the learner's class whose method `fn` is, such as a Keras model; None
    if there is no such class.
    """
    space = getattr(function, "__globals__", None)
    if space is None or read_module_name(space).partition(".")[0] not in LIBRARIES:
        return space
    if type(fn) is not MethodType:
        return None
    class_module = type(fn.__self__).__module__
    if class_module.partition(".")[0] in LIBRARIES:
        return None
    return getattr(restoring.find_loaded_module(class_module), "__dict__", None)


def _describe_cache_key(fn, args: tuple, kwargs: dict) -> str:
    """Return in words the key by which a tf.function looks up a graph for these arguments.

    The text is "" if `fn` is no tf.function.
    """
    if not real_isinstance(fn, tensorflow_private.Function):
        return ""
    try:
        key = tensorflow_cache.find_call_key(fn, args, kwargs)
        return TypeNames().format_arguments(key[1])
    except Exception:  # an argument may be of a type that has no key: the call itself will raise
        return ""


def _leave_recorder_to_python(recorder: JourneyRecorder) -> None:
    """Tell Dynamo to compile no function of the recorder.

    These functions run inside the call, so Dynamo would meet them and compile them, too.
    """
    leave_to_python(
        *list_recorder_functions(),
        *own_profilers.functions(),
        Printed.write,
    )
    hook_codes = (*recorder.transparent_codes.values(), *recorder.hidden_callers.values())
    for code in (call_from_learner.__code__, *hook_codes):
        torch_private.skip_code(code)


class _RunUnderRecorder:
    """Makes one call with the tracer and the profiler of a recorder set."""

    def __init__(self, recorder: JourneyRecorder):
        """Prepare to make the call; the hooks are set only while it runs."""
        self._recorder = recorder
        # Filled in at the end of the call: whether the program has set hooks of its own.
        self._is_profiler_replaced = False
        self._is_tracer_replaced = False
        self._set_aside = ""  # the sentences on hooks of the program's that did not run

    def __call__(self, fn, args: tuple, kwargs: dict) -> None:
        """Call `fn(*args, **kwargs)` with the recorder's hooks set; raise what the call raises."""
        recorder = self._recorder
        # Python 3.12 sends events of instructions only if a frame has asked before the tracer is
        # set. No variable refers to this frame, because the frame would then be in a cycle.
        asked_for_opcodes = sys._getframe().f_trace_opcodes
        sys._getframe().f_trace_opcodes = True
        tracer = FrameTracer(recorder.trace)
        try:
            tracer.start()
            recorder.profilers.start()
            call_from_learner(fn, args, kwargs)
        finally:
            # Only hooks that are still the recorder's are removed. A hook that the program has set
            # meanwhile stays.
            self._is_profiler_replaced = not recorder.profilers.finish()
            is_tracer_set = tracer.is_ours()
            self._is_tracer_replaced = recorder.tracer_replaced_at is not None or not is_tracer_set
            if is_tracer_set:
                tracer.put_back()
            tracer.finish()
            self._set_aside = describe_replaced_hooks(tracer, recorder.profilers)
            sys._getframe().f_trace_opcodes = asked_for_opcodes

    def describe_end(self) -> RecorderEnd:
        """Return how the recorder came to its end, such as that the program replaced a hook."""
        recorder = self._recorder
        # Ops that were recorded after the program had set its own profiler.
        has_later_ops = len(recorder.ops) > recorder.op_count_at_replacement
        return RecorderEnd(
            fault=recorder.fault,
            stopped_after=recorder.frame_limit if recorder.is_stopped else 0,
            is_profiler_replaced=self._is_profiler_replaced,
            profiler_replaced_at=recorder.profilers.replaced_at,
            is_profiler_heard=recorder.profilers.is_heard,
            is_op_recorder_heard=self._is_profiler_replaced and has_later_ops,
            is_profiler_found=recorder.profilers.is_found,
            is_tracer_replaced=self._is_tracer_replaced,
            tracer_replaced_at=recorder.tracer_replaced_at,
            set_aside=self._set_aside,
        )


def _count_by_owner(
    counts_by_code: Counter[int], recorder: JourneyRecorder, dynamo_codes: Container[int]
) -> Counter[str]:
    """Return owner -> the sum of the counts of the owner's code objects.

    An owner is who wrote the bytecode: YOU (the learner), AUTOGRAPH (a part of TensorFlow) or
    DYNAMO (a part of torch). `counts_by_code` maps the id of a code object to a count.
    `dynamo_codes` has the ids of the code objects that Dynamo made.
    """
    counts = Counter()
    for code_id, count in counts_by_code.items():
        code = recorder.codes.get(code_id)
        if code_id in dynamo_codes:
            owner = DYNAMO
        elif code is not None and AUTOGRAPH_FILE in code.co_filename:
            owner = AUTOGRAPH
        else:
            owner = YOU
        counts[owner] += count
    return counts
