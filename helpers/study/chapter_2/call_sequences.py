"""Call sequences of a tf.function -> what TensorFlow does at each call: run, trace or raise."""

import random
from dataclasses import dataclass

from helpers.capture.tensorflow.tracing.ledger import watch

SHAPES = ("leaf", "leaf", "leaf", "list", "tuple", "dict")


@dataclass(frozen=True)
class Sequence:
    """Some calls of a function: what they show, the body, and the arguments of each call."""

    shows: str
    body: object
    calls: tuple[tuple, ...]
    reduce_retracing: bool = False


@dataclass(frozen=True)
class Step:
    """One call as TensorFlow did it: its arguments in words, its verdict, the traces after it."""

    arguments: str
    verdict: str
    traces: int


def truth(sequence: Sequence) -> list[Step]:
    """Run a sequence on a new tf.function and return a step per call."""
    options = {"autograph": False, "reduce_retracing": sequence.reduce_retracing}
    kept, steps = watch(sequence.body, **options), []
    for args in sequence.calls:
        try:
            kept(*args)
        except (TypeError, ValueError) as error:
            del error
        last = kept.last
        steps.append(Step(last.arguments, last.verdict, kept.experimental_get_tracing_count()))
    return steps


def sequences() -> list[Sequence]:
    """Return sequences from the plainest to the oddest; each shows one rule, the last ones many."""
    return [*_keys(), *_relaxed(), *_modified(), *_many(40)]


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


def _modified():
    import tensorflow as tf

    two = tf.ones([2])
    yield Sequence("an appended list raises, every time", _append, (([two],), ([two],)))
    yield Sequence("a new dict key raises", _new_key, (({"a": two},),))
    yield Sequence("a write one level down raises", _nested, (({"a": {}},),))
    yield Sequence("another object in the same place raises", _replace, (([two],),))
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


def _done():
    import tensorflow as tf

    return tf.constant(0)


def _one(x):
    return _done()


def _two(x, n):
    return _done()


def _append(x):
    x.append(1)
    return _done()


def _append_once(x):
    return _append(x) if isinstance(x, list) else _done()


def _append_first(x, n):
    return _append(x) if isinstance(x, list) and n else _done()


def _new_key(x):
    x["new"] = 1
    return _done()


def _nested(x):
    x["a"]["new"] = 1
    return _done()


def _replace(x):
    x[0] = x[0] + 1
    return _done()
