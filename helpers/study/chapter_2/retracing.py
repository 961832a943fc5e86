"""Chapter 2, exercise 1: which sequence of calls traces least, judged by running them."""

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.capture.text.value import brief
from helpers.study.answers import in_order
from helpers.study.check import Exercise, Unfit, Untried

WHY = {
    "tensors": "a tensor's value is no part of its key",
    "mixed": "1, 1.0 and True are equal in Python, so they share a key; the tensors share another",
    "lengths": "one trace per shape, and a shape that was there before is a hit",
    "numbers": "one trace per Python value, and a value that was there before is a hit",
    "containers": "a list, a tuple, another order, another length and a dict are five keys",
}
LONGEST = 100


def _judge_ranking(ranking, sequences):
    names = ", ".join(WHY)
    if set(sequences) != set(WHY):
        raise Unfit("the sequences have changed; run the cell that makes them again")
    ranking = in_order(ranking, LONGEST, "ranking")
    left = [str(place) for place, name in enumerate(ranking, 1) if name is ...]
    if left:
        raise Untried(f"place {' and '.join(left)}" if len(left) < len(ranking) else "")
    if odd := [name for name in ranking if not issubclass(type(name), str) or name not in WHY]:
        return f"{brief(odd[0])} is none of the names {names}"
    if sorted(ranking) != sorted(WHY):
        return f"ranking must hold each of these names once: {names}"
    traces = {name: _traces(calls) for name, calls in sequences.items()}
    for before, after in zip(ranking, ranking[1:], strict=False):
        if traces[before] > traces[after]:
            return (
                f"{str(before)!r} makes {traces[before]} traces and {str(after)!r} {traces[after]}:"
                f" {WHY[before]}; {WHY[after]}"
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
