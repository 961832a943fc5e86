"""A program with a state is not told to be changed by a cure that is the program itself."""

import random
import threading
from functools import partial

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


class FeltBackend:
    """A backend with effects: it notes each graph, and each run of one, and by which thread."""

    def __init__(self):
        self.noted, self.own = [], threading.local()
        self.own.ready = True

    def __call__(self, graph, inputs):
        self.noted.append(("graph", self.own.ready))  # AttributeError in another thread

        def run(*args):
            self.noted.append(("run", self.own.ready))
            return graph.forward(*args)

        return run


def _broken(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return y + 1


class _Module(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def _compiled_module(backend):
    module = _Module(_broken)
    module.compile(backend=backend)
    return module


def _in_a_thread(backend):
    compiled, found = torch.compile(lambda x: x * 2, backend=backend), []
    compiled(torch.ones(3))

    def step(x):
        thread = threading.Thread(target=lambda: found.append(compiled(x.detach())))
        thread.start()
        thread.join()
        return x + found[-1]

    return step


OWN_BACKENDS = {
    "compiled": lambda backend: torch.compile(_broken, backend=backend),
    "partial": lambda backend: partial(torch.compile(_broken, backend=backend)),
    "a compiled module": _compiled_module,
    "around a compiled one": lambda backend: _Module(torch.compile(_broken, backend=backend)),
    "calls one": lambda backend: (lambda f: lambda x: f(x) * 2)(
        torch.compile(_broken, backend=backend)
    ),
    "compiles inside": lambda backend: lambda x: torch.compile(_broken, backend=backend)(x),
    "calls one in a thread": _in_a_thread,
}


@pytest.mark.parametrize("make", OWN_BACKENDS.values(), ids=OWN_BACKENDS)
def test_no_backend_of_the_users_is_called(make):
    backend = FeltBackend()
    step, x = make(backend), torch.ones(3)
    is_threaded = make is _in_a_thread  # where what this backend makes cannot run
    for _ in range(2):
        before = backend.noted.copy()
        found = watch_fixes({"case": (step, step)}, x)
        assert backend.noted == before
        assert found.model.word("case", "result") == "same"
        assert ("your backend" in found.model.note) == (make is not OWN_BACKENDS["compiles inside"])
        for _ in range(0 if is_threaded else 2):
            step(x)
        after = backend.noted[len(before) :]
    assert ("graph", True) not in after  # it runs what was compiled between the verbs
    assert is_threaded or after


def test_a_backend_is_not_spoken_of_where_there_is_none_of_yours():
    assert "backend" not in watch_fixes({"case": (_broken, _broken)}, torch.ones(3)).model.note


def test_what_another_thread_compiles_first_is_the_users_own():
    backend, ready = FeltBackend(), threading.Event()
    backend.own = type("Ready", (), {"ready": True})  # for each thread
    compiled = torch.compile(lambda x: x * 2, backend=backend)

    def step(x):
        if not ready.is_set():
            thread = threading.Thread(target=compiled, args=(torch.ones(2),))
            thread.start()
            thread.join()
            ready.set()
        return x + 1

    watch_fixes({"case": (step, step)}, torch.ones(3))
    graphs = backend.noted.count(("graph", True))
    before = len(backend.noted)
    compiled(torch.ones(2))
    assert backend.noted[before:] == [("run", True)] and graphs == 1
