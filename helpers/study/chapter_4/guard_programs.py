"""Values, and programs that look at one thing of them each: what guards have to tell apart.

The judge imports this when it judges, since it imports torch.
"""

import math

import torch

from helpers.study.chapter_4.programs import numbers

# ruff: noqa: D103 - the programs say what they are by their names


def by_dtype(x):
    return x * 2 if x.dtype is torch.float32 else x + 2


def by_shape(x):
    return x * x.shape[0]


def by_last_size(x):
    return x * x.shape[-1]


def by_half(x):
    return x * 2 if x.dtype is torch.float16 else x + 2


def by_byte(x):
    return x * 2 if x.dtype is torch.uint8 else x + 2


def by_tenth(x, k):
    return x + 1 if k == 0.1 else x - 1


def by_dimensions(x):
    return x * x.ndim


def by_gradient(x):
    return x if x.requires_grad else x + 1


def by_number(x, k):
    return x * k if k else x - 1


def by_none(x, k):
    return x * 2 if k is None else x * 3


def by_word(x, k):
    return x.sum() if k == "sum" else x.mean()


def second(pair):
    return pair[0] * pair[1]


def added(x, k):
    return x + k


def in_its_own_way(x, k):
    return k * x


def divided(x, k):
    return x / k


def alike():
    """Return (value, others): the guards of the value have to hold for the others as well."""
    x, _ = numbers()
    square = torch.arange(6.0).reshape(2, 3)
    yield x, (x + 1, x * math.nan, torch.arange(9.0)[3:6])
    yield square.double(), (square.double() * -2,)
    yield x.clone().requires_grad_(), (x.clone().requires_grad_(),)
    yield torch.tensor(3), (torch.tensor(-4),)
    yield torch.ones(0, 2, dtype=torch.bool), (torch.zeros(0, 2, dtype=torch.bool),)
    yield from ((value, ()) for value in (None, True, False))
    yield from ((value, (int(str(value)),)) for value in (0, 1, -7, 1000, 10**20))
    for value in (0.0, -0.0, 1.0, 0.1, -2.5, 1e300, math.inf, -math.inf, math.nan):
        yield value, (float(repr(value)),)
    for value in ("", "sum", "it's", 'say "a"', "two\nlines", "back\\slash", "{x}"):
        yield value, ("".join(list(value)),)


class SubclassOfFloat(float):
    """A number that multiplies in a way of its own."""

    def __mul__(self, other):
        return other * 100


class SubclassOfTensor(torch.Tensor):
    """A tensor that tells its dimensions in a way of its own."""

    @property
    def ndim(self):
        """Return far too many."""
        return 100


class SubclassOfInt(int):
    """An int that multiplies in a way of its own."""

    def __mul__(self, other):
        return other * 100


def changes():
    """Return (program, calls): between the calls something changes that the program looks at."""
    x, _ = numbers()
    gradient, whole, bits = x.clone().requires_grad_(), x.long(), x > 0
    square, inf = torch.arange(6.0).reshape(2, 3), math.inf
    cube, byte, half = square.reshape(1, 2, 3), x.to(torch.uint8), x.half()
    return (
        (by_dtype, [(x,), (x.double(),)]),
        (by_dtype, [(whole,), (x,)]),
        (by_shape, [(x,), (x[:2],)]),
        (by_shape, [(square,), (square.reshape(3, 2),)]),
        (by_shape, [(square[:0],), (square,), (square[0],)]),
        (by_last_size, [(cube,), (cube.reshape(1, 3, 2),)]),
        (by_half, [(half,), (x.bfloat16(),)]),
        (by_byte, [(byte,), (x.to(torch.int8),)]),
        (by_gradient, [(x,), (gradient,), (x,)]),
        (by_dimensions, [(x,), (x.as_subclass(SubclassOfTensor),)]),
        (by_number, [(x, 2), (x, 3), (x, 0)]),
        (by_number, [(whole, -1), (whole, -2)]),
        (by_number, [(whole, 1), (whole, 2**31 + 1)]),
        (by_tenth, [(x, 0.1), (x, math.nextafter(0.1, 1))]),
        (by_none, [(x, None), (x, 1)]),
        (by_none, [(x, False), (x, None)]),
        (by_number, [(whole, 1), (whole, 1.0), (whole, 2)]),
        (added, [(whole, True), (whole, 1.0)]),
        (added, [(whole, False), (whole, 0.0)]),
        (added, [(bits, True), (bits, 1)]),
        (added, [(bits, 0), (bits, False)]),
        (added, [(whole, 1.0), (whole, 1)]),
        (divided, [(x, 0.0), (x, -0.0)]),
        (divided, [(x, -0.0), (x, 0.0)]),
        (divided, [(x, 1.5), (x, 2.5)]),
        (divided, [(x, inf), (x, -inf), (x, math.nan), (x, 1.0)]),
        (by_word, [(x, "sum"), (x, "mean"), (x, None)]),
        (second, [([x, 2],), ([x, 3],)]),
        (in_its_own_way, [(x, 0.5), (x, SubclassOfFloat(0.5))]),
        (in_its_own_way, [(x, 2), (x, SubclassOfInt(2))]),
    )
