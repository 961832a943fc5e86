"""Small programs that tell right parts of the mini-Dynamo from wrong ones.

The judges import this when they judge, since it imports torch.
"""

import torch

# ruff: noqa: D103 - the programs say what they are by their names


def toy(a, b):
    return a / (torch.abs(a) + 1) * b


def minus(x, y):
    return x - y * 2


def folded(x, n):
    return x + (n - 1) * 2


def under(x, n):
    return n / x


def keywords(x, y):
    return x.sum(dim=0, keepdim=True) + y


def joined(x, y):
    return torch.stack([x, y, x]) * 2


def shaped(x, y):
    z = torch.clamp(x, min=0.5, max=2).unsqueeze(0)
    return torch.cat([z, y.reshape(1, 3)], dim=0).transpose(0, 1) - torch.ones(2)


def twice_read(x, n):
    m = n - 1
    return x * m + n * m


def scaled(x, k):
    return x * k


def branch(a, b):
    x = a + 1
    y = a * 2  # noqa: F841 - it is dead, which the rest of the function must not receive
    if b.sum() < 0:
        b = b * -1
    return x * b


def numbers():
    """Return two float tensors of three numbers."""
    return torch.tensor([1.0, -2.0, 4.0]), torch.tensor([3.0, 0.5, -1.0])
