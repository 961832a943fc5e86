"""Chapter 2, exercise 3: a cache of traces of one's own, beside tf.function, call by call."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from helpers.capture.text.value import short_repr
from helpers.model.framework_records import MARKS
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.study.check import exercise, tried
from helpers.study.engine import Case, Raised, find_difference, observe, say_first_part, tf


class _TensorFlows:
    """What the learner's class is to be: here the traces are a tf.function's."""

    def __init__(self, fn, reduce_retracing=False):
        self.cache = []

        @functools.wraps(fn)
        def body(*args):
            self.cache.append(fn(*args))
            return tf.constant(len(self.cache) - 1)

        self.graphs = tf.function(body, autograph=False, reduce_retracing=reduce_retracing)

    def __call__(self, *args):
        kept = len(self.cache)
        try:
            return self.cache[int(self.graphs(*args))]
        except Exception:
            del self.cache[kept:]
            raise


@dataclass
class Sequence:
    """Some calls of a function, what they show, and the body; a call may be made by a function."""

    shows: str
    body: Callable
    calls: tuple
    relaxed: bool = False

    def run(self, answer) -> dict[str, str]:
        """Return what an answer does at each call."""
        ran, steps = [], {}

        @functools.wraps(self.body)
        def body(*args):
            ran.append(None)
            return self.body(*args) or f"what the body returned in call {len(steps) + 1}"

        mine = tried(answer(body, **({"reduce_retracing": True} if self.relaxed else {})))
        for number, call in enumerate(self.calls, 1):
            args = _copy(call() if callable(call) else call)  # or a list would be spoiled
            before, seen = _copy(args), len(ran)
            name = f"call {number}, of ({', '.join(map(short_repr, args))})"
            found = observe(lambda mine, args=args: mine(*args), mine)
            does = f"returns {short_repr(found)}"
            if isinstance(found, Raised):
                kinds = KeyError, ValueError, TypeError, Exception
                kind = next(kind for kind in kinds if issubclass(found.kind, kind))
                does = f"raises a {kind.__name__}"
            del found
            times = len(ran) - seen
            runs = ("hits", "traces")[times] if times < 2 else f"runs the body {times} times"
            kept = f"{does}, keeps {len(mine.cache)} traces"
            if answer is not _TensorFlows and not _is_same(args, before):
                kept = "changes the caller's own list or dict; trace on a copy"
            steps[name] = f"{runs}, {kept}"
            del args, before  # an object may be gone before the next call
        return steps


def _copy(args):
    return tf.nest.map_structure(lambda leaf: leaf, args)


def _is_same(args, before) -> bool:
    forms = [tf.nest.map_structure(id, each) for each in (args, before)]
    return forms[0] == forms[1]


@dataclass(eq=False)
class Plain:
    """An object that is equal to itself alone."""

    value: int


@dataclass(frozen=True)
class Equal:
    """An object that is equal to those with the same value."""

    value: int


def _one(x): ...


def _two(x, n): ...


def _append(x, n=1):
    if isinstance(x, list) and n:
        x.append(1)


def _replace(x):
    x[0] = x[0] + 1


def _write_inside(x):
    x["a"]["new"] = 1


def _raise_for_lists(x):
    if isinstance(x, list):
        raise KeyError("the body's own error")


def _sequences() -> list[Sequence]:
    """Return sequences from the plainest to the oddest; each shows one rule."""
    one, two, three, whole = tf.ones, tf.ones([2]), tf.ones([3]), tf.ones([2], tf.int32)
    a, b = Plain(1), Plain(1)
    orders = {"a": two, "b": three}, {"b": three, "a": two}
    inside = ({"a": [one([n])]} for n in (2, 3, 4))
    found = [
        Sequence(shows, body, tuple((call,) for call in calls), shows.startswith("with reduce"))
        for shows, body, *calls in (
            ("tensors of one dtype and shape share a trace", _one, two, two * 5),
            ("another shape is another key", _one, two, three, two),
            ("another dtype is another key", _one, two, whole, two),
            ("a Python value is its own key", _one, 1, 2, 1),
            ("1, 1.0 and True are equal, and so one key", _one, 1, 1.0, True),
            ("text is not bytes, and None is a value", _one, "a", b"a", None, None, "a"),
            ("a list is not a tuple", _one, [two], (two,), [two]),
            ("the order of a dict is none, its keys are", _one, *orders, {"a": two}, {"c": two}),
            ("an object is its own key, whatever it holds", _one, a, b, a, [a], [b], [a], len),
            ("objects that say they are equal are one key", _one, *map(Equal, (1, 1, 2, 1))),
            ("unasked, no key makes room for other lengths", _one, *(one([n]) for n in (2, 3, 4))),
            ("an appended list raises, every time", _append, [two], [two]),
            ("a write one level down raises", _write_inside, {"a": {}}),
            ("another object in the same place raises", _replace, [two]),
            ("the body's own error leaves no trace", _raise_for_lists, [two], (two,), [two]),
            ("what raised was not traced", _append, [two], (two,), [two]),
            ("with reduce_retracing, inside a dict and a list, too", _one, *inside),
        )
    ]
    for shows, *shapes in (
        ("a second shape makes room for all lengths", [2], [3], [4], [2]),
        ("two ranks make room for all ranks", [2], [2, 2], [3], [2, 2, 2]),
        ("of the traces that fit, the first", [2, 3], [2, 4], [5, 3], [2, 9], [2, 3]),
        ("a size that agrees is kept, also a large one", [300, 1], [300, 2], [301, 3], [300, 4]),
    ):
        calls = tuple((one(shape),) for shape in shapes)
        found.append(Sequence(f"with reduce_retracing, {shows}", _one, calls, True))
    mixed = tuple((one([n]), value) for n, value in ((2, 1), (3, 2), (4, 1), (5, 2), (6, 2)))
    pairs, new = ((two, 1), (two, 2), (three, 1), (two, 1)), (lambda: (Plain(1),),) * 4
    return [
        *found,
        Sequence("only keys that agree in all else make room", _two, mixed, True),
        Sequence("every argument counts", _two, pairs),
        Sequence("each new object is a new key, also when the last one is gone", _one, new),
    ]


def _list_calls(my_function) -> Ledger:
    """Run two sequences on the learner's class and on TensorFlow's: which calls ran the body?"""
    entries, shown = [], ("another shape is another key", "of the traces that fit, the first")
    for one in _sequences():
        if one.shows.removeprefix("with reduce_retracing, ") in shown:
            mine, real = one.run(my_function), one.run(_TensorFlows)
            for name in real:
                words = (steps[name].partition("s,")[0] for steps in (mine, real))
                pair = tuple(Verdict(w, "changed" if w == "trace" else "plain") for w in words)
                entries.append(Entry(name.partition(" of ")[2], pair, one.shows))
    title = "What your cache did, beside TensorFlow's"
    return Ledger(title, "call", ("yours", "TensorFlow's"), tuple(entries), marks=MARKS)


@exercise(
    "tf.nest.flatten(args) gives the leaves; tf.nest.map_structure(lambda leaf: 0, args) "
    "gives a form that can be compared with ==.",
    "The key is the form and, for each leaf, (dtype, shape) of a tensor or the value itself. "
    "A hit returns what the trace returned, and the body does not run.",
    "With reduce_retracing, a new key is merged with each known key of the same form: where "
    "two shapes differ put None, where two ranks differ None for the whole shape; if any leaf "
    "cannot be merged, leave the key as it is. A None fits every size.",
    "Run the body on a copy (tf.nest.map_structure(lambda leaf: leaf, args)). Afterwards its "
    "form must be the same, and each leaf the same object; else raise, and keep no trace.",
    picture=_list_calls,
)
def cache(my_function: Callable):
    """In every sequence of calls, yours hits, traces and raises where tf.function does."""
    cases = (Case(one.shows, one.run, say_first_part("TensorFlow")) for one in _sequences())
    return find_difference(my_function, _TensorFlows, cases, "TensorFlow")
