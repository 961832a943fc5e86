"""A program with a state is not told to be changed by a cure that is the program itself."""

import random

import pytest

from helpers import watch_fixes

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402


def _with_a_counter():
    seen = []

    def step(x):
        seen.append(1)
        return x * len(seen)

    return step


def _with_an_iterator():
    numbers = iter(range(1, 100))
    return lambda x: x * next(numbers)


def _with_a_generator_of_its_own():
    generator = torch.Generator().manual_seed(3)
    return lambda x: x * torch.rand(3, generator=generator)


def _with_a_toggle():
    state = {"on": False}

    def step(x):
        state["on"] = not state["on"]
        return x * 2 if state["on"] else x

    return step


def _with_an_optimizer():
    layer = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = layer(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def _of_another_slope_each_time():
    seen = []

    def step(x):
        seen.append(1)
        return (x - x.detach()) * len(seen)

    return step


VARYING = [
    _with_a_counter,
    _with_an_iterator,
    _with_a_generator_of_its_own,
    _with_a_toggle,
    _with_an_optimizer,
    _of_another_slope_each_time,
]


@pytest.mark.parametrize("make", VARYING)
def test_a_program_that_varies_by_itself_is_said_to(make):
    step = make()
    found = watch_fixes({"case": (step, step)}, torch.ones(4, 3)).model
    words = [verdict.word for verdict in found.entries[0].verdicts]
    assert "differs" not in words and "not compared" in words
    assert "by itself" in found.entries[0].note
    assert "it ran " in found.entries[0].note and "times here" in found.entries[0].note


def _normalised():
    norm = nn.BatchNorm1d(3)
    return lambda x: norm(x).sum() + norm.running_mean.sum()


def _normalised_method():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))

        def forward(self, x):
            return self.inside(x) + self.inside[1].running_var

    return Model()


def _of_random_numbers():
    return lambda x: x * torch.rand(3) * random.random()


@pytest.mark.parametrize("make", [_normalised, _normalised_method, _of_random_numbers])
def test_each_run_starts_from_the_same_buffers_and_random_numbers(make):
    step = make()
    kept = [buffer.clone() for buffer in getattr(step, "buffers", lambda: ())()]
    example, random_numbers = torch.randn(4, 3), (torch.get_rng_state(), random.getstate())
    found = watch_fixes({"case": (step, step)}, example).model
    assert found.word("case", "result") == "same"
    assert found.word("case", "gradient") == "same"
    for buffer, before in zip(getattr(step, "buffers", lambda: ())(), kept, strict=True):
        assert torch.equal(buffer, before)
    assert torch.equal(torch.get_rng_state(), random_numbers[0])
    assert random.getstate() == random_numbers[1]


def test_a_cure_that_changes_a_stateless_program_is_still_told():
    found = watch_fixes({"case": (lambda x: x * 2, lambda x: x * 3)}, torch.ones(3)).model
    assert found.word("case", "result") == "differs"
    cure = {"case": (lambda x: x * 2, lambda x: x.detach() * 2 + (x - x.detach()))}
    assert watch_fixes(cure, torch.ones(3)).model.word("case", "gradient") == "differs"
