"""Programs with PyTorch."""

import contextlib
import dataclasses
import functools
import itertools
import threading
import weakref

import torch
import torch._dynamo
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.observer.cases import Case, program

SCALE = 3.0
NUMBERS = itertools.count()  # of ops that are registered, as torch keeps their names


def counting():
    """Return a backend that runs the graph as it is, and a list that grows with each graph."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(len(graph.graph.nodes))
        return graph.forward

    return backend, graphs


def fresh_compile(fn, *args):
    """Compile a function in a backend of its own -> its result, and how many graphs it made."""
    backend, graphs = counting()
    made = torch.compile(fn, backend=backend)(*args)
    return made, len(graphs)


def ten_shapes(fn):
    """Compile a function and call it with ten shapes; return how many graphs there were."""
    backend, graphs = counting()
    compiled = torch.compile(fn, backend=backend, dynamic=False)
    for size in range(2, 12):
        compiled(torch.ones(size, 2))
    return len(graphs)


def other_modules():
    """Compile another module of torch.nn; return how many graphs it made."""
    backend, graphs = counting()
    torch.compile(nn.Linear(2, 2), backend=backend)(torch.ones(2, 2))
    return len(graphs)


def inputs(*shape, seed=0):
    """Return random numbers that are the same in each process, and leave the generator alone."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator)


def seeded(make):
    """Return a module whose weights are the same in each process."""
    torch.manual_seed(0)
    return make()


@program()
def plain_function():
    def step(x):
        return (x * SCALE).relu().sum()

    x = inputs(4, 2)
    probes = {"again": lambda: step(x), "compiled": lambda: fresh_compile(step, x)}
    return Case(
        step, (x,), probes={**probes, "shapes": lambda: ten_shapes(step), "other": other_modules}
    )


@program("module")
def linear():
    model, x = seeded(lambda: nn.Linear(2, 2)), inputs(4, 2)
    probes = {
        "again": lambda: model(x),
        "other": other_modules,
        "shapes": lambda: ten_shapes(model),
    }
    return Case(model, (x,), probes=probes, weak={"model": weakref.ref(model)})


@program("module")
def sequential_with_hooks():
    model, x = seeded(lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU())), inputs(4, 2)
    calls = []
    model[0].register_forward_hook(lambda module, args, out: calls.append("forward"))
    model.register_forward_pre_hook(lambda module, args: calls.append("pre"))
    probes = {"again": lambda: model(x), "calls": lambda: calls[-3:], "other": other_modules}
    return Case(model, (x,), probes=probes, objects={"inner": model[0]})


@program("module")
def lstm():
    model, x = seeded(lambda: nn.LSTM(4, 3)), inputs(5, 1, 4)
    probes = {"again": lambda: model(x)[0], "other": other_modules}
    return Case(model, (x,), probes=probes)


@program("module once")
def batch_norm_in_training():
    model = seeded(lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)).train())
    x = inputs(2, 1, 5, 5)
    probes = {"again": lambda: model(x), "state": lambda: dict(model.state_dict())}
    return Case(model, (x,), probes=probes)


@program("module once")
def dropout():
    model, x = nn.Sequential(nn.Dropout(0.5), nn.ReLU()), torch.ones(50)
    torch.manual_seed(3)
    probes = {"again": lambda: model(x), "random": lambda: torch.rand(3)}
    return Case(model, (x,), probes=probes)


@program()
def custom_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 + ctx.saved_tensors[0] * 0

    def loss(x):
        return Double.apply(x).sum()

    x = inputs(3).requires_grad_()

    def gradient():
        x.grad = None
        loss(x).backward()
        return x.grad

    return Case(
        loss, (x,), probes={"gradient": gradient, "compiled": lambda: fresh_compile(loss, x)}
    )


@program("compiled once")
def compiled_and_called():
    backend, graphs = counting()

    def step(x):
        return (x + SCALE).sin().sum()

    compiled, x = torch.compile(step, backend=backend), inputs(4, 2)
    compiled(x)
    probes = {
        "hit": lambda: (compiled(x), len(graphs)),
        "new": lambda: (compiled(x.double()), len(graphs)),
    }
    return Case(compiled, (x,), probes=probes)


@program("compiled once")
def compiled_not_called():
    backend, graphs = counting()

    def step(x):
        return (x - SCALE).cos().sum()

    compiled, x = torch.compile(step, backend=backend), inputs(4, 2)
    probes = {
        "call": lambda: compiled(x),
        "graphs": lambda: len(graphs) == 1,
        "other": other_modules,
    }
    return Case(compiled, (x,), probes=probes)


@program("compiled")
def compiled_with_several_entries():
    backend, graphs = counting()

    def step(x):
        return (x * 2).tanh().sum()

    compiled = torch.compile(step, backend=backend, dynamic=False)
    xs = [inputs(size) for size in range(2, 6)]
    for x in xs:
        compiled(x)

    def hits():
        return [compiled(x) for x in xs], len(graphs)

    return Case(
        compiled, (xs[1],), probes={"hits": hits, "new": lambda: (compiled(inputs(9)), len(graphs))}
    )


@program("compiled module")
def compiled_module():
    backend, graphs = counting()
    model, x = seeded(lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU())), inputs(4, 2)
    compiled = torch.compile(model, backend=backend)
    compiled(x)
    probes = {"hit": lambda: (compiled(x), len(graphs)), "other": other_modules}
    return Case(compiled, (x,), probes=probes)


@program("compiled")
def compiled_with_breaks():
    backend, graphs = counting()

    def step(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    compiled, x = torch.compile(step, backend=backend), inputs(4)
    compiled(x)
    return Case(compiled, (x,), probes={"hit": lambda: (compiled(x), len(graphs))})


@program()
def calls_a_compiled_function():
    backend, graphs = counting()
    inner = torch.compile(lambda x: x * 3, backend=backend)
    x = inputs(4)
    inner(x)

    def outer(x):
        return inner(x + 1).sum()

    return Case(outer, (x,), probes={"again": lambda: (outer(x), len(graphs))})


@program()
def checkpointed():
    from torch.utils.checkpoint import checkpoint

    layer = seeded(lambda: nn.Linear(3, 3))

    def loss(x):
        return checkpoint(lambda y: layer(y).relu(), x, use_reentrant=False).sum()

    x = inputs(2, 3).requires_grad_()

    def gradient():
        layer.zero_grad()
        loss(x).backward()
        return layer.weight.grad

    return Case(loss, (x,), probes={"gradient": gradient}, objects={"layer": layer})


@program()
def autocast_inside():
    layer, x = seeded(lambda: nn.Linear(3, 3)), inputs(2, 3)

    def run(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return layer(x)

    return Case(
        run, (x,), probes={"again": lambda: run(x), "outside": lambda: layer(x).dtype == x.dtype}
    )


@program()
def autocast_around():
    layer, x = seeded(lambda: nn.Linear(3, 3)), inputs(2, 3)
    torch.autocast("cpu", dtype=torch.bfloat16).__enter__()

    def run(x):
        return layer(x)

    return Case(
        run, (x,), probes={"again": lambda: run(x), "on": lambda: torch.is_autocast_enabled("cpu")}
    )


@program()
def inference_mode():
    layer, x = seeded(lambda: nn.Linear(3, 3)), inputs(2, 3)

    @torch.inference_mode()
    def run(x):
        return layer(x)

    return Case(
        run,
        (x,),
        probes={"mark": lambda: run(x).is_inference(), "off": torch.is_inference_mode_enabled},
    )


@program()
def no_grad_around():
    layer, x = seeded(lambda: nn.Linear(3, 3)), inputs(2, 3)
    torch.set_grad_enabled(False)

    def run(x):
        return layer(x)

    def trained():
        with torch.enable_grad():
            return run(x).requires_grad

    return Case(run, (x,), probes={"again": lambda: run(x).requires_grad, "trained": trained})


@program()
def default_dtype():
    torch.set_default_dtype(torch.float64)

    def run(n):
        return torch.ones(n) / 3

    return Case(run, (3,), probes={"again": lambda: run(3), "new": lambda: torch.zeros(1)})


@program("mode")
def dispatch_mode_around():
    seen = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    def run(x):
        with Log():
            return (x * 2).sum()

    x = inputs(3)
    return Case(run, (x,), probes={"seen": lambda: seen[-2:], "again": lambda: run(x)})


@program("mode")
def function_mode_around():
    seen = []

    class Log(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(getattr(func, "__name__", "?"))
            return func(*args, **(kwargs or {}))

    def run(x):
        with Log():
            return torch.add(x, 1).sum()

    x = inputs(3)
    return Case(run, (x,), probes={"seen": lambda: seen[-2:], "again": lambda: run(x)})


@program()
def vmap_of_grad():
    def cube(x):
        return x**3

    def run(xs):
        return torch.func.vmap(torch.func.grad(cube))(xs)

    return Case(run, (inputs(4),), probes={"again": lambda: run(inputs(3))})


@program("module")
def parametrized():
    from torch.nn.utils import parametrize

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    model, x = seeded(lambda: nn.Linear(3, 3)), inputs(2, 3)
    parametrize.register_parametrization(model, "weight", Symmetric())
    probes = {
        "again": lambda: model(x),
        "weight": lambda: model.weight,
        "names": lambda: sorted(model._modules),
    }
    return Case(model, (x,), probes=probes)


@program("once")
def training_step():
    model, x = seeded(lambda: nn.Linear(2, 1)), inputs(4, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    probes = {"next": lambda: step(x), "weights": lambda: dict(model.state_dict())}
    return Case(step, (x,), probes=probes, objects={"model": model, "optimizer": optimizer})


@program("once")
def lbfgs_closure():
    weight = inputs(3).requires_grad_()
    optimizer = torch.optim.LBFGS([weight], max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = (weight - 1).pow(2).sum()
        loss.backward()
        return loss

    def step():
        return optimizer.step(closure).detach()

    return Case(step, probes={"next": step, "weight": lambda: weight.detach()})


@program("once")
def in_place_and_views():
    base = torch.zeros(3, 3)
    row = base[1]

    def write(value):
        row.add_(value)
        base.t()[0].mul_(2)
        return base

    return Case(
        write, (1.0,), probes={"version": lambda: base._version, "again": lambda: write(2.0)}
    )


@program()
def data_dependent_branch():
    def choose(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    x = inputs(3)
    probes = {"again": lambda: choose(-x), "compiled": lambda: fresh_compile(choose, x)}
    return Case(choose, (x,), probes={**probes, "other": other_modules})


@program()
def deterministic():
    torch.use_deterministic_algorithms(True, warn_only=True)

    def run(x):
        return x.cumsum(0)

    x = inputs(4)
    return Case(
        run,
        (x,),
        probes={"again": lambda: run(x), "on": torch.are_deterministic_algorithms_enabled},
    )


@program("once")
def data_loader():
    torch.manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.arange(6.0))
    loader = torch.utils.data.DataLoader(data, batch_size=2, shuffle=True)
    batches = iter(loader)
    next(batches)

    def total():
        return sum(batch.sum() for (batch,) in loader)

    return Case(
        total, probes={"next": lambda: next(batches)[0], "order": lambda: [b[0] for b in loader]}
    )


@program()
def custom_op():
    if not hasattr(torch.ops, "observer") or not hasattr(torch.ops.observer, "thrice"):

        @torch.library.custom_op("observer::thrice", mutates_args=())
        def thrice(x: torch.Tensor) -> torch.Tensor:
            return x * 3

        thrice.register_fake(lambda x: torch.empty_like(x))

    def run(x):
        return torch.ops.observer.thrice(x).sum()

    x = inputs(3)
    return Case(
        run, (x,), probes={"again": lambda: run(x), "compiled": lambda: fresh_compile(run, x)}
    )


@program("once")
def list_is_mutated():
    found = []

    def step(x):
        found.append(x.sum())
        return x + len(found)

    x = inputs(3)
    return Case(step, (x,), probes={"again": lambda: step(x), "length": lambda: len(found)})


@program()
def raises_inside():
    model = seeded(lambda: nn.Linear(3, 2))

    def wrong(x):
        return model(x).sum()

    return Case(
        wrong,
        (inputs(2, 2),),
        probes={"well": lambda: wrong(inputs(2, 3)), "ill": lambda: wrong(inputs(1, 1))},
    )


@program()
def subclass():
    class Tagged(torch.Tensor):
        pass

    x = inputs(3).as_subclass(Tagged)

    def run(x):
        return x * 2 + 1

    return Case(run, (x,), probes={"kind": lambda: type(run(x)).__name__, "again": lambda: run(x)})


@program()
def keywords_and_dataclass():
    @dataclasses.dataclass
    class Batch:
        data: torch.Tensor
        weight: float = 1.0

    def score(batch, /, *rest, scale=1.0, **more):
        total = (batch.data * batch.weight).sum() * scale
        return total + sum(rest) + len(more)

    case = Case(score, (Batch(inputs(3)), 1.0), {"scale": 2.0, "name": "x"})
    case.probes = {"again": lambda: score(Batch(inputs(2), 0.5))}
    return case


@program()
def prints_inside():
    def speak(x):
        y = x + 1
        print("sum is there")
        return y * 2

    x = inputs(3)
    return Case(
        speak, (x,), probes={"again": lambda: speak(x), "compiled": lambda: fresh_compile(speak, x)}
    )


@program()
def partial_of_module():
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x, scale=1.0):
            return self.layer(x) * scale

    model, x = seeded(Scaled), inputs(3, 2)
    run = functools.partial(model, scale=2.0)
    probes = {"again": lambda: run(x), "shapes": lambda: ten_shapes(model)}
    return Case(run, (x,), probes=probes, objects={"model": model})


@program()
def worker_thread():
    def run(x):
        found = []
        worker = threading.Thread(target=lambda: found.append((x * 2).sum()), name="worker")
        worker.start()
        worker.join()
        return found[0]

    x = inputs(3)
    return Case(run, (x,), probes={"again": lambda: run(x)})


@program()
def gradient_hooks():
    calls = []
    x = inputs(3).requires_grad_()
    x.register_hook(lambda grad: calls.append("x"))

    def loss(x):
        y = x * 2
        y.register_hook(lambda grad: grad * 3)
        return y.sum()

    def gradient():
        x.grad = None
        loss(x).backward()
        return x.grad, calls[-1:]

    return Case(loss, (x,), probes={"gradient": gradient})


@program()
def saved_tensor_hooks():
    packed = []

    def run(x):
        with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(1) or t, lambda t: t):
            return (x * x).sum()

    x = inputs(3).requires_grad_()
    return Case(run, (x,), probes={"gradient": lambda: torch.autograd.grad(run(x), x)})


@program("module")
def graph_break_in_forward():
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.calls = 0

        def forward(self, x):
            x = self.layer(x)
            torch._dynamo.graph_break()
            return x.relu()

    model, x = seeded(Noisy), inputs(3, 2)
    probes = {
        "again": lambda: model(x),
        "shapes": lambda: ten_shapes(model),
        "other": other_modules,
    }
    return Case(model, (x,), probes=probes)


@program("compiled")
def full_graph_error():
    def step(x):
        torch._dynamo.graph_break()
        return x + 1

    compiled, x = torch.compile(step, backend="eager", fullgraph=True), inputs(3)

    def others():
        with contextlib.suppress(Exception):
            compiled(x)
        return fresh_compile(lambda y: y * 2, x)

    return Case(compiled, (x,), probes={"others": others, "plain": lambda: step(x)})


@program("module")
def global_forward_hook():
    calls = []
    nn.modules.module.register_module_forward_hook(lambda module, args, out: calls.append(1))
    model, x = seeded(lambda: nn.Linear(2, 2)), inputs(3, 2)
    return Case(model, (x,), probes={"again": lambda: model(x), "calls": lambda: bool(calls)})


@program()
def skipped_in_a_mode():
    backend, graphs = counting()
    compiled = torch.compile(lambda x: x.exp(), backend=backend)
    x = inputs(3)

    def run(x):
        return compiled(x).sum()

    probes = {
        "again": lambda: run(x),
        "graphs": lambda: len(graphs),
        "compiled": lambda: fresh_compile(run, x),
    }
    return Case(run, (x,), probes=probes)


@program("compiled")
def own_gradient():
    class Clipped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clamp(-1, 1)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * (x.abs() < 1)

    backend, graphs = counting()
    compiled, x = torch.compile(lambda x: Clipped.apply(x * 2).sum(), backend=backend), inputs(4)
    x.requires_grad_()
    probes = {
        "gradient": lambda: torch.autograd.grad(compiled(x), x),
        "graphs": lambda: len(graphs),
        "counters": lambda: torch._dynamo.utils.counters["frames"]["ok"],
    }
    return Case(compiled, (x,), probes=probes)


@program("module once")
def recomputed_with_dropout():
    from torch.utils.checkpoint import checkpoint

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.drop = nn.Linear(3, 3), nn.Dropout(0.5)

        def forward(self, x):
            return checkpoint(lambda y: self.drop(self.layer(y)).relu(), x, use_reentrant=False)

    model, x = seeded(Block), inputs(2, 3)
    torch.manual_seed(1)

    def gradient():
        model.zero_grad()
        model(x).sum().backward()
        return model.layer.weight.grad

    return Case(model, (x,), probes={"gradient": gradient, "random": lambda: torch.rand(2)})


@program("compiled")
def registered_op():
    name = f"observed{next(NUMBERS)}::shifted"

    @torch.library.custom_op(name, mutates_args=())
    def shifted(x: torch.Tensor, by: float) -> torch.Tensor:
        return x + by

    shifted.register_fake(lambda x, by: torch.empty_like(x))
    shifted.register_autograd(lambda ctx, grad: (grad, None))
    backend, graphs = counting()
    compiled = torch.compile(lambda x: shifted(x, 2.0).sum(), backend=backend, fullgraph=True)
    x = inputs(3).requires_grad_()
    probes = {
        "gradient": lambda: torch.autograd.grad(compiled(x), x),
        "plain": lambda: shifted(x, 1.0),
        "graphs": lambda: len(graphs),
    }
    return Case(compiled, (x,), probes=probes, objects={"op": shifted})


@program("compiled")
def marked_dynamic():
    backend, graphs = counting()
    compiled = torch.compile(lambda x: x.mean(0) * x.shape[0], backend=backend)
    x = inputs(5, 2)
    torch._dynamo.mark_dynamic(x, 0)

    def other_sizes():
        for size in (3, 7, 9):
            compiled(inputs(size, 2))
        return len(graphs)

    probes = {"again": lambda: compiled(x), "sizes": other_sizes, "marks": lambda: sorted(vars(x))}
    return Case(compiled, (x,), probes=probes)


@program()
def sparse_and_complex():
    def run(x):
        spectrum = torch.fft.rfft(x)
        wheel = torch.polar(spectrum.abs(), spectrum.angle()).conj()
        return x.to_sparse() * 2, wheel, wheel.is_conj(), x.to_sparse_csr().values()

    x = inputs(2, 4).relu()
    return Case(run, (x,), probes={"again": lambda: run(x)})


@program("module once")
def recurrent_in_training():
    model, x = seeded(lambda: nn.GRU(2, 3, num_layers=2, dropout=0.5)), inputs(4, 1, 2)
    torch.manual_seed(3)

    def step():
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        model(x)[0].sum().backward()
        optimizer.step()
        return model.weight_hh_l0

    return Case(model, (x,), probes={"step": step, "random": lambda: torch.rand(2)})


@program()
def generator_without_gradients():
    @torch.no_grad()
    def halves(x):
        for _ in range(2):
            x = x / 2
            yield x, torch.is_grad_enabled()

    def run(x):
        found = []
        for value, inside in halves(x):
            found.append((value.requires_grad, inside, torch.is_grad_enabled()))
        return found

    x = inputs(2).requires_grad_()
    probes = {"again": lambda: run(x), "grad mode": torch.is_grad_enabled}
    return Case(run, (x,), probes=probes)
