"""Chapter 6: a log of ops as a context manager, judged beside TensorFlow's own op callback."""

import sys
from collections.abc import Callable, MutableSequence
from functools import partial

from helpers.capture.tensorflow import eager_context
from helpers.capture.text.value import short_repr
from helpers.study.check import Exercise, InvalidAnswer, tried
from helpers.study.engine import Case, find_difference

GONE = "somebody else's callback is gone: remove only your own"
LEFT = "its callback is still there after the block: remove it whatever was raised"
SWALLOWED = "the block raised and nobody heard of it; let the exception through"
OWN = (
    "each block needs a log of its own, from its beginning to its end; remove only your callback; "
    "the fallback names its op in bytes"
)


def leaving_callbacks(shows: str, run: Callable) -> Callable:
    """Return a run that raises InvalidAnswer where it leaves or removes another's callback."""

    def watched(answer):
        with eager_context.callbacks_kept():
            other, before = eager_context.bystander(), eager_context.callbacks()
            try:
                return run(answer)
            finally:
                stopped = sys.exc_info()[1]  # at the limit: then nothing more is asked
                if stopped is None or isinstance(stopped, Exception):
                    if other not in eager_context.callbacks():
                        raise InvalidAnswer(f"{shows}: {GONE}")
                    if eager_context.callbacks() != before:
                        raise InvalidAnswer(f"{shows}: {LEFT}")

    return watched


def _names(log) -> list:
    """Return the names in a log, as they stand now; a generated function's without its counter."""
    if not isinstance(tried(log), MutableSequence):
        given = type(log).__name__
        raise InvalidAnswer(
            f"the block must be given a list, `with op_logger() as log`, not {given}"
        )
    return ["__inference_…" if str(name).startswith("__inference_") else name for name in log]


def _make_alone(op_logger):
    block = tried(op_logger())
    if not hasattr(type(block), "__enter__"):
        raise InvalidAnswer(
            f"op_logger() gave {short_repr(block)}; it must return a context manager"
        )
    return f"{len(eager_context.callbacks())} callback(s)"


def _run_block(op_logger):
    with op_logger() as log:
        eager_context.run_ops("MatMul")
        before = _names(log)
        eager_context.run_ops("Add")
    eager_context.run_ops("MatMul")
    return {"before the block ends": before, "after": _names(log)}


def _take_route(route: str, op_logger):
    with op_logger() as log:
        eager_context.run_routes([route])
    return _names(log)


def _raise_in_block(meant: BaseException, op_logger):
    try:
        with op_logger() as log:
            eager_context.run_ops("MatMul")
            raise meant
    except BaseException as error:
        if error is not meant:
            raise
        eager_context.run_ops("Add")
        return _names(log)
    raise InvalidAnswer(f"for a block that raises {type(meant).__name__}: {SWALLOWED}")


def _nest_blocks(op_logger):
    with op_logger() as outer:
        eager_context.run_ops("MatMul")
        with op_logger() as inner:
            eager_context.run_ops("Add")
        eager_context.run_ops("MatMul")
    return {"inner": _names(inner), "outer": _names(outer)}


def _cases():
    import tensorflow as tf

    errors = ValueError("meant"), KeyboardInterrupt()
    errors += (tf.errors.InvalidArgumentError(None, None, "meant"),)
    table = (
        ("for op_logger() alone", _make_alone, "add the callback when the block begins"),
        ("for a @ a + a", _run_block, OWN),
        *((f"for {name}", partial(_take_route, name), OWN) for name in eager_context.ROUTES),
        *(
            (f"for a block that raises {type(e).__name__}", partial(_raise_in_block, e), LEFT)
            for e in errors
        ),
        ("for a block inside a block", _nest_blocks, OWN),
    )
    for shows, run, advice in table:
        yield Case(shows, leaving_callbacks(shows, run), advice)


def _judge_logger(op_logger: Callable):
    if hasattr(type(op_logger), "__enter__"):
        raise InvalidAnswer("give op_logger itself, without calling it: this is one of its blocks")
    eager_context.run_routes(eager_context.ROUTES)  # what is traced once is traced now
    return find_difference(op_logger, eager_context.reported, _cases(), "TensorFlow's own log")


OP_LOGGER = Exercise(
    "op_logger",
    _judge_logger,
    "Every op on every route, through exceptions and nesting, and nothing is left behind.",
    (
        "After op_callbacks.add_op_callback(f), f(op_type, inputs, attrs, outputs, op_name=None, "
        "graph=None) is called after each op that a wrapper of TensorFlow runs. What must happen "
        "with f when the block ends?",
        "contextlib.contextmanager makes a block of a generator. Where has the clean-up to stand, "
        "so that it also runs when the block raises, whatever it raises?",
        "Make list and callback anew in each call, yield the list inside try, and in finally "
        "remove that one callback. The fallback hands the op's name over as bytes; an op that is "
        "only written into a graph is handed over too, and belongs in the log.",
    ),
)
