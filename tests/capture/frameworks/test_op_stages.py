"""Each op has the layer and the stage that a second way of measuring gives it, or none."""

import random
from collections import Counter

import pytest

from helpers import watch_call, watch_mutations, watch_ops, watching_ops
from helpers.capture.frameworks.call_interceptions import list_interceptions
from helpers.capture.frameworks.executed_ops import HIGHER_ORDER_NOTE, record_ops
from helpers.capture.frameworks.journey import build_journey
from helpers.capture.frameworks.op_layers import LayerFinder
from helpers.capture.frameworks.op_recorder import OpRecorder
from helpers.capture.frameworks.op_stages import FrameReader
from helpers.capture.frameworks.op_values import TensorRegister

pytestmark = pytest.mark.own_process(sharing="torch")
torch = pytest.importorskip("torch")
nn = torch.nn
SEEDS = range(20)


class Tree(nn.Module):
    """Layers and trees, called in any order and more than once, checkpointed or not."""

    def __init__(self, draw, depth=2):
        super().__init__()
        self.parts, self.plan = nn.ModuleList(), []
        for _ in range(draw.randint(1, 3)):
            is_leaf = not depth or draw.random() < 0.5
            self.parts.append(nn.Linear(3, 3) if is_leaf else Tree(draw, depth - 1))
        for _ in range(draw.randint(1, 4)):
            way = draw.choice(["plain", "plain", "checkpoint", "reentrant", "raises"])
            self.plan.append((draw.randrange(len(self.parts)), way))

    def forward(self, x):
        for at, way in self.plan:
            part = self.parts[at]
            if way == "raises":
                x = self.survive(x)
            elif way == "plain":
                x = part(x).tanh()
            else:
                again = torch.utils.checkpoint.checkpoint
                x = again(part, x, use_reentrant=way == "reentrant")
        return x

    def survive(self, x):
        try:
            return Raising()(x)
        except ValueError:
            return x + 1


class Raising(nn.Module):
    def forward(self, x):
        x.mul(2)
        raise ValueError


class Stack(torch.utils._python_dispatch.TorchDispatchMode):
    """Note the innermost open module of each op, and the pass, by hooks and not by frames."""

    def __init__(self):
        super().__init__()
        self.open, self.passes, self.found = [], ["forward"], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        name = f"{func.namespace}.{func.overloadpacket.__name__}"
        inside = [layer for at, layer in self.open if at == len(self.passes)]
        self.found.append((name, self.passes[-1], inside[-1] if inside else None))
        return made


def measured_by_hooks(tree, step, monkeypatch):
    """Return (op, pass, path of the module or None) of a run whose modules tell what they do."""
    stack = Stack()
    paths = {id(module): f"tree.{path}".rstrip(".") for path, module in tree.named_modules()}
    real_call, real_backward = nn.Module._call_impl, torch.autograd.backward
    recompute = torch.utils.checkpoint.CheckpointFunction.backward

    def calling(module, *args, **kwargs):
        stack.open.append((len(stack.passes), paths.get(id(module), type(module).__name__)))
        try:
            return real_call(module, *args, **kwargs)
        finally:
            stack.open.pop()

    def in_pass(name, function):
        def entering(*args, **kwargs):
            stack.passes.append(name)
            try:
                return function(*args, **kwargs)
            finally:
                stack.passes.pop()

        return entering

    with monkeypatch.context() as patch:
        patch.setattr(nn.Module, "__call__", calling)
        patch.setattr(torch.autograd, "backward", in_pass("backward", real_backward))
        patch.setattr(
            torch.utils.checkpoint.CheckpointFunction,
            "backward",
            staticmethod(in_pass("recompute", recompute)),
        )
        with stack:
            step()
    return stack.found


@pytest.mark.parametrize("seed", SEEDS)
def test_layers_and_stages_are_those_that_hooks_measure(seed, monkeypatch):
    tree = Tree(random.Random(seed))
    x = torch.ones(2, 3, requires_grad=True)

    def step():
        for parameter in tree.parameters():
            parameter.grad = None
        x.grad = None
        tree(x).sum().backward()

    expected = measured_by_hooks(tree, step, monkeypatch)
    rows = record_ops(step).rows if len(expected) < 500 else record_ops(step, most=100_000).rows
    assert [row.op for row in rows] == [op for op, _, _ in expected]
    for row, (_, in_pass, layer) in zip(rows, expected, strict=True):
        if in_pass == "backward" and row.stage == "recompute":
            continue  # the other kind of checkpoint; its layer is compared below
        assert row.stage == in_pass, (row, in_pass)
        if layer is not None and in_pass != "backward":
            assert row.layer == layer, (row, layer)
    for row, (_, in_pass, layer) in zip(rows, expected, strict=True):
        if in_pass == "backward" and layer is not None:
            assert (row.stage, row.layer) == ("recompute", layer)


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_what_a_checkpoint_computes_again_is_of_its_own_layer(use_reentrant):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            again = torch.utils.checkpoint.checkpoint
            return self.b(again(self.a, x, use_reentrant=use_reentrant)).sum()

    net, x = Net(), torch.ones(2, 3, requires_grad=True)
    rows = record_ops(lambda: net(x).backward()).rows
    again = {row.layer for row in rows if row.stage == "recompute"}
    assert again - {""} == {"net.a"}
    assert {row.layer for row in rows if row.op == "aten.mm"} == {"net.a", "net.b"}


def closure_of(module, optimizer):
    def closure():
        optimizer.zero_grad()
        loss = module(torch.ones(4, 2)).pow(2).sum()
        loss.backward()
        return loss

    return closure


class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure):
        loss = torch.enable_grad()(closure)()
        for parameter in self.param_groups[0]["params"]:
            parameter.add_(-(parameter.grad * 0.1))
        return loss


OPTIMIZERS = {
    "LBFGS": lambda p: torch.optim.LBFGS(p, max_iter=2),
    "LBFGS, a line search": lambda p: torch.optim.LBFGS(
        p, max_iter=2, line_search_fn="strong_wolfe"
    ),
    "SGD": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
    "AdamW": torch.optim.AdamW,
    "one of your own": Own,
}


@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_what_a_closure_computes_is_no_update(make):
    module = nn.Linear(2, 1)
    optimizer = make(module.parameters())
    closure = closure_of(module, optimizer)
    inside = Counter((row.op, row.stage) for row in record_ops(closure).rows)
    rows = record_ops(lambda: optimizer.step(closure)).rows
    assert {row.stage for row in rows} == {"forward", "backward", "update"}
    of_loss = Counter((row.op, row.stage) for row in rows if row.stage != "update")
    times = of_loss["aten.addmm", "forward"]
    clearing = {"aten.zero_"}
    assert {key: many * times for key, many in inside.items() if key[0] not in clearing} == {
        key: many for key, many in of_loss.items() if key[0] not in clearing
    }


def test_a_shared_weight_s_gradient_has_no_layer_and_an_unregistered_module_its_class():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.hidden = nn.Linear(2, 2), nn.Linear(2, 2), [nn.ReLU()]
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.hidden[0](self.b(self.a(x))).sum()

    shared, x = Shared(), torch.ones(1, 2)
    rows = record_ops(lambda: shared(x).backward()).rows
    assert next(row.layer for row in rows if row.op == "aten.relu") == "ReLU"
    assert rows[-1].layer == ""


def test_what_reads_a_gradient_of_before_comes_after():
    module = nn.Linear(2, 1)
    module(torch.ones(1, 2)).sum().backward()
    log = record_ops(lambda: nn.utils.clip_grad_norm_(module.parameters(), 1.0))
    assert {row.stage for row in log.rows} == {"after"}


def test_an_op_that_calls_functions_runs_and_says_what_is_not_listed():
    def branch(x):
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,))

    found = []
    log = record_ops(lambda: found.append(branch(torch.ones(2))))
    assert found[0].tolist() == [2, 2] and "higher_order.cond" in log.ops
    assert HIGHER_ORDER_NOTE.format("higher_order.cond") in log.note
    assert build_journey(branch, torch.ones(2)).first.has_answer


def in_a_block(fn, x):
    with watching_ops():
        return fn(x)


WATCHING = {
    "watch_ops": watch_ops,
    "watching_ops": in_a_block,
    "watch_call": watch_call,
    "journey": build_journey,
    "watch_mutations": lambda fn, x: watch_mutations({"a": (fn, x)}, ways={"b": lambda fn: fn}),
    "interceptions": lambda fn, x: (list_interceptions(), fn(x)),
}


@pytest.mark.parametrize("watch", WATCHING.values(), ids=WATCHING)
def test_a_compiled_function_stays_compiled(watch):
    entries = torch._C._dynamo.eval_frame._debug_get_cache_entry_list

    space = {}
    exec("def doubled(x):\n    return x * 2", space)
    doubled = space["doubled"]
    compiled = torch.compile(doubled, backend="eager", dynamic=False)
    for _ in range(3):
        watch(compiled, torch.ones(2))  # its first call is a watched one
    compiled(torch.ones(2))  # watch_mutations calls what is compiled, and not the user's wrapper
    assert len(entries(doubled.__code__)) == 1
    for size in (3, 4):
        compiled(torch.ones(size))
    assert len(entries(doubled.__code__)) == 3


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (OpRecorder, "_add"),
        (TensorRegister, "find_tensors"),
        (TensorRegister, "read_value"),
        (FrameReader, "_find_mark"),
        (LayerFinder, "find_path"),
        (LayerFinder, "trace_through_autograd"),
    ],
)
@pytest.mark.parametrize("after", [0, 3])
def test_a_fault_of_ours_is_told_and_the_program_goes_on(owner, name, after, monkeypatch):
    module, x = nn.Linear(2, 1), torch.ones(4, 2)
    real, calls = getattr(owner, name), []

    def failing(*args):
        calls.append(args)
        if len(calls) > after:
            raise ZeroDivisionError
        return real(*args)

    plain = module(x).sum()
    monkeypatch.setattr(owner, name, failing)
    found = []
    log = record_ops(lambda: found.append(module(x).sum()))
    assert torch.equal(found[0], plain) and not log.outcome
    words = "nothing is known: the recorder failed with ZeroDivisionError"
    assert (words in log.note) == (len(calls) > after)


def test_what_a_hook_of_the_users_runs_is_of_no_layer():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

    def step(net, x):
        result = net(x)
        result.register_hook(lambda gradient: gradient.cos())
        result.sum().backward()

    rows = watch_ops(step, net, torch.ones(2, 2)).model.rows
    assert [row.layer for row in rows if row.op == "aten.cos"] == [""]
    assert "net.1" in {row.layer for row in rows if row.stage == "backward"}
