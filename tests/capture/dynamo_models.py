"""Models as other people write them, each with the arguments of one call."""

import functools

import torch
from torch import nn


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class Rectified(Linear):
    def forward(self, x):
        y = super().forward(x)
        return torch.relu(y)


class Item(nn.Module):
    def forward(self, x):
        y = x + 1
        scale = y.sum().item()
        return y * scale


class Blocks(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Item() for _ in range(3)])

    def forward(self, x):
        x = x * 2
        for block in self.blocks:
            x = block(x)
        return x


class OneLine(nn.Module):
    def forward(self, x): return x * x.sum().item() + 1  # fmt: skip  # noqa: E704


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = OneLine()

    def forward(self, x):
        # a line, so that the two functions are not alike

        y = x + 2
        return self.inner(y) * 3


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.down = nn.Conv2d(3, 3, 3, padding=1), None

    def forward(self, x):
        identity = x
        y = self.conv(x)
        if self.down is not None:
            identity = self.down(x)
        y = y + identity
        return torch.relu(y)


def noted(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@noted
def decorated(x):
    y = x + 1
    return y * 2


def scaled(x, n):
    return x * n + 1


def training_step(optimizer):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = optimizer(net.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def talks(x, tag):
    print(end="")
    return listens(x, tag)


def listens(x, tag):
    print(end="")
    return x + len(tag)


def batches():
    """Return batches of 5, 5, 7 and 9 rows."""
    return [(torch.randn(n, 4), torch.randn(n, 1)) for n in (5, 5, 7, 9)]


def bert():
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    more = {"intermediate_size": 32, "vocab_size": 50, "max_position_embeddings": 16}
    return BertModel(BertConfig(**sizes, **more)).eval()


def encoder():
    return nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()


def x(*sizes):
    return torch.randn(*sizes or (2, 4))


def tokens():
    return torch.arange(6).reshape(1, 6)


MODELS = {  # name -> what makes a callable, and what makes the arguments of a call
    "super": (Rectified, lambda: (x(),)),
    "forward in forward": (Outer, lambda: (x(),)),
    "three blocks": (Blocks, lambda: (x(),)),
    "residual": (Residual, lambda: (x(1, 3, 4, 4),)),
    "encoder layer": (encoder, lambda: (x(2, 3, 8),)),
    "BERT": (bert, lambda: (tokens(),)),
    "SGD": (lambda: training_step(torch.optim.SGD), lambda: batches()[0]),
    "Adam": (lambda: training_step(torch.optim.Adam), lambda: batches()[0]),
    "decorated": (lambda: decorated, lambda: (x(),)),
    "partial": (lambda: functools.partial(scaled, n=3), lambda: (x(),)),
    "compiled": (lambda: torch.compile(scaled), lambda: (x(), 3)),
    "compiled module": (lambda: torch.compile(Rectified()), lambda: (x(),)),
    "method": (lambda: Rectified().forward, lambda: (x(),)),
}  # fmt: skip


def made(name):
    """Return a callable and the arguments of one call."""
    make, arguments = MODELS[name]
    return make(), arguments()
