"""The traces of tf.functions: those that there are, and hooks that report new ones."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import get_ident

from ..safety.restoring import patched
from . import tensorflow_private
from .tensorflow_cache import cached_keys, make_key


def all_traces(function) -> list:
    """Return the ConcreteFunctions of a tf.function."""
    return function._list_all_concrete_functions()


def traced_functions() -> list:
    """Return the tf.functions in memory that have a trace.

    Some of them may be garbage in a cycle: a collection is for the program to make.
    """
    function_class = tensorflow_private.Function
    # `type`, because a proxy in the heap may import a module when its `__class__` is read.
    functions = [found for found in gc.get_objects() if type(found) is function_class]
    return [function for function in functions if cached_keys(function)]


def owner_of(method):
    """Return the object of a method.

    In a tf.function, TensorFlow replaces the object by a TfMethodTarget, which refers to it weakly.
    """
    owner = method.__self__
    return owner.target if type(owner) is tensorflow_private.TfMethodTarget else owner


@contextmanager
def collecting_traces() -> Iterator[list]:
    """Collect the ConcreteFunctions that this thread traces in the block.

    The block gets the list, which grows meanwhile.
    """
    callbacks = tensorflow_private.transform.CONCRETE_FUNCTION_CALLBACKS
    thread = get_ident()
    traces = []

    def collect(concrete) -> None:
        """Add a ConcreteFunction: TensorFlow calls this after each trace, in any thread."""
        if get_ident() == thread:
            traces.append(concrete)

    callbacks.append(collect)
    try:
        yield traces
    finally:
        # Only this one: the program may have added and removed callbacks of its own.
        callbacks[:] = [callback for callback in callbacks if callback is not collect]


@dataclass(frozen=True, eq=False)
class EndedTrace:
    """A trace that has ended, with a result or an error."""

    #: the Python function that was traced
    python_function: object
    #: the key of the trace
    key: tuple
    #: the keys that its function had when the trace began, the oldest first
    earlier_keys: list
    #: what the trace raised, or None
    error: BaseException | None
    #: the time when the trace began, as the reader of `reporting_traces` counts it
    began: int
    #: whether the trace began while the same function was being traced in the same thread
    in_itself: bool


@contextmanager
def reporting_traces(
    on_trace: Callable[[EndedTrace], None], read_time: Callable[[], int]
) -> Iterator[None]:
    """Call `on_trace` with an EndedTrace after each trace in the block, of any function.

    `read_time` is called without arguments when a trace begins. TensorFlow calls both in the thread
    that traces.
    """
    module = tensorflow_private.tracing_compilation
    name = "_maybe_define_function"
    original = getattr(module, name)
    # The look-ups that have begun: the thread and the cache of each.
    running = []

    # TensorFlow calls this function for each call of a tf.function that it looks up: it traces the
    # function if the cache has no key for the call.
    def define_and_report(args, kwargs, options):
        cache = options.function_cache
        # An empty tuple stands for the keys of a function that is traced without a cache.
        keys = () if cache is None else cache._primary
        earlier_count = len(keys)
        began = read_time()
        lookup = get_ident(), cache
        in_itself = cache is not None and lookup in running
        running.append(lookup)

        failure = None
        try:
            return original(args, kwargs, options)
        except BaseException as error:
            failure = error
            raise
        finally:
            running.remove(lookup)
            # A trace adds a key to the cache; without a new one, an earlier key served the call.
            if failure or len(keys) > earlier_count:
                with suppress(Exception):  # what raises here has ended the trace as `failure`
                    trace = EndedTrace(
                        options.python_function,
                        _key_of_options(args, kwargs, options),
                        list(keys)[:earlier_count],
                        failure,
                        began,
                        in_itself,
                    )
                    on_trace(trace)

    with patched(module, **{name: define_and_report}):
        yield


def _key_of_options(args, kwargs, options):
    """Return the key of a call from TensorFlow's TracingOptions."""
    return make_key(
        args,
        kwargs,
        function_type=options.polymorphic_type,
        default_values=options.default_values,
        is_pure=options.is_pure,
        input_signature=options.input_signature,
        captures=options.function_captures,
        scope=options.scope_type,
    )


@contextmanager
def retraces_counted_apart() -> Iterator[None]:
    """Count the traces of the block apart from the program's: after five, TensorFlow warns.

    It counts by the code of the Python function, so that a new tf.function counts as the old one.
    """
    module = tensorflow_private.polymorphic_function
    name = "_frequent_tracing_detector_manager"
    manager_class = type(getattr(module, name))
    with patched(module, **{name: manager_class()}):
        yield
