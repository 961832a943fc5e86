"""A function, called twice in one way -> what each call changed, and what it raised.

Each call finds the same state: what it changed is restored after it.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import MethodType

from ...internals import (
    dynamo_settings,
    tensorflow_cache,
    tensorflow_private,
    tensorflow_random,
    tensorflow_traces,
)
from ...internals.dynamo_state import as_if_new_where_possible
from ...safety import restoring
from ...safety.arguments import real_isinstance, real_type_name
from ...safety.standard_output import redirected
from ..cpython.frameworks_of_callables import find_frameworks
from ..cpython.objects import read_callable_name, read_compiled_original, read_traced_function
from ..cpython.settrace import Printed, run_to_end
from ..cpython.unwrapping import name_arguments as named_arguments
from ..text.error import describe_error
from .reachable_state import PathAndObject, ReachableState
from .state_kinds import is_tf_function
from .state_snapshot import StateSnapshot
from .trace_recorder import find_recorder

CALLS = 2  # a tf.function traces at the first one, and hits at the second


@dataclass(frozen=True, eq=False)
class MutatingCall:
    """What one call changed."""

    #: the path of each thing that refers to something else now -> what it refers to. The values
    #: are kept alive, because a second call could otherwise get an object with the same id.
    changes: dict[str, object]
    #: how many traces TensorFlow made in the call
    trace_count: int


@dataclass(frozen=True, eq=False)
class WayRun:
    """What happened when a function was called twice in one way."""

    #: what each call changed; fewer than two calls if one has raised, or the way itself
    calls: list[MutatingCall]
    #: what can be reached, as it was before
    reachable: ReachableState
    #: the message of what was raised, or ""
    error: str
    #: the paths at which a symbolic tensor stays after its graph was built
    leaked_paths: list[str]
    #: the frameworks whose compilers ran the function: "TensorFlow", "PyTorch"
    frameworks: set[str]
    #: whether a random op with a seed of its own may have drawn
    draws_with_seed: bool
    #: the messages of what ended a thread that a call has started
    thread_errors: list[str]
    #: what was set of libraries: a class or module, a name, and the value; by id and name
    set_of_libraries: dict[tuple[int, str], tuple[object, str, object]]


def leave_as_it_is(function):
    """Return the function itself: the way of plain Python."""
    return function


def record_mutations(function, args: list, way: Callable) -> WayRun:
    """Call what `way` makes of a function with these arguments, twice, and return what changed."""
    snapshot = StateSnapshot(_list_roots(function, args))
    with _dynamo_restored(way, function):
        recorder = _MutationRecorder(snapshot, function, args)
        recorder.run(way)
    return recorder.build_run()


def _list_roots(function, args: list) -> list[PathAndObject]:
    """Return what a call can reach directly: a method's `self`, the function, the arguments."""
    roots = []
    if type(function) is MethodType:
        owner = function.__self__
        name = read_callable_name(owner) if real_isinstance(owner, type) else "self"
        roots.append((name, owner))
    # A partial has attributes of its own, which are not those of its function.
    is_partial = real_isinstance(function, partial)
    roots.append(
        (real_type_name(function) if is_partial else read_callable_name(function), function)
    )
    roots += named_arguments(function, tuple(args), {})
    return roots


@contextmanager
def _dynamo_restored(way: Callable, function) -> Iterator[None]:
    """Leave Dynamo after the block as it was before.

    In the block, plain Python compiles nothing, and any other way compiles everything anew.
    """
    users = find_frameworks(way) | find_frameworks(function)
    uses_dynamo = restoring.module("torch._dynamo") or "PyTorch" in users
    if not restoring.module("torch") or not uses_dynamo:
        yield
    elif way is leave_as_it_is:
        with dynamo_settings.run_compiled_functions_eagerly():
            yield
    else:
        with as_if_new_where_possible(), dynamo_settings.collect_torch_logs():
            yield


class _MutationRecorder:
    """Collects what the calls of one way change."""

    def __init__(self, snapshot: StateSnapshot, function, args: list):
        """Prepare to call a function; `snapshot` is of all that it can reach now."""
        self._snapshot = snapshot
        self._function = function
        self._args = args
        self._known_ids = {id(leaf) for leaf in snapshot.reachable.leaves}
        self._calls: list[MutatingCall] = []
        self._error = ""
        self._leaked_paths: dict[str, None] = {}  # a dict, because a set has no order
        self._frameworks: set[str] = set()
        self._draws_with_seed = False
        self._thread_errors: list[str] = []
        self._set_of_libraries: dict[tuple[int, str], tuple[object, str, object]] = {}

    def run(self, way: Callable) -> None:
        """Make a callable in one way, and call it twice, or until a call raises."""
        results = []  # of `way`: the one callable, or nothing if it raises
        self._error = run_to_end(lambda: results.append(way(self._function)))
        self._restore()
        if results:
            self._frameworks |= _find_compilers(results[0])
        while not self._error and len(self._calls) < CALLS:
            self._call(results[0])

    def build_run(self) -> WayRun:
        """Return what was recorded."""
        draws_with_seed = self._draws_with_seed
        if not draws_with_seed:
            functions = filter(is_tf_function, self._snapshot.reachable.leaves)
            draws_with_seed = any(map(tensorflow_cache.draws_with_seed, functions))
        return WayRun(
            calls=self._calls,
            reachable=self._snapshot.reachable,
            error=self._error,
            leaked_paths=list(self._leaked_paths),
            frameworks=self._frameworks,
            draws_with_seed=draws_with_seed,
            thread_errors=list(dict.fromkeys(self._thread_errors)),
            set_of_libraries=self._set_of_libraries,
        )

    def _call(self, target: Callable) -> None:
        """Call what the way has made, note what changed, and restore it."""
        printed = Printed()
        traces = []
        random_use = None
        with ExitStack() as stack:
            if restoring.module("tensorflow"):
                traces = stack.enter_context(tensorflow_traces.collecting_traces())
                random_use = stack.enter_context(tensorflow_random.random_numbers_apart())
                stack.enter_context(tensorflow_traces.retraces_counted_apart())
            stack.enter_context(redirected(printed))
            if target is not self._function:
                # As it is, the program's own threads end as they do without the verb.
                stack.enter_context(_collecting_thread_errors(self._thread_errors))
            self._error = run_to_end(lambda: target(*self._args))

        if traces:
            self._frameworks.add("TensorFlow")
        changes = self._snapshot.find_changes()
        if printed.total:
            changes["what it prints"] = ""
        if random_use is not None:
            self._draws_with_seed |= random_use.has_own_seed
            if random_use.drawn:
                changes["tf.random"] = ""
        self._calls.append(MutatingCall(changes, len(traces)))
        for path, value in changes.items():
            if _has_new_graph_tensor(value, self._known_ids):
                self._leaked_paths[path] = None
        self._restore()  # each call finds what the first one found

    def _restore(self) -> None:
        """Restore what was changed, and note what was changed of libraries."""
        self._set_of_libraries |= self._snapshot.restore()


@contextmanager
def _collecting_thread_errors(messages: list[str]) -> Iterator[None]:
    """Add to `messages` what ends a thread that starts in the block; Python would print it."""
    original = threading.excepthook
    earlier_threads = set(threading.enumerate())

    def collect(failure) -> None:
        """Note what ended a thread: Python calls this as its `threading.excepthook`."""
        if failure.thread in earlier_threads:
            original(failure)
        else:
            messages.append(describe_error(failure.exc_value))

    with restoring.patched(threading, excepthook=collect):
        yield


def find_function(thing):
    """Return the tf.function that is recorded by `thing`, or `thing` itself."""
    recorder = find_recorder(thing)
    return thing if recorder is None else recorder.function


def _find_compilers(callable_object) -> set[str]:
    """Return the frameworks whose compilers a way has put around a function."""
    frameworks = set()
    if read_traced_function(find_function(callable_object)):
        frameworks.add("TensorFlow")
    if restoring.module("torch._dynamo") and read_compiled_original(callable_object) is not None:
        frameworks.add("PyTorch")
    return frameworks


def _has_new_graph_tensor(value, known_ids: set[int]) -> bool:
    """Return whether a value contains a symbolic tensor that is not among the known objects."""
    if not restoring.module("tensorflow"):
        return False
    for leaf in ReachableState([("", value)]).leaves:
        is_symbolic = real_isinstance(leaf, tensorflow_private.SymbolicTensor)
        if is_symbolic and id(leaf) not in known_ids:
            return True
    return False
