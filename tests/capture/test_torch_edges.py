"""Odd objects of torch, wrong arguments, runs that are cut short: one sentence, nothing left."""

import contextlib

import pytest

torch = pytest.importorskip("torch")

from helpers import (  # noqa: E402
    show_compiled,
    show_fx,
    show_grad_fn,
    show_guards,
    show_op_graph,
    show_recording,
    watch_breaks,
    watch_compile,
    watch_fixes,
    watch_inductor,
    watch_ops,
    watch_recompiles,
)
from helpers.capture.text import tensors  # noqa: E402
from helpers.capture.torch import results  # noqa: E402
from helpers.internals import torch_private  # noqa: E402
from helpers.mini import frame_hook  # noqa: E402

pytestmark = pytest.mark.own_process(sharing="torch")


class Anything:
    def __getattr__(self, name):
        return self


def freed():
    tensor = torch.ones(100)
    tensor.untyped_storage().resize_(0)
    return tensor


ODD = {
    "on no device": (lambda: torch.empty(10**6, 10**6, device="meta"), False),
    "sparse": (lambda: torch.eye(2).to_sparse(), False),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]), False),
    "not initialised": (lambda: torch.nn.parameter.UninitializedParameter(), False),
    "freed": (freed, False),
    "dense": (lambda: torch.ones(2, 3).t(), True),
    "without elements": (lambda: torch.empty(0, 5), True),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ODD)
def test_tensor_is_told_in_a_few_words_and_read_only_where_its_memory_is_there(name):
    make, readable = ODD[name]
    made = make()
    assert 0 < len(tensors.words(made)) < 80
    assert tensors.has_its_elements(made) is readable
    assert watch_ops(lambda x: None, made).model.ops == ()


def test_what_ends_a_run_is_told_and_ctrl_c_reaches_the_notebook():
    def run(error):
        raise error

    for error in (ValueError("no"), RecursionError("deep")):
        assert watch_ops(run, error).model.outcome.startswith(type(error).__name__)
    with pytest.raises(KeyboardInterrupt):
        watch_ops(run, KeyboardInterrupt())


def test_function_whose_body_does_not_run_is_told():
    async def waits():
        pass

    def yields():
        yield

    with pytest.raises(TypeError, match="only makes a coroutine"):
        watch_ops(waits)
    assert "only made a generator" in watch_ops(yields).model.note


def test_very_many_ops_are_counted_and_said():
    def run():
        x = torch.ones(1)
        for _ in range(700):
            x = x + 1

    log = watch_ops(run).model
    assert len(log.rows) == 500 and "201 more ops are left out" in log.note


def test_long_fx_graph_is_folded_and_its_nodes_can_be_found():
    made = torch.fx.Graph()
    x = made.placeholder("x")
    for _ in range(6_000):
        x = made.call_function(torch.sin, (x,))
    exhibit = show_fx(made, find="sin_4998 =")
    assert "are left out" in exhibit.model.note and exhibit.model.found == ("sin_4998",)
    assert len(exhibit._repr_mimebundle_()[0]["text/html"]) < 1_000_000


def test_long_past_is_drawn_without_recursion_and_folded():
    x = torch.ones(1, requires_grad=True)
    for _ in range(10_000):
        x = x + 1
    exhibit = show_grad_fn(x)
    assert len(exhibit.model.nodes) == 5_000 and "nearest 5,000" in exhibit.model.note
    assert len(exhibit._repr_mimebundle_()[0]["text/html"]) < 1_000_000


WRONG = {
    "show_fx": show_fx,
    "show_grad_fn": show_grad_fn,
    "show_op_graph": lambda thing: show_op_graph("title", log=thing),
    "show_op_graph title": lambda thing: show_op_graph(thing, log=watch_ops(lambda: 1)),
    "show_compiled": show_compiled,
    "show_guards": show_guards,
    "show_guards find": lambda thing: show_guards(freed, find=thing),
    "watch_recompiles": watch_recompiles,
    "show_recording": show_recording,
    "watch_inductor": watch_inductor,
    "watch_inductor run": lambda thing: watch_inductor(freed, run=thing),
    "watch_fixes": watch_fixes,
    "watch_fixes pair": lambda thing: watch_fixes({"a": thing}),
    "watch_fixes functions": lambda thing: watch_fixes({"a": (thing, thing)}),
}


@pytest.mark.parametrize("verb", WRONG)
def test_wrong_argument_is_refused_in_one_sentence(verb):
    for thing in (Anything(), freed(), Anything, 3, None):
        with pytest.raises((TypeError, ValueError)) as caught:
            WRONG[verb](thing)
        assert len(str(caught.value)) < 300 and "\n" not in str(caught.value)


def test_what_cannot_be_copied_for_each_run_is_shared_and_said():
    thing = Anything()
    model = watch_fixes({"a": (lambda x: x, lambda x: x)}, thing).model
    assert "Not copied for each run but shared: Anything" in model.note
    told = dict(zip(model.headings, model.entries[0].verdicts, strict=True))
    assert told["result"].word == "same"
    holding = [torch.ones(2), {"a": [1]}, thing]
    holding.append(holding)
    (copy,), shared = results.copied((holding,))
    assert copy[0] is not holding[0] and copy[2] is thing and shared == ["Anything"]
    assert copy[3] is copy and results.compared(copy, copy) == results.SAME


# ------------------------------------------------------------------ runs that are cut short


def installed():
    from torch._dynamo import convert_frame, symbolic_convert

    return (
        [one.name for one in frame_hook.installed()],
        symbolic_convert.InstructionTranslatorBase.step,
        torch_private.compile_subgraph,
        list(convert_frame._bytecode_hooks),
        torch.is_grad_enabled(),
        torch._C._len_torch_dispatch_stack(),
    )


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
@pytest.mark.parametrize("verb", [watch_compile, watch_breaks])
def test_nothing_stays_installed_whatever_ends_the_run(verb, fn):
    before = installed()
    with contextlib.suppress(SystemExit, KeyboardInterrupt):
        assert verb(fn, torch.ones(2)).model.outcome
    assert installed() == before


@pytest.mark.parametrize("verb", [watch_compile, watch_recompiles])
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
    run = watch_compile(layers(30), torch.ones(1, 2)).model
    late = run.steps[-8]
    assert len(late.panel("guards so far").rows) == 12
    assert "lines before these stand at the steps" in late.panel("guards so far").note
    assert len(late.panel("graph so far").nodes) < 30
    assert "nodes before these stand at the steps" in late.panel("graph so far").note


def test_very_deep_symbolic_stack_is_cut_and_says_so():
    space = {}
    exec(f"def deep(x):\n    return {'(x + ' * 60}x{')' * 60}\n", space)
    steps = watch_compile(space["deep"], torch.ones(2)).model.steps
    deepest = max((step.stack for step in steps), key=len)
    assert len(deepest) == 41 and deepest[0].endswith("more below")


def test_tensor_that_would_end_the_process_is_refused():
    ledger = watch_recompiles(chain)
    ledger(torch.ones(2))
    with pytest.raises(RuntimeError, match="layout=torch.jagged"):
        ledger(torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]))
    assert ledger.model.verdicts == ("compile",)
