"""Chapter 2, exercise 1: which sequence of calls traces least, judged by running them."""

from helpers.capture.tensorflow.tracing.ledger import watch
from helpers.study.check import Exercise, Untried

WHY = {
    "tensors": "a tensor's value is no part of its key",
    "mixed": "1, 1.0 and True are equal in Python, so they share a key",
    "lengths": "one trace per shape, and a shape that was there before is a hit",
    "numbers": "one trace per Python value, and a value that was there before is a hit",
    "containers": "a list, a tuple, another order, another length and a dict are five keys",
}


def _judge_ranking(ranking, sequences):
    names = list(sequences)
    if not isinstance(ranking, (list, tuple)):
        return f"ranking must be a list of the names {', '.join(names)}, fewest traces first"
    if any(name is ... for name in ranking):
        raise Untried
    if sorted(map(str, ranking)) != sorted(names):
        return f"ranking must hold each of these names once: {', '.join(names)}"
    traces = {name: _traces(calls) for name, calls in sequences.items()}
    for before, after in zip(ranking, ranking[1:], strict=False):
        if traces[before] > traces[after]:
            return (
                f"{before!r} makes {traces[before]} traces and {after!r} {traces[after]}: "
                f"{WHY.get(before, 'watch it')}; {WHY.get(after, 'watch it')}"
            )
    return None


def _traces(calls) -> int:
    def body(x):
        return x

    kept = watch(body, autograph=False)
    for args in calls:
        kept(*args)
    return kept.model.traces


RANKING = Exercise(
    "ranking",
    _judge_ranking,
    "You read the keys as TensorFlow does.",
    (
        "For each call ask: which key is it? Two calls with one key make one trace.",
        "A tensor's key is dtype and shape. A Python value's key is the value. Which are equal?",
        "tensors 1, mixed 2, lengths 3. Count the two that are left.",
    ),
)
