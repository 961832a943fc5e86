"""The exercises of chapter 2. The first ranks sequences of calls by their traces."""

from itertools import pairwise

from helpers.capture.tensorflow.trace_ledger import watch_function
from helpers.study.answers import require_items, require_no_stubs, to_plain_text
from helpers.study.chapter_2.spied_step import batches, slow_training
from helpers.study.chapter_2.trace_cache import cache_key, cache_lookup, cache_mutation
from helpers.study.check import exercise

# name of a sequence of calls -> why it makes as many traces as it does, for the verdict
WHY = {
    "tensors": "a tensor's value is not part of its key",
    "mixed": "1, 1.0 and True are equal in Python, and share a key, and the tensors share another",
    "lengths": "each new shape makes a trace, and a shape seen before is a hit",
    "numbers": "each new Python value makes a trace, and a value seen before is a hit",
    "containers": "a list, a tuple, another order, another length and a dict make five keys",
}


@exercise(
    "Work out the key of each call. Calls with equal keys share one trace.",
    "A tensor's key is its dtype and shape. A Python value's key is the value. Which are equal?",
    "tensors makes 1 trace, mixed 2 and lengths 3. Count the other two.",
)
def ranking(ranking, sequences):
    """You read keys as TensorFlow does."""
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass. `ranking` has the names of the sequences, `sequences` maps
    # each name to its calls.
    names = [to_plain_text(name) for name in require_items(ranking, limit=100, what="ranking")]
    require_no_stubs({f"place {number}": name for number, name in enumerate(names, 1)})
    if len(names) != len(WHY) or not all(name in names for name in WHY):
        return f"ranking must contain each of these names once: {', '.join(WHY)}"

    # name of a sequence -> how many traces its calls make
    traces = {name: _count_traces(calls) for name, calls in sequences.items()}
    # A right ranking begins with the sequence that makes the fewest traces. Sequences with equally
    # many may come in either order.
    for former, latter in pairwise(names):
        if traces[former] > traces[latter]:
            counts = (
                f"{former!r} makes {traces[former]} traces, but {latter!r} makes {traces[latter]}"
            )
            return f"{counts}. In {former!r}, {WHY[former]}. In {latter!r}, {WHY[latter]}"
    return None


def _count_traces(calls) -> int:
    """Return how many traces a new tf.function makes for these calls, each a tuple of arguments."""
    watched = watch_function(lambda x: x, autograph=False)
    for args in calls:
        watched(*args)
    return watched.model.traces


EXERCISES = ranking, batches, cache_key, cache_lookup, cache_mutation, slow_training
