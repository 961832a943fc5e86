"""Straight lines of torch: operators, functions, methods, shapes and dtypes."""

import math

import torch

from tests.mini.dynamo.comparing import numbers as n
from tests.mini.dynamo.comparing import tried_on

SIZES = (n(3),), (n(4),), (n(2, 3),), (n(1),), (n(0),), (torch.tensor(2.5),)


KINDS = (n(3),), (n(3).double(),), (n(3).long(),), (n(3) > 0,), (n(3).to(torch.complex64),)


@tried_on(*SIZES, *KINDS)
def add_one(x):
    return x + 1


@tried_on((n(3).long(), n(3).long()), (n(3) > 0, n(3) > -1))
def bits(a, b):
    return a & b, a | b, a ^ b, ~a


@tried_on(*SIZES, *KINDS)
def methods(x):
    return x.abs().sum(), x.float().mean() if x.numel() else None


@tried_on((n(4, 3),), (n(4),))
def size_is_a_number(x):
    return x * x.size(0) + x.numel() - len(x)


@tried_on((n(2, 3),), (torch.zeros(2, 3, dtype=torch.int32),))
def dtype_is_known(x):
    return x * 2 if x.dtype is torch.float32 else x + 2


@tried_on((n(6),), (n(4, 2),))
def views(x):
    return x.view(-1)[1:], x.reshape(2, -1), x.flatten()


@tried_on((n(6),), (n(6, 2),))
def pieces(x):
    a, b = x.chunk(2)
    return torch.cat([b, a]), torch.stack((a, b)), a


@tried_on((n(3, 4),))
def maximum_with_place(x):
    found = x.max(dim=1)
    return found.values, found.indices, found[0]


@tried_on((n(3, 4),))
def returned_as_it_is(x):
    return x.max(dim=1)


@tried_on((n(4, 4),))
def indexed(x):
    return x[0], x[:, 1], x[1:3, ::2], x[..., -1], x[None]


@tried_on((n(5),), (-n(5).abs(),))
def picked_by_a_mask(x):
    return x[x > 0]


@tried_on((n(5),))
def chosen(x):
    return torch.where(x > 0, x, -x), x.clamp(min=0), x.masked_fill(x < 0, 9.0)


@tried_on((n(3),), (n(3).long(),))
def converted(x):
    return x.to(torch.float64), x.int(), x.bool(), x.type_as(torch.ones(1))


@tried_on((n(3),))
def identity_of_a_copy(x):
    y = x.clone()
    return y, y is x, x is x


@tried_on((n(3),), (n(6)[::2],), (n(3, 3).t(),), (n(3).expand(3, 3),))
def strides(x):
    return x.contiguous() + 1, x.is_contiguous(), x.stride()


@tried_on((n(3),))
def constants(x):
    return x * math.pi + math.sqrt(2.0), x * -0.0, x + 1j


@tried_on((n(3),))
def nothing_used(x):
    x.sum()
    x + 1


@tried_on((n(3), n(4)), (n(2, 3), n(3, 3)))
def raises_on_shapes(a, b):
    return a + b


@tried_on((n(3),))
def raises_on_dim(x):
    return x.sum(dim=5)


@tried_on((n(3).to(torch.complex64),), (n(3),))
def conjugated(x):
    return x.conj() * 2
