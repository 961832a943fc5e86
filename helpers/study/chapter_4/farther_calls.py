"""A function and one call -> calls that lie farther off than its neighbours, by kind of argument.

Numbers, types, strides and globals that a guard which is a little too strict, or a little too lax,
takes for others than Dynamo does. Whether a call fits, only Dynamo's own guards say.
"""

import math
from collections import OrderedDict, deque

from helpers.capture.cpython.function import names_used
from helpers.capture.torch.guard_sets import Call, replacing


def farther(fn, first: dict):
    """Yield calls in which one thing differs from the first call, or two that make up for it."""
    for name, value in first.items():
        for words, other in _others(value):
            yield Call(f"{name} {words}", {**first, name: other})
    numbers = [name for name, value in first.items() if type(value) is int]
    for name in sorted(names_used(fn.__code__)):
        value = fn.__globals__.get(name)
        if type(value) is float:
            for words, other in _floats(value):
                world = replacing(fn.__globals__, name, other)
                yield Call(f"global {name} {words}", dict(first), world)
            for number in numbers:
                world = replacing(fn.__globals__, name, value / 2)
                words = f"{number} = {first[number] * 2}, global {name} = {value / 2}"
                yield Call(words, {**first, number: first[number] * 2}, world)
    yield from (Call(f"under torch.{mode}()", dict(first), world) for mode, world in _modes())


def _others(value):
    import torch

    if isinstance(value, torch.Tensor):
        return _tensors(value)
    if type(value) is int:
        return _ints(value)
    return _lists(value) if type(value) is list else ()


def _tensors(value):
    import torch

    class Derived(torch.Tensor):
        pass

    yield "with negative numbers", -value
    yield "with zeros", value * 0
    yield "with nan", value * math.nan
    yield "with infinities", value * math.inf
    yield "with large numbers", value * 1e6
    yield "with its last number changed", torch.cat([value[:-1], value[-1:] + 1])
    yield "that is a part of a longer tensor", torch.cat([value, value])[len(value) :]
    yield "that has a gradient kept beside it", _with_grad(value)
    for dtype in (torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.bool):
        yield f"of {str(dtype).removeprefix('torch.')}", value.to(dtype)
    yield "one shorter", value[:-1].clone()
    yield "of length 0", value[:0].clone()
    yield "as a column", value.clone().reshape(-1, 1)
    yield "of stride 0", value[:1].expand(len(value))
    yield "of stride 3", value.repeat_interleave(3, 0)[::3]
    yield "a Parameter that needs no gradient", torch.nn.Parameter(value.clone(), False)
    yield "of a class derived from Tensor", value.clone().as_subclass(Derived)
    yield "computed, that requires a gradient", value.clone().requires_grad_() * 1


def _with_grad(value):
    made = value.clone()
    made.grad = value.clone()
    return made


def _ints(value):
    from helpers.study.chapter_4.guard_programs import SubclassOfInt

    yield "of a class derived from int", SubclassOfInt(value)
    yield f"= {complex(value)}", complex(value)
    yield f"= '{value}'", str(value)
    yield "= None", None
    yield f"= {value - 1}", value - 1


def _lists(value):
    class Derived(list):
        pass

    size = len(value)
    yield "with empty texts", [""] * size
    yield "with numbers", list(range(size))
    yield "with None", [None] * size
    yield "with lists", [[] for _ in value]
    yield "the other way round", value[::-1]
    yield "as another list that is equal", list(value)
    yield "as one text", "a" * size
    yield "as an OrderedDict", OrderedDict((number, 0) for number in range(size))
    yield "as a set", set(range(size))
    yield "as a deque", deque(value)
    yield "of a class derived from list", Derived(value)
    yield "with nothing in it", []


def _floats(value):
    yield "as another float that is equal", float(repr(value))
    yield f"= {-value}", -value
    yield "= nan", math.nan
    yield "= 0.0", 0.0
    yield f"= {int(value)}", int(value)
    yield f"= '{value}'", str(value)


def _modes():
    import torch

    return (("enable_grad", torch.enable_grad), ("inference_mode", torch.inference_mode))
