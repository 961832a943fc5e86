"""Chapter 2, exercises 3 to 5: a cache of traces in three parts, compared with tf.function."""

import functools
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from helpers.capture.text.value import short_repr
from helpers.model.framework_records import MARKS
from helpers.model.tables import Entry, Ledger, Verdict
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Case, Raised, find_difference, np, observe, say_first_part, tf


class _TensorFlows:
    """The reference for the learner's cache. Its traces are those of a tf.function."""

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


class _Built:
    """A cache of traces. The learner wrote one or two of its parts."""

    def __init__(self, fn, reduce_retracing=False, **parts):
        self.fn, self.relaxes, self.cache = fn, reduce_retracing, []
        run = lambda fn, args: fn(*args)  # noqa: E731
        self.parts = {"key": _two_parts, "find": _find_equal, "trace": run, **parts}

    def __call__(self, *args):
        keys, key = [key for key, _ in self.cache], tried(self.parts["key"](args))
        place = tried(self.parts["find"](list(keys), key), "find")
        if place is not None and (type(place) is not int or not 0 <= place < len(keys)):
            what = "None or a position in keys"
            raise InvalidAnswer(f"find must return {what}, not {short_repr(place)}")
        if place is not None:
            return self.cache[place][1]
        if self.relaxes:
            key = tried(self.parts["widen"](keys, key), "widen")
            if not isinstance(key, tuple | list) or len(key) != 2:
                raise InvalidAnswer(f"widen must return (form, leaves), not {short_repr(key)}")
            key = key[0], list(key[1])
        self.cache.append((key, tried(self.parts["trace"](self.fn, args))))
        return self.cache[-1][1]


def _two_parts(args) -> tuple:
    is_tensor = lambda leaf: isinstance(leaf, tf.Tensor)  # noqa: E731
    leaves = [(x.dtype, tuple(x.shape)) if is_tensor(x) else x for x in tf.nest.flatten(args)]
    return tf.nest.map_structure(lambda leaf: 0, args), leaves


def _find_equal(keys, key):
    return next((at for at, known in enumerate(keys) if known == key), None)


class Sequence(namedtuple("Sequence", "shows body calls relaxed", defaults=(False,))):
    """Calls of a function, what they show, and the body. A function may make a call's arguments."""

    def run(self, answer) -> dict[str, str]:
        """Return what the learner's cache does at each call."""
        ran, steps = [], {}

        @functools.wraps(self.body)
        def body(*args):
            ran.append(None)
            return self.body(*args) or f"what the body returned in call {len(steps) + 1}"

        mine = tried(answer(body, **({"reduce_retracing": True} if self.relaxed else {})))
        for number, call in enumerate(self.calls, 1):
            args = _copy(call() if callable(call) else call)  # no call may change a shared list
            before, seen = _copy(args), len(ran)
            name = f"call {number} with ({', '.join(map(short_repr, args))})"
            found = observe(lambda mine, args=args: mine(*args), mine)
            does = f"returns {short_repr(found)}"
            if isinstance(found, Raised):
                kinds = KeyError, ValueError, TypeError, Exception
                kind = next(kind for kind in kinds if issubclass(found.kind, kind))
                does = f"raises a {kind.__name__}"
            held = [x.items for x in tf.nest.flatten(args) if isinstance(x, Holder)]
            does += f", leaves {held[0]} in the caller's object" if held else ""
            del found, held
            times = len(ran) - seen
            runs = ("hits", "traces")[times] if times < 2 else f"runs the body {times} times"
            kept = f"{does}, keeps {len(mine.cache)} traces"
            if answer is not _TensorFlows and not _is_same(args, before):
                kept = "changes the caller's own list or dict. You must trace on a nested copy"
            steps[name] = f"{runs}, {kept}"
            del args, before  # so that an object can be freed before the next call
        return steps


def _copy(args):
    return tf.nest.map_structure(lambda leaf: leaf, args)


def _is_same(args, before) -> bool:
    forms = [tf.nest.map_structure(id, each) for each in (args, before)]
    return forms[0] == forms[1]


@dataclass(eq=False)
class Plain:
    """An object that equals only itself."""

    value: int


@dataclass(eq=False)
class Holder:
    """An object whose list a body can change."""

    items: list


@dataclass(frozen=True)
class Equal:
    """An object that equals those with the same value."""

    value: int


def _one(x): ...


def _two(x, n): ...


def _append(x, n=1):
    if isinstance(x, list) and n:
        x.append(1)


def _replace(x):
    x[0] = x[0] + 1


def _replace_by_equal(x):
    x[0] = tf.identity(x[0])


def _change_inside_object(x):
    x.items.append(1)


def _put_back(x):
    x[0], x[1] = x[0], x[1]


def _write_inside(x):
    x["a"]["new"] = 1


def _raise_for_lists(x):
    if isinstance(x, list):
        raise KeyError("the body's own error")


def _of_one(body, *rows) -> list[Sequence]:
    """Return sequences of calls with one argument. Each row is what it shows, and arguments."""
    return [
        Sequence(shows, body, tuple((x,) for x in calls), shows.startswith("with reduce"))
        for shows, *calls in rows
    ]


def _keys() -> list[Sequence]:
    """Return sequences from the plainest to the strangest. Each shows one rule of the key."""
    one, two, three, whole = tf.ones([]), *map(tf.ones, ([2], [3])), tf.ones([2], tf.int32)
    a, b, doubles = Plain(1), Plain(1), tf.ones([2], tf.float64)
    orders = {"a": two, "b": three}, {"b": three, "a": two}
    inside = [one], [one * 2], [two], [two * 5], {"a": two}, {"a": two * 5}, [[two]], [[two * 5]]
    pairs, new = ((two, 1), (two, 2), (three, 1), (two, 1)), (lambda: (Plain(1),),) * 4
    return [
        *_of_one(
            _one,
            ("tensors of the same dtype and shape share a trace", two, two * 5),
            ("another shape is another key", two, three, two),
            ("another dtype is another key", two, whole, two),
            ("a Python value is its own key", 1, 2, 1),
            ("1, 1.0 and True are equal, so they share a key", 1, 1.0, True),
            ("text and bytes are different keys, and None is a value", "a", b"a", None, None, "a"),
            ("a list is not a tuple", [two], (two,), [two]),
            ("inside a container, too, a tensor's value is not in the key", *inside),
            ("a dict's keys are in the key, but not their order", *orders, {"a": two}, {"c": two}),
            ("an object is its own key, whatever it contains", a, b, a, [a], [b], [a], len),
            ("objects that compare equal share a key", *map(Equal, (1, 1, 2, 1))),
            ("a NumPy array counts as a tensor", np.ones(2), np.zeros(2), doubles, np.ones(3)),
            ("a NumPy number counts as a tensor", *map(np.float64, (1, 2)), np.int8(1), 1.0, 2.0),
            ("so do NumPy values in containers", [np.ones(2)], [np.zeros(2)], [np.float64(1)]),
        ),
        Sequence("every argument counts", _two, pairs),
        Sequence("each new object is a new key, even if the last one is freed", _one, new),
    ]


def _lookups() -> list[Sequence]:
    ones, two, whole = lambda *shapes: map(tf.ones, shapes), tf.ones([2]), tf.ones([3], tf.int32)
    inside, wider = ({"a": [x]} for x in ones([2], [3], [4])), "with reduce_retracing, "
    mixed = tuple((tf.ones([n]), value) for n, value in ((2, 1), (3, 2), (4, 1), (5, 2), (6, 2)))
    return [
        *_of_one(
            _one,
            ("an equal key is a hit", two, tf.ones([3]), two, 1, True, 2, tf.ones([4])),
            ("another form is another key", [two], (two,), {"a": two}, [two], [two, two]),
            ("without reduce_retracing, no key fits other lengths", *ones([2], [3], [4])),
            (f"{wider}a second shape widens the key to all lengths", *ones([2], [3], [4])),
            (f"{wider}two ranks widen the key to all ranks", *ones([2], [2, 2], [3], [2, 2, 2])),
            (f"{wider}a size that agrees is kept", *ones([300, 1], [300, 2], [301, 3])),
            (f"{wider}the first that fits is used", *ones([2, 3], [2, 4], [5, 3], [2, 9], [2, 3])),
            (f"{wider}another form widens no key", [two], (tf.ones([3]),), (tf.ones([5]),)),
            (f"{wider}another dtype widens no key", two, whole, tf.ones([4], tf.int32)),
            (f"{wider}inside a dict and a list, too", *inside),
        ),
        Sequence("only keys that agree in all else are widened", _two, mixed, True),
    ]


def _mutations() -> list[Sequence]:
    two, new = tf.ones([2]), (lambda: (Holder([]),),)
    return [
        *_of_one(_one, ("without a change, you get the body's result", two, {"a": [two, 1]})),
        *_of_one(_append, ("appending to a list raises, every time", [two], [two])),
        *_of_one(_write_inside, ("a write one level down raises", {"a": {}})),
        *_of_one(_replace, ("another object in the same place raises", [two])),
        *_of_one(_replace_by_equal, ("an equal tensor in the same place raises", [two])),
        *_of_one(_put_back, ("the same object in its own place does not raise", [two, 1])),
        Sequence("what an object contains may change", _change_inside_object, new),
        *_of_one(_raise_for_lists, ("the body's own error propagates", [two], (two,), [two])),
        *_of_one(_append, ("only modified arguments are refused", [two], (two,), [two])),
    ]


def _list_calls(find: Callable, widen: Callable) -> Ledger:
    entries, shown = [], ("an equal key is a hit", "the first that fits is used")
    for one in _lookups():
        if one.shows.removeprefix("with reduce_retracing, ") in shown:
            mine, real = one.run(partial(_Built, find=find, widen=widen)), one.run(_TensorFlows)
            for name in real:
                words = (steps[name].partition("s,")[0] for steps in (mine, real))
                pair = tuple(Verdict(w, "changed" if w == "trace" else "plain") for w in words)
                entries.append(Entry(name.partition(" with ")[2], pair, one.shows))
    title = "Your cache and TensorFlow's, call by call"
    return Ledger(title, "call", ("yours", "TensorFlow's"), tuple(entries), marks=MARKS)


def _part_from_tensorflow(answer, sequences: list[Sequence]) -> str | None:
    cases = (Case(one.shows, one.run, say_first_part("TensorFlow")) for one in sequences)
    return find_difference(answer, _TensorFlows, cases, "TensorFlow")


@exercise(
    "tf.nest.map_structure(f, args) calls f for each leaf and keeps the lists, tuples and dicts. "
    "Which f gives equal results for calls that share a trace?",
    "The key of a tensor is (dtype, shape). NumPy arrays and numbers count as tensors. The key of "
    "any other leaf is the leaf itself, because == compares leaves as TensorFlow does.",
    "For an instance of tf.Tensor, np.ndarray or np.generic, f returns (tf.as_dtype(leaf.dtype), "
    "tuple(leaf.shape)). For all else, it returns the leaf.",
)
def cache_key(key: Callable):
    """In every sequence of calls, your key makes the same hits and traces as tf.function."""
    return _part_from_tensorflow(partial(_Built, key=key), _keys())


@exercise(
    "First write a function common(a, b) that returns the leaf that covers two leaves, or nothing. "
    "A known leaf k fits a new leaf n if common(k, n) equals k.",
    "Equal leaves are their own common leaf. Two tensors of one dtype have one, too. Replace sizes "
    "that differ by None. If ranks differ, replace the whole shape by None. Others have none.",
    "find returns the first known key of the same form whose leaves all fit. widen goes through "
    "the known keys of the same form, and replaces the leaves by the common ones if all have one.",
    picture=_list_calls,
)
def cache_lookup(find: Callable, widen: Callable):
    """In every sequence of calls, your lookup hits and widens where tf.function does."""
    return _part_from_tensorflow(partial(_Built, find=find, widen=widen), _lookups())


@exercise(
    "Run the body on a nested copy, tf.nest.map_structure(lambda leaf: leaf, args).",
    "Then compare the copy with the arguments. tf.nest.map_structure(lambda leaf: 0, args) returns "
    "a form that you can compare with ==.",
    "If the forms are equal, flatten both with tf.nest.flatten and go through the pairs. Each pair "
    "must be the same object (is). Otherwise raise ValueError.",
)
def cache_mutation(trace: Callable):
    """Your trace refuses a body that modifies its arguments where tf.function does."""
    always = partial(_Built, find=lambda keys, key: None, trace=trace)
    return _part_from_tensorflow(always, _mutations())
