"""Facts about a call of a tf.function -> the sentences of its row in the ledger."""

from ...model.phrase import format_names

EAGER = "run_functions_eagerly is on: Python ran, nothing was looked up"
WIDENING = "TensorFlow cannot widen an earlier key to these arguments, as reduce_retracing asks"
EMPTY = (
    "TensorFlow runs an empty function, which returns None: the first trace created a variable "
    "and then failed. Make a new tf.function"
)
XLA = (
    "XLA may compile at a hit too, for a shape or a constant that is new to it; no row shows that."
)
NO_KEY = "no key"
RAISED_WHILE_TRACING = "raised while tracing"
# The verdict of the forecast -> in which moment a call that raised must have raised.
ERROR_MOMENTS = {"error": NO_KEY, "trace": RAISED_WHILE_TRACING}
MOST_REBOUND = 3  # names in a sentence


def describe_failed_call(verdict: str, cannot_widen: bool, has_traced: bool, error: str) -> str:
    """Return the sentence on a call that raised: the moment, then the text of the `error`.

    `verdict` and `cannot_widen` are those of the CallForecast that was made before the call.
    `has_traced` says that the call completed a trace before it raised.
    """
    if cannot_widen:
        moment = WIDENING
    elif has_traced:
        moment = "traced, then raised"
    else:
        moment = ERROR_MOMENTS.get(verdict, "raised while running")
    return f"{moment}: {error}"


def describe_serving_key(stored_arguments: str, is_equal: bool) -> str:
    """Return the sentence on the cached key that served a call whose own text is another one.

    `is_equal` says that both keys are equal for TensorFlow, as with True and 1. Otherwise the
    stored key is more general, as with float32[?] and float32[3].
    """
    relation = "equal to" if is_equal else "matches"
    return f"{relation} the key {stored_arguments}"


def describe_traces(arguments: str, traced_arguments: str, scopes: set, count: int) -> list[str]:
    """Return sentences on what is unusual about the traces of one call; [] if nothing is.

    `arguments` is the text of the call, and `traced_arguments` the text of its last new key.
    `count` is the number of new keys, and `scopes` are their ScopeTypes: TensorFlow makes one trace
    in which variables may be created, and then another in which they may not.
    """
    sentences = []
    if traced_arguments != arguments:  # reduce_retracing made a more general key
        sentences.append(f"traced as {traced_arguments}")
    if count > 1:
        sentence = f"traced {count} times"
        # A function that calls itself is traced several times too, but in one scope.
        if len(scopes) > 1:
            sentence += ": to create its variables, and to run without creating any"
        sentences.append(sentence)
    return sentences


def describe_rebound_names(names: list[str]) -> str:
    """Return the sentence on global names that refer to another function than at the trace.

    Return "" if there are no such names.
    """
    if not names:
        return ""
    return f"now a different {format_names(names, MOST_REBOUND)}, which the graph does not check"
