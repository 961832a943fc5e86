"""Call sequences of a tf.function -> what TensorFlow does at each call: run, trace or raise."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from helpers.capture.tensorflow.trace_ledger import watch


@dataclass(frozen=True)
class Sequence:
    """Some calls of a function: what they show, the body, and the arguments of each call.

    A call may also be a function that makes its arguments anew. The body returns which call it
    was traced in, or nothing if `silent`.
    """

    shows: str
    body: Callable
    calls: tuple
    reduce_retracing: bool = False
    silent: bool = False


@dataclass(frozen=True)
class Step:
    """One call as TensorFlow did it: its arguments in words, its verdict, the traces after it.

    `result`: the number of the call whose trace it ran, None for nothing; `error`: what it raised.
    """

    arguments: str
    verdict: str
    traces: int
    result: int | None
    error: Exception | None


def truth(sequence: Sequence) -> list[Step]:
    """Run a sequence on a new tf.function and return a step per call."""
    import tensorflow as tf

    options = {"autograph": False, "reduce_retracing": sequence.reduce_retracing}

    @functools.wraps(sequence.body)
    def body(*args):
        sequence.body(*args)
        return None if sequence.silent else tf.constant(len(steps))

    kept, steps = watch(body, **options), []
    for call in sequence.calls:
        result = error = None
        try:
            result = kept(*arguments(call))
        except (TypeError, ValueError, KeyError) as raised:
            error = raised.with_traceback(None)  # or it would keep the arguments alive
            error.__context__ = error.__cause__ = None
        last, traces = kept.last, kept.experimental_get_tracing_count()
        result = None if result is None else int(result)
        steps.append(Step(last.arguments, last.verdict, traces, result, error))
    return steps


def arguments(call) -> tuple:
    """Return the arguments of one call of a sequence."""
    return call() if callable(call) else call
