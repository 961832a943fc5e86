"""The mini-Dynamo beside `torch.compile(backend="eager")`: a cached call, and the first one."""

import time

import pytest

pytestmark = pytest.mark.own_process

torch = pytest.importorskip("torch")

from helpers.mini import dynamo  # noqa: E402
from tests.mini.dynamo.programs.broken import toy_example  # noqa: E402
from tests.mini.dynamo.programs.modules import SMALL  # noqa: E402

ROUNDS, CALLS = 15, 60


def add_one(x):
    return x + 1


def chain(x):
    for _ in range(20):
        x = torch.sin(x) * 2
    return x


def layers(x):  # a module: guards on four parameters, three layers and their classes
    return SMALL(x).softmax(dim=1)


CASES = {
    "add_one": (add_one, (torch.ones(10),)),
    "chain": (chain, (torch.ones(10),)),
    "toy_example": (toy_example, (torch.randn(10), torch.ones(10))),
    "layers": (layers, (torch.ones(2, 4),)),
}


def per_call(fn, args):
    start = time.process_time()
    for _ in range(CALLS):
        fn(*args)
    return (time.process_time() - start) / CALLS


def cached_ratio(fn, args):
    """Return what a cached call costs as a share of what torch.compile's costs."""
    mine, real = dynamo.compile(fn), torch.compile(fn, backend="eager")
    for one in (mine, real):
        one(*args)
    rounds = [(per_call(mine, args), per_call(real, args)) for _ in range(ROUNDS)]
    return min(m for m, _ in rounds) / min(r for _, r in rounds)


def first_ratio(fn, args, tries=3):
    """Return what the first call costs as a share of torch.compile's, each from a clean start."""
    costs = []
    for _ in range(tries):
        torch._dynamo.reset()
        pair = []
        for one in (dynamo.compile(fn), torch.compile(fn, backend="eager")):
            start = time.process_time()
            one(*args)
            pair.append(time.process_time() - start)
        costs.append(pair)
    return min(m for m, _ in costs) / min(r for _, r in costs)


@pytest.mark.parametrize("name", CASES)
def test_a_cached_call_costs_at_most_what_the_real_one_costs(name):
    fn, args = CASES[name]
    ratios = []
    while len(ratios) < 3 and min(ratios, default=9) > 1:
        torch._dynamo.reset()
        ratios.append(cached_ratio(fn, args))
    assert min(ratios) <= 1, ratios


@pytest.mark.parametrize("name", CASES)
def test_the_first_call_costs_at_most_a_fifth(name):
    fn, args = CASES[name]
    first_ratio(fn, args, 1)  # what is imported and made once for all
    ratios = []
    while len(ratios) < 3 and min(ratios, default=9) > 0.2:
        ratios.append(first_ratio(fn, args))
    assert min(ratios) <= 0.2, ratios
