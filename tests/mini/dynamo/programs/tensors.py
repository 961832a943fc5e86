"""Straight lines of torch: operators, functions, methods, shapes and dtypes."""

import math

import torch
import torch.nn.functional as F  # noqa: N812

from tests.mini.dynamo.table import numbers as n
from tests.mini.dynamo.table import tried_on

X, XY = (n(3),), (n(3), n(3, start=2.0))
SIZES = (n(3),), (n(4),), (n(2, 3),), (n(1),), (n(0),), (torch.tensor(2.5),)
KINDS = (n(3),), (n(3).double(),), (n(3).long(),), (n(3) > 0,), (n(3).to(torch.complex64),)


@tried_on(*SIZES, *KINDS)
def add_one(x):
    return x + 1


@tried_on(XY, (n(2, 3), n(3)), (n(2, 3), n(2)), (n(3), 2), (2, n(3)), (2, 3))
def subtract(a, b):
    return a - b


@tried_on(XY, (n(3).long(), n(3)), (n(3).long(), 2.5), (n(3), True), (n(3).half(), n(3)))
def multiply(a, b):
    return a * b


@tried_on(XY, (n(3), 0), (n(3), 0.0), (n(3), -0.0), (n(3), float("nan")), (n(3), float("inf")))
def divide(a, b):
    return a / b


@tried_on((n(3), 2), (n(3), -1), (2, n(3)), (n(3), 0.5))
def power(a, b):
    return a**b


@tried_on((n(2, 3), n(3, 2)), (n(3), n(3)), (n(2, 3), n(2, 3)))
def matrix_product(a, b):
    return a @ b


@tried_on((n(3).long(), 2), (n(3), 2), (n(3).long(), 0))
def floor_and_rest(a, b):
    return a // b, a % b


@tried_on((n(3).long(), n(3).long()), (n(3) > 0, n(3) > -1))
def bits(a, b):
    return a & b, a | b, a ^ b, ~a


@tried_on(XY, (n(3), 0))
def comparisons(a, b):
    return a < b, a <= b, a == b, a != b, a > b, a >= b


@tried_on(X)
def negative(x):
    return -x, +x, abs(x)


@tried_on(*SIZES)
def functions(x):
    return torch.sin(x) + torch.cos(x) * torch.exp(-torch.abs(x))


@tried_on(*SIZES, *KINDS)
def methods(x):
    return x.abs().sum(), x.float().mean() if x.numel() else None


@tried_on((n(3, 4),), (n(2, 2),))
def keywords(x):
    return x.sum(dim=-1, keepdim=True), torch.mean(x, dim=0), x.softmax(dim=1)


@tried_on((n(4, 3),), (n(2, 6),), (n(3),))
def shapes(x):
    rows = x.shape[0]
    return x.reshape(rows, -1) + rows if x.dim() > 1 else x.unsqueeze(0)


@tried_on((n(4, 3),), (n(4),))
def size_is_a_number(x):
    return x * x.size(0) + x.numel() - len(x)


@tried_on((n(2, 3),), (torch.zeros(2, 3, dtype=torch.int32),))
def dtype_is_known(x):
    return x * 2 if x.dtype is torch.float32 else x + 2


@tried_on((n(2, 3),), (n(2, 3).double(),))
def dtype_asked(x):
    return x.is_floating_point(), x.dtype, x.device, x.ndim, x.shape


@tried_on((n(3, 4),))
def transposed(x):
    return x.T @ x, x.t(), x.transpose(0, 1), x.permute(1, 0)


@tried_on((n(6),), (n(4, 2),))
def views(x):
    return x.view(-1)[1:], x.reshape(2, -1), x.flatten()


@tried_on((n(6),), (n(6, 2),))
def pieces(x):
    a, b = x.chunk(2)
    return torch.cat([b, a]), torch.stack((a, b)), a


@tried_on((n(3, 4),), (n(1, 4),))
def split_and_unbound(x):
    first, *_ = (x, x)
    return x.split(2, dim=1), x.unbind(1)


@tried_on((n(3, 4),))
def maximum_with_place(x):
    found = x.max(dim=1)
    return found.values, found.indices, found[0]


@tried_on((n(3, 4),))
def returned_as_it_is(x):
    return x.max(dim=1)


@tried_on((n(3, 4),))
def unpacked_result(x):
    values, places = torch.sort(x, dim=1, descending=True)
    return values - 1, places


@tried_on((n(3, 4),))
def top(x):
    return x.topk(2).values, x.argmax(), x.argsort(dim=-1)


@tried_on((n(4, 4),))
def indexed(x):
    return x[0], x[:, 1], x[1:3, ::2], x[..., -1], x[None]


@tried_on((n(4), torch.tensor([0, 2])), (n(4), torch.tensor([9])))
def indexed_by_a_tensor(x, at):
    return x[at]


@tried_on((n(5),), (-n(5).abs(),))
def picked_by_a_mask(x):
    return x[x > 0]


@tried_on((n(5),))
def chosen(x):
    return torch.where(x > 0, x, -x), x.clamp(min=0), x.masked_fill(x < 0, 9.0)


@tried_on((n(3),), (n(2, 2),))
def made_here(x):
    return x + torch.ones(x.shape) + torch.zeros_like(x) + torch.arange(x.shape[-1])


@tried_on((n(3),))
def made_with_a_dtype(x):
    return x + torch.full((3,), 2, dtype=torch.float64)


@tried_on((n(3),), (n(3).long(),))
def converted(x):
    return x.to(torch.float64), x.int(), x.bool(), x.type_as(torch.ones(1))


@tried_on((n(2, 4),))
def activations(x):
    return F.relu(x), F.gelu(x), F.silu(x), F.softmax(x, dim=-1), F.leaky_relu(x, 0.1)


@tried_on((n(2, 4), n(3, 4), n(3)), (n(2, 4), n(3, 4), None))
def linear(x, weight, bias):
    return F.linear(x, weight, bias)


@tried_on((n(1, 1, 5, 5), n(2, 1, 3, 3)))
def convolution(x, weight):
    return F.max_pool2d(F.conv2d(x, weight, padding=1), 2)


@tried_on((n(2, 4),))
def normed(x):
    return F.layer_norm(x, (4,)), F.normalize(x)


@tried_on((n(2, 3), torch.tensor([0, 2])), (n(2, 3), torch.tensor([0, 7])))
def loss(x, target):
    return F.cross_entropy(x, target)


@tried_on((torch.tensor([0, 2]), n(3, 2)))
def embedded(at, weight):
    return F.embedding(at, weight)


@tried_on((n(2, 3),))
def einsum(x):
    return torch.einsum("ij,kj->ik", x, x)


@tried_on((n(3).requires_grad_(),), (n(3),))
def gradients(x):
    return (x * x).sum(), x.detach() * 2, x.requires_grad


@tried_on((n(3).requires_grad_(), n(3)), (n(3), n(3).requires_grad_()))
def gradient_of_one(a, b):
    return (a * b).exp()


@tried_on((n(3),), (n(3).requires_grad_(),))
def same_in_and_out(x):
    return x


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


@tried_on((n(3),), (n(1).double(),))
def many_steps(x):
    a = x + 1
    b = a * 2
    c = b - 3
    d = c / 4
    e = d**2
    return a, b, c, d, e, (e.sum() + a) * b


@tried_on((n(3),))
def random_numbers(x):
    return x + torch.rand(3), torch.randn_like(x), F.dropout(x, 0.5, training=True)


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


@tried_on((n(3),))
def raises_on_device(x):
    return x.to("cuda:77")


@tried_on((n(3).to(torch.complex64),), (n(3),))
def conjugated(x):
    return x.conj() * 2
