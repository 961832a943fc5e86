"""A tf.function and the arguments of a call -> what the call will do: hit, trace or raise. A
tf.function has a cache of traces. A *key* is the type of one call's arguments, as in "x:
float32[3]", and each cached trace has one. A call is a *hit* if a key of the cache *serves* it: the
key is equal to the call's own key, or more general. Otherwise the call makes a trace. The forecast
calls nothing. It asks TensorFlow's own types.
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
class _RememberedHit:
    """What was found out at an earlier call of the same key, which was a hit."""

    #: how many keys the cache had then
    key_count: int
    #: the arguments of that call, as text
    arguments: str
    #: the sentence on the key that served the call, or ""
    note: str


class CallForecaster:
    """Forecasts the calls of one tf.function."""

    def __init__(self, function, names: TypeNames):
        """Prepare to forecast calls of a tf.function; `names` formats the types in all rows."""
        self._function = function
        self._names = names
        # The key of a call -> what was found out about it.
        self._hits_by_key: dict[tuple, _RememberedHit] = {}

    def forecast(self, args: tuple, kwargs: dict) -> CallForecast:
        """Return what a call with these arguments would do now: its verdict, with the reason.

        The verdict is "error" if TensorFlow cannot make a key, "eager" if an option turns graphs
        off, "empty" if the tf.function has lost its function, and otherwise "hit" or "trace".
        """
        lookup = tensorflow_cache.look_up_call(self._function, args, kwargs)
        if lookup.key is None:
            # Without a key there are no types to show, so the values themselves are shown.
            arguments = self._names.format_values(self._function, args, kwargs)
            if lookup.runs_eagerly:  # the call needs no key then, and runs
                return CallForecast(arguments, "eager", EAGER)
            message = describe_error(lookup.error)  # the call itself will raise it
            return CallForecast(arguments, "error", f"{NO_KEY}: {message}")

        _, function_type = lookup.key  # a key is a pair (FunctionContext, FunctionType)
        arguments = self._names.format_arguments(function_type)
        if lookup.runs_eagerly:
            return CallForecast(arguments, "eager", EAGER)
        if lookup.is_empty:
            return CallForecast(arguments, "empty", EMPTY)

        # The search below is slow, so its answer is remembered for calls with the same key. Equal
        # keys may have different texts (1 and True), so the text is compared too. A key that has
        # come since may serve the call better, so the answer is valid only for the same count.
        hit = self._hits_by_key.get(lookup.key)
        is_same_call = hit is not None and hit.arguments == arguments
        if is_same_call and hit.key_count == lookup.key_count:
            return CallForecast(arguments, "hit", hit.note)
        return self._search_cache(lookup, arguments)

    def _search_cache(self, lookup, arguments: str) -> CallForecast:
        """Search the cache for a key that serves a call, and return the forecast of the call.

        `lookup` is what `look_up_call` returned for the call, and `arguments` are those of the call
        as text. Without a serving key the call makes a trace, or raises before that.
        """
        search = tensorflow_cache.search_cache(self._function, lookup.key)
        if search.serving_key is not None:
            note = self._describe_and_remember_hit(lookup, arguments, search)
            return CallForecast(arguments, "hit", note)

        # With reduce_retracing=True, TensorFlow widens an earlier key until it fits both calls.
        if message := _find_widening_error(search):
            note = f"{WIDENING}: {message}"
            return CallForecast(arguments, "error", note, cannot_widen=True)

        note, causes, nearest_arguments = explain_trace(search.keys, lookup.key, self._names)
        return CallForecast(arguments, "trace", note, causes, nearest_arguments)

    def _describe_and_remember_hit(self, lookup, arguments: str, search) -> str:
        """Return the sentence on the key that serves a call, and remember it for equal calls.

        The sentence is "" if the key has the same text as the call: then there is nothing to say.
        """
        _, stored_type = search.serving_key
        stored_arguments = self._names.format_arguments(stored_type)
        note = ""
        if stored_arguments != arguments:
            note = describe_serving_key(stored_arguments, search.is_equal)

        if len(self._hits_by_key) >= MOST_REMEMBERED:  # so that memory stays bounded
            self._hits_by_key.clear()
        self._hits_by_key[lookup.key] = _RememberedHit(lookup.key_count, arguments, note)
        return note


def _find_widening_error(search) -> str:
    """Return what TensorFlow will raise when it widens a key for `reduce_retracing`.

    Return "" if it will raise nothing. `search` is the CacheSearch of the call.
    """
    if search.widening_error is not None:
        return describe_error(search.widening_error)
    # TensorFlow may also make a type in which a part is None, and fail only while it traces.
    parameters = search.widened_type.parameters.values()
    if all(is_complete(parameter.type_constraint) for parameter in parameters):
        return ""
    return "a part of a nest has no common type"
