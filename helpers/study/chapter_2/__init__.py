"""The exercises of chapter 2; the first: which sequence of calls traces least?"""

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.study.chapter_2.spied_step import batches, slow_training
from helpers.study.chapter_2.trace_cache import cache_key, cache_lookup, cache_mutation
from helpers.study.engine import exercise, in_order, parts_tried, plain_text

WHY = {
    "tensors": "a tensor's value is no part of its key",
    "mixed": "1, 1.0 and True are equal in Python, so they share a key; the tensors share another",
    "lengths": "one trace per shape, and a shape that was there before is a hit",
    "numbers": "one trace per Python value, and a value that was there before is a hit",
    "containers": "a list, a tuple, another order, another length and a dict are five keys",
}


@exercise(
    "For each call ask: which key is it? Two calls with one key make one trace.",
    "A tensor's key is dtype and shape. A Python value's key is the value. Which are equal?",
    "tensors 1, mixed 2, lengths 3. Count the two that are left.",
)
def ranking(ranking, sequences):
    """You read the keys as TensorFlow does."""
    ranking = [plain_text(name) for name in in_order(ranking, 100, "ranking")]
    parts_tried({f"place {number}": name for number, name in enumerate(ranking, 1)})
    if len(ranking) != len(WHY) or not all(name in ranking for name in WHY):
        return f"ranking must hold each of these names once: {', '.join(WHY)}"
    traces = {}
    for name, calls in sequences.items():
        kept = watch(lambda x: x, autograph=False)
        for args in calls:
            kept(*args)
        traces[name] = kept.model.traces
    for a, b in zip(ranking, ranking[1:], strict=False):
        if traces[a] > traces[b]:
            return f"{a!r} makes {traces[a]} traces and {b!r} {traces[b]}: {WHY[a]}; {WHY[b]}"
    return None


EXERCISES = ranking, batches, cache_key, cache_lookup, cache_mutation, slow_training
