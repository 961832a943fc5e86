"""Chapter 6: a log of ops as a context manager, judged beside TensorFlow's own op callback."""

from collections.abc import Callable, MutableSequence
from contextlib import ExitStack

from helpers.capture.tensorflow.eager_context import (
    ROUTES,
    bystander,
    callbacks,
    callbacks_kept,
    reported,
    run_ops,
    run_routes,
    values,
)
from helpers.capture.text.value import brief
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.engine import Case, find_difference

GONE = "somebody else's callback is gone: remove only your own"
LEFT = "its callback is still there after the block: remove it whatever was raised"
SWALLOWED = "the block raised and nobody heard of it; let the exception through"


def leaving_callbacks(shows: str, run: Callable) -> Callable:
    """Return a run that is Unfit where it leaves a callback behind, or removes somebody else's."""

    def watched(answer):
        with callbacks_kept():
            other, before = bystander(), callbacks()
            try:
                return run(answer)
            finally:
                if other not in callbacks():
                    raise Unfit(f"{shows}: {GONE}")
                if callbacks() != before:
                    raise Unfit(f"{shows}: {LEFT}")

    return watched


def _names(log) -> list:
    """Return the names in a log, as they stand now; a generated function's without its counter."""
    if not isinstance(tried(log), MutableSequence):
        given = type(log).__name__
        raise Unfit(f"the block must be given a list, `with op_logger() as log`, not {given}")
    return ["__inference_…" if str(name).startswith("__inference_") else name for name in log]


def _plain(op_logger):
    with op_logger() as log:
        empty = _names(log)
        run_ops("MatMul")
        before = _names(log)
        run_ops("Add")
    run_ops("MatMul")
    return {"empty": empty, "before the block ends": before, "after": _names(log)}


def _two_blocks(op_logger):
    with op_logger():
        run_ops("MatMul")
    with op_logger() as second:
        run_ops("Add")
    return _names(second)


def _made_alone(op_logger):
    block = tried(op_logger())
    if not hasattr(type(block), "__enter__"):
        raise Unfit(f"op_logger() gave {brief(block)}; it must return a context manager")
    return f"{len(callbacks())} callback(s)"


def _same_values(op_logger):
    with op_logger():
        return values()


def _on_route(name):
    def run(op_logger):
        with op_logger() as log:
            run_routes([name])
        return _names(log)

    return run


def _raising(meant):
    def run(op_logger):
        try:
            with op_logger() as log:
                run_ops("MatMul")
                raise meant
        except BaseException as error:
            if error is not meant:
                raise
        else:
            raise Unfit(f"for a block that raises {type(meant).__name__}: {SWALLOWED}")
        run_ops("Add")
        return _names(log)

    return run


def _nested(op_logger):
    with op_logger() as outer:
        run_ops("MatMul")
        with op_logger() as inner:
            run_ops("Add")
        run_ops("MatMul")
    return {"inner": _names(inner), "outer": _names(outer)}


def _crossed(op_logger):
    with ExitStack() as second:
        with op_logger() as early:
            late = second.enter_context(op_logger())
            run_ops("MatMul")
        run_ops("Add")
    return {"the one that ends first": _names(early), "the other": _names(late)}


def _cases():
    import tensorflow as tf

    one_each = "each block needs a log of its own, from its beginning to its end"
    own = "remove only your own callback"
    errors = ValueError("meant"), StopIteration(), KeyboardInterrupt()
    errors += (tf.errors.InvalidArgumentError(None, None, "meant"),)
    table = (
        ("for op_logger() alone", _made_alone, "add the callback when the block begins"),
        ("for a @ a + a", _plain, one_each),
        ("for a second block, with a + a", _two_blocks, one_each),
        ("for sin(2.0), run and in a graph", _same_values, "return None from the callback"),
        *((f"for {name}", _on_route(name), _of_routes) for name in ROUTES),
        *((f"for a block that raises {type(e).__name__}", _raising(e), LEFT) for e in errors),
        ("for a block inside a block", _nested, own),
        ("for two blocks of which the first ends first", _crossed, own),
    )
    for shows, run, advice in table:
        yield Case(shows, leaving_callbacks(shows, run), advice)


def _of_routes(mine, real):
    if isinstance(mine, list) and any(isinstance(name, bytes) for name in mine):
        return "there are bytes in the log: the fallback names its op so; decode them"
    return None


def _judge_logger(op_logger: Callable):
    if hasattr(type(op_logger), "__enter__"):
        raise Unfit("give op_logger itself, without calling it: this is one of its blocks")
    run_routes(ROUTES)  # what is traced once is traced now
    return find_difference(op_logger, reported, _cases(), "TensorFlow's own log")


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
