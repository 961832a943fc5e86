"""A function and one call -> the calls next to it: each differs from it in one thing.

What a guard could look at is changed once each: types, sizes, strides, values, lengths, keys, who
is whom, the globals that the function reads, the grad mode.
"""

import math
from collections import OrderedDict
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from helpers.capture.needs import names_used

SCALARS = (bool, int, float, str)


@dataclass(frozen=True)
class Call:
    """One call: `words` say what is changed; `arguments` by name; `world` is on while it runs."""

    words: str
    arguments: dict
    world: object = field(default=nullcontext)


def neighbours(fn, first: dict) -> list[Call]:
    """Return the same call again, and every call with one change. `first`: arguments by name."""
    calls = [Call("the same again", dict(first))]
    for name, value in first.items():
        calls += [
            Call(f"{name} {words}", {**first, name: other}) for words, other in _others(value)
        ]
    calls += _twins(first)
    calls += [
        Call(f"global {name} {words}", dict(first), _replacing(fn.__globals__, name, other))
        for name in sorted(names_used(fn.__code__))
        if type(fn.__globals__.get(name)) in SCALARS
        for words, other in list(_others(fn.__globals__[name]))[:1]
    ]
    return [*calls, Call("under torch.no_grad()", dict(first), _no_grad)]


def _others(value):
    """Yield (words, another value) for one argument."""
    import torch

    if isinstance(value, torch.Tensor):
        return _other_tensors(value)
    if type(value) in (list, tuple):
        return _other_sequences(value)
    if type(value) is dict:
        return _other_dicts(value)
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
    others = {
        bool: (not value,) if type(value) is bool else (),
        int: (value + 1, 0, 1, -value, float(value)) if type(value) is int else (),
        float: (value + 1, -value, math.nan, int(value)) if _finite(value) else (),
        str: (f"{value}s", "") if type(value) is str else (),
    }.get(type(value), ())
    by_words = {repr(other): other for other in others}  # 1, 1.0 and True are equal
    for words in by_words:
        if words != repr(value):
            yield f"= {words}", by_words[words]


def _finite(value) -> bool:
    return type(value) is float and math.isfinite(value)


def _other_sequences(value):
    kind = type(value)
    yield "one longer", kind([*value, *(value[-1:] or [0])])
    if value:
        yield "one shorter", value[:-1]
        yield from (
            (f"[0] {words}", kind([other, *value[1:]])) for words, other in _others(value[0])
        )
    other = tuple if kind is list else list
    yield f"as a {other.__name__}", other(value)


def _other_dicts(value):
    for key in value:
        for words, other in _others(value[key]):
            yield f"[{key!r}] {words}", {**value, key: other}
    yield "with one more key", {**value, "another": 0}
    yield "as an OrderedDict", OrderedDict(value)


def _twins(first: dict) -> list[Call]:
    """Return the calls in which two tensors of the same make are one."""
    import torch

    tensors = [(n, v) for n, v in first.items() if isinstance(v, torch.Tensor)]
    return [
        Call(f"{later} is {name}", {**first, later: value})
        for at, (name, value) in enumerate(tensors)
        for later, other in tensors[at + 1 :]
        if value is not other and (value.shape, value.dtype) == (other.shape, other.dtype)
    ]


def _replacing(space: dict, name: str, other):
    @contextmanager
    def replaced():
        kept = space[name]
        space[name] = other
        try:
            yield
        finally:
            space[name] = kept

    return replaced


def _no_grad():
    import torch

    return torch.no_grad()
