"""The ledger tells hit from recompile as the backend is called, and changes no result."""

import logging
import random

import pytest

from helpers import watch_recompiles
from helpers.capture.torch.recompiles import watch_function

pytestmark = pytest.mark.own_process(sharing="torch")
torch = pytest.importorskip("torch")


def counting():
    """Return a backend, and the list that it appends to when it is called."""
    called = []

    def backend(graph, examples):
        called.append(1)
        return graph.forward

    return backend, called


def times(x, n):
    return x * n + 1


def named(x, options):
    return x + len(options["names"]) if options["on"] else x * 2


def call_of_times(choose):
    x = torch.ones(choose((1, 2, 3, 4)), dtype=choose((torch.float32, torch.float64)))
    return x.requires_grad_(choose((True, False, False))), choose((0, 1, 2, 2.5, True))


def call_of_named(choose):
    names = ["a"] * choose((0, 1, 2))
    return torch.ones(3), {"on": choose((True, False)), "names": choose((list, tuple))(names)}


@pytest.mark.parametrize(("fn", "make"), [(times, call_of_times), (named, call_of_named)])
@pytest.mark.parametrize("seed", range(4))
def test_compiles_are_the_calls_of_the_backend(fn, make, seed):
    choose = random.Random(seed).choice
    backend, called = counting()
    live = watch_recompiles(fn, backend=backend)
    for _ in range(10):
        args, before = make(choose), len(called)
        result = live(*args)
        compiled = live.model.verdicts[-1] in ("compile", "recompile")
        assert compiled == (len(called) > before)
        assert torch.equal(result, fn(*args)) and result.dtype == fn(*args).dtype
    assert f"{len(called)} entr" in live.model.note


def test_the_value_that_failed_is_named():
    live = watch_function(named)
    live.each(*((torch.ones(3), {"on": True, "names": names}) for names in (["a"], [], ("a",))))
    _, empty, other = (entry.note for entry in live.model.entries)
    assert "options['names']" in empty and "length 0" in empty
    assert "options['names']" in other and "type tuple" in other


def test_the_limit_is_said_in_the_ledger_and_not_logged(caplog):
    with torch._dynamo.config.patch(recompile_limit=2), caplog.at_level(logging.WARNING):
        live = watch_function(lambda x, tag: x + len(tag))
        words = live.each(*((torch.ones(2), tag) for tag in ("", "a", "bb", "ccc", "a")))
        assert "recompile_limit is 2" in live.model.entries[2].note
    assert words == "compile recompile eager eager hit"
    assert not caplog.records


def test_what_it_raises_is_the_functions_own():
    live = watch_recompiles(times)
    with pytest.raises(TypeError):
        live(torch.ones(2))
    with pytest.raises(Exception, match="size"):
        watch_recompiles(lambda x, y: x + y)(torch.ones(2), torch.ones(3))
    assert live.model.verdicts == ("error",)
    live(torch.ones(2), 2)
    assert live.model.verdicts == ("error", "compile")


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3

    def forward(self, x, *, bias=0.0):
        return x * self.scale + bias


def test_methods_closures_keywords_and_compiled_functions():
    model, x = Model(), torch.ones(2)
    live = watch_function(model.forward)
    live(x, bias=1.5)
    model.scale = 4
    assert live(x, bias=1.5).tolist() == [5.5, 5.5]
    assert live.model.verdicts == ("compile", "recompile")
    assert live.model.entries[1].note.startswith("self.scale ")
    factor = 2
    closed = watch_function(lambda x: x * factor)
    assert closed.each((x,), (x,)) == "compile hit"
    compiled = watch_function(torch.compile(lambda x: x + 1, backend="eager"))
    assert compiled.each((x,), (x.double(),)) == "compile recompile"
