"""List the traces that `tf.function`s have, and report new traces to a callback.

A trace is a run of the Python function that builds a graph. TensorFlow calls the result a
ConcreteFunction. A tf.function has a cache that maps a key to a ConcreteFunction.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import get_ident

from ..safety.restoring import patched
from . import tensorflow_private
from .tensorflow_cache import make_key, read_cached_keys


def list_traces(function) -> list:
    """Return the ConcreteFunctions of a tf.function."""
    return function._list_all_concrete_functions()


def find_traced_functions() -> list:
    """Return all tf.functions in memory that have at least one trace.

    Some of them may be garbage that the collector has not freed yet. The collector is not called
    here, because that would change the program.
    """
    function_class = tensorflow_private.Function
    # `type` and not `isinstance`, because the latter reads `__class__`. On a lazy module among the
    # objects, that would import the module.
    functions = [candidate for candidate in gc.get_objects() if type(candidate) is function_class]
    return [function for function in functions if read_cached_keys(function)]


def find_method_owner(method):
    """Return the object to which a method is bound.

    If the method is in a tf.function, TensorFlow has bound it to a TfMethodTarget instead, which
    has a weak reference to the object.
    """
    owner = method.__self__
    return owner.target if type(owner) is tensorflow_private.TfMethodTarget else owner


@contextmanager
def collect_traces() -> Iterator[list]:
    """Collect the ConcreteFunctions that this thread traces in the block.

    The block gets the list, which grows.
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
    #: the key of the trace: (FunctionContext, FunctionType)
    key: tuple
    #: the keys that the function's cache had when the trace began, the oldest first
    earlier_keys: list
    #: the error that the trace raised, or None
    error: BaseException | None
    #: the time when the trace began, as `read_time` of `report_traces` returned it
    began: int
    #: whether the trace began while the same function was being traced in the same thread
    in_itself: bool


@contextmanager
def report_traces(
    on_trace: Callable[[EndedTrace], None], read_time: Callable[[], int]
) -> Iterator[None]:
    """Call `on_trace` with an EndedTrace after each trace in the block, of any tf.function.

    `read_time()` is called when a trace may begin, and its result is the `began` of the EndedTrace.
    Both callbacks are called in the thread that traces.
    """
    module = tensorflow_private.tracing_compilation
    name = "_maybe_define_function"
    original = getattr(module, name)
    # (thread, cache of a tf.function) for each call of `define_and_report` that has not ended
    running_lookups = []

    # TensorFlow calls `_maybe_define_function` at each call of a tf.function. It looks the call up
    # in the cache, and traces the function if no key of the cache serves the call.
    def define_and_report(args, kwargs, options):
        cache = options.function_cache
        # `_primary` maps each key to a ConcreteFunction. A function may be traced without a cache.
        keys = () if cache is None else cache._primary
        earlier_count = len(keys)
        began = read_time()
        lookup = get_ident(), cache
        in_itself = cache is not None and lookup in running_lookups
        running_lookups.append(lookup)

        failure = None
        try:
            return original(args, kwargs, options)
        except BaseException as error:
            failure = error
            raise
        finally:
            running_lookups.remove(lookup)
            # A trace adds a key to the cache. Without a new key, an earlier one served the call.
            if failure or len(keys) > earlier_count:
                # If the key cannot be made, that is the reason for `failure`: nothing was traced.
                with suppress(Exception):
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
    """Return the key (FunctionContext, FunctionType) of a call with TensorFlow's TracingOptions."""
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
def count_retraces_apart() -> Iterator[None]:
    """Keep the traces of the block out of the counts by which TensorFlow warns of retracing.

    TensorFlow warns after five traces of one function. It counts by the code object of the Python
    function, so a new tf.function of the same Python function would add to the program's counts.
    """
    module = tensorflow_private.polymorphic_function
    name = "_frequent_tracing_detector_manager"
    manager_class = type(getattr(module, name))
    with patched(module, **{name: manager_class()}):
        yield
