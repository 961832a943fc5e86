"""A learner's op logger -> what it logs in blocks of many kinds, beside TensorFlow's own log.

Each block's words are how its verdict begins.
"""

from contextlib import ExitStack
from random import Random

from helpers.capture.tensorflow.op_callbacks import (
    ROUTES,
    callbacks,
    reported,
    run_ops,
    run_routes,
    values,
)
from helpers.capture.text.value import brief
from helpers.study.chapter_6.log_words import compared, no_list, odd
from helpers.study.check import tried
from helpers.study.two_answers import parted

DRAWN = 3  # blocks of several routes, from short to long


class Meant(BaseException):
    """What the judge raises inside a block; no Exception, as little as Ctrl-C is."""


def _made(op_logger) -> str | None:
    """for op_logger() alone"""
    before = callbacks()
    if not hasattr(type(block := tried(op_logger())), "__enter__"):
        return f"op_logger() gave {brief(block)}; it must return a context manager"
    if callbacks() != before:
        return "op_logger() alone adds a callback: add it when the block begins"
    return None


def _plain(op_logger):
    """for two ops in a row"""
    with op_logger() as log:
        because = no_list(tried(log)) or (odd("an empty block", log, []) if log else "")
        run_ops("MatMul")
        because = because or compared(log, ["MatMul"], "a @ a, before the block ends")
        run_ops("Add")
    return because or compared(log, ["MatMul", "AddV2"], "a @ a + a")


def _same_values(op_logger):
    """for sin(2.0), run and in a graph"""
    plain = values()
    with op_logger():
        logged = values()
    if logged == plain:
        return None
    gives, own = f"gives {logged}", f"gives {plain}"
    return parted("sin(2.0) in the block, run and in a graph, ", gives, own, "TensorFlow alone")


def _many(op_logger):
    """for a hundred ops in a row"""
    with op_logger() as log:
        run_ops(*["Add"] * 100)
    return None if len(log) == 100 else f"of a hundred ops in a row, yours logs {len(log)}"


def _after(op_logger):
    """for an op after the block"""
    with op_logger() as log:
        run_ops("MatMul")
    many = len(log)
    run_ops("MatMul")
    if len(log) != many:
        return "it still logs after the block has ended"
    with op_logger() as second:
        run_ops("Add")
    if len(log) != many and second is log:
        return "a second block is given the list of the first; each needs a log of its own"
    return compared(second, ["AddV2"], "a second block; each needs a log of its own")


def _every_way(op_logger):
    """for a block with one route"""
    for name in ROUTES:
        if because := _beside(op_logger, [name]):
            return because
    return None


def _drawn(op_logger):
    """for a block with many routes"""
    random = Random(6)
    for number in range(DRAWN):
        if because := _beside(op_logger, random.choices(list(ROUTES), k=number + 2)):
            return because
    return None


def _beside(op_logger, names: list[str]) -> str | None:
    """Return how a log parts from TensorFlow's own for a block with these routes."""
    with reported() as truth, op_logger() as log:
        run_routes(names)
    return compared(log, truth, ", then ".join(names))


def _raising(op_logger):
    """for a block that raises"""
    for meant in _meant():
        try:
            with op_logger() as log:
                run_ops("MatMul")
                raise meant
        except type(meant) as error:
            if error is not meant:
                raise
            run_ops("Add")
            if len(log) != 1:
                return "after a block that raised it still logs: remove the callback in a finally"
        else:
            return "the block raised and nobody heard of it; let the exception through"
    return None


def _meant() -> list[BaseException]:
    """Return one of each kind that a block may be tempted to swallow."""
    import tensorflow as tf

    refused = tf.errors.InvalidArgumentError(None, None, "meant")
    kinds = (ValueError, Meant, StopIteration, StopAsyncIteration, KeyError, RuntimeError)
    kinds += (GeneratorExit, KeyboardInterrupt, SystemExit)
    return [*(kind("meant") for kind in kinds), refused]


def _nested(op_logger):
    """for a block inside a block"""
    with op_logger() as outer:
        run_ops("MatMul")
        with op_logger() as inner:
            run_ops("Add")
        run_ops("MatMul")
    because = compared(inner, ["AddV2"], "the inner of two blocks")
    if not because and list(outer) == ["MatMul", "AddV2"]:
        return "when the inner block ended, the outer one went deaf: remove only your own callback"
    return because or compared(outer, ["MatMul", "AddV2", "MatMul"], "the outer of two blocks")


def _nested_raising(op_logger):
    """for an inner block that raises"""
    with op_logger() as outer:
        try:
            with op_logger():
                raise Meant
        except Meant:
            run_ops("MatMul")
    return compared(outer, ["MatMul"], "an outer block, after the inner one raised")


def _crossed(op_logger):
    """for two blocks of which the first ends first"""
    with ExitStack() as second:
        with op_logger() as early:
            late = second.enter_context(op_logger())
            run_ops("MatMul")
        run_ops("Add")
    what = "two blocks of which the first ends first, the log of"
    return compared(early, ["MatMul"], f"{what} the first") or compared(
        late, ["MatMul", "AddV2"], f"{what} the second"
    )


SCENARIOS = (
    *(_made, _plain, _same_values, _after, _every_way, _drawn),
    *(_raising, _nested, _nested_raising, _crossed, _many),
)
