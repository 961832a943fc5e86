"""Functions that Dynamo translates in one graph, in several, or not at all; and their texts."""

import logging
import time

import numpy as np
import torch

RATE = 1.5
SEEN = []
NOTES = logging.getLogger("notes")


def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def whole(a, b):
    return torch.sin(a) + b * 2


def chatty(a, b):
    y = a + 1
    print("halfway")
    return y * b


def flip(b):
    if b.sum() < 0:
        b = b * -1
    return b


def outer(a, b):
    return torch.sin(a) * flip(b + 1)


def tried(a, b):
    try:
        if a.sum() > 0:
            a = a * 2
    except ValueError:
        pass
    return a + b


def looped(a, b):
    for _ in range(3):
        if a.sum() > 0:
            a = a * 2
    return a + b


def unlooped(a, b):
    for _ in range(3):
        a = torch.where(a.sum() > 0, a * 2, a)
    return a + b


def long(a, b):
    for n in range(200):
        a = a + n
    return a * b


def with_numpy(a, b):
    SEEN.append(a.shape)
    return torch.from_numpy(np.sin((a + 1).numpy())) * b


CURES = {
    "if": (lambda x: x + 1 if x.sum() > 0 else x, lambda x: torch.where(x.sum() > 0, x + 1, x)),
    "item": (lambda x: x / x.max().item() + 1, lambda x: x / x.max() + 1),
    "shape": (lambda x: x[x > 0].sum() + 1, lambda x: torch.where(x > 0, x, 0).sum() + 1),
    "print": (lambda x: (x + 1) * (print("now") or 2), lambda x: (x + 1) * 2),
    "log": (lambda x: (x + 1) * (NOTES.info("now") or 2), lambda x: (x + 1) * 2),
    "C": (lambda x: (x + 1) * (time.perf_counter() and 2), lambda x: (x + 1) * 2),
    "asked": (lambda x: (x + 1) * (torch._dynamo.graph_break() or 2), lambda x: (x + 1) * 2),
    "list": (lambda x: x * sum((x + 1).tolist()), lambda x: x * (x + 1).sum()),
    "loop": (lambda x: looped(x, x), lambda x: unlooped(x, x)),
}  # fmt: skip


def inputs():
    """Return two fresh tensors of three numbers."""
    return torch.tensor([1.0, -2.0, 3.0]), torch.tensor([1.0, 2.0, 3.0])
