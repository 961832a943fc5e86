"""A tf.function and the arguments of a call -> what the call will do: hit, trace or raise.

Nothing is called. TensorFlow's own types are asked which key the call has, and which key of the
cache serves it.
"""

from dataclasses import dataclass

from ...internals import tensorflow_cache
from ...model.trace_records import Cause, TraceEntry, build_trace_entry
from ..text.error import describe_error
from .call_sentences import EAGER, EMPTY, NO_KEY, WIDENING, describe_serving_key
from .trace_causes import explain_trace
from .trace_words import TypeNames, is_complete

MOST_REMEMBERED = 1_000  # keys of calls for which the serving key is remembered


@dataclass(frozen=True)
class CallForecast:
    """What a call is expected to do."""

    #: the arguments of the call, as text
    arguments: str
    #: "trace", "hit", "error", "eager" or "empty"
    verdict: str
    #: a sentence on why, or ""
    note: str = ""
    #: why the call fits no key of the cache
    causes: tuple[Cause, ...] = ()
    #: the arguments of the key to which the call is nearest, as text, or ""
    nearest_arguments: str = ""
    #: whether the error is that TensorFlow cannot widen a key for `reduce_retracing`
    cannot_widen: bool = False

    def build_entry(self) -> TraceEntry:
        """Return the row that the call would add to the ledger."""
        return build_trace_entry(
            "next",
            self.arguments,
            self.verdict,
            self.note,
            traces=1 if self.verdict == "trace" else 0,
            causes=self.causes,
            compared=self.nearest_arguments,
        )


@dataclass(frozen=True)
class _Service:
    """Which key serves a call, as it was found out at an earlier call."""

    #: how many keys the cache had
    key_count: int
    #: the arguments of the call, as text
    arguments: str
    #: the sentence on the key, or ""
    note: str


class CallForecaster:
    """Forecasts the calls of one tf.function."""

    def __init__(self, function, names: TypeNames):
        """Prepare to forecast calls of a tf.function; `names` formats the types in all rows."""
        self._function = function
        self._names = names
        self._services_by_key: dict[tuple, _Service] = {}

    def forecast(self, args: tuple, kwargs: dict) -> CallForecast:
        """Return what a call with these arguments would do now."""
        lookup = tensorflow_cache.look_up_call(self._function, args, kwargs)
        if lookup.key is None:
            arguments = self._names.format_values(self._function, args, kwargs)
            if lookup.runs_eagerly:  # Python accepts more than TensorFlow has keys for
                return CallForecast(arguments, "eager", EAGER)
            message = describe_error(lookup.error)  # the call itself will raise it
            return CallForecast(arguments, "error", f"{NO_KEY}: {message}")

        _, function_type = lookup.key
        arguments = self._names.format_arguments(function_type)
        if lookup.runs_eagerly:
            return CallForecast(arguments, "eager", EAGER)
        if lookup.is_empty:
            return CallForecast(arguments, "empty", EMPTY)

        service = self._services_by_key.get(lookup.key)
        is_known = service is not None and service.arguments == arguments
        # A new key may serve the call better. So the answer holds only while none has come.
        if is_known and service.key_count == lookup.key_count:
            return CallForecast(arguments, "hit", service.note)
        return self._search_cache(lookup, arguments)

    def _search_cache(self, lookup, arguments: str) -> CallForecast:
        """Return the forecast of a call by the key that serves it, or by why none does."""
        search = tensorflow_cache.search_cache(self._function, lookup.key)
        if search.serving_key is not None:
            note = self._remember_service(lookup, arguments, search)
            return CallForecast(arguments, "hit", note)

        if message := _find_widening_error(search):
            note = f"{WIDENING}: {message}"
            return CallForecast(arguments, "error", note, cannot_widen=True)

        note, causes, nearest_arguments = explain_trace(search.keys, lookup.key, self._names)
        return CallForecast(arguments, "trace", note, causes, nearest_arguments)

    def _remember_service(self, lookup, arguments: str, search) -> str:
        """Remember the key that serves a call, and return the sentence on it.

        The sentence is "" if the key has the same text as the call.
        """
        _, stored_type = search.serving_key
        stored_arguments = self._names.format_arguments(stored_type)
        note = ""
        if stored_arguments != arguments:
            note = describe_serving_key(stored_arguments, search.is_equal)

        if len(self._services_by_key) >= MOST_REMEMBERED:
            self._services_by_key.clear()
        self._services_by_key[lookup.key] = _Service(lookup.key_count, arguments, note)
        return note


def _find_widening_error(search) -> str:
    """Return what TensorFlow will raise when it widens a key for `reduce_retracing`, or ""."""
    if search.widening_error is not None:
        return describe_error(search.widening_error)
    parameters = search.widened_type.parameters.values()
    if all(is_complete(parameter.type_constraint) for parameter in parameters):
        return ""
    return "a part of a nest has no common type"
