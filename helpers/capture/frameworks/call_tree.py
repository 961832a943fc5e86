"""Run a function, and return the tree of its calls into a framework, of Python and of C functions.
The tree also has the *route* of each op of TensorFlow: how the op reached C, such as by the "fast
path", or by the slower "fallback".

The generated wrappers of TensorFlow (tensorflow/python/ops/gen_*_ops.py) try the fast path, catch
what it raises, and go on to a function whose name ends in `_eager_fallback`. A tf.function goes to
tensorflow/python/eager/execute.py at once. So do a few ops, such as the Fill of constant_op.py.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from ...internals import own_profilers
from ...internals.tensorflow_private import FAST, SLOW, SLOW_CANCELABLE
from ...model.call_records import Call, CallTree
from ...model.phrase import describe_interruption, format_count, format_names
from ...safety.dynamo_aside import leave_to_python
from ..cpython.aside import (
    HOOK_NAMES_IN_SYS,
    HOOK_NAMES_OF_COLLECTOR,
    describe_replaced_hooks,
    describe_visible_hooks,
)
from ..cpython.following import RecordingLimits
from ..cpython.objects import read_title_name
from ..cpython.settrace import INTERRUPTED, run_to_end
from .call_recorder import FRAMEWORKS, NEW_NODE, CallRecorder, describe_replacement
from .runnable import require_runnable

MOST_CALLS = 20_000
MOST_LISTED = 5  # names in one sentence
FALLBACK = "_eager_fallback"  # how the name of the function ends that calls the slow path
GRAPH_CALL = ".call_function"  # how the name of the method ends that calls a graph as an op

NO_CALLS_NOTE = (
    "No function of TensorFlow or PyTorch was called. What an operator (`x + y`) does in C is "
    "not a call. `watch_ops` lists the ops, and `watch_frames` shows calls of Python functions. "
    "`only=` follows the calls of other libraries."
)
NO_MATCH_NOTE = (
    "No call matches only=, among {}. This follows the calls of this thread. It cannot see "
    "what compiled code or a graph of an earlier call runs in place of a function, or which "
    "calls other threads make. CPython does not report a call of a class in C or of a ufunc."
)
COPIED_NOTE = "AutoGraph's copy ran in place of {}."
ENDED_NOTE = "From there on nothing is known: the recorder {}."
HEARD_NOTE = (
    "Your profiler heard the end of its sys.setprofile, which it does not hear in a plain run."
)


def record_call_tree(fn, /, *args, depth=None, only=None, most=MOST_CALLS, **kwargs) -> CallTree:
    """Run `fn(*args, **kwargs)` once, and return its calls into a framework as a tree.

    `depth`, `only` and `most` limit which calls are recorded
    (helpers/capture/cpython/following.py). An error of `fn` is not raised, but is in the tree.
    """
    function = require_runnable(fn, "watch_call", args)
    recorder = CallRecorder(function, RecordingLimits("watch_call", depth, only, most))
    return run_under_recorder(recorder, fn, args, kwargs)


def run_under_recorder(recorder: CallRecorder, fn, args: tuple, kwargs: dict) -> CallTree:
    """Run a function with the recorder as the profiler; return the tree of its calls.

    An error of the function is not raised, but is in the tree. KeyboardInterrupt is raised only if
    no call was recorded before it, because there is nothing to show.
    """
    with recorder.collector:  # in this block the recorder knows when the garbage collector runs
        outcome = run_to_end(lambda: _run_profiled(recorder, fn, args, kwargs))

    notes = list_notes(recorder)
    if outcome == INTERRUPTED:
        if not recorder.calls:
            raise KeyboardInterrupt
        outcome = ""
        notes.insert(0, describe_interruption(len(recorder.calls), "call"))
    return _build_tree(fn, recorder, outcome, notes)


def _run_profiled(recorder: CallRecorder, fn, args: tuple, kwargs: dict) -> None:
    """Run a function with the recorder set as the profiler; raise what the function raises."""
    # Dynamo (torch.compile) would try to compile a function of the recorder that it meets.
    leave_to_python(CallRecorder.__call__, *own_profilers.functions())
    recorder.profilers.start()
    try:
        fn(*args, **kwargs)
    finally:
        # Not called by a method of the recorder, which would be recorded as a call.
        was_never_replaced = recorder.profilers.finish()
        if not was_never_replaced:  # the program has set a profiler of its own
            recorder.end_reason = recorder.end_reason or describe_replacement(recorder.profilers)


def _build_tree(fn, recorder: CallRecorder, outcome: str, notes: list[str]) -> CallTree:
    """Return the tree of the recorded calls.

    `outcome` is what the function raised, in words, or "". The title names the route if TensorFlow
    or Keras was called, because torch has no such routes.
    """
    calls = tuple(recorder.calls)
    routes = tuple(find_routes(calls))
    title = f"{read_title_name(fn)}: {format_count(len(calls), 'call')}"
    if recorder.end_reason:
        title = f"{title}, then not known"
    elif any(call.module.startswith(FRAMEWORKS[:2]) for call in calls):  # TensorFlow or Keras
        route_of_all = CallTree("", calls, routes).route  # one text for the routes of all ops
        title = f"{title}, route: {route_of_all}"
    return CallTree(title, calls, routes, outcome, " ".join(notes))


def list_notes(recorder: CallRecorder) -> list[str]:
    """Return the sentences on what the tree of a recorder does not show."""
    notes = []
    calls = recorder.calls
    limits = recorder.limits
    if recorder.left_out_count:
        total = len(calls) + recorder.left_out_count
        more = f"{recorder.left_out_count:,} more are left out (most={total} shows all)."
        notes.append(f"The first {len(calls):,} calls; {more}")
    if calls and limits.note():
        notes.append(limits.note())
    if recorder.copied_functions:
        notes.append(COPIED_NOTE.format(format_names(recorder.copied_functions, MOST_LISTED)))
    if not calls and not recorder.end_reason:
        # One sentence for a run without `only=`, and one for a run with it.
        call_count = format_count(recorder.call_count, "call")
        notes.append(NO_CALLS_NOTE if limits.all else NO_MATCH_NOTE.format(call_count))
    if recorder.end_reason:
        notes.append(ENDED_NOTE.format(recorder.end_reason))
    if recorder.profilers.is_heard:  # a side effect on the program's own profiler
        notes.append(HEARD_NOTE)
    set_aside = describe_effects_on_profilers(recorder)
    if set_aside:
        notes.append(set_aside)
    return notes


def has_uncounted_calls(recorder: CallRecorder) -> bool:
    """Return whether calls of a framework are missing from the tree because of the limits."""
    is_limited = recorder.left_out_count or recorder.limits.note()
    return bool(recorder.calls and is_limited)


def describe_effects_on_profilers(recorder: CallRecorder) -> str:
    """Return the sentences on how recording affects a program that uses profilers itself; or "".

    A profiler of the program does not run meanwhile. A program that asks for its profiler or for
    the callbacks of the garbage collector may find those of the recorder.
    """
    code = recorder.function.__code__ if recorder.function is not None else None
    hooks_found = HOOK_NAMES_IN_SYS[1:] if recorder.profilers.is_found else ()  # only `getprofile`
    sentences = (
        describe_replaced_hooks(profiler=recorder.profilers),
        describe_visible_hooks(code, HOOK_NAMES_OF_COLLECTOR, hooks_found),
    )
    return " ".join(filter(None, sentences))


def find_routes(calls: Sequence[Call]) -> Iterator[str]:
    """Yield the route of each op, one of `ROUTES`.

    `calls` are the calls of one run, depth first. The route is read from a few names: the entry
    points into C (FAST, SLOW and SLOW_CANCELABLE), and the C function that adds a node to a graph.
    """
    names_of_open_calls: list[str] = []  # item i is the open call at depth i
    for index, call in enumerate(calls):
        # A call at some depth shows that earlier calls at this depth or deeper have returned.
        names_of_open_calls[call.depth :] = [call.name]
        if call.name == FAST:
            if not call.raised:
                yield "fast path"
            elif not _has_fallback(calls, index):
                yield "refused"
            # Otherwise the op goes on to a slow entry point, which yields the route.
        elif call.name in (SLOW, SLOW_CANCELABLE):
            yield _find_slow_route(call, names_of_open_calls)
        elif call.name == NEW_NODE:
            yield "graph"


def _has_fallback(calls: Sequence[Call], index: int) -> bool:
    """Return whether, after the call at `index`, the same caller calls a function of the slow path.

    TensorFlow's generated code names such a function `…_eager_fallback`.
    """
    depth = calls[index].depth
    for call in islice(calls, index + 1, None):
        if call.depth < depth:  # the caller has returned
            return False
        if call.depth == depth and call.name.endswith(FALLBACK):
            return True
    return False


def _find_slow_route(call: Call, names_of_open_calls: list[str]) -> str:
    """Return the route of an op that came to one of the slow entry points into C.

    `call` is the call of the entry point. The names of the open calls say from where it came.
    """
    if call.raised:
        return "refused"
    if any(name.endswith(FALLBACK) for name in names_of_open_calls):
        return "fallback"
    if any(name.endswith(GRAPH_CALL) for name in names_of_open_calls):
        return "function"
    return "direct"
