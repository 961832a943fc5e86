"""Chapter 6: a gradient tape over the op callback, judged by GradientTape on many functions."""

from helpers.capture.tensorflow.op_callbacks import bystander, callbacks, callbacks_kept
from helpers.capture.text.error import said
from helpers.model.phrase import stop
from helpers.safety.arguments import kind_of
from helpers.study.chapter_6.drawn_functions import drawn
from helpers.study.chapter_6.gradients import difference, functions, point, true_gradient
from helpers.study.chapter_6.taped_blocks import SCENARIOS, Meant
from helpers.study.check import Exercise, Untried, tried
from helpers.study.two_answers import within

SUMS = "a value that several ops read gets the sum of what comes back from them"
ZEROS = "an output that nobody used has no gradient: give zeros of its shape to the op"
NO_WAY = "no op leads from x to it: None"
SKIP = "an op that y does not depend on is not asked for a gradient: skip it"
KEPT = "its callback is still there after the block: remove it in __exit__"
RAISED = "while its ops are written down, yours raised"
GONE = "somebody else's callback is gone: remove only your own"
THINK = {
    "sin(x)": "the last op first: its gradient times what came from above",
    "exp(-x)": "walk from the last op to the first",
    "x + x": SUMS,
    "x * x + x": SUMS,
    "reduce_mean(x, 1)": "keep the attributes",
    "concat([x, 2 * x])": "keep the attributes",
    "matmul(x, x, transpose_b=True)": f"keep the attributes; {SUMS}",
    "x * y": "an op has one gradient per input",
    "2 * 3, beside sin(x)": SKIP,
    "sin(x), beside unique(x)": SKIP,
    "floor(x) + sin(x)": "an input may have no gradient: there is nothing to add",
    "reduce_sum(x) ** 2": "start with ones of y's shape",
    "x[:, 1:]": "an input may have no gradient: None",
    "split(x)[1]": ZEROS,
    "top_k(x, 2).values": ZEROS,
    "first * second of a list that changes": "the program may change a list that an op gave it; "
    "keep a tuple of the outputs",
    "gather(x, [1, 1, 0])": "this op falls back, and has to be written down too",
    "cast(x, float64)": "y is of another dtype than x: its ones are too",
    "a constant": NO_WAY,
    "argmax(x)": NO_WAY,
    "x itself": "dy/dy is one",
}


def _judge_tape(tape):
    if not callable(tape):
        if hasattr(type(tape), "__enter__"):
            return "give the class itself, without calling it: this is one of its tapes"
        return f"give the class, MyTape, not {kind_of(tape)}"
    some = [(words, function, point()) for words, function in functions()]
    for words, function, x in [*some, *drawn(6)]:
        because = _guarded(lambda f=function, at=x: _told(tape, f, at))
        if because in (KEPT, GONE):
            return because
        if because:
            own = because.startswith((RAISED, "`with")) or "gives no tensor" in because
            thinks = words in THINK and not own
            think = f"{stop(because)} Think: {THINK[words]}" if thinks else ""
            return within(f"for y = {words}, ", because, think)
    for scenario in SCENARIOS:
        because = _guarded(lambda s=scenario: s(tape))
        if because:
            return because if because in (KEPT, GONE) else within(f"{scenario.__doc__}, ", because)
    return None


def _guarded(run) -> str | None:
    """Return what is wrong with a run, or with what it leaves behind."""
    with callbacks_kept():
        other, before = bystander(), callbacks()
        try:
            because = run()
        except (Meant, Untried):
            raise
        except Exception as error:
            because = f"yours raised {said(error)}"
        if other not in callbacks():
            return GONE
        return because if because or callbacks() == before else KEPT


def _told(tape, function, x) -> str | None:
    """Return how the gradient of one function parts from the true one."""
    truth, before = true_gradient(function, x), callbacks()
    try:
        with tape() as mine:
            if mine is None:
                return "`with MyTape() as tape` gives None: return self from __enter__"
            y = function(x)
    except Exception as error:
        return f"{RAISED} {said(error)}"
    if before[0] not in callbacks():
        return GONE
    if callbacks() != before:
        return KEPT
    return difference(tried(mine.gradient(y, x)), truth)


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
        "__exit__ removes the callback, whatever was raised, and returns nothing: what was raised "
        "goes on.",
    ),
)
