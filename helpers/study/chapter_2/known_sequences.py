"""The sequences of calls on which a cache of traces is compared with TensorFlow's."""

import functools
import random
from collections.abc import Iterator

from helpers.study.chapter_2 import bodies
from helpers.study.chapter_2.call_sequences import Sequence, Step, truth

SHAPES = ("leaf", "leaf", "leaf", "list", "tuple", "dict")


def known() -> Iterator[tuple[Sequence, list[Step]]]:
    """Give each sequence with TensorFlow's steps, which are taken once, when they are asked for."""
    return ((sequence, steps_of(at)) for at, sequence in enumerate(sequences()))


@functools.cache
def steps_of(at: int) -> list[Step]:
    """Return TensorFlow's steps for one of the sequences: the same each time."""
    return truth(sequences()[at])


@functools.cache
def sequences() -> tuple[Sequence, ...]:
    """Return sequences from the plainest to the oddest; each shows one rule, the last ones many."""
    return (*_keys(), *_objects(), *_relaxed(), *_modified(), *_many(40))


def _keys():
    import tensorflow as tf

    two, three, whole = tf.ones([2]), tf.ones([3]), tf.ones([2], tf.int32)
    yield Sequence("tensors of one dtype and shape share a trace", bodies.one, ((two,), (two * 5,)))
    yield Sequence("another shape is another key", bodies.one, ((two,), (three,), (two,)))
    lengths = tuple((tf.ones([n]),) for n in (2, 3, 4, 5))
    yield Sequence("unasked, no key makes room for other lengths", bodies.one, lengths)
    yield Sequence("another dtype is another key", bodies.one, ((two,), (whole,), (two,)))
    yield Sequence("a Python value is its own key", bodies.one, ((1,), (2,), (1,)))
    yield Sequence("1, 1.0 and True are equal, and so one key", bodies.one, ((1,), (1.0,), (True,)))
    yield Sequence("no arguments are a key, too", bodies.none, ((), ()))
    yield Sequence("a body may return nothing", bodies.one, ((1,), (2,), (1,)), silent=True)
    yield Sequence("text is not bytes", bodies.one, (("a",), (b"a",), ("a",)))
    yield Sequence("None is a value, too", bodies.one, ((None,), (None,), (two,)))
    yield Sequence("a list is not a tuple", bodies.one, (([two],), ((two,),), ([two],)))
    yield Sequence("a longer list is another key", bodies.one, (([two],), ([two, two],)))
    yield Sequence("an empty list is not an empty dict", bodies.one, (([],), ({},), ([],)))
    yield Sequence(
        "the order of a dict does not matter",
        bodies.one,
        (({"a": two, "b": three},), ({"b": three, "a": two},)),
    )
    yield Sequence("another dict key is another key", bodies.one, (({"a": two},), ({"b": two},)))
    yield Sequence(
        "inside a list the rules are the same", bodies.one, (([1, [two]],), ([1, [three]],))
    )
    yield Sequence("every argument counts", bodies.two, ((two, 1), (two, 2), (three, 1), (two, 1)))


def _objects():
    a, b, same, also, another = (
        bodies.Plain(1),
        bodies.Plain(1),
        bodies.Equal(1),
        bodies.Equal(1),
        bodies.Equal(2),
    )
    yield Sequence("an object is its own key, whatever it holds", bodies.one, ((a,), (b,), (a,)))
    yield Sequence("inside a list, too", bodies.one, (([a],), ([b],), ([a],)))
    new = tuple(lambda: (bodies.Plain(1),) for _ in range(4))
    yield Sequence("each new object is a new key, also when the last one is gone", bodies.one, new)
    yield Sequence(
        "objects that say they are equal are one key",
        bodies.one,
        ((same,), (also,), (another,), (same,)),
    )
    yield Sequence("a function is an object, too", bodies.one, ((len,), (print,), (len,)))


def _relaxed():
    import tensorflow as tf

    lengths = tuple((tf.ones([n]),) for n in (2, 3, 4, 2))
    yield Sequence("relaxed: a second shape makes room for all lengths", bodies.one, lengths, True)
    ranks = tuple((tf.ones(shape),) for shape in ([2], [2, 2], [3], [2, 2, 2]))
    yield Sequence("relaxed: two ranks make room for all ranks", bodies.one, ranks, True)
    yield Sequence("relaxed: Python values stay apart", bodies.one, ((1,), (2,), (3,)), True)
    mixed = tuple((tf.ones([n]), value) for n, value in ((2, 1), (3, 2), (4, 1), (5, 2), (6, 2)))
    yield Sequence("relaxed: only keys that agree in all else make room", bodies.two, mixed, True)
    nested = tuple(({"a": [tf.ones([n])]},) for n in (2, 3, 4))
    yield Sequence("relaxed: inside a dict and a list, too", bodies.one, nested, True)

    wide = tuple((tf.ones(shape),) for shape in ([2, 3], [2, 4], [5, 3], [2, 9], [2, 3]))
    yield Sequence("relaxed: of the traces that fit, the first", bodies.one, wide, True)
    both = tuple((tf.ones(shape),) for shape in ([2, 3], [3, 3], [2, 4], [7, 7]))
    yield Sequence("relaxed: room for all the traces together", bodies.one, both, True)
    large = tuple((tf.ones(shape),) for shape in ([300, 1], [300, 2], [301, 3], [300, 4]))
    yield Sequence("relaxed: a size that agrees is kept, also a large one", bodies.one, large, True)
    scalars = tuple((tf.ones(shape),) for shape in ([], [1], [2, 3], []))
    yield Sequence("relaxed: a scalar has a rank, too", bodies.one, scalars, True)


def _modified():
    import tensorflow as tf

    two, equal = tf.ones([2]), bodies.Equal(1)
    yield Sequence("an appended list raises, every time", bodies.append, (([two],), ([two],)))
    yield Sequence("a new dict key raises", bodies.new_key, (({"a": two},),))
    yield Sequence("a write one level down raises", bodies.nested, (({"a": {}},),))
    yield Sequence("another object in the same place raises", bodies.replace, (([two],),))
    yield Sequence(
        "an equal object in the same place raises", bodies.equal_in_its_place, (([equal],),)
    )
    yield Sequence(
        "the body's own error comes through, and leaves no trace",
        bodies.raise_for_lists,
        (([two],), (two,), ([two],), (two,)),
    )
    yield Sequence(
        "what raised was not traced", bodies.append_once, (([two],), ((two,),), ([two],))
    )


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
        body = dice.choice([bodies.two, bodies.append_first])
        yield Sequence("calls at random", body, calls, number % 2 == 0)
