"""Chapter 6: a gradient tape over the op callback, judged by GradientTape on twenty functions."""

from helpers.capture.tensorflow.op_callbacks import callbacks, callbacks_kept
from helpers.capture.text.error import said
from helpers.study.chapter_6.gradients import difference, functions, point, true_gradient
from helpers.study.check import Exercise, Untried, tried

SUMS = "a value that several ops read gets the sum of what comes back from them"
ZEROS = "an output that nobody used has no gradient: give zeros of its shape to the op"


THINK = {
    "sin(x)": "the last op first: its gradient times what came from above",
    "exp(-x)": "walk from the last op to the first",
    "x * y": "an op has one gradient per input",
    "reduce_sum(x) ** 2": "start with ones of y's shape",
    "x[:, 1:]": "an input may have no gradient: None",
    "split(x)[1]": ZEROS,
    "gather(x, [1, 1, 0])": "keep the attributes",
    "cast(x, float64)": "keep the attributes",
    "a constant": "no op leads from x to it: None",
    "x itself": "dy/dy is one",
}


def _judge_tape(tape):
    if not callable(tape):
        return f"give the class, MyTape, not {type(tape).__name__}"
    with callbacks_kept() as before:
        for words, function in functions():
            because = _told(tape, function)
            if because:
                return f"for y = {words}, {because}. Think: {THINK.get(words, SUMS)}"
            if callbacks() != before:
                return "its callback is still there after the block: remove it in __exit__"
    return None


def _told(tape, function) -> str | None:
    x = point()
    truth = true_gradient(function, x)
    try:
        with tape() as mine:
            y = function(x)
        kept = len(mine.ops) if isinstance(getattr(mine, "ops", None), list) else None
        found = tried(mine.gradient(y, x))
    except Untried:
        raise
    except Exception as error:
        return f"it raised {said(error)}"
    if kept is not None and len(mine.ops) != kept:
        return "the tape wrote down the ops of its own gradient: stop recording first"
    return difference(found, truth)


TAPE = Exercise(
    "tape",
    _judge_tape,
    "Record forwards, walk backwards, add up: yours agrees with GradientTape on all functions.",
    (
        "Record (op, inputs, attrs, outputs) of every op in __enter__'s callback. In which order "
        "does gradient need them?",
        "grads maps a tensor's _id to the gradient that has come back to it so far. It starts "
        "with ones for y; at the end x's entry is the answer, or there is none.",
        "For each op, from the last to the first: look up the gradients of its outputs; skip it "
        "if there are none; ask op_gradients; add each to what its input already has.",
        "Where only some outputs have a gradient, the others get tf.zeros_like(output).",
    ),
)
