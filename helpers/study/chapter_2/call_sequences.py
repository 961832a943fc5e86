"""Call sequences of a tf.function -> what TensorFlow does at each call: run, trace or raise."""

import functools
import random
from collections.abc import Callable
from dataclasses import dataclass

from helpers.capture.tensorflow.tracing.ledger import watch

SHAPES = ("leaf", "leaf", "leaf", "list", "tuple", "dict")


@dataclass(frozen=True)
class Sequence:
    """Some calls of a function: what they show, the body, and the arguments of each call.

    A call may also be a function that makes its arguments anew. The body returns which call it
    was traced in, or nothing if `silent`.
    """

    shows: str
    body: Callable
    calls: tuple
    reduce_retracing: bool = False
    silent: bool = False


@dataclass(frozen=True)
class Step:
    """One call as TensorFlow did it: its arguments in words, its verdict, the traces after it.

    `result`: the number of the call whose trace it ran, None for nothing; `error`: what it raised.
    """

    arguments: str
    verdict: str
    traces: int
    result: int | None
    error: Exception | None


def truth(sequence: Sequence) -> list[Step]:
    """Run a sequence on a new tf.function and return a step per call."""
    import tensorflow as tf

    options = {"autograph": False, "reduce_retracing": sequence.reduce_retracing}

    @functools.wraps(sequence.body)
    def body(*args):
        sequence.body(*args)
        return None if sequence.silent else tf.constant(len(steps))

    kept, steps = watch(body, **options), []
    for call in sequence.calls:
        result = error = None
        try:
            result = kept(*arguments(call))
        except (TypeError, ValueError, KeyError) as raised:
            error = raised.with_traceback(None)  # or it would keep the arguments alive
            error.__context__ = error.__cause__ = None
        last, traces = kept.last, kept.experimental_get_tracing_count()
        result = None if result is None else int(result)
        steps.append(Step(last.arguments, last.verdict, traces, result, error))
    return steps


def arguments(call) -> tuple:
    """Return the arguments of one call of a sequence."""
    return call() if callable(call) else call


@functools.cache
def known() -> tuple[tuple[Sequence, list[Step]], ...]:
    """Return all sequences with TensorFlow's steps, which are the same each time."""
    return tuple((sequence, truth(sequence)) for sequence in sequences())


def sequences() -> list[Sequence]:
    """Return sequences from the plainest to the oddest; each shows one rule, the last ones many."""
    return [*_keys(), *_objects(), *_relaxed(), *_modified(), *_many(40)]


def _keys():
    import tensorflow as tf

    two, three, whole = tf.ones([2]), tf.ones([3]), tf.ones([2], tf.int32)
    yield Sequence("tensors of one dtype and shape share a trace", _one, ((two,), (two * 5,)))
    yield Sequence("another shape is another key", _one, ((two,), (three,), (two,)))
    lengths = tuple((tf.ones([n]),) for n in (2, 3, 4, 5))
    yield Sequence("unasked, no key makes room for other lengths", _one, lengths)
    yield Sequence("another dtype is another key", _one, ((two,), (whole,), (two,)))
    yield Sequence("a Python value is its own key", _one, ((1,), (2,), (1,)))
    yield Sequence("1, 1.0 and True are equal, and so one key", _one, ((1,), (1.0,), (True,)))
    yield Sequence("no arguments are a key, too", _none, ((), ()))
    yield Sequence("a body may return nothing", _one, ((1,), (2,), (1,)), silent=True)
    yield Sequence("text is not bytes", _one, (("a",), (b"a",), ("a",)))
    yield Sequence("None is a value, too", _one, ((None,), (None,), (two,)))
    yield Sequence("a list is not a tuple", _one, (([two],), ((two,),), ([two],)))
    yield Sequence("a longer list is another key", _one, (([two],), ([two, two],)))
    yield Sequence("an empty list is not an empty dict", _one, (([],), ({},), ([],)))
    yield Sequence(
        "the order of a dict does not matter",
        _one,
        (({"a": two, "b": three},), ({"b": three, "a": two},)),
    )
    yield Sequence("another dict key is another key", _one, (({"a": two},), ({"b": two},)))
    yield Sequence("inside a list the rules are the same", _one, (([1, [two]],), ([1, [three]],)))
    yield Sequence("every argument counts", _two, ((two, 1), (two, 2), (three, 1), (two, 1)))


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


def _objects():
    a, b, same, also, another = Plain(1), Plain(1), Equal(1), Equal(1), Equal(2)
    yield Sequence("an object is its own key, whatever it holds", _one, ((a,), (b,), (a,)))
    yield Sequence("inside a list, too", _one, (([a],), ([b],), ([a],)))
    new = tuple(lambda: (Plain(1),) for _ in range(4))
    yield Sequence("each new object is a new key, also when the last one is gone", _one, new)
    yield Sequence(
        "objects that say they are equal are one key", _one, ((same,), (also,), (another,), (same,))
    )
    yield Sequence("a function is an object, too", _one, ((len,), (print,), (len,)))


def _relaxed():
    import tensorflow as tf

    lengths = tuple((tf.ones([n]),) for n in (2, 3, 4, 2))
    yield Sequence("relaxed: a second shape makes room for all lengths", _one, lengths, True)
    ranks = tuple((tf.ones(shape),) for shape in ([2], [2, 2], [3], [2, 2, 2]))
    yield Sequence("relaxed: two ranks make room for all ranks", _one, ranks, True)
    yield Sequence("relaxed: Python values stay apart", _one, ((1,), (2,), (3,)), True)
    mixed = tuple((tf.ones([n]), value) for n, value in ((2, 1), (3, 2), (4, 1), (5, 2), (6, 2)))
    yield Sequence("relaxed: only keys that agree in all else make room", _two, mixed, True)
    nested = tuple(({"a": [tf.ones([n])]},) for n in (2, 3, 4))
    yield Sequence("relaxed: inside a dict and a list, too", _one, nested, True)

    wide = tuple((tf.ones(shape),) for shape in ([2, 3], [2, 4], [5, 3], [2, 9], [2, 3]))
    yield Sequence("relaxed: of the traces that fit, the first", _one, wide, True)
    large = tuple((tf.ones(shape),) for shape in ([300, 1], [300, 2], [301, 3], [300, 4]))
    yield Sequence("relaxed: a size that agrees is kept, also a large one", _one, large, True)
    scalars = tuple((tf.ones(shape),) for shape in ([], [1], [2, 3], []))
    yield Sequence("relaxed: a scalar has a rank, too", _one, scalars, True)


def _modified():
    import tensorflow as tf

    two, equal = tf.ones([2]), Equal(1)
    yield Sequence("an appended list raises, every time", _append, (([two],), ([two],)))
    yield Sequence("a new dict key raises", _new_key, (({"a": two},),))
    yield Sequence("a write one level down raises", _nested, (({"a": {}},),))
    yield Sequence("another object in the same place raises", _replace, (([two],),))
    yield Sequence("an equal object in the same place raises", _equal_in_its_place, (([equal],),))
    yield Sequence(
        "the body's own error comes through, and leaves no trace",
        _raise_for_lists,
        (([two],), (two,), ([two],), (two,)),
    )
    yield Sequence("what raised was not traced", _append_once, (([two],), ((two,),), ([two],)))


def _many(count: int):
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
        body = dice.choice([_two, _append_first])
        yield Sequence("calls at random", body, calls, number % 2 == 0)


def _one(x):
    pass


def _two(x, n):
    pass


def _none():
    pass


def _append(x):
    x.append(1)


def _append_once(x):
    if isinstance(x, list):
        x.append(1)


def _append_first(x, n):
    if isinstance(x, list) and n:
        x.append(1)


def _new_key(x):
    x["new"] = 1


def _nested(x):
    x["a"]["new"] = 1


def _replace(x):
    x[0] = x[0] + 1


def _equal_in_its_place(x):
    x[0] = Equal(x[0].value)


def _raise_for_lists(x):
    if isinstance(x, list):
        raise KeyError("the body's own error")
