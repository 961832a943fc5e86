"""A tf.function, called as before, that records each call: hit or trace, and why it traced. A call
is a *hit* if the tf.function has a trace for its arguments in its cache, else it makes a new
*trace*. Before a call, a forecast says whether the call will trace, and why (`call_forecast`).
During the call, a callback of TensorFlow reports the traces that are made. After the call, the new
keys of the cache decide what happened, and a row is added to the ledger.
"""

import functools
import inspect
import weakref
from dataclasses import dataclass, replace
from threading import get_ident
from types import BuiltinFunctionType, FunctionType, MethodType

from ...internals import tensorflow_cache, tensorflow_traces
from ...model.trace_records import TraceEntry, TraceLedger
from ...safety.arguments import is_exactly, real_isinstance, static_attribute
from ..cpython.objects import read_callable_name
from ..text.error import describe_error
from .call_forecast import CallForecast, CallForecaster
from .call_rows import CallRow, CallRows
from .call_sentences import describe_failed_call, describe_rebound_names, describe_traces
from .rebound_functions import GlobalFunctions
from .trace_causes import IN_ITSELF
from .trace_words import TypeNames


def find_recorder(fn) -> "TraceRecorder | None":
    """Return `fn` if it is a recorder, or the recorder that the exhibit `fn` shows, or None.

    `watch_traces` returns an exhibit, which has the recorder in its attribute `_source`.
    """
    # `fn` may be a proxy or a mock, which invents attributes. So the real type is asked, and the
    # attribute is read without running code of `fn`.
    candidate = fn if real_isinstance(fn, TraceRecorder) else static_attribute(fn, "_source")
    return candidate if real_isinstance(candidate, TraceRecorder) else None


@dataclass(frozen=True, eq=False)
class _TracingCall:
    """A call that is expected to trace, and has not ended."""

    #: the number of the thread that makes the call
    thread: int
    #: the ConcreteFunctions traced so far. Those of a call inside this call are removed, when that
    #: inner call has ended and has counted them in a row of its own
    traces: list


class TraceRecorder:
    """A tf.function that records its calls, in the order in which they end.

    Attributes that the recorder does not have are those of the tf.function. A request by
    `get_concrete_function` is recorded like a call.
    """

    # AutoGraph converts each function that a traced function calls, except those with this
    # attribute.
    autograph_info__ = {}
    unit = "call"  # what a row is

    def __init__(self, function, class_recorder: "TraceRecorder | None" = None, owner=None):
        """Prepare to record the calls of `function`, a tf.function.

        The recorder of a method of one object gets that object as its `owner`. It also gets the
        `class_recorder`, which stands in the class and records the calls of all objects.
        """
        self.function = function
        self._class_recorder = class_recorder
        self._owner_ref = None if class_recorder is None else weakref.ref(owner)
        # An object -> the exhibit of its method.
        self._exhibits_by_owner = weakref.WeakKeyDictionary()
        self._names = TypeNames()
        self._rows = CallRows()
        self._forecaster = CallForecaster(function, self._names)
        self._tracing_calls: list[_TracingCall] = []

        python_function = function.python_function
        self._global_functions = GlobalFunctions(python_function)
        self.__wrapped__ = python_function
        if is_exactly(python_function, FunctionType, MethodType, BuiltinFunctionType):
            # Without `updated`, the function's own attributes would replace those set above.
            functools.update_wrapper(self, python_function, updated=())
        self.__signature__ = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        """Call the function, and record the call."""
        return self._call_and_record(self.function, args, kwargs)

    def __getattr__(self, name):
        """Return an attribute of the function that the recorder itself does not have."""
        # `copy` makes an object without `__init__`. Then `self.function` would call this method
        # again, without an end.
        if name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def method_of(self, owner, make_exhibit):
        """Return the exhibit that stands for the method of one object.

        This recorder is an attribute of a class, and `owner` is an object of the class, from which
        the program has read the method. TensorFlow makes a tf.function for each object, so each
        object gets a recorder of its own. `make_exhibit` makes the exhibit of a recorder. Return
        None if TensorFlow makes no tf.function for the object.
        """
        function = self.function.__get__(owner, type(owner))
        if type(function) is MethodType:  # `owner` is a composite tensor
            return None
        if owner not in self._exhibits_by_owner:
            recorder = TraceRecorder(function, class_recorder=self, owner=owner)
            self._exhibits_by_owner[owner] = make_exhibit(recorder)
        return self._exhibits_by_owner[owner]

    def get_concrete_function(self, *args, **kwargs):
        """Return the ConcreteFunction for these arguments, and record the request as a call."""
        name = "get_concrete_function"
        return self._call_and_record(getattr(self.function, name), args, kwargs, f"{name}: ")

    @property
    def model(self) -> TraceLedger:
        """Return the ledger as it is now."""
        name = read_callable_name(self.function.python_function)
        compiles_with_xla = tensorflow_cache.compiles_with_xla(self.function)
        return self._rows.build_ledger(name, compiles_with_xla)

    @property
    def last(self) -> TraceEntry | None:
        """Return the entry of the last call alone, or None if no call has ended."""
        return self._rows.last

    def forecast(self, args: tuple, kwargs: dict) -> CallForecast:
        """Return what a call would do. Nothing is called, and no row is added."""
        return self._forecaster.forecast(args, kwargs)

    def _call_and_record(self, call, args: tuple, kwargs: dict, prefix: str = ""):
        """Return `call(*args, **kwargs)`, and add a row for it.

        `call` is the tf.function itself, or its method `get_concrete_function`. For the method,
        `prefix` is "get_concrete_function: ", with which the arguments in the row begin.
        """
        args_to_look_up = args
        if prefix and not args and not kwargs:
            # `get_concrete_function()` traces for the input signature, if the function has one.
            args_to_look_up = tensorflow_cache.read_input_signature(self.function) or args
        try:
            forecast = self.forecast(args_to_look_up, kwargs)
        except Exception as error:
            # An argument's own `__eq__` has raised. The call is made all the same, as without a
            # recorder. "hit" is what is recorded if it makes no trace.
            arguments = self._names.format_values(self.function, args, kwargs)
            note = f"no key to compare with: {type(error).__name__}"
            forecast = CallForecast(arguments, "hit", note)

        # While this function is traced, its own code may call it again. The calls that are being
        # traced in this thread are those around this call.
        thread = get_ident()
        outer_calls = [outer for outer in self._tracing_calls if outer.thread == thread]
        if outer_calls and forecast.verdict == "trace":
            forecast = replace(forecast, note=IN_ITSELF, causes=(), nearest_arguments="")

        error = ""
        traces = []
        try:
            # TensorFlow appends each ConcreteFunction to `traces` when it has traced it.
            with tensorflow_traces.collect_traces() as traces:
                if forecast.verdict == "trace":
                    self._tracing_calls.append(_TracingCall(thread, traces))
                return call(*args, **kwargs)
        except BaseException as raised:
            error = describe_error(raised)
            raise
        finally:
            # Remove this call, if it was added above. Each call has its own list of traces.
            self._tracing_calls = [
                other for other in self._tracing_calls if other.traces is not traces
            ]
            self._record(forecast, traces, error, prefix)
            # TensorFlow has reported these traces to the outer calls, too. The row of this call has
            # counted them, so the rows of the outer calls must not.
            for outer in outer_calls:
                outer.traces[:] = [trace for trace in outer.traces if not _is_in(trace, traces)]

    def _record(self, forecast: CallForecast, traces: list, error: str, prefix: str) -> None:
        """Add the row of a call that has ended.

        `forecast` was made before the call. `traces` are the ConcreteFunctions that TensorFlow made
        during the call, for any tf.function. `error` is the message of the exception, or "".
        `prefix` begins the arguments in the row.
        """
        # Other functions may have been traced in the call. The traces of this function are those
        # that are in its cache.
        new_keys = []
        if traces:
            cached = tensorflow_cache.read_cached_keys(self.function)
            new_keys = [key for key, concrete in cached.items() if _is_in(concrete, traces)]

        verdict, sentences = self._find_verdict(forecast, new_keys, error, prefix)
        row = CallRow(
            arguments=prefix + forecast.arguments,
            verdict=verdict,
            note="; ".join(filter(None, sentences)),
            trace_count=len(new_keys),
            causes=forecast.causes if new_keys else (),
            nearest_arguments=forecast.nearest_arguments if new_keys else "",
        )
        self._rows.add(row)
        if self._class_recorder is not None:
            self._class_recorder._record_of_owner(row, self._owner_ref)

    def _record_of_owner(self, row: CallRow, owner_ref: weakref.ref) -> None:
        """Add the row of a call of one object's method to the rows of the class.

        The row begins with the object, as in "of Model object 2: x=float32 (2,)".
        """
        owner = self._names.format_referent(owner_ref)
        self._rows.add(replace(row, arguments=f"of {owner}: {row.arguments}"))

    def _find_verdict(
        self, forecast: CallForecast, new_keys: list, error: str, prefix: str
    ) -> tuple[str, list[str]]:
        """Return the verdict on a call that has ended, and sentences on the reason.

        The verdict says what happened: an error, new keys in the cache, or neither. The note of the
        forecast is the reason only if the forecast was right. A sentence may be "".
        """
        expected = forecast.verdict
        if error:
            has_traced = bool(new_keys)
            return "error", [
                describe_failed_call(expected, forecast.cannot_widen, has_traced, error)
            ]
        if new_keys:  # the call made a trace
            note = forecast.note if expected == "trace" else ""
            return "trace", [note, *self._describe_new_keys(forecast, new_keys)]
        # A call that was expected to be eager or empty looks nothing up, so it is no hit. But
        # `get_concrete_function`, for which there is a prefix, always looks a key up.
        if prefix or expected not in ("eager", "empty"):
            note = forecast.note if expected == "hit" else ""
            rebound_names = self._global_functions.find_rebound_names()
            return "hit", [note, describe_rebound_names(rebound_names)]
        return expected, [forecast.note]

    def _describe_new_keys(self, forecast: CallForecast, new_keys: list) -> list[str]:
        """Return sentences on the keys that a call added to the cache."""
        _, last_type = new_keys[-1]
        return describe_traces(
            arguments=forecast.arguments,
            traced_arguments=self._names.format_arguments(last_type),
            scopes={context.scope_type for context, _ in new_keys},
            count=len(new_keys),
        )


def _is_in(value, values: list) -> bool:
    """Return whether a list contains this very object. `in` would call its `__eq__`."""
    return any(value is other for other in values)
