"""A function through one door, and as it is -> how they differ, in words, if they do.

`tried_on` lists a function with the arguments that it is to be tried on: `PROGRAMS`.
"""

import contextlib
import copy
import io
import math
import random

import torch

from helpers.mini import dynamo

ROUNDS = 3
PROGRAMS = []
PARTS = ("result", "arguments", "printed", "random", "globals")  # of an outcome


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


@contextlib.contextmanager
def decorated(fn, backend=None):
    """The first door: what is called is the compiled function."""
    yield dynamo.compile(fn, backend)


@contextlib.contextmanager
def hooked(fn, backend=None):
    """The second door: the function itself is called, and its frames are replaced."""
    with dynamo.hooked(backend, only=[fn]):
        yield fn


DOORS = {"decorator": decorated, "hook": hooked}


def differences(fn, cases, door, backend=None, rounds=ROUNDS) -> list[str]:
    """Return every difference between a function and itself through a door, over some rounds."""
    found = []
    wanted = [outcome(fn, fn, args) for args in cases]
    with door(fn, backend) as called:
        for turn in range(rounds):
            for args, want in zip(cases, wanted, strict=True):
                got = outcome(called, fn, args)
                place = f"{fn.__name__}, round {turn}"
                parts = zip(PARTS, got, want, strict=True)
                found += [f"{place}: {p} {a!r}, not {b!r}" for p, a, b in parts if not same(a, b)]
    return found


def outcome(called, fn, args):
    """Call it on copies: result or exception, arguments afterwards, output, random state."""
    args = copied(args)
    torch.manual_seed(7)
    random.seed(7)
    before = {k: v for k, v in fn.__globals__.items() if type(v) in (int, list, dict)}
    kept = copy.copy(before)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = called(*args)
        except Exception as error:
            result = (type(error), str(error))
        _backward(result)
    after = {k: fn.__globals__[k] for k in kept}
    changed = {k: after[k] for k in kept if after[k] is not kept[k]}
    fn.__globals__.update(kept)
    return result, args, printed.getvalue(), (torch.rand(1), random.random()), changed


def _backward(result):
    """Follow gradients back into the arguments, so that they are compared as well."""
    for tensor in result if isinstance(result, tuple) else (result,):
        if isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None:
            with contextlib.suppress(RuntimeError):
                tensor.sum().backward(retain_graph=True)


def copied(args):
    """Return copies of tensors and what holds them; modules that have no state stay as they are."""
    if callable(args):
        return args()
    return copy.deepcopy(args, {id(m): m for m in args if _lasting(m)})


def _lasting(thing) -> bool:
    return isinstance(thing, torch.nn.Module) and not list(thing.buffers())


def same(a, b) -> bool:
    """Return whether two outcomes are the same to the last bit, with everything that is known."""
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        return type(a) is type(b) and _same_tensor(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a.hex() == b.hex() and math.copysign(1, a) == math.copysign(1, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, torch.nn.Module):
        return same(dict(a.named_buffers()), dict(b.named_buffers())) and a.training == b.training
    if hasattr(a, "__dict__") and not isinstance(a, type) and not callable(a):
        return same(vars(a), vars(b))
    return a == b


def _same_tensor(a, b) -> bool:
    about = [
        (t.dtype, t.shape, t.device, t.requires_grad, t.layout, t.is_leaf, t.is_conj())
        for t in (a, b)
    ]
    if about[0] != about[1]:
        return False
    if a.layout is not torch.strided:
        return torch.equal(a.to_dense(), b.to_dense())
    a_numbers, b_numbers = (t.detach().resolve_conj().as_subclass(torch.Tensor) for t in (a, b))
    bits = [
        t.contiguous().clone(memory_format=torch.contiguous_format).view(-1).view(torch.uint8)
        for t in (a_numbers, b_numbers)
    ]
    alike = a.stride() == b.stride() and torch.equal(*bits)
    if a.grad is None or b.grad is None:
        return alike and a.grad is b.grad
    return alike and _same_tensor(a.grad, b.grad)
