"""Chapter 2, exercise 3: a cache of traces of one's own, beside tf.function, call by call."""

import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from helpers.capture.tensorflow.trace_ledger import watch
from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.traces import MARKS
from helpers.study.engine import (
    Case,
    Exercise,
    Raised,
    Unfit,
    Untried,
    find_difference,
    parted,
    tried,
    within,
)

SHAPES = ("leaf", "leaf", "leaf", "list", "tuple", "dict")
KINDS = (KeyError, ValueError, TypeError, Exception)


class TensorFlows:
    """What the learner's class is to be: here the traces are a tf.function's."""

    def __init__(self, fn, reduce_retracing=False):
        import tensorflow as tf

        self.cache = []

        @functools.wraps(fn)
        def body(*args):
            self.cache.append(fn(*args))
            return tf.constant(len(self.cache) - 1)

        self.graphs = watch(body, autograph=False, reduce_retracing=reduce_retracing)

    def __call__(self, *args):
        """Return what the body returned in the trace that TensorFlow runs."""
        kept = len(self.cache)
        try:
            return self.cache[int(self.graphs(*args))]
        except Exception:
            del self.cache[kept:]
            raise


@dataclass(frozen=True)
class Step:
    """One call: whether it raised, how often the body ran, what it returned, the traces after it.

    `spoiled`: the caller's list or dict is another now; `words`: the arguments, if they are known.
    """

    raised: str
    ran: int
    result: str
    kept: int
    spoiled: bool
    words: str = field(default="", compare=False)


class Returned:
    """What the body returned in one call: stands for the graph of that trace."""

    def __init__(self, number: int):
        self.number = number


@dataclass(frozen=True, eq=False)  # each is equal to itself alone
class Sequence:
    """Some calls of a function, what they show, and the body; a call may be made by a function."""

    shows: str
    body: Callable
    calls: tuple
    relaxed: bool = False
    silent: bool = False

    def run(self, answer) -> list[Step]:
        """Return what an answer does at each call; TensorFlow is asked once in a process."""
        if answer is not TensorFlows:
            return self._steps(answer)
        if self not in _KNOWN:
            _KNOWN[self] = self._steps(answer)
        return _KNOWN[self]

    def _steps(self, answer) -> list[Step]:
        ran, steps = [], []

        @functools.wraps(self.body)
        def body(*args):
            ran.append(None)
            self.body(*args)
            return None if self.silent else Returned(len(steps))

        mine = tried(answer(body, **({"reduce_retracing": True} if self.relaxed else {})))
        if answer is not TensorFlows and any(map(_is_graph, vars(mine).values())):
            raise Unfit("yours calls a tf.function; keep the traces yourself")
        for call in self.calls:
            args = copied(call() if callable(call) else call)  # or a list would be spoiled
            before, seen, result, raised = copied(args), len(ran), None, ""
            try:
                result = tried(mine(*args))
            except (Untried, Unfit):
                raise
            except Exception as error:
                raised = _name_error(error)
            spoiled = not same(before, args) and answer is not TensorFlows
            last = mine.graphs.last.arguments if answer is TensorFlows else ""
            many = len(ran) - seen
            steps.append(Step(raised, many, _name(result), _count(mine), spoiled, last))
            del args, before  # an object may be gone before the next call
        return steps


_KNOWN: dict[Sequence, list[Step]] = {}


def _is_graph(value) -> bool:
    return hasattr(value, "get_concrete_function")


def _name_error(error) -> str:
    kind = next(kind for kind in KINDS if isinstance(error, kind))
    return f"raises {said(error)}" if kind is KeyError else f"raises a {kind.__name__}"


def _name(result) -> str:
    known = type(result) is Returned
    return f"what the body returned in call {result.number + 1}" if known else brief(result)


def _count(mine) -> int:
    try:
        return len(mine.cache)
    except (AttributeError, TypeError):
        raise Unfit("self.cache must be a list (or a dict …) with one item per trace") from None


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


def _advise(mine, real) -> str:
    """Say what differs at the first call that does."""
    if isinstance(mine, Raised):
        return mine.sentence
    one, other = next(pair for pair in zip(mine, real, strict=True) if pair[0] != pair[1])
    return within(f"at the call {other.words}, ", _compare(one, other))


def _compare(mine: Step, real: Step) -> str:
    if mine.spoiled:
        return "the caller's own list or dict changed; trace on a copy"
    if mine.raised != real.raised:
        both = (mine.raised or "does not raise"), (real.raised or "does not raise")
        own = "KeyError" in real.raised
        tip = "; let the body's own through as it is" if own else "; compare before and after"
        return parted("", *both, "TensorFlow", tip if real.raised else "")
    if mine.ran != real.ran:
        words = f"ran the body {mine.ran} times" if mine.ran > 1 else ("hits", "traces")[mine.ran]
        right = "runs it once for a trace" if mine.ran > 1 and real.ran else ("hits", "traces")
        return parted("", words, right if type(right) is str else right[real.ran], "TensorFlow")
    if mine.result != real.result:
        return parted("", f"returns {mine.result}", f"returns {real.result}", "TensorFlow")
    return parted("", f"keeps {mine.kept} traces", f"keeps {real.kept}", "TensorFlow")


class Plain:
    """An object that is equal to itself alone."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


class Equal(Plain):
    """An object that is equal to those with the same value."""

    def __eq__(self, other):
        return isinstance(other, Equal) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


def one(x):
    """Take one argument."""


def two(x, n):
    """Take two arguments."""


def none():
    """Take nothing."""


def append(x, n=1):
    """Append to a list, if `n` says so."""
    if isinstance(x, list) and n:
        x.append(1)


def replace(x):
    """Put another object in the place of the first; an equal one, if that can be."""
    x[0] = Equal(x[0].value) if isinstance(x[0], Equal) else x[0] + 1


def write_inside(x):
    """Write a new key into a dict in a dict."""
    x["a"]["new"] = 1


def raise_for_lists(x):
    """Raise an error of its own for a list."""
    if isinstance(x, list):
        raise KeyError("the body's own error")


@functools.cache
def sequences() -> tuple[Sequence, ...]:
    """Return sequences from the plainest to the oddest; each shows one rule, the last ones many."""
    return (*_keys(), *_relaxed(), *_modified(), *_draw(12))


def _keys() -> Iterator[Sequence]:
    import tensorflow as tf

    two_, three, whole = tf.ones([2]), tf.ones([3]), tf.ones([2], tf.int32)
    a, b, new = Plain(1), Plain(1), tuple(lambda: (Plain(1),) for _ in range(4))
    orders = {"a": two_, "b": three}, {"b": three, "a": two_}
    lengths = tuple((tf.ones([n]),) for n in (2, 3, 4, 5))
    for shows, *calls in (
        ("tensors of one dtype and shape share a trace", two_, two_ * 5),
        ("another shape is another key", two_, three, two_),
        ("another dtype is another key", two_, whole, two_),
        ("a Python value is its own key", 1, 2, 1),
        ("1, 1.0 and True are equal, and so one key", 1, 1.0, True),
        ("text is not bytes, and None is a value", "a", b"a", None, None, "a"),
        ("a list is not a tuple", [two_], (two_,), [two_]),
        ("a longer list is another key", [two_], [two_, two_], [], {}, []),
        ("the order of a dict does not matter, its keys do", *orders, {"a": two_}, {"c": two_}),
        ("inside a list the rules are the same", [1, [two_]], [1, [three]]),
        ("an object is its own key, whatever it holds", a, b, a, [a], [b], [a], len, print),
        ("objects that say they are equal are one key", Equal(1), Equal(1), Equal(2), Equal(1)),
    ):
        yield Sequence(shows, one, tuple((call,) for call in calls))
    yield Sequence("unasked, no key makes room for other lengths", one, lengths)
    yield Sequence("no arguments are a key, too", none, ((), ()))
    yield Sequence("a body may return nothing", one, ((1,), (2,), (1,)), silent=True)
    yield Sequence("every argument counts", two, ((two_, 1), (two_, 2), (three, 1), (two_, 1)))
    yield Sequence("each new object is a new key, also when the last one is gone", one, new)


def _relaxed() -> Iterator[Sequence]:
    import tensorflow as tf

    for shows, *shapes in (
        ("a second shape makes room for all lengths", [2], [3], [4], [2]),
        ("two ranks make room for all ranks", [2], [2, 2], [3], [2, 2, 2]),
        ("of the traces that fit, the first", [2, 3], [2, 4], [5, 3], [2, 9], [2, 3]),
        ("room for all the traces together", [2, 3], [3, 3], [2, 4], [7, 7]),
        ("a size that agrees is kept, also a large one", [300, 1], [300, 2], [301, 3], [300, 4]),
        ("a scalar has a rank, too", [], [1], [2, 3], []),
    ):
        calls = tuple((tf.ones(shape),) for shape in shapes)
        yield Sequence(f"with reduce_retracing, {shows}", one, calls, True)
    mixed = tuple((tf.ones([n]), value) for n, value in ((2, 1), (3, 2), (4, 1), (5, 2), (6, 2)))
    yield Sequence("only keys that agree in all else make room", two, mixed, True)
    inside = tuple(({"a": [tf.ones([n])]},) for n in (2, 3, 4))
    yield Sequence("with reduce_retracing, inside a dict and a list, too", one, inside, True)


def _modified() -> Iterator[Sequence]:
    import tensorflow as tf

    two_ = tf.ones([2])
    twice, both = (([two_],), ([two_],)), (([two_],), ((two_,),), ([two_],))
    yield Sequence("an appended list raises, every time", append, twice)
    yield Sequence("a write one level down raises", write_inside, (({"a": {}},),))
    yield Sequence("another object in the same place raises", replace, (([two_],),))
    yield Sequence("an equal object in the same place raises", replace, (([Equal(1)],),))
    yield Sequence("the body's own error leaves no trace", raise_for_lists, both)
    yield Sequence("what raised was not traced", append, both)


def _draw(count: int) -> Iterator[Sequence]:
    """Yield sequences at random, the same ones each time."""
    import tensorflow as tf

    dice = random.Random(2)
    leaves = [1, 2, True, "a", None, tf.ones([2]), tf.ones([3]), tf.ones([2, 2]), tf.ones([2]) > 0]

    def argument(depth=0):
        shape = dice.choice(SHAPES if depth < 2 else SHAPES[:1])
        if shape == "leaf":
            return dice.choice(leaves)
        if shape == "dict":
            return {key: argument(depth + 1) for key in dice.sample("ab", dice.randint(1, 2))}
        items = [argument(depth + 1) for _ in range(dice.randint(0, 2))]
        return items if shape == "list" else tuple(items)

    for number in range(count):
        pool = [argument() for _ in range(3)] + [tf.ones([n]) for n in (2, 3, 4)]
        calls = tuple((dice.choice(pool), dice.choice([0, 0, 1])) for _ in range(6))
        yield Sequence("calls at random", dice.choice([two, append]), calls, number % 2 == 0)


def _judge_cache(my_function: Callable):
    cases = (Case(one.shows, one.run, _advise) for one in sequences())
    return find_difference(my_function, TensorFlows, cases, "TensorFlow", list.__eq__)


def cache_log(my_function) -> Ledger:
    """Run a few sequences on the learner's function: which calls ran its body?"""
    entries = []
    for one in sequences()[1], sequences()[12]:
        for mine, real in zip(one.run(my_function), one.run(TensorFlows), strict=True):
            pair = tuple(_verdict("trace" if step.ran else "hit") for step in (mine, real))
            entries.append(Entry(real.words, pair, one.shows))
    title = "What your cache did, beside TensorFlow's"
    return Ledger(title, "call", ("yours", "TensorFlow's"), tuple(entries), marks=MARKS)


def _verdict(word: str) -> Verdict:
    return Verdict(word, "changed" if word == "trace" else "plain")


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
