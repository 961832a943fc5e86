"""Chapter 6: a log of ops as a context manager, judged beside TensorFlow's own op callback."""

import re
from collections.abc import Callable

from helpers.capture.tensorflow.op_callbacks import (
    bystander,
    callbacks,
    callbacks_kept,
    reported,
    run_every_route,
    run_ops,
)
from helpers.capture.text.error import said
from helpers.study.check import Exercise, Untried, tried

GONE = "somebody else's callback is gone: remove only your own"


class _Meant(Exception):
    """What the judge raises inside a block."""


def _judge_logger(op_logger):
    if not callable(op_logger):
        return f"op_logger must be a function, not {type(op_logger).__name__}"
    for scenario in (_made, _plain, _after, _every_way, _raising, _nested, _nested_raising):
        with callbacks_kept():
            other, before = bystander(), callbacks()
            because = _told(scenario, op_logger)
            if other not in callbacks():
                because = GONE
            if not because and callbacks() != before:
                because = "its callback is still there after the block: remove it when you leave"
        if because:
            return because
    return None


def _made(op_logger) -> str | None:
    """For op_logger() alone."""
    if tried(op_logger()) is None:
        return "op_logger() gave None; it must return a context manager"
    return None


def _told(scenario: Callable, op_logger) -> str | None:
    try:
        return scenario(op_logger)
    except (_Meant, Untried):
        raise
    except Exception as error:
        return f"{scenario.__doc__.rstrip('.')}, it raised {said(error)}"


def _plain(op_logger):
    """For two ops in a row."""
    with op_logger() as log:
        tried(log)
        run_ops("MatMul", "Add")
    return _compared(log, ["MatMul", "AddV2"], "a @ a + a")


def _every_way(op_logger):
    """For a fallback, a tf.function and a gradient."""
    with reported() as truth, op_logger() as log:
        run_every_route()
    return _compared(log, truth, "a fallback, a tf.function and a gradient")


def _after(op_logger):
    """For an op after the block."""
    with op_logger() as log:
        run_ops("MatMul")
    many = len(log)
    run_ops("MatMul")
    if len(log) != many:
        return "it still logs after the block has ended"
    with op_logger() as second:
        run_ops("Add")
    return _compared(second, ["AddV2"], "a second block; each needs a log of its own")


def _raising(op_logger):
    """For a block that raises."""
    try:
        with op_logger() as log:
            run_ops("MatMul")
            raise _Meant
    except _Meant:
        run_ops("Add")
        if len(log) != 1:
            return "after a block that raised it still logs: remove the callback in a finally"
        return None
    return "the block raised and nobody heard of it; let the exception through"


def _nested(op_logger):
    """For a block inside a block."""
    with op_logger() as outer:
        run_ops("MatMul")
        with op_logger() as inner:
            run_ops("Add")
        run_ops("MatMul")
    because = _compared(inner, ["AddV2"], "the inner of two blocks")
    if not because and list(outer) == ["MatMul", "AddV2"]:
        return "when the inner block ended, the outer one went deaf: remove only your own callback"
    return because or _compared(outer, ["MatMul", "AddV2", "MatMul"], "the outer of two blocks")


def _nested_raising(op_logger):
    """For an inner block that raises."""
    with op_logger() as outer:
        try:
            with op_logger():
                raise _Meant
        except _Meant:
            run_ops("MatMul")
    return _compared(outer, ["MatMul"], "an outer block, after the inner one raised")


def _compared(log, truth: list[str], what: str) -> str | None:
    if not isinstance(log, list):
        return (
            f"the block must be given a list, `with op_logger() as log`, not a {type(log).__name__}"
        )
    if any(isinstance(name, bytes) for name in log):
        return f"for {what} there are bytes in the log: the fallback names its op so; decode them"
    if log != truth:
        return (
            f"for {what}, TensorFlow's own log is {_plain_names(truth)}, yours {_plain_names(log)}"
        )
    return None


def _plain_names(names: list) -> list:
    """Return the names without the counter that ends the name of a generated function."""
    return [re.sub(r"^(__inference_.*?)\d+$", r"\1", str(name)) for name in names]


OP_LOGGER = Exercise(
    "op_logger",
    _judge_logger,
    "Every op on every route, through exceptions and nesting, and nothing is left behind.",
    (
        "op_callbacks.add_op_callback(f) calls f(op_type, inputs, attrs, outputs, op_name=None, "
        "graph=None) after every op. What must happen with f when the block ends?",
        "contextlib.contextmanager makes a block of a generator. Where has the clean-up to stand, "
        "so that it also runs when the block raises?",
        "Make list and callback anew in each call, yield the list inside try, and in finally "
        "remove that one callback. The fallback hands the op's name over as bytes.",
    ),
)
