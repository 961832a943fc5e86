"""Chapter 2, exercise 3: a cache of traces of one's own, judged call by call by tf.function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.model.phrase import counted
from helpers.safety.patches import patched
from helpers.study.chapter_2.cache_log import cache_log
from helpers.study.chapter_2.call_sequences import Sequence, Step, arguments
from helpers.study.chapter_2.known_sequences import known
from helpers.study.check import Exercise, Unfit, Untried, tried
from helpers.study.two_answers import parted, within


def _judge_cache(my_function: Callable):
    for sequence, steps in known():
        if because := _compared(my_function, sequence, steps):
            return because
    return None


class Returned:
    """What the body returned in one call: stands for the graph of that trace."""

    def __init__(self, call: int):
        self.call = call


def _compared(my_function, sequence: Sequence, steps: list[Step]) -> str | None:
    """Run a sequence on the learner's function; return where it parts from TensorFlow, if so."""
    ran, returned = [], {}

    def body(*args):
        ran.append(number)
        sequence.body(*args)
        returned[number] = None if sequence.silent else Returned(number)
        return returned[number]

    number, options = 0, {"reduce_retracing": True} if sequence.reduce_retracing else {}
    mine = tried(my_function(body, **options))
    for number, (step, call) in enumerate(zip(steps, sequence.calls, strict=True)):
        args = copied(arguments(call))  # a list that is known must not be spoiled
        before = copied(args)
        with _graphs_run() as graphs:
            result, raised = _called(mine, args)
        if graphs:
            raise Unfit("yours calls a tf.function; keep the traces yourself")
        unspoiled = same(before, args)
        del args, before  # an object may be gone before the next call
        because = _parted(step, raised, ran.count(number)) or _other_result(step, result)
        if not unspoiled:
            because = "the caller's own list or dict changed; trace on a copy"
        if because := because or _miscounted(mine, step):
            return within(f"{_where(sequence, step)}, ", because)
    return None


@contextmanager
def _graphs_run() -> Iterator[list]:
    """Give a list of the tf.functions that are called in the block."""
    import tensorflow as tf

    kind, called = type(tf.function(len)), []
    call = kind.__call__

    def noting(self, *args, **kwargs):
        called.append(self)
        return call(self, *args, **kwargs)

    with patched(kind, __call__=noting):
        yield called


def _called(mine, args) -> tuple[object, Exception | None]:
    try:
        return tried(mine(*args)), None
    except (Untried, Unfit):
        raise
    except Exception as error:
        return None, error


def _parted(step: Step, raised: Exception | None, ran: int) -> str | None:
    """Return how one call parts from TensorFlow's, in raising, hitting or tracing."""
    if raised is not None and step.error is None:
        return parted("", f"raised {said(raised)}", "does not raise", "TensorFlow")
    if step.error is not None:
        theirs = type(step.error)
        own = " of the body" if theirs is KeyError else ": compare before and after"
        if raised is None:
            return f"TensorFlow raises a {theirs.__name__} and yours does not{own}"
        if not isinstance(raised, theirs):
            return f"TensorFlow raises a {theirs.__name__}{own}; yours raised {said(raised)}"
        if theirs is KeyError and said(raised) != said(step.error):
            return f"yours raised {said(raised)}; TensorFlow lets the body's own through as it is"
    elif step.verdict == "hit" and ran:
        return parted("", "ran the body again", "hits", "TensorFlow")
    elif step.verdict == "trace" and not ran:
        return parted("", "did not run the body", "traces", "TensorFlow")
    elif step.verdict == "trace" and ran > 1:
        return parted("", f"ran the body {ran} times", "runs it once for a trace", "TensorFlow")
    return None


def _other_result(step: Step, result) -> str | None:
    """Return how the result parts from that of the trace which TensorFlow runs."""
    if step.error is not None:
        return None
    given = result.call if type(result) is Returned else result
    if given == step.result and (type(result) is Returned or result is None):
        return None
    theirs, yours = _words(step.result), _words(given) if type(result) is Returned else brief(given)
    return parted("", f"returns {yours}", f"returns {theirs}", "TensorFlow")


def _words(call: int | None) -> str:
    return "None" if call is None else f"what the body returned in call {call + 1}"


def _miscounted(mine, step: Step) -> str | None:
    try:
        kept = len(mine.cache)
    except (AttributeError, TypeError):
        return "self.cache must be a list (or a dict …) with one item per trace"
    if kept != step.traces:
        return parted("", f"keeps {counted(kept, 'trace')}", f"keeps {step.traces}", "TensorFlow")
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
    picture=cache_log,
)
