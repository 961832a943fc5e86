"""A function and one call -> the calls next to it: each differs from it in one thing.

What a guard could look at is changed once each: types, sizes, strides, values, lengths, keys, who
is whom, the globals that the function reads, the grad mode. The search ends: `MOST` calls, `DEEP`
lists in lists; what could not be made, or was not, is counted.
"""

import math
from collections import OrderedDict
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import islice

from helpers.capture.cpython.objects import names_used
from helpers.capture.text.value import brief
from helpers.safety.arguments import kind_of
from helpers.safety.patches import patched

SCALARS = (bool, int, float, str)
MOST, DEEP, SHORT = 200, 4, 40


@dataclass(frozen=True)
class Call:
    """One call: `words` say what is changed; `arguments` by name; `world` is on while it runs."""

    words: str
    arguments: dict
    world: object = field(default=nullcontext)


def neighbours(fn, first: dict, left_out: list | None = None) -> list[Call]:
    """Return the same call again, and every call with one change. `first`: arguments by name.

    `left_out` receives, in words, what is not among them.
    """
    left_out = [] if left_out is None else left_out
    calls = list(islice(_calls(fn, first, left_out), MOST + 1))
    if len(calls) > MOST:
        left_out.append(f"only the first {MOST} calls were tried")
    return calls[:MOST]


def _calls(fn, first: dict, left_out: list):
    yield Call("the same again", dict(first))
    for name, value in first.items():
        for words, other in _made(value, DEEP, left_out):
            yield Call(f"{name} {words}", {**first, name: other})
    yield from _twins(first)
    for name in sorted(names_used(fn.__code__)):
        if _is_one_of(fn.__globals__.get(name), SCALARS):
            for words, other in islice(_made(fn.__globals__[name], 0, left_out), 1):
                world = replacing(fn.__globals__, name, other)
                yield Call(f"global {name} {words}", dict(first), world)
    yield Call("under torch.no_grad()", dict(first), _no_grad)


def _is_one_of(value, kinds) -> bool:
    return any(type(value) is kind for kind in kinds)


def _is_tensor(value) -> bool:
    import torch

    return _is_one_of(value, (torch.Tensor, torch.nn.Parameter))


def _made(value, deep: int, left_out: list):
    """Yield (words, another value) for one argument, as far as another one can be made."""
    others = _others(value, deep, left_out)
    try:
        yield from others
    except Exception as error:  # such as a sparse tensor, which cannot be repeated
        kind = kind_of(error)
        left_out.append(f"some neighbours of {brief(value)} could not be made ({kind})")


def _others(value, deep: int, left_out: list):
    if _is_tensor(value):
        return _other_tensors(value)
    if _is_one_of(value, (list, tuple)):
        return _other_sequences(value, deep, left_out)
    if type(value) is dict:
        return _other_dicts(value, deep, left_out)
    return _other_scalars(value)


def _other_tensors(value):
    import torch

    with torch.no_grad():
        plain = value.detach()
        yield "with other numbers", plain + 1
        yield "of float64", plain.double()
        if value.dim():
            yield "one longer", torch.cat([plain, plain[:1]])
            yield "of length 1", plain[:1].clone()
            yield "of another stride", plain.repeat_interleave(2, 0)[::2]
        yield "with one more dimension", plain.unsqueeze(0).clone()
        yield "that requires a gradient", plain.clone().requires_grad_()
        yield "a Parameter", torch.nn.Parameter(plain.clone())


def _other_scalars(value):
    others = ()
    if type(value) is bool:
        others = (not value,)
    elif type(value) is int:
        others = (value + 1, 0, 1, -value, *([float(value)] if abs(value) < 2**1000 else []))
    elif type(value) is float and math.isfinite(value):
        others = (value + 1, -value, math.nan, int(value))
    elif type(value) is str:
        others = (f"{value}s", "")
    by_words = {_words(other): other for other in others}  # 1, 1.0 and True are equal
    for words in by_words:
        if words != _words(value):
            yield f"= {words}", by_words[words]


def _words(value) -> str:
    """Return a scalar as it is written, the beginning of a long one."""
    short = len(value) <= SHORT if type(value) is str else value == 0 or abs(value) < 2**128
    return repr(value) if short else f"{brief(value)} (another one)"


def _other_sequences(value, deep: int, left_out: list):
    kind = type(value)
    yield "one longer", kind([*value, *(value[-1:] or [0])])
    if value:
        yield "one shorter", value[:-1]
        if not deep:
            left_out.append(f"what lies deeper than {DEEP} lists was not changed")
        for words, other in _made(value[0], deep - 1, left_out) if deep else ():
            yield f"[0] {words}", kind([other, *value[1:]])
    other = tuple if kind is list else list
    yield f"as a {other.__name__}", other(value)


def _other_dicts(value, deep: int, left_out: list):
    if not deep:
        left_out.append(f"what lies deeper than {DEEP} lists was not changed")
    for key in islice(value, MOST) if deep else ():
        for words, other in _made(value[key], deep - 1, left_out):
            yield f"[{brief(key)}] {words}", {**value, key: other}
    yield "with one more key", {**value, "another": 0}
    yield "as an OrderedDict", OrderedDict(value)


def _twins(first: dict) -> list[Call]:
    """Return the calls in which two tensors of the same make are one."""
    tensors = [(n, v) for n, v in first.items() if _is_tensor(v)]
    return [
        Call(f"{later} is {name}", {**first, later: value})
        for at, (name, value) in enumerate(tensors)
        for later, other in tensors[at + 1 :]
        if value is not other and (value.shape, value.dtype) == (other.shape, other.dtype)
    ]


class _Space:
    """An object whose attributes are the names of a dict."""


def replacing(space: dict, name: str, other):
    """Return a function that gives a context in which a name of a namespace has another value."""
    owner = _Space()
    owner.__dict__ = space

    @contextmanager
    def replaced():
        with patched(owner, **{name: other}):  # given back whatever cuts the block in two
            yield

    return replaced


def _no_grad():
    import torch

    return torch.no_grad()
