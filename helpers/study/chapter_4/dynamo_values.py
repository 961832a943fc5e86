"""Values that the steps of the mini-Dynamo are tried with, and words for them.

The judges import this when they judge, since it imports torch.
"""

import math

import torch

from helpers.capture.text.value import brief


def numbers() -> tuple[torch.Tensor, torch.Tensor]:
    """Return two float tensors of three numbers."""
    return torch.tensor([1.0, -2.0, 4.0]), torch.tensor([3.0, 0.5, -1.0])


def toy(a, b):
    """Return what torch's tutorial computes."""
    return a / (torch.abs(a) + 1) * b


def scaled(x, k):
    """Return a product, whose graph depends on k."""
    return x * k


def describe(value) -> str:
    """Return a tensor or a number in a few words."""
    if isinstance(value, torch.Tensor):
        kind = "" if value.dtype is torch.float32 else f", {value.dtype}"
        name = "tensor" if type(value) is torch.Tensor else type(value).__name__
        grad = ", requires_grad" if value.requires_grad else ""
        return f"{name}({value.tolist()}{kind}{grad})"
    if isinstance(value, int | float) and type(value) not in (bool, int, float):
        return f"{type(value).__name__}({float(value)})"
    return repr(value) if isinstance(value, bool | int | float | str) else brief(value)


def pairs():
    """Yield (value, other, what a function may look at): alike for a graph where that is empty."""
    x, _ = numbers()
    square, inf = torch.arange(6.0).reshape(2, 3), math.inf
    whole, cube = x.long(), square.reshape(1, 2, 3)
    yield from ((x, other, "") for other in (x + 1, x * math.nan, torch.arange(9.0)[3:6]))
    yield square.double(), square.double() * -2, ""
    yield x.clone().requires_grad_(), (x + 1).requires_grad_(), ""
    yield torch.ones(0, 2, dtype=torch.bool), torch.zeros(0, 2, dtype=torch.bool), ""
    yield from ((value, value, "") for value in (None, True, False))
    yield from ((value, int(str(value)), "") for value in (0, -7, 1000, 10**20))
    yield from ((value, float(repr(value)), "") for value in (0.0, 0.1, -2.5, -inf, math.nan))
    yield from ((value, "".join(list(value)), "") for value in ("", "it's", 'a "\n\\', "{x}"))
    for dtype, other in ((whole, x), (x.half(), x.bfloat16()), (x.byte(), x.char())):
        yield dtype, other, "x.dtype"
    for shape, other in ((x, x[:2]), (square, square.reshape(3, 2)), (cube, cube.mT)):
        yield shape, other.contiguous(), "x.shape"
    yield square[0], square, "x.ndim"
    yield x, x.clone().requires_grad_(), "x.requires_grad"
    yield x.clone().requires_grad_(), x, "x.requires_grad"
    yield x, x.as_subclass(type("SubclassOfTensor", (torch.Tensor,), {})), "type(x)"
    yield from ((value, other, "k") for value, other in ((2, 3), (-1, -2), (0.1, 0.1 + 2e-17)))
    yield from ((value, other, "k") for value, other in ((1, 2**31 + 1), (1.5, 2.5), (inf, -inf)))
    yield from ((value, other, "k") for value, other in (("sum", "mean"), (None, 1), (False, None)))
    yield from ((one, other, "1 / k") for one, other in ((0.0, -0.0), (-0.0, 0.0), (inf, math.nan)))
    own_float, own_int = (type(f"SubclassOf_{kind.__name__}", (kind,), {}) for kind in (float, int))
    same = ((1, 1.0), (True, 1.0), (False, 0.0), (True, 1), (0, False), (1.0, 1))
    own = ((0.5, own_float(0.5)), (2, own_int(2)))
    yield from ((one, other, "type(k)") for one, other in (*same, *own))
