"""Odd objects of torch, wrong arguments, runs that are cut short: one sentence, nothing left."""

import contextlib

import pytest

torch = pytest.importorskip("torch")

import helpers  # noqa: E402
from helpers.capture.torch import repeated_runs as results  # noqa: E402
from helpers.internals import torch_private  # noqa: E402
from helpers.mini import frame_hook  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")


def test_long_fx_graph_is_folded_and_its_nodes_can_be_found():
    made = torch.fx.Graph()
    x = made.placeholder("x")
    for _ in range(6_000):
        x = made.call_function(torch.sin, (x,))
    exhibit = helpers.show_fx(made, find="sin_5999")
    assert exhibit.model.found == ("sin_5999",)
    assert len(exhibit._repr_mimebundle_()[0]["text/html"]) < 1_000_000


def test_long_past_is_drawn_without_recursion_and_folded():
    x = torch.ones(1, requires_grad=True)
    for _ in range(10_000):
        x = x + 1
    exhibit = helpers.show_grad_fn(x)
    assert len(exhibit.model.nodes) == 5_000 and "nearest 5,000" in exhibit.model.note
    assert len(exhibit._repr_mimebundle_()[0]["text/html"]) < 1_000_000


class Uncopied:
    def __deepcopy__(self, memo):
        raise TypeError


def test_each_run_gets_copies_or_it_is_refused():
    with pytest.raises(TypeError, match="copies"):
        helpers.watch_fixes({"a": (lambda x: x, lambda x: x)}, Uncopied())
    copy, again = results.copy_arguments(([torch.ones(2)], torch.ones(2, requires_grad=True) * 2))
    assert copy[0].tolist() == [1, 1] and again.is_leaf and again.requires_grad


# ------------------------------------------------------------------ runs that are cut short


def installed():
    from torch._dynamo import convert_frame, symbolic_convert

    hooks = [one.name for one in frame_hook.installed()], list(convert_frame._bytecode_hooks)
    patched = torch_private.OutputGraph.compile_subgraph
    modes = torch.is_grad_enabled(), torch._C._len_torch_dispatch_stack()
    return hooks, symbolic_convert.InstructionTranslatorBase.step, patched, modes


def chain(x):
    for _ in range(4):
        x = torch.relu(x + 1)
    return x


def endless(x):
    return endless(x + 1)


def quits(x):
    torch._dynamo.graph_break()
    raise SystemExit(3)


def stops(x):
    raise KeyboardInterrupt


@pytest.mark.parametrize("fn", [chain, endless, quits, stops])
@pytest.mark.parametrize("verb", [helpers.watch_compile, helpers.watch_breaks])
def test_nothing_stays_installed_whatever_ends_the_run(verb, fn):
    before = installed()
    with contextlib.suppress(SystemExit, KeyboardInterrupt, RuntimeError):
        assert verb(fn, torch.ones(2)).model.outcome and fn is chain
    assert installed() == before


@pytest.mark.parametrize("verb", [helpers.watch_compile, helpers.watch_recompiles])
@pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError])
def test_compilation_that_is_cut_leaves_no_evaluator(verb, error):
    def cut(graph, examples):
        raise error

    before = frame_hook.put_back()
    compiled = torch.compile(lambda x: x + 1, backend=cut)

    def run():
        return compiled(torch.ones(2))

    with contextlib.suppress(Exception, KeyboardInterrupt):
        watched = verb(run)
        watched()
    assert frame_hook.installed()[0] == before and torch_private.callback() is None
    after = torch.compile(lambda x: x * 2, backend="eager")
    assert after(torch.ones(2)).tolist() == [2, 2]


def layers(count):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(count))

        def forward(self, x):
            for layer in self.layers:
                x = torch.relu(layer(x))
            return x

    return Model()


def test_step_holds_what_is_new_and_says_where_the_rest_stands():
    run = helpers.watch_compile(layers(30), torch.ones(1, 2)).model
    late = run.steps[-8]
    assert len(late.panel("guards so far").rows) == 12
    assert late.panel("guards so far").note
    assert len(late.panel("graph so far").nodes) < 30
    assert late.panel("graph so far").note
