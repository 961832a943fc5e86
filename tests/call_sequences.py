"""Generated calls of one function: tensors, Python values, lists, tuples and dicts of both."""

import collections
import dataclasses
import random
from typing import NamedTuple

import attr
import numpy as np
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

tf = pytest.importorskip("tensorflow")
SHAPES = [(), (2,), (3,), (2, 2), (2, 3), (3, 2)]
UNHURRIED = {"deadline": None, "derandomize": True, "suppress_health_check": list(HealthCheck)}


def tensors():
    dtypes = st.sampled_from(["float32", "int32"])
    return st.builds(lambda *of: tf.constant(np.zeros(*of)), st.sampled_from(SHAPES), dtypes)


def literals():
    return st.sampled_from([0, 1, 1.0, True, 2, "a", "b", None, float("nan")])


def arguments():
    def holding(inner):
        pairs = st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        lists = st.lists(inner, max_size=3), st.lists(inner, max_size=2).map(tuple)
        return st.one_of(*lists, pairs)

    return st.recursive(st.one_of(tensors(), tensors(), literals()), holding, max_leaves=4)


def sequences():
    """Return lists of calls that are like each other: most arguments come from a small pool."""

    def calls(pool):
        call = st.tuples(st.one_of(st.sampled_from(pool), tensors()), literals())
        return st.lists(call, min_size=3, max_size=5)

    return st.lists(arguments(), min_size=1, max_size=3).flatmap(calls)


# ------------------------------------------------------------ any signature, any kind of argument

Pair = collections.namedtuple("Pair", "left right")


@attr.s(eq=False)
class Options:
    rate = attr.ib()
    extra = attr.ib()


@dataclasses.dataclass(eq=False)
class Masked:
    """A nest of one's own, as tf.experimental's protocol has it."""

    mask: bool
    value: object

    def __tf_flatten__(self):
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(*metadata, *components)


class Thing:
    """An object that TensorFlow knows by a weak reference."""


def plus(x):
    return x + 1


def times(x):
    return x * 2


class Program(NamedTuple):
    """A signature, the options of its tf.function, what is traced at first, and the calls."""

    signature: str
    options: dict
    first: list  # calls of get_concrete_function
    calls: list  # each {name of the parameter, as a key has it: value}

    def build(self):
        """Return the plain function."""
        space = {"tf": tf}
        exec(f"def f({self.signature}): return tf.constant(0)", space)
        return space["f"]


SIGNATURES = {  # the parameters, the names that a call always has, and those that it may have
    "a": ("a", ""),
    "a, b": ("a b", ""),
    "a, b, c": ("a b c", ""),
    "a, b=1": ("a b", ""),
    "a, *rest": ("a", "rest_0 rest_1"),
    "a, *, k=0": ("a k", ""),
    "a, **kw": ("a", "k z"),
    "a, b, *rest, k=None, **kw": ("a b k", "rest_0 z"),
}


def split_call(call: dict) -> tuple[list, dict]:
    """Return the arguments of a call by position, and by name."""
    by_position = [value for name, value in call.items() if name in "abc" or name[:4] == "rest"]
    return by_position, {name: value for name, value in call.items() if name in "kz"}


class Drawing:
    """Values that are like each other, from one seeded die."""

    def __init__(self, dice):
        self.dice = dice
        self.kept = [Thing(), Thing(), plus, times, tf.Variable(1.0), tf.Variable([1.0])]

    def leaf(self):
        kind = self.dice.choice(["tensor"] * 4 + ["array", "number", "text", "object", "other"])
        shape, dtype = self.dice.choice(SHAPES), self.dice.choice(["float32", "int32"])
        if kind == "tensor":
            return tf.zeros(shape, dtype)
        if kind == "array":
            return np.zeros(shape, dtype)
        if kind == "number":
            return self.dice.choice([0, 1, 2, 1.0, True, 0.1, float("nan"), np.float32(1)])
        if kind == "text":
            return self.dice.choice(["a", "b", b"a", None, None, (), [], range(2)])
        if kind == "object":
            return self.dice.choice(self.kept[:4])
        rows = [[0.0] * n for n in range(1, self.dice.choice([2, 3]) + 1)]
        ragged, sparse = tf.ragged.constant(rows), tf.sparse.from_dense(tf.eye(len(rows)))
        return self.dice.choice([ragged, sparse])

    def value(self, depth=2):
        kind = self.dice.choice(["leaf"] * 6 + ["list", "tuple", "dict", "pair", "attrs", "nest"])
        if kind == "leaf" or not depth:
            return self.leaf()
        one, other = self.value(depth - 1), self.value(depth - 1)
        if kind in ("list", "tuple"):
            items = [one, other][: self.dice.randint(1, 2)]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return dict(zip(self.dice.sample("xyz", 2), (one, other), strict=True))
        if kind == "nest":
            return Masked(self.dice.random() < 0.7, one)
        return (Pair if kind == "pair" else Options)(one, other)

    def like(self, value):
        """Return a value that differs in a leaf or two, if at all."""
        if self.dice.random() < 0.15:
            return self.value(1)
        if type(value) in (list, tuple):
            return type(value)(self.maybe_like(item) for item in value)
        if type(value) is dict:
            return {name: self.maybe_like(item) for name, item in value.items()}
        if type(value) is Pair:
            return Pair(*(self.maybe_like(item) for item in value))
        if type(value) is Options:
            return Options(self.maybe_like(value.rate), self.maybe_like(value.extra))
        if type(value) is Masked:
            return Masked(value.mask, self.maybe_like(value.value))
        return self.resized(value) if self.dice.random() < 0.6 else self.leaf()

    def resized(self, value):
        """Return a tensor like another, of another size, mostly of the same rank."""
        if not isinstance(value, tf.Tensor):
            return self.leaf()
        return tf.zeros([self.dice.randint(1, 4) for _ in value.shape], value.dtype)

    def maybe_like(self, value):
        return self.like(value) if self.dice.random() < 0.5 else value


def relaxed(value, dice):
    """Return a value with a TensorSpec for each tensor, some of its sizes free."""
    if isinstance(value, tf.Tensor):
        sizes = [None if dice.random() < 0.5 else size for size in value.shape]
        return tf.TensorSpec(None if dice.random() < 0.2 else sizes, value.dtype)
    if type(value) in (list, tuple):
        return type(value)(relaxed(item, dice) for item in value)
    if type(value) is dict:
        return {name: relaxed(item, dice) for name, item in value.items()}
    return value


def draw_program(seed: int) -> Program:
    """Return a program of four to six calls that are like each other."""
    dice = random.Random(seed)
    drawing, signature = Drawing(dice), dice.choice([*SIGNATURES])
    always, maybe = (names.split() for names in SIGNATURES[signature])
    first = {name: drawing.value() for name in always + maybe}
    pool = [first, *({n: drawing.maybe_like(v) for n, v in first.items()} for _ in range(2))]
    calls = []
    for _ in range(dice.randint(4, 6)):
        extra = maybe[: dice.randint(0, len(maybe))] if "rest_1" in maybe else maybe
        names = always + [name for name in extra if "rest_1" in maybe or dice.random() < 0.5]
        calls.append({name: dice.choice(pool)[name] for name in names})
    asked = [{n: relaxed(v, dice) for n, v in call.items()} for call in calls[:1]]
    options = {"reduce_retracing": dice.random() < 0.5}
    return Program(signature, options, asked if dice.random() < 0.3 else [], calls)
