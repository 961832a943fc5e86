"""A learner's `choose` -> the first list of kernels where it parts from the registry's; or None."""

import random

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.mini import oneflow as flow
from helpers.mini.oneflow.dtypes import DTYPES
from helpers.mini.oneflow.kernel_registry import DEVICES, KernelRegContext, RegisteredKernel, choose
from helpers.mini.oneflow.registry import Kernel
from helpers.study.check import Untried, tried

OP_TYPES = ("user_half_forward", "user_third_forward")
DRAWS = 150


def chooses(mine) -> str | None:
    """Hold a `choose(kernels, context)` against the registry's own, from few kernels to many."""
    for predicates, context in [*_simple(), *drawn()]:
        made = [Kernel(f"kernel_{n}", abs) for n, _ in enumerate(predicates, 1)]
        for own in (made, made[:1] * len(made)):  # one function may be registered twice
            if because := _parted(mine, predicates, own, context):
                return because
    return None


def _parted(mine, predicates, own: list[Kernel], context) -> str | None:
    kernels = [
        RegisteredKernel(context.op_type, predicate, kernel)
        for predicate, kernel in zip(predicates, own, strict=True)
    ]
    given = list(kernels)
    ours = _outcome(lambda: tried(mine(given, context), "choose"), kernels)
    theirs = _outcome(lambda: choose(kernels, context), kernels)
    told = "; ".join(f"{kernel} if {kernel.matches}" for kernel in kernels) or "none"
    if ours != theirs:
        return f"choose, with {context} and the kernels {told}: yours {ours}, the registry {theirs}"
    if [id(kernel) for kernel in given] != [id(kernel) for kernel in kernels]:
        return f"choose has changed the list that it was given: the kernels {told}"
    return None


def _outcome(step, kernels) -> str:
    """Say what a step gives or raises; a kernel is told by its name, and must be the very one."""
    try:
        found = step()
    except Untried:
        raise
    except flow.OpError as error:
        return f"raises OpError: {error}"
    except Exception as error:
        return f"raises {said(error)}"
    own = next((kernel for kernel in kernels if kernel is found), None)
    if own is None and isinstance(found, RegisteredKernel):
        return "gives a kernel of another list than the one given"
    return f"gives {own.kernel.name}" if own else f"gives {brief(found)}"


def _context(dtype: str, device: str = "cpu", op_type: str = OP_TYPES[0]) -> KernelRegContext:
    return KernelRegContext(op_type, device, {("in", 0): dtype, ("out", 0): dtype})


def _simple():
    """Return lists of one, two and three predicates, of which none, one or two are true."""
    float32, int8 = (flow.HobDataType("in", 0) == dtype for dtype in ("float32", "int8"))
    device, op = flow.HobDeviceTag() == "gpu", _context("float32")
    lists = ([float32], [int8], [], [float32, int8], [int8, float32], [float32, float32])
    more = ([float32, int8, float32], [int8, int8, float32], [float32] * 3, [int8, int8], [device])
    return [(predicates, op) for predicates in (*lists, *more)] + [
        ([flow.HobDataType("x", 0) == "int8"], op),
        ([device & float32, ~device & float32], op),
        ([device & float32, ~device & float32], _context("float32", "gpu", OP_TYPES[1])),
    ]


def drawn():
    """Yield lists of predicates and the op that they are asked about; the same in each run."""
    draw = random.Random(13)
    for _ in range(DRAWS):
        predicates = [_predicate(draw) for _ in range(draw.randrange(6))]
        yield predicates, _context(*map(draw.choice, (DTYPES, DEVICES, OP_TYPES)))


def _predicate(draw):
    """Return a predicate that is true of about one op in three."""
    one, two = (flow.HobDataType("in", 0) == dtype for dtype in draw.sample(DTYPES, 2))
    either = one | two
    device = flow.HobDeviceTag() == draw.choice(DEVICES)
    return draw.choice((either, either & device, device & ~one, one))
