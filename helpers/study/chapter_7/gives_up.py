"""Chapter 7, case 3: a model that recompiles at each call, until torch.compile gives it up.

The cure is a module class. It runs compiled, beside the broken one run plainly: results,
gradients, count of calls; and a backend of ours writes down what was compiled and what ran.
"""

from collections.abc import Iterator

from helpers.internals import torch_private
from helpers.model.guards import CompileLedger, GuardGraph
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_7.compile_log import Compiled
from helpers.study.chapter_7.diagnosis import Evidence, say_first_part, undiagnosed
from helpers.study.engine import Case, Exercise, Unfit, find_difference, tried

COUNTER = "calls"  # of L['self']
CALLS = 14  # more than torch.compile compiles one function
MOST = 4  # graphs: one for a first value, some for what changes
SHAPES = ((1, 2), (3, 2), (2, 4, 2))


def _shows_counter(model: CompileLedger | GuardGraph) -> str | None:
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


SAY = {
    "the result": "yours gives {0}, Warmed gives {1}",
    "the gradient for x": "the gradient for x: yours has {0}, Warmed has {1}",
    "the gradient for linear.weight": "the gradient for linear.weight: yours has {0}, not {1}",
    "graph": "call {0} ran no graph: the cured module does not run compiled",
    "calls": "after {0} in calls",
    "graphs": f"{CALLS} calls made {{0}} graphs: each new count still is a new graph",
}


def _judge(seam, proof, cured, broken):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    import torch

    if not is_a(cured, type) or not issubclass(cured, torch.nn.Module):
        return f"cured must be a class, as the broken one is, not {kind_of(cured)}"
    if _count(broken()) is None:
        raise Unfit("Warmed is no longer the module of this case: run its cell again")
    with torch_private.same_settings(), torch.enable_grad():
        return find_difference(cured, broken, _cases(broken), "Warmed")


def _cases(broken) -> Iterator[Case]:
    """Yield a case for each call, of which the answers have made those before."""
    yield Case("two modules share one count", _count_of_another)
    for shape in SHAPES:
        made = {}

        def run(cls, shape=shape, made=made):
            return next(made.setdefault(cls, _calls(cls, shape, compiled=cls is not broken)))

        for number in range(1, CALLS + 1):
            yield Case(f"call {number}, for x of shape {shape}", run, say_first_part(SAY))


def _calls(cls, shape, compiled: bool) -> Iterator[dict]:
    """Call a module again and again; yield what each call shows."""
    import torch

    draw, module = torch.Generator().manual_seed(7), tried(cls())
    if not isinstance(getattr(module, "linear", None), torch.nn.Linear):
        raise Unfit("the cured module has no linear any more")
    with torch.no_grad():
        for each in module.linear.parameters():
            each.copy_(torch.randn(each.shape, generator=draw))
    log = Compiled(module) if compiled else None
    for number in range(1, CALLS + 1):
        x, weight = torch.randn(shape, generator=draw, requires_grad=True), module.linear.weight
        found, slopes = tried((log or module)(x), "forward"), (None, None)
        if found.requires_grad:
            slopes = torch.autograd.grad(found.sum(), (x, weight), allow_unused=True)
        said = f"{counted(number, 'call')} the cured module says {_count(module)}"
        graphs = log.compiles if log and number == CALLS else 0
        yield {
            "the result": _plain(found),
            "the gradient for x": _plain(slopes[0]),
            "the gradient for linear.weight": _plain(slopes[1]),
            "graph": 0 if log is None or log.ran else number,
            "calls": said,
            "graphs": graphs if graphs > MOST else 0,
        }


def _count(module) -> int | None:
    try:
        return int(module.calls)
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None


def _count_of_another(cls) -> int:
    import torch

    one, other = tried(cls()), tried(cls())
    tried(one(torch.ones(1, 2)), "forward")
    return _count(other) or 0


def _plain(tensor):
    return "none" if tensor is None else tensor.detach().numpy().round(4).tolist()


GIVES_UP = Exercise(
    "gives_up",
    _judge,
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
