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
# The verdict that was expected -> when the call raised.
ERROR_MOMENTS = {"error": NO_KEY, "trace": RAISED_WHILE_TRACING}
MOST_REBOUND = 3  # names in a sentence


def describe_failed_call(verdict: str, cannot_widen: bool, has_traced: bool, error: str) -> str:
    """Return when a call raised, and what.

    `verdict` is the one that was expected, `cannot_widen` says that TensorFlow was expected to
    refuse the arguments, `has_traced` that the call made a trace before it raised the `error`.
    """
    if cannot_widen:
        moment = WIDENING
    elif has_traced:
        moment = "traced, then raised"
    else:
        moment = ERROR_MOMENTS.get(verdict, "raised while running")
    return f"{moment}: {error}"


def describe_serving_key(stored_arguments: str, is_equal: bool) -> str:
    """Return which key of the cache served a call whose own text is another one.

    TensorFlow may find a key that `is_equal`, such as one with True for 1, or a more general key.
    """
    relation = "equal to" if is_equal else "matches"
    return f"{relation} the key {stored_arguments}"


def describe_traces(arguments: str, traced_arguments: str, scopes: set, count: int) -> list[str]:
    """Return how a call was traced, where a reader would not expect it.

    `arguments` and `traced_arguments` are the text of the call and that of its last new key.
    `scopes` are the ScopeTypes of the `count` new keys.
    """
    sentences = []
    if traced_arguments != arguments:
        sentences.append(f"traced as {traced_arguments}")
    if count > 1:
        # A function that calls itself is traced several times too, but in one scope.
        created_variables = len(scopes) > 1
        reason = ": to create its variables, and to run without creating any"
        sentences.append(f"traced {count} times" + (reason if created_variables else ""))
    return sentences


def describe_rebound_names(names: list[str]) -> str:
    """Return which global names refer to another function than at the trace; "" for no names."""
    if not names:
        return ""
    return f"now a different {format_names(names, MOST_REBOUND)}, which the graph does not check"
