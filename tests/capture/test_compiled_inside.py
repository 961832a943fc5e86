"""A program whose own compiled function is inside what a verb is handed: that one is watched."""

import functools

import pytest

from helpers import watch_hooked, watch_mutations, watch_ops, watch_recompiles

pytestmark = [pytest.mark.own_process(sharing="torch"), pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch._dynamo.utils import counters  # noqa: E402

from helpers.internals import dynamo_codes, torch_private  # noqa: E402


class _Counting:
    """A backend that counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, graph, examples):
        self.calls += 1
        return graph.forward


def _make_layer(method):
    """Return a small module of a new class, with this forward."""
    layer = type("Layer", (nn.Module,), {"forward": method})()
    layer.inside = nn.Linear(3, 3)
    return layer


def _in_a_class(wrap):
    """Return what makes a bound method of a compiled function."""

    def make(compile_it):
        return type("Engine", (), {"run": wrap(compile_it(lambda self, x: x * 2))})().run

    return make


def _compiled_forward(compile_it):
    return _make_layer(compile_it(lambda self, x: self.inside(x).relu()))


def _own_forward(compile_it):
    layer = _make_layer(lambda self, x: self.inside(x).relu())
    layer.forward = compile_it(layer.forward)
    return layer


def _callable_object(compile_it):
    return type("Engine", (), {"__call__": compile_it(lambda self, x: x * 4)})()


PLACES = {
    "method": _in_a_class(lambda function: function),
    "classmethod": _in_a_class(classmethod),
    "staticmethod": _in_a_class(lambda function: staticmethod(functools.partial(function, None))),
    "forward of a class": _compiled_forward,
    "forward of an object": _own_forward,
    "call of a module": lambda compile_it: _compiled_forward(compile_it).__call__,
    "object": _callable_object,
    "partial": lambda compile_it: functools.partial(compile_it(lambda n, x: x * n), 3),
    "partial of a method": lambda compile_it: functools.partial(
        _in_a_class(lambda function: function)(compile_it)
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_the_users_own_compiled_function_is_watched(place):
    torch._dynamo.reset()
    backend = _Counting()
    program = PLACES[place](functools.partial(torch.compile, backend=backend))
    program(torch.ones(2, 3))
    assert backend.calls == 1
    counters.clear()
    watched = watch_recompiles(program)
    watched(torch.ones(2, 3))
    assert not counters["frames"], "nothing is compiled for a call that fits"
    watched(torch.ones(4, 3))
    watched(torch.ones(5, 3))
    assert watched.model.verdicts == ("hit", "recompile", "hit")
    assert backend.calls == 2
    assert "size mismatch" in watched.model.entries[1].note
    assert "compile_wrapper" not in watched.text()


def test_the_call_of_a_module_is_compiled_as_the_module():
    layer = _make_layer(lambda self, x: self.inside(x).relu())
    watched = watch_recompiles(layer.__call__)
    assert watched.each((torch.ones(2, 3),), (torch.ones(2, 3),)) == "compile hit"


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("make", [lambda: lambda x: x.sin() + x, lambda: nn.Linear(3, 3)])
def test_the_ops_of_compiled_code_are_said_to_name_no_layer_inside(backend, make):
    torch._dynamo.reset()
    found = watch_ops(torch.compile(make(), backend=backend), torch.ones(2, 3)).model
    layers = {row.layer for row in found.rows}
    assert layers <= {"", "Linear", "GraphModule", "<lambda>"}
    assert "name no layer inside compiled code" in found.note
    assert "under the layer" not in found.note


def _state_of_dynamo(*functions):
    kept = {name: dict(found) for name, found in counters.items() if found}
    entries = [len(dynamo_codes.read_cache_entries(one.__code__)) for one in functions]
    return (
        kept,
        torch._dynamo.convert_frame.FRAME_COUNTER,
        entries,
        {**torch_private.get_code_state()},
    )


@pytest.mark.parametrize("is_compiled_before", [False, True])
@pytest.mark.parametrize("calls_compiled", [False, True])
@pytest.mark.parametrize("ways", [None, {"mine": torch.compile}])
def test_mutations_leave_nothing_with_dynamo(is_compiled_before, calls_compiled, ways, capfd):
    torch._dynamo.reset()
    weight = torch.randn(3, requires_grad=True)

    def loss_of(x):
        return (x * weight).sin().sum()

    compiled = torch.compile(loss_of, backend="eager")
    called = compiled if calls_compiled else loss_of

    def step(x):
        weight.grad = None
        loss = called(x)
        loss.backward()
        return loss.item()

    if is_compiled_before:
        compiled(torch.ones(5, 3))
    before = _state_of_dynamo(loss_of, step)
    watch_mutations({"step": (step, torch.ones(3))}, **({} if ways is None else {"ways": ways}))
    assert _state_of_dynamo(loss_of, step) == before
    assert capfd.readouterr().err == ""


def test_the_hook_has_no_frame_of_ours_compiled_while_a_module_compiles(capfd):
    torch._dynamo.reset()
    seen, layer = [], nn.Linear(3, 3)

    def branch(self, x):
        x = self.inside(x)
        return x + 1 if x.mean() > 0 else x - 1

    model = _make_layer(branch)
    model.inside = layer
    layer.register_forward_hook(lambda module, args, result: seen.append(len(args)))
    compiled = torch.compile(model, backend="eager")
    counts = []
    for run in (
        lambda step: step(torch.ones(2, 3)),
        lambda step: watch_hooked(step, torch.ones(2, 3)),
    ):
        torch._dynamo.reset()
        counters.clear()
        run(lambda x: compiled(x))
        counts.append({name: dict(found) for name, found in counters.items() if found})
    assert counts[0] == counts[1] and counts[0]["frames"]["total"] > 1
    assert capfd.readouterr().err == ""
