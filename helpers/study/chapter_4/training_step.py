"""Judge an exercise: a training step of which torch.compile compiles the loss as one graph.

The learner writes `make_step(model, optimizer, compile)`. It returns a function that does one
training step. The check trains with the learner's step and with an uncompiled step, and compares
losses and parameters. Then it looks at how often Dynamo compiled, and at the graphs that ran.
"""

import io
from collections import Counter
from collections.abc import Callable
from functools import partial

from helpers.capture.text.value import short_repr
from helpers.internals import dynamo_settings, torch_private
from helpers.internals.compiled_apart import compiled_apart
from helpers.safety.standard_output import redirect_prints
from helpers.study.answers import InvalidAnswer, require_no_stub
from helpers.study.check import exercise
from helpers.study.engine import (
    advise_on_first_part,
    find_difference,
    make_cases,
    select_differing_entries,
)
from helpers.study.frameworks import torch
from helpers.study.graph_log import GraphLog
from helpers.study.sameness import is_same_result

CALLS = 12  # more than the recompile limit, and more than the warm-up needs
MOST_COMPILATIONS = 2  # one for the first values, one general
FEW = f"at most {MOST_COMPILATIONS}"
SHAPES = ((4, 3), (1, 3), (2, 5, 3))  # of x; all batches of a run have the same shape
AIM = "a correct answer"
PLAIN = "first_step"  # what the page calls the step that breaks
# The label of whether `_has_whole_graph` was true for all calls.
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
    """Return the model of the notebook: a linear layer, a clamp, and a warm-up by calls.

    The `if` breaks Dynamo's graph. `self.calls` is an int, so each call has another constant in the
    graph, and Dynamo compiles again.
    """

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            y = self.linear(x)
            if y.abs().max() > 2:
                y = y.clamp(-2, 2)
            return y * min(1.0, self.calls / 10)

    return Net()


def _make_plain_step(model, optimizer, compile):
    """Return the notebook's training step, which a correct answer must equal in its results.

    It does not use `compile`, so nothing of it is compiled.
    """

    def step(x, target):
        optimizer.zero_grad()
        loss = (model(x) - target).square().mean()
        print(f"call {model.calls}: loss {loss.item():.3f}")
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _has_whole_graph(log: GraphLog, weight, loss) -> bool:
    """Return whether a graph ran that had the weight as an input and the loss as a result.

    `log.runs` has (arguments, results) of each graph that ran.
    """
    for args, results in log.runs:
        has_weight = any(arg is weight for arg in args)
        if has_weight and any(is_same_result(loss, result) for result in results):
            return True
    return False


ONE_COMPILE_HINTS = (
    "Only what you pass to `compile` is compiled. Which lines of the step compute with "
    "tensors alone? Put them into a function of their own, and leave the others to Python.",
    "The print, zero_grad, backward and the optimizer's step stay outside. Count the call there, "
    "too, because an int of the module becomes a constant in the graph.",
    "Pass what changes from call to call as a tensor argument, such as "
    "torch.tensor(min(1.0, model.calls / 10)).",
    "Drop the if, because clamp changes nothing where all values are small enough. One function "
    "computes y = model.linear(x).clamp(-2, 2) and returns (y * warm - target).square().mean().",
)


@exercise(*ONE_COMPILE_HINTS, seconds=60)
def one_compile(make_step: Callable):
    """One graph leads from x to the loss, compiled at most twice, and training runs as before."""
    torch_private.refuse_late_dynamo()
    # (text, arguments of `_train` and of `_compile_training`)
    rows = [(f"for x of shape {shape}", seed, shape) for seed, shape in enumerate(SHAPES)]
    training_cases = make_cases(_train, rows, advise_on_first_part(PLAIN))
    compiling_cases = make_cases(_compile_training, rows, _advise_on_compiling)
    # For each shape, a wrong result is reported before a wrong compilation.
    cases = []
    for training, compiling in zip(training_cases, compiling_cases, strict=True):
        cases += [training, compiling]
    with dynamo_settings.restore_config(), torch.enable_grad():
        return find_difference(make_step, _make_plain_step, cases, PLAIN)


def _advise_on_compiling(mine, real):
    """Return the first part in which two results of `_compile_training` differ, with advice on it.

    `mine` is the result of the learner's step, or a Raised if the step raised an error.
    """
    advice = ""
    if type(mine) is dict:
        _, differing_parts = select_differing_entries(mine, real)  # label -> value
        first_label = next(iter(differing_parts))
        advice = ADVICE.get(first_label, "")
    return advise_on_first_part(AIM, advice)(mine, real)


def _train(seed: int, shape: tuple, make_step: Callable) -> dict:
    """Return label -> value of what a training computes: the first result of `_run_training`."""
    visible, _ = _run_training(seed, shape, make_step)
    return visible


def _compile_training(seed: int, shape: tuple, make_step: Callable) -> dict:
    """Return label -> value of what Dynamo did: the second result of `_run_training`."""
    if make_step is _make_plain_step:
        # This step compiles nothing, so return what a correct answer would get.
        return {
            "graph breaks": [],
            "graphs in a call": 1,
            "compilations": FEW,
            "calls without a graph": 0,
            WEIGHT: True,
        }
    _, compiling = _run_training(seed, shape, make_step)
    return compiling


@compiled_apart()
def _run_training(seed: int, shape: tuple, make_step: Callable) -> tuple[dict, dict]:
    """Train a new model for CALLS steps; return two dicts, label -> value.

    The first has what the training computes and prints: losses, printed lines, parameters. The
    second has what Dynamo did: graph breaks, graphs, compilations.

    Parameters
    ----------
    seed
        The seed of all random numbers.
    shape
        The shape of x.
    make_step
        `make_step(model, optimizer, compile)` returns a step, a function of x and the target.
    """
    torch.manual_seed(seed)
    model = _make_net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    log = GraphLog()  # its backend notes each graph that is compiled or runs
    # Reason -> how often it broke a graph in this process. Earlier breaks are subtracted below.
    break_counts = torch._dynamo.utils.counters["graph_break"]
    earlier_counts = Counter(break_counts)
    step = require_no_stub(make_step(model, optimizer, partial(torch.compile, backend=log.backend)))
    if not callable(step):
        raise InvalidAnswer(f"make_step must return the step, a function, not {short_repr(step)}")

    visible = {}
    graphs_by_call = []
    is_whole = True
    for number in range(1, CALLS + 1):
        # Some of the values are so large that the model clamps its output.
        x = torch.randn(shape) * (1 + number % 3)
        target = torch.randn(*shape[:-1], 2)
        log.runs.clear()  # so that the log has only the graphs of this call
        printed = io.StringIO()
        with redirect_prints(printed), dynamo_settings.collect_torch_logs():
            loss = require_no_stub(step(x, target), "step")

        graphs_by_call.append(len(log.runs))
        is_whole = is_whole and _has_whole_graph(log, model.linear.weight, loss)
        visible[f"call {number}, the loss"] = loss
        visible[f"call {number}, printed"] = printed.getvalue()

    for name, parameter in model.named_parameters():
        visible[f"{name}, after {CALLS} calls"] = parameter.tolist()
    visible["model.calls"] = model.calls

    new_breaks = Counter(break_counts) - earlier_counts
    return visible, {
        "graph breaks": [reason.partition("\n")[0] for reason in new_breaks],
        "graphs in a call": max(graphs_by_call),
        # Any number up to MOST_COMPILATIONS is right, so the value is one text for all of them.
        "compilations": log.compiled if log.compiled > MOST_COMPILATIONS else FEW,
        "calls without a graph": graphs_by_call.count(0),
        WEIGHT: is_whole,
    }
