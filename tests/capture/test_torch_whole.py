"""Runs under torch that are cut short: nothing stays installed, and a ledger stays right."""

import contextlib
import random
import signal
import time

import pytest

torch = pytest.importorskip("torch")
from helpers import watch_breaks, watch_call, watch_compile, watch_recompiles  # noqa: E402
from helpers.capture.references.holder_search import bindings  # noqa: E402
from helpers.capture.references.rebind import rebind_everywhere  # noqa: E402
from helpers.internals import torch_private  # noqa: E402
from helpers.mini import frame_hook  # noqa: E402
from helpers.safety.interpreter_state import whole  # noqa: E402

pytestmark = pytest.mark.own_process()  # Ctrl-C at random is not to hit the other tests of torch


def installed():
    import logging

    from torch._dynamo import convert_frame, symbolic_convert
    from torch._guards import TracingContext

    handlers = logging.getLogger("torch").handlers, logging.getLogger("torch._dynamo").handlers
    return (
        [one.name for one in frame_hook.installed()],
        symbolic_convert.InstructionTranslatorBase.step,
        torch_private.compile_subgraph,
        list(convert_frame._bytecode_hooks),
        [list(found) for found in handlers],
        TracingContext.try_get(),
        torch.is_grad_enabled(),
        torch._C._len_torch_dispatch_stack(),
    )


def chain(x):
    for _ in range(4):
        x = torch.relu(x + 1)
    return x


def endless(x):
    return endless(x + 1)


class Bang(BaseException):
    pass


def bang(x):
    torch._dynamo.graph_break()
    raise Bang


def quits(x):
    raise SystemExit(3)


@pytest.mark.parametrize("fn", [chain, endless, bang, quits])
@pytest.mark.parametrize("verb", [watch_compile, watch_breaks])
def test_nothing_stays_installed_whatever_ends_the_run(verb, fn):
    before = installed()
    with contextlib.suppress(Bang, SystemExit):
        assert verb(fn, torch.ones(2)).model.outcome
    assert installed() == before


def interrupted(seconds, run):
    """Press Ctrl-C after so many seconds of `run()`; return whether it came out of it."""
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        run()
        return False
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def test_ctrl_c_leaves_nothing_of_watch_compile_behind():
    expected = repr(watch_compile(chain, torch.ones(2)))  # imports what it needs
    begun = time.perf_counter()
    watch_compile(chain, torch.ones(2))
    whole = time.perf_counter() - begun
    before, moments = installed(), random.Random(11)
    came = 0
    for _ in range(12):
        moment = moments.uniform(0.001, whole)
        came += interrupted(moment, lambda: watch_compile(chain, torch.ones(2)))
        assert installed() == before
    assert came and repr(watch_compile(chain, torch.ones(2))) == expected


def test_a_ledger_stays_right_when_ctrl_c_cuts_its_calls():
    ledger, moments, before = watch_recompiles(chain), random.Random(7), installed()
    ledger(torch.ones(2))
    calls = 1
    for size in range(3, 15):
        moment = moments.uniform(0.0005, 0.02)
        interrupted(moment, lambda size=size: ledger(torch.ones(size)))
        assert len(ledger.model.verdicts) in (calls, calls + 1)
        calls = len(ledger.model.verdicts)
        assert installed() == before
    ledger(torch.ones(2))
    assert len(ledger.model.verdicts) == calls + 1


@pytest.mark.parametrize("verb", [watch_call, watch_compile, watch_recompiles])
@pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError])
def test_a_compilation_that_is_cut_leaves_no_evaluator_nor_lets_the_next_one_leave_it(verb, error):
    def cut(graph, examples):
        raise error

    before = frame_hook.put_back()
    for _ in range(2):
        compiled = torch.compile(lambda x: x + 1, backend=cut)

        def run(compiled=compiled):
            return compiled(torch.ones(2))

        with contextlib.suppress(Exception, KeyboardInterrupt):
            watched = verb(run)
            watched()
        assert frame_hook.installed()[0] == before and torch_private.callback() is None
    after = torch.compile(lambda x: x * 2, backend="eager")
    assert after(torch.ones(2)).tolist() == [2, 2]
    assert frame_hook.installed()[0] == before


def test_a_dispatch_key_that_a_cut_compilation_leaves_is_taken_away():
    private = torch._C
    key = private.DispatchKey.PythonDispatcher

    def leaves_it():
        private._dispatch_tls_set_dispatch_key_included(key, True)

    for call in (whole(leaves_it), watch_recompiles(leaves_it)):
        call()
        assert not private._dispatch_tls_is_dispatch_key_included(key)
        assert (torch.ones(2) + 1).tolist() == [2, 2]


def test_a_ledger_s_function_may_change_torch_s_modes_itself():
    ledger = watch_recompiles(lambda: torch.set_grad_enabled(False))
    try:
        ledger()
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)


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


def test_a_step_holds_what_is_new_and_says_where_the_rest_stands():
    run = watch_compile(layers(30), torch.ones(1, 2)).model
    late = run.steps[-8]
    assert len(late.panel("guards so far").rows) == 12
    assert "lines before these stand at the steps" in late.panel("guards so far").note
    assert len(late.panel("graph so far").nodes) < 30
    assert "nodes before these stand at the steps" in late.panel("graph so far").note


def test_the_picture_of_many_layers_stays_small():
    exhibit = watch_compile(layers(60), torch.ones(1, 2))
    state = exhibit._view.widget(exhibit.model).get_state()
    state.pop("_esm", None)
    assert len(exhibit._view.html(exhibit.model)) < 1_000_000
    assert sum(len(repr(part)) for part in state.values()) < 1_000_000
    assert "Only the first instructions are shown" in exhibit.model.note


def test_a_very_deep_symbolic_stack_is_cut_and_says_so():
    space = {}
    exec(f"def deep(x):\n    return {'(x + ' * 60}x{')' * 60}\n", space)
    steps = watch_compile(space["deep"], torch.ones(2)).model.steps
    deepest = max((step.stack for step in steps), key=len)
    assert len(deepest) == 41 and deepest[0].endswith("more below")


def test_a_tensor_that_would_end_the_process_is_refused():
    ledger = watch_recompiles(chain)
    ledger(torch.ones(2))
    with pytest.raises(RuntimeError, match="layout=torch.jagged"):
        ledger(torch.nested.nested_tensor([torch.ones(1), torch.ones(2)]))
    assert ledger.model.verdicts == ("compile",)


def test_a_torch_function_is_rebound_where_its_modules_look_it_up(small_heap):
    old = torch.nn.functional.relu
    before = bindings(old)
    with rebind_everywhere(old, lambda x, inplace=False: "new"):
        assert torch.nn.ReLU()(torch.ones(1)) == "new"
    assert torch.nn.ReLU()(torch.ones(1)) == 1
    assert bindings(old) == before
