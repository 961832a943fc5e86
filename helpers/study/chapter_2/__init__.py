"""The exercises of chapter 2. The first ranks sequences of calls by their traces."""

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.study.chapter_2.spied_step import batches, slow_training
from helpers.study.chapter_2.trace_cache import cache_key, cache_lookup, cache_mutation
from helpers.study.check import exercise
from helpers.study.engine import in_order, parts_tried, plain_text

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
    ranking = [plain_text(name) for name in in_order(ranking, 100, "ranking")]
    parts_tried({f"place {number}": name for number, name in enumerate(ranking, 1)})
    if len(ranking) != len(WHY) or not all(name in ranking for name in WHY):
        return f"ranking must contain each of these names once: {', '.join(WHY)}"
    traces = {}
    for name, calls in sequences.items():
        kept = watch(lambda x: x, autograph=False)
        for args in calls:
            kept(*args)
        traces[name] = kept.model.traces
    for a, b in zip(ranking, ranking[1:], strict=False):
        if traces[a] > traces[b]:
            made = f"{a!r} makes {traces[a]} traces, but {b!r} makes {traces[b]}"
            return f"{made}. In {a!r}, {WHY[a]}. In {b!r}, {WHY[b]}"
    return None


EXERCISES = ranking, batches, cache_key, cache_lookup, cache_mutation, slow_training
