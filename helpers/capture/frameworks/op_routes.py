"""List the routes on which Python can call an op of TensorFlow, such as `tf.nn.relu` with given
arguments. A *route* has a name, and a function without arguments that makes the call in one way: by
a name of the public function, by a function inside it, or by an *entry point*, which is a function
of TensorFlow in C.

The routes begin at the names that hold the public function. They go on through the functions that
it wraps and the generated wrapper (tensorflow/python/ops/gen_*_ops.py), to the two entry points
into C. A graph and another thread are further routes.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from ...internals import tensorflow_private
from ...internals.tensorflow_private import FAST, SLOW
from ...model.phrase import format_names
from ...safety import arguments
from ...safety.restoring import patched, running_user_code
from ..references.holder_search import find_holders
from ..references.places import Place
from ..text.error import describe_error
from ..text.value import format_label

ROUTE = "{} · {}"  # the layer, and the name in it
FALLBACK = "{}_eager_fallback"  # how a generated wrapper names the function of its slow path
MOST_NAMES = 40


@dataclass(frozen=True)
class EntryCall:
    """One call of an entry point of TensorFlow into C."""

    #: The arguments of the entry point.
    entry_arguments: tuple
    #: The name of the Python function that called the entry point.
    caller_name: str
    #: The module of that function.
    caller_module: ModuleType
    #: The arguments of that function, by name.
    caller_arguments: dict[str, Any]

    @property
    def op_type(self) -> str:
        """Return the name of the op, such as `Relu`: an entry point's second argument."""
        return self.entry_arguments[1]


def build_op_routes(op, /, *args) -> dict[str, Callable]:
    """Return the name of a route -> a function that calls `op(*args)` on that route.

    `op` is a public function of TensorFlow. ValueError says that the call fails, that it does not
    pass the fast entry point exactly once, or that no name refers to `op`.
    """
    arguments.require_function(op, "the op")
    fast_calls = _record_entry_calls(FAST, lambda: op(*args))
    if len(fast_calls) != 1:
        op_types = format_names([call.op_type for call in fast_calls], 3) or "none"
        raise ValueError(
            f"a map needs a call that passes {FAST} once; this passes it with: {op_types}"
        )
    (fast_call,) = fast_calls

    # The places in the program that refer to the op, such as the global name `tf.nn.relu`. In
    # Python 3.11 a comprehension would put `op` into a cell, which would be one more place.
    places = []
    for place in find_holders(op):
        if place.get() is op:  # else the place cannot be read, and no call can go through it
            places.append(place)
    # TensorFlow generates a wrapper `relu` together with a function `relu_eager_fallback`.
    has_fallback = hasattr(fast_call.caller_module, FALLBACK.format(fast_call.caller_name))
    if not places or not has_fallback:
        raise ValueError(f"{format_label(op)} has no name, or no wrapper that TensorFlow generated")

    routes = {}
    for place in places[:MOST_NAMES]:
        routes[place.binding.path] = _call_by_place(place, args)
    # The public function has decorators. Each of them refers to the function inside it.
    wrapped_function = getattr(op, "__wrapped__", None)
    while type(wrapped_function) is FunctionType:
        # Decorators copy `__name__`, so the name of the code tells these functions apart.
        name = wrapped_function.__code__.co_name
        routes[ROUTE.format("inside it", name)] = partial(wrapped_function, *args)
        wrapped_function = getattr(wrapped_function, "__wrapped__", None)
    routes.update(_list_routes_below(fast_call))
    routes.update(_list_routes_beside(places[0], args))
    return routes


def _call_by_place(place: Place, args: tuple) -> Callable:
    """Return a function that looks the op up in its place at each call, and calls it.

    The function refers to the place, and not to the op. So it calls what the place refers to at
    that time, for example after a rebinding.
    """
    return lambda: place.get()(*args)


def _record_entry_calls(entry_point: str, run: Callable) -> list[EntryCall]:
    """Run a function; return its calls of one entry point of TensorFlow into C.

    The entry point is replaced while the function runs. ValueError says that the function raises.
    """
    entry_points = tensorflow_private.pywrap_tfe
    entry_calls = []
    original = getattr(entry_points, entry_point)

    def record_and_call(*entry_arguments):
        """Record a call of the entry point, with the caller's arguments; then make the call."""
        caller = sys._getframe(1)
        code = caller.f_code
        module = sys.modules[caller.f_globals["__name__"]]
        parameter_names = code.co_varnames[: code.co_argcount]  # the caller's own parameters
        caller_arguments = {name: caller.f_locals[name] for name in parameter_names}
        entry_calls.append(EntryCall(entry_arguments, code.co_name, module, caller_arguments))
        return original(*entry_arguments)

    with patched(entry_points, **{entry_point: record_and_call}):
        _require_success(run)
    return entry_calls


def _require_success(run: Callable):
    """Return the result of a function; if it raises, raise ValueError with one sentence on that."""
    try:
        with running_user_code():
            return run()
    except Exception as error:
        raise ValueError(f"the call must succeed, and it raised {describe_error(error)}") from None


def _list_routes_below(fast_call: EntryCall) -> dict[str, Callable]:
    """Return name -> function for the routes that begin below the public function.

    TensorFlow generates a wrapper for each op. The routes begin at this wrapper, its copy in
    `tf.raw_ops`, its slower fallback, the two functions that the fallback calls, and the two entry
    points into C. `fast_call` is the recorded call of the fast entry point by the wrapper. Each
    route passes the recorded arguments again.
    """
    import tensorflow as tf

    entry_points = tensorflow_private.pywrap_tfe
    execute = tensorflow_private.execute
    module = fast_call.caller_module
    name = fast_call.caller_name
    wrapper_arguments = fast_call.caller_arguments
    op_type = fast_call.op_type
    short_module = module.__name__.rpartition(".")[2]
    fallback = FALLBACK.format(name)

    # Each function below makes the call on one route.
    def call_wrapper():
        return getattr(module, name)(**wrapper_arguments)

    def call_raw_op():
        return getattr(tf.raw_ops, op_type)(**wrapper_arguments)

    def call_fallback():
        context = tensorflow_private.context.context()
        return getattr(module, fallback)(**wrapper_arguments, ctx=context)

    # The fallback calls `execute`, which calls the slow entry point. The fallback runs once, so
    # that the arguments of both are recorded. It may convert arguments by other ops before, so the
    # last call of the entry point is that of the op itself.
    slow_call = _record_entry_calls(SLOW, call_fallback)[-1]
    execute_arguments = {**slow_call.caller_arguments, "op_name": op_type}

    def call_execute():
        return _unpack_single_output(execute.execute(**execute_arguments))

    def call_quick_execute():
        return _unpack_single_output(execute.quick_execute(**execute_arguments))

    def call_fast_entry_point():
        return getattr(entry_points, FAST)(*fast_call.entry_arguments)

    def call_slow_entry_point():
        return _unpack_single_output(getattr(entry_points, SLOW)(*slow_call.entry_arguments))

    return {
        ROUTE.format("generated", f"{short_module}.{name}"): call_wrapper,
        ROUTE.format("its copy", f"tf.raw_ops.{op_type}"): call_raw_op,
        ROUTE.format("generated", f"{short_module}.{fallback}"): call_fallback,
        ROUTE.format("runs ops", "execute.execute"): call_execute,
        ROUTE.format("runs ops", "quick_execute"): call_quick_execute,
        ROUTE.format("door into C", FAST): call_fast_entry_point,
        ROUTE.format("door into C", SLOW): call_slow_entry_point,
    }


def _unpack_single_output(outputs):
    """Return the output of an op that has only one, as a generated wrapper does; else the list."""
    return outputs[0] if len(outputs) == 1 else outputs


def _list_routes_beside(place: Place, args: tuple) -> dict[str, Callable]:
    """Return name -> function for three routes: two by a graph, and one in another thread.

    The graph "traced before" was built now, so it does not notice what is bound to the name later.
    `place` is a place that refers to the op.
    """
    import tensorflow as tf

    def traced():  # learners read this name: TensorFlow puts it into the name of the graph
        return place.get()(*args)

    def trace():
        """Return a new graph of the call."""
        # A new tf.function for each call makes TensorFlow warn that it traces again and again. A
        # concrete function does not.
        return tf.function(traced, autograph=False).get_concrete_function()

    def trace_and_call():
        return trace()()

    def call_in_thread():
        return ThreadPoolExecutor(1).submit(traced).result()

    return {
        ROUTE.format("graph", "traced before"): _require_success(trace),
        ROUTE.format("graph", "traced now"): trace_and_call,
        ROUTE.format("thread", "another one"): call_in_thread,
    }
