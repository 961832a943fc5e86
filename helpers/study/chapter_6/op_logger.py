"""Chapter 6: a log of ops as a context manager, judged beside TensorFlow's own op callback."""

from collections.abc import Callable

from helpers.capture.tensorflow.op_callbacks import bystander, callbacks, callbacks_kept
from helpers.capture.text.error import said
from helpers.safety.arguments import kind_of
from helpers.study.chapter_6.logged_blocks import SCENARIOS, Meant
from helpers.study.check import Exercise, Untried

GONE = "somebody else's callback is gone: remove only your own"
LEFT = "its callback is still there after the block: remove it when you leave"


def _judge_logger(op_logger):
    if hasattr(type(op_logger), "__enter__"):
        return "give op_logger itself, without calling it: this is one of its blocks"
    if not callable(op_logger):
        return f"op_logger must be a function, not {kind_of(op_logger)}"
    for scenario in SCENARIOS:
        with callbacks_kept():
            other, before = bystander(), callbacks()
            because = _told(scenario, op_logger)
            if other not in callbacks():
                because = GONE
            if not because and callbacks() != before:
                because = LEFT
        if because:
            return because
    return None


def _told(scenario: Callable, op_logger) -> str | None:
    try:
        return scenario(op_logger)
    except (Meant, Untried):
        raise
    except Exception as error:
        return f"{scenario.__doc__}, yours raised {said(error)}"


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
