"""Chapter 4: a training step whose loss is one graph, compared with one that breaks."""

import io
from collections import Counter
from collections.abc import Callable
from functools import partial

from helpers.capture.text.value import short_repr
from helpers.internals import torch_private
from helpers.internals.compiled_apart import compiled_apart
from helpers.safety.standard_output import redirected
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import (
    find_difference,
    make_cases,
    parts_apart,
    same_result,
    say_first_part,
    torch,
)
from helpers.study.graph_log import GraphLog

CALLS = 12  # more than the recompile limit, and more than the warm-up needs
MOST = 2  # compilations: one for the first values, one general
SHAPES = ((4, 3), (1, 3), (2, 5, 3))  # of x; all batches of a run have the same shape
FEW, AIM, PLAIN = f"at most {MOST}", "a correct answer", "first_step"
WEIGHT = "one graph leads from model.linear.weight to the loss"
ADVICE = {
    "graph breaks": "keep what Dynamo cannot translate outside the compiled function",
    "graphs in a call": "with 0, what `compile` made did not run a graph. With 2 or more, a graph "
    "broke, or `compile` was given several functions",
    "compilations": "which calls did not fit what was compiled before?",
    "calls without a graph": "an entry in the cache must fit, or Dynamo must compile a new one",
    WEIGHT: "compile everything between x and the loss",
}


def _make_net():
    """Return the model of the notebook."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.calls = torch.nn.Linear(3, 2), 0

        def forward(self, x):
            self.calls += 1
            y = self.linear(x)
            if y.abs().max() > 2:
                y = y.clamp(-2, 2)
            return y * min(1.0, self.calls / 10)

    return Net()


def _make_plain(model, optimizer, compile):
    def step(x, target):
        optimizer.zero_grad()
        loss = (model(x) - target).square().mean()
        print(f"call {model.calls}: loss {loss.item():.3f}")
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _leads(log: GraphLog, weight, loss) -> bool:
    """Tell whether one graph had the weight as an input and the loss as a result."""
    return any(
        any(arg is weight for arg in args) and any(same_result(loss, out) for out in results)
        for args, results in log.ran
    )


@exercise(
    "Only what you pass to `compile` is compiled. Which lines of the step compute with "
    "tensors alone? Put them into a function of their own, and leave the others to Python.",
    "The print, zero_grad, backward and the optimizer's step stay outside. Count the call there, "
    "too, because an int of the module becomes a constant in the graph.",
    "Pass what changes from call to call as a tensor argument, such as "
    "torch.tensor(min(1.0, model.calls / 10)).",
    "Drop the if, because clamp changes nothing where all values are small enough. One function "
    "computes y = model.linear(x).clamp(-2, 2) and returns (y * warm - target).square().mean().",
    seconds=60,
)
def one_compile(make_step: Callable):
    """One graph leads from x to the loss, compiled at most twice, and training runs as before."""
    torch_private.refuse_late_dynamo()
    rows = [(f"for x of shape {shape}", seed, shape) for seed, shape in enumerate(SHAPES)]
    cases = make_cases(_train, rows, say_first_part(PLAIN))
    aims = make_cases(_compile, rows, _advise)
    with torch_private.same_settings(), torch.enable_grad():
        both = (case for pair in zip(cases, aims, strict=True) for case in pair)
        return find_difference(make_step, _make_plain, both, PLAIN)


def _advise(mine, real):
    part = next(iter(parts_apart(mine, real)[1])) if type(mine) is dict else ""
    return say_first_part(AIM, ADVICE.get(part, ""))(mine, real)


def _train(seed: int, shape: tuple, make_step: Callable) -> dict:
    """Return what you can see of a training from outside."""
    return _run(seed, shape, make_step)[0]


def _compile(seed: int, shape: tuple, make_step: Callable) -> dict:
    """Return what Dynamo did during a training."""
    if make_step is _make_plain:
        facts = {"graph breaks": [], "graphs in a call": 1, "compilations": FEW}
        return facts | {"calls without a graph": 0, WEIGHT: True}
    return _run(seed, shape, make_step)[1]


@compiled_apart()
def _run(seed: int, shape: tuple, make_step: Callable) -> tuple[dict, dict]:
    torch.manual_seed(seed)
    model, log, seen, ran, whole = _make_net(), GraphLog(), {}, [], True
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    breaks = torch._dynamo.utils.counters["graph_break"]
    before = Counter(breaks)
    step = tried(make_step(model, optimizer, partial(torch.compile, backend=log.backend)))
    if not callable(step):
        raise InvalidAnswer(f"make_step must return the step, a function, not {short_repr(step)}")
    for number in range(1, CALLS + 1):
        x, target = torch.randn(shape) * (1 + number % 3), torch.randn(*shape[:-1], 2)
        log.ran.clear()
        printed = io.StringIO()
        with redirected(printed), torch_private.logs():
            loss = tried(step(x, target), "step")
        ran.append(len(log.ran))
        whole = whole and _leads(log, model.linear.weight, loss)
        seen |= {f"call {number}, the loss": loss, f"call {number}, printed": printed.getvalue()}
    for name, one in model.named_parameters():
        seen[f"{name}, after {CALLS} calls"] = one.tolist()
    return seen | {"model.calls": model.calls}, {
        "graph breaks": [reason.partition("\n")[0] for reason in Counter(breaks) - before],
        "graphs in a call": max(ran),
        "compilations": log.compiled if log.compiled > MOST else FEW,
        "calls without a graph": ran.count(0),
        WEIGHT: whole,
    }
