"""A decorator that lists a function with the arguments that it is to be tried on."""

import torch

PROGRAMS = []


def tried_on(*cases):
    """List a function; each case is a tuple of arguments."""

    def add(fn):
        PROGRAMS.append((fn, cases))
        return fn

    return add


def numbers(*shape, start=-1.5, step=0.75):
    """Return a float tensor of this shape whose numbers differ."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) * step + start).reshape(shape)
