"""The mini-Dynamo beside `torch.compile(backend="eager")`: a cached call, and the first one."""

from functools import partial

from tests.benchmarks.harness import Goal, needs, prepared


def goals():
    needs("torch")
    import torch

    from helpers.mini import dynamo

    torch.set_num_threads(1)  # on a busy machine threads wait for each other, whoever calls
    real = partial(torch.compile, backend="eager")
    for name, (fn, args) in cases().items():
        torch._dynamo.reset()
        mine, theirs = partial(dynamo.compile(fn), *args), partial(real(fn), *args)
        yield Goal(f"{name}, cached call", mine, "torch.compile", theirs, at_most=1)
    for name, (fn, args) in cases().items():
        mine, theirs = first(dynamo.compile, fn, args), first(real, fn, args)
        yield Goal(f"{name}, first call", mine, "torch.compile", theirs, at_most=0.2)


def first(compiled, fn, args):
    """Return the first call, from a clean start."""
    import torch

    @prepared
    def side():
        torch._dynamo.reset()
        yield partial(compiled(fn), *args)

    return side


def cases():
    """Return name -> function and arguments."""
    import torch

    from tests.mini.dynamo.programs.broken import toy_example
    from tests.mini.dynamo.programs.modules import SMALL

    def add_one(x):
        return x + 1

    def chain(x):
        for _ in range(20):
            x = torch.sin(x) * 2
        return x

    def layers(x):  # a module: guards on four parameters, three layers and their classes
        return SMALL(x).softmax(dim=1)

    return {
        "add_one": (add_one, (torch.ones(10),)),
        "chain": (chain, (torch.ones(10),)),
        "toy_example": (toy_example, (torch.randn(10), torch.ones(10))),
        "layers": (layers, (torch.ones(2, 4),)),
    }
