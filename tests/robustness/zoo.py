"""Awkward objects of ordinary programs, each made afresh, to be looked at by a verb: `MAKERS`."""

import collections
import enum
import itertools
import sys
import time
import types
import weakref

MARKUP = "<script>alert(1)</script><b onmouseover='x'>&amp;\"'`</b>"
ODD = "\x1b[31mred\x1b[0m \u202egnirts\u202c \ud800 \0 \x07 \x9b31m \u2028 \ufeff end"


class Kept:
    """What is referred to weakly, and what must not be collected."""


KEPT = Kept()


def kind(name, **answers):
    """Return an instance whose methods give these answers: raised, called or returned."""
    return type(name, (), {f"__{key}__": _method(answer) for key, answer in answers.items()})()


def _method(answer):
    def method(self, *args, **kwargs):
        if isinstance(answer, BaseException):
            raise answer
        return answer(self, *args) if callable(answer) else answer

    return method


def _filled(container, fill):
    fill(container)
    return container


def _deep(n=100_000):
    made = []
    for _ in range(n):
        made = [made]
    return made


def _cycle():
    one, other = types.SimpleNamespace(), types.SimpleNamespace()
    one.other, other.other = other, one
    return one


def _function(**attributes):
    def function():
        return 1

    for name, value in attributes.items():
        setattr(function, name, function if value is ... else value)
    return function


def _lazy_module():
    class Lazy(types.ModuleType):
        def __getattr__(self, name):
            raise ImportError(f"cannot load {name} now")

        def __dir__(self):
            raise RuntimeError("no list")

    return Lazy("lazy")


def _everything():
    class Everything:
        def __getattr__(self, name):
            return Everything()

        def __call__(self, *args, **kwargs):
            return Everything()

    return Everything()


def _objects_in_an_array():
    import numpy

    made = numpy.empty(2, dtype=object)
    made[0], made[1] = MAKERS["repr raises"](), made
    return made


def _numpy(call):
    import numpy

    return call(numpy)


def _coroutine():
    async def coroutine():
        return 1

    KEPT.coroutine = coroutine()  # else Python warns when it goes
    return KEPT.coroutine


MAKERS = {
    "repr raises": lambda: kind("Silent", repr=ZeroDivisionError("no words")),
    "repr is huge": lambda: kind("Huge", repr=lambda self: "x" * 30_000_000),
    "repr is slow": lambda: kind("Slow", repr=lambda self: time.sleep(5) or "late"),
    "repr is markup": lambda: kind("Markup", repr=lambda self: MARKUP),
    "repr recurses": lambda: kind("Endless", repr=repr),
    "== returns an array": lambda: kind("A", eq=lambda s, o: _numpy(lambda n: n.ones(3)), hash=1),
    "no == and no hash": lambda: kind("Neither", eq=TypeError("no =="), hash=TypeError("no")),
    "no truth, no length": lambda: kind("Ambiguous", bool=ValueError("no"), len=ValueError("no")),
    "any attribute": _everything,
    "weak proxy": lambda: weakref.proxy(KEPT),
    "list in itself": lambda: _filled([], lambda made: made.append(made)),
    "dict in itself": lambda: _filled({}, lambda made: made.update(me=made)),
    "100,000 lists in each other": _deep,
    "cycle of objects": _cycle,
    "a million items": lambda: list(range(1_000_000)),
    "a million keys": lambda: dict.fromkeys(range(1_000_000)),
    "huge text": lambda: MARKUP * 500_000,
    "odd text": lambda: ODD,
    "huge number": lambda: 10**50_000,
    "function with an odd name": lambda: _function(__name__=MARKUP + "\x1b", __qualname__=ODD),
    "function wrapped in itself": lambda: _function(__wrapped__=...),
    "callable that raises": lambda: kind("Called", call=ArithmeticError("called")),
    "C function": lambda: len,
    "slot wrapper": lambda: object.__init__,
    "lazy module": _lazy_module,
    "endless iterator": itertools.count,
    "coroutine": _coroutine,
    "enum": lambda: enum.Enum("Odd", {"A": 1}, module=None).A,
    "named tuple": lambda: collections.namedtuple("Row", "a b")(MARKUP, ODD),
    "unset slots": lambda: type("Slots", (), {"__slots__": ("a", "b")})(),
    "array of objects": _objects_in_an_array,
    "huge array": lambda: _numpy(lambda n: n.broadcast_to(n.float32(1), (10**6, 10**6))),
    "None": lambda: None,
    "frame": sys._getframe,
}


def torch_makers() -> dict:
    """Return name -> maker, of torch's own odd objects."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    return {
        "torch meta": lambda: torch.empty(10**6, 10**6, device="meta"),
        "torch sparse": lambda: torch.eye(3).to_sparse(),
        "torch fake": lambda: FakeTensorMode().from_tensor(torch.ones(2)),
        "torch empty": lambda: torch.ones(0, 3),
        "torch lazy layer": lambda: torch.nn.LazyLinear(2),
        "torch compiled": lambda: torch.compile(lambda x: x, backend="eager"),
    }


def tensorflow_makers() -> dict:
    """Return name -> maker, of TensorFlow's own odd objects."""
    import tensorflow as tf

    def symbolic():
        with tf.Graph().as_default():
            return tf.constant(1.0) + 1.0

    return {
        "TensorFlow symbolic": symbolic,
        "TensorFlow string": lambda: tf.constant([b"\xff\x00", b"<b>"]),
        "TensorFlow ragged": lambda: tf.ragged.constant([[1], [1, 2]]),
        "TensorFlow dataset": lambda: tf.data.Dataset.range(3).repeat(),
        "Keras unbuilt model": lambda: tf.keras.Sequential(),
        "TensorFlow function": lambda: tf.function(lambda x: x),
    }
