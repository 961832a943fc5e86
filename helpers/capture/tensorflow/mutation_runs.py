"""A function, called twice in one way -> what each call changed, and what it raised. A *way* makes
a callable of a function: `tf.function` is one, `torch.compile` another, and plain Python leaves the
function as it is. All that a call has changed is restored after the call, so that each call begins
in the same state.
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
from ...safety.standard_output import redirect_prints
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

    #: the path of each name or part that the call changed, as in "self.items[0]" -> the new value.
    #: The values are kept alive, because the second call could otherwise get an object with the
    #: same id.
    changes: dict[str, object]
    #: how many traces TensorFlow made in the call
    trace_count: int


@dataclass(frozen=True, eq=False)
class WayRun:
    """What happened when a function was called twice in one way."""

    #: what each call changed; fewer than two calls if one has raised, or if the way has raised
    calls: list[MutatingCall]
    #: all that the function can reach, as it was before the calls
    reachable: ReachableState
    #: the message of the exception that a call or the way raised, or ""
    error: str
    #: the paths at which a symbolic tensor of a graph stays although the trace has ended
    leaked_paths: list[str]
    #: the frameworks whose compilers ran the function: "TensorFlow", "PyTorch"
    frameworks: set[str]
    #: whether a random op with a seed of its own may have drawn, which cannot be restored
    draws_with_seed: bool
    #: the messages of exceptions that ended a thread which a call had started
    thread_errors: list[str]
    #: the attributes of libraries that the calls set. (id of a class or module, name) -> (the
    #: class or module, the name, the value that was set)
    library_settings: dict[tuple[int, str], tuple[object, str, object]]


def leave_as_it_is(function):
    """Return the function itself. This is the way of plain Python."""
    return function


def record_mutations(function, args: list, way: Callable) -> WayRun:
    """Make a callable of a function in one way, call it twice, and return what changed.

    `args` are the arguments of both calls. Dynamo's caches are as before afterwards.
    """
    snapshot = StateSnapshot(_list_roots(function, args))
    with _dynamo_restored(way, function):
        recorder = _MutationRecorder(snapshot, function, args)
        recorder.run(way)
    return recorder.build_run()


def _list_roots(function, args: list) -> list[PathAndObject]:
    """Return (path, object) of what a call can reach directly.

    These are the `self` of a method, the function itself, and the arguments by the names of their
    parameters, as in [("self", counter), ("Counter.add", <method>), ("n", 3)].
    """
    roots = []
    if type(function) is MethodType:
        owner = function.__self__
        is_class = real_isinstance(owner, type)  # it is a classmethod
        roots.append((read_callable_name(owner) if is_class else "self", owner))

    name = read_callable_name(function)
    if real_isinstance(function, partial):
        # `name` is that of the function in the partial. The attributes of the partial are its own.
        name = real_type_name(function)
    roots.append((name, function))
    roots += named_arguments(function, tuple(args), {})
    return roots


@contextmanager
def _dynamo_restored(way: Callable, function) -> Iterator[None]:
    """Keep the block from changing what Dynamo has compiled for the program.

    In the way of plain Python, nothing is compiled in the block. In any other way, Dynamo is as new
    in the block, and compiles everything again.
    """
    users = find_frameworks(way) | find_frameworks(function)
    uses_dynamo = restoring.find_loaded_module("torch._dynamo") or "PyTorch" in users
    if not restoring.find_loaded_module("torch") or not uses_dynamo:
        yield  # there is no Dynamo to protect
    elif way is leave_as_it_is:
        with dynamo_settings.run_compiled_functions_eagerly():
            yield
    else:
        with as_if_new_where_possible(), dynamo_settings.collect_torch_logs():
            yield


class _MutationRecorder:
    """Collects what the two calls of one way change; `run` makes the calls."""

    def __init__(self, snapshot: StateSnapshot, function, args: list):
        """Prepare to call a function. `snapshot` contains all that the function can reach now."""
        self._snapshot = snapshot
        self._function = function
        self._args = args
        # The ids of the leaves (objects that are not compared) that could be reached before.
        self._known_ids = {id(leaf) for leaf in snapshot.reachable.leaves}
        self._calls: list[MutatingCall] = []
        self._error = ""
        self._leaked_paths: dict[str, None] = {}  # a dict, because a set has no order
        self._frameworks: set[str] = set()
        self._draws_with_seed = False
        self._thread_errors: list[str] = []
        self._library_settings: dict[tuple[int, str], tuple[object, str, object]] = {}

    def run(self, way: Callable) -> None:
        """Make a callable of the function in one way, and call it twice, or until a call raises."""
        targets = []  # the callable that the way makes, or nothing if the way raises
        self._error = run_to_end(lambda: targets.append(way(self._function)))
        self._restore()
        if targets:
            self._frameworks |= _find_compilers(targets[0])
        while not self._error and len(self._calls) < CALLS:
            self._call(targets[0])

    def build_run(self) -> WayRun:
        """Return the record of both calls."""
        draws_with_seed = self._draws_with_seed
        if not draws_with_seed:
            # The function may call a tf.function that has such an op in its graph.
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
            library_settings=self._library_settings,
        )

    def _call(self, target: Callable) -> None:
        """Call the callable that the way made, note what changed, and restore it.

        What the call prints and which random numbers it draws count as changes, too.
        """
        printed = Printed()
        traces = []
        random_use = None
        with ExitStack() as stack:
            if restoring.find_loaded_module("tensorflow"):
                # The call must neither use up the program's random numbers, nor count in
                # TensorFlow's warning of too many traces.
                traces = stack.enter_context(tensorflow_traces.collect_traces())
                random_use = stack.enter_context(tensorflow_random.use_own_random_numbers())
                stack.enter_context(tensorflow_traces.count_retraces_apart())
            stack.enter_context(redirect_prints(printed))
            if target is not self._function:
                # In plain Python, an error in a thread is reported as without the verb.
                stack.enter_context(_collecting_thread_errors(self._thread_errors))
            self._error = run_to_end(lambda: target(*self._args))

        if traces:
            self._frameworks.add("TensorFlow")
        changes = self._snapshot.find_changes()  # path -> new value
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
        self._restore()  # so that the second call begins in the same state

    def _restore(self) -> None:
        """Restore all that was changed, and note which attributes of libraries that concerns."""
        self._library_settings |= self._snapshot.restore()


@contextmanager
def _collecting_thread_errors(messages: list[str]) -> Iterator[None]:
    """Append to `messages` each exception that ends a thread which was started in the block.

    Otherwise Python would print a traceback of it.
    """
    original = threading.excepthook
    earlier_threads = set(threading.enumerate())

    def collect(failure) -> None:
        """Note the exception that ended a thread; Python calls this as `threading.excepthook`."""
        if failure.thread in earlier_threads:
            original(failure)
        else:
            messages.append(describe_error(failure.exc_value))

    with restoring.patched(threading, excepthook=collect):
        yield


def unwrap_recorder(thing):
    """Return the tf.function whose calls `thing` records, or `thing` if it records none."""
    recorder = find_recorder(thing)
    return thing if recorder is None else recorder.function


def _find_compilers(callable_object) -> set[str]:
    """Return which of "TensorFlow" and "PyTorch" compile this callable when it is called."""
    frameworks = set()
    if read_traced_function(unwrap_recorder(callable_object)):
        frameworks.add("TensorFlow")
    if (
        restoring.find_loaded_module("torch._dynamo")
        and read_compiled_original(callable_object) is not None
    ):
        frameworks.add("PyTorch")
    return frameworks


def _has_new_graph_tensor(value, known_ids: set[int]) -> bool:
    """Return whether a value contains a symbolic tensor, except those with a known id.

    A symbolic tensor stands for a value in a graph. After the trace it is of no use, so a program
    that stores one has a bug: the tensor has *leaked*. The known ids are those of before the call.
    """
    if not restoring.find_loaded_module("tensorflow"):
        return False
    for leaf in ReachableState([("", value)]).leaves:
        is_symbolic = real_isinstance(leaf, tensorflow_private.SymbolicTensor)
        if is_symbolic and id(leaf) not in known_ids:
            return True
    return False
