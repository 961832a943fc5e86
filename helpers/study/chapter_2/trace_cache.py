"""Chapter 2, exercise 3: a cache of traces of one's own, judged call by call by tf.function."""

from helpers.capture.text.error import said
from helpers.study.chapter_2.call_sequences import Sequence, Step, sequences, truth
from helpers.study.check import Exercise, tried


def _judge_cache(my_function):
    for sequence in sequences():
        if because := _compared(my_function, sequence):
            return because
    return None


def _compared(my_function, sequence: Sequence) -> str | None:
    """Run a sequence on the learner's function; return where it parts from TensorFlow, if so."""
    ran = []

    def body(*args):
        ran.append(1)
        return sequence.body(*args)

    mine = tried(my_function(body, reduce_retracing=sequence.reduce_retracing))
    for step, args in zip(truth(sequence), sequence.calls, strict=True):
        before, runs = copied(args), len(ran)
        raised = _raised(mine, args)
        if not same(before, args):
            return (
                f"{_where(sequence, step)}, the caller's own list or dict changed; trace on a copy"
            )
        if because := _parted(mine, step, raised, len(ran) - runs):
            return f"{_where(sequence, step)}, {because}"
    return None


def _raised(mine, args) -> str:
    try:
        tried(mine(*args))
    except (TypeError, ValueError) as error:
        return said(error)
    return ""


def _parted(mine, step: Step, raised: str, ran: int) -> str | None:
    """Return how one call parts from TensorFlow's."""
    if step.verdict == "error" and not raised:
        return "TensorFlow raises a ValueError and yours does not: compare before and after"
    if raised and step.verdict != "error":
        return f"TensorFlow does not raise, and yours raised {raised}"
    if step.verdict == "hit" and ran:
        return "TensorFlow hits, and yours ran the body again"
    if step.verdict == "trace" and not ran:
        return "TensorFlow traces, and yours did not run the body"
    if len(mine.cache) != step.traces:
        return f"TensorFlow keeps {step.traces} traces, and yours {len(mine.cache)}"
    return None


def _where(sequence: Sequence, step: Step) -> str:
    relaxed = " with reduce_retracing" if sequence.reduce_retracing else ""
    return f"({sequence.shows}) at the call {step.arguments}{relaxed}"


def copied(value):
    """Return lists, tuples and dicts anew, to any depth, around the very same leaves."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    return type(value)(map(copied, value)) if type(value) in (list, tuple) else value


def same(a, b) -> bool:
    """Return whether two structures are alike and hold the very same leaves."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if type(a) is type(b) in (list, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b


CACHE = Exercise(
    "cache",
    _judge_cache,
    "In every sequence of calls, yours hits, traces and raises where tf.function does.",
    (
        "tf.nest.flatten(args) gives the leaves; tf.nest.map_structure(lambda leaf: 0, args) "
        "gives a form that can be compared with ==.",
        "The key is the form and, for each leaf, (dtype, shape) of a tensor or the value itself. "
        "A hit returns what the trace returned, and the body does not run.",
        "With reduce_retracing, a new key is merged with each known key of the same form: where "
        "two shapes differ put None, where two ranks differ None for the whole shape; if any leaf "
        "cannot be merged, leave the key as it is. A None fits every size.",
        "Run the body on a copy (tf.nest.map_structure(lambda leaf: leaf, args)). Afterwards its "
        "form must be the same, and each leaf the same object; else raise, and keep no trace.",
    ),
)
