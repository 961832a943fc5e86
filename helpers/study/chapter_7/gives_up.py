"""Chapter 7, case 3: a model that recompiles at each call, until torch.compile gives it up.

The cure is a module class. It runs compiled, beside the broken one run plainly: results,
gradients, count of calls; and a backend of ours writes down what was compiled and what ran.
"""

import copy

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.internals import torch_private
from helpers.model.guards import CompileLedger, GuardGraph
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_7.compile_log import Compiled
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.check import Exercise, Unfit, tried
from helpers.study.engine import parted, within

COUNTER = "calls"  # of L['self']
CALLS = 14  # more than torch.compile compiles one function
MOST = 4  # compiles: one for a first value, some for what changes
SHAPES = ((1, 2), (3, 2), (2, 4, 2))


def _shows_counter(model: CompileLedger | GuardGraph) -> str | None:
    """Ask for the guard on the counter."""
    if is_a(model, GuardGraph):
        found = any(guard.source.endswith(f".{COUNTER}") for guard in model.guards)
        return None if found else f"no guard there looks at {COUNTER} of the module"
    if any(COUNTER in str(failure) for failure in model.failures):
        return None
    return "call what watch_recompiles returned, more than once"


EVIDENCE = (
    Evidence(  # the guards are the key of Dynamo's cache
        "evaluator", (CompileLedger, GuardGraph), "which guard failed", _shows_counter, "cache key"
    ),
)
ELSEWHERE = {
    "name": "'name': the call leads to the same module each time",
    "frame": "'frame': a frame of forward is made at each call; who gets it first?",
    "registry": "'registry': the kernels are found, and compute the right numbers",
    "C call": "'C call': what arrives there is right, whether compiled or not",
}


def _judge_gives_up(seam, proof, cured, broken):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    import torch

    if not is_a(cured, type) or not issubclass(cured, torch.nn.Module):
        return f"cured must be a class, as the broken one is, not {kind_of(cured)}"
    with torch_private.same_settings(), torch.enable_grad():
        if because := _shared(cured):
            return because
        whys = (_unlike(cured, broken, shape) for shape in SHAPES)
        return next((because for because in whys if because), None)


def _unlike(cured, broken, shape) -> str | None:
    """Return how the cured module, compiled, parts from the broken one in a row of calls."""
    import torch

    draw = torch.Generator().manual_seed(7)
    reference, module = broken(), _made(cured)
    if _answers(reference, "calls") is None:
        raise Unfit("Warmed is no longer the module of this case: run its cell again")
    if not isinstance(getattr(module, "linear", None), torch.nn.Linear):
        return "the cured module has no linear any more"
    module.linear.load_state_dict(copy.deepcopy(reference.linear.state_dict()))
    log = Compiled(module)
    for number in range(1, CALLS + 1):
        x = torch.randn(shape, generator=draw)
        mine, theirs = _result(log, x), _result(reference, x)
        if because := _parted(mine, theirs):
            return within(f"call {number}, for x of shape {shape}: ", because)
        if not log.ran:
            return f"call {number} ran no graph: the cured module does not run compiled"
        if (said_so := _answers(module, "calls")) != number:
            words = brief(getattr(module, "calls", None)) if said_so is None else said_so
            return f"after {counted(number, 'call')} the cured module says {words} in calls"
    if log.compiles > MOST:
        return f"{CALLS} calls made {log.compiles} graphs: each new count still is a new graph"
    return None


def _made(cured):
    try:
        return tried(cured())
    except TypeError as error:
        raise Unfit(f"cured() must make a module without arguments: {said(error)}") from None


def _answers(module, name: str):
    try:
        return int(getattr(module, name))
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None


def _result(call, x):
    """Return the result, and the gradients for x and for the weight of linear."""
    import torch

    x = x.clone().requires_grad_()
    found = tried(call(x), "forward")
    if not isinstance(found, torch.Tensor):
        raise Unfit(f"forward must return a tensor, not {kind_of(found)}")
    if not found.requires_grad:
        return found, None, None
    weight = call.linear.weight
    return found.detach(), *torch.autograd.grad(found.sum(), (x, weight), allow_unused=True)


def _parted(mine, theirs) -> str | None:
    import torch

    names = ("", "the gradient for x: ", "the gradient for linear.weight: ")
    for name, one, other in zip(names, mine, theirs, strict=True):
        if one is None:
            return f"{name}yours has none"
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            kinds = (f"{t.dtype} of shape {tuple(t.shape)}" for t in (one, other))
            return f"{name}yours gives {next(kinds)}, Warmed gives {next(kinds)}"
        if not torch.allclose(one, other, 1e-5, 1e-6):
            gives = (f"gives {_numbers(t)}" for t in (one, other))
            return parted(name, next(gives), next(gives), "Warmed")
    return None


def _numbers(tensor) -> str:
    first = ", ".join(f"{value:.4g}" for value in tensor.detach().ravel().tolist()[:2])
    return f"[{first}, …]" if tensor.numel() > 2 else f"[{first}]"


def _shared(cured) -> str | None:
    """Return whether two modules share their count."""
    import torch

    one, other = _made(cured), _made(cured)
    tried(one(torch.ones(1, 2)), "forward")
    return "two modules share one count" if _answers(other, "calls") else None


GIVES_UP = Exercise(
    "gives_up",
    _judge_gives_up,
    "A few graphs for any number of calls, and the same results, gradients and counts.",
    (
        "The argument has one shape and one dtype in all calls. What else may compiled code depend "
        "on, and who asks about that before each call?",
        "step = watch_recompiles(model.forward), then call step some times with the same tensor. "
        "Each row says which guard failed, and what it found.",
        "An int of the module is a constant in a graph, and a guard holds it to its value. What "
        "is no constant in a graph, and can be counted up by it?",
        'self.register_buffer("calls", torch.tensor(0)) is a tensor that belongs to the module; '
        "torch.clamp(self.calls / 10, max=1.0) is the factor.",
    ),
    seconds=60,
)
