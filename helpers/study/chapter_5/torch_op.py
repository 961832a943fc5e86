"""Chapter 5: find the first promise that a learner's `torch.library` op breaks."""

import logging
from collections.abc import Iterator
from functools import partial
from unittest.mock import patch

from helpers.capture.text.error import error_message
from helpers.capture.text.value import short_repr
from helpers.internals.compiled_apart import compiled_apart
from helpers.study.check import InvalidAnswer, exercise
from helpers.study.engine import (
    Case,
    Raised,
    find_difference,
    same_result,
    say_first_part,
    torch,
)

SHAPES = (4,), (2, 3), (2, 3, 1)
SCALES = 2.0, -0.5
ONE_EACH = ": return a tuple with one for each input of the op, None for scale"
WATCHED = "backward did not notice the change; after ctx.save_for_backward(x), it would notice it"
NUMBERS = "somewhere a size became a number, as int() makes it; leave sizes as they are"
LOG = logging.getLogger("torch._subclasses.fake_tensor")  # the verdict contains its messages


def fit_around(activation) -> tuple:
    """Train two layers with `activation` between them; return 200 losses and both layers."""
    torch.manual_seed(0)
    x, first, last = torch.randn(64, 2), torch.nn.Linear(2, 8), torch.nn.Linear(8, 1)
    sgd, losses = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1), []
    for _ in range(200):
        loss = (last(activation(first(x))) - x[:, :1].abs()).square().mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    return losses, first, last


def _truth(x, scale: float):
    return torch.logsumexp(scale * x, -1) / scale


@exercise(
    "Start with torch_relu from section 5. The kernel has two parameters now, and so has the fake "
    "kernel: (x, scale). setup has (ctx, inputs, output), and inputs contains both.",
    "The fake kernel promises the shape of x without its last axis, and the dtype of x: "
    "x.new_empty(x.shape[:-1]).",
    "In setup: x, ctx.scale = inputs; ctx.save_for_backward(x, output). scale is not a tensor.",
    "In the gradient, y[..., None] and dy[..., None] have the axis that y and dy lack. Return two "
    "things, one for each input of the op.",
    seconds=60,
)
def smooth_max(smooth_max):
    """PyTorch can call your op, go back through it, check it with opcheck and compile it."""
    ops = torch.library.CustomOpDef, type(torch.ops.aten.abs), type(torch.ops.aten.abs.default)
    if not isinstance(smooth_max, ops):
        words = f"the result of @torch.library.custom_op, not {short_repr(smooth_max)}"
        raise InvalidAnswer(f"smooth_max must be the op itself: {words}")
    with patch.object(LOG, "disabled", True):
        because = find_difference(smooth_max, _truth, _cases(), "torch")
        because = because or _failed_opcheck(smooth_max)
        return because or find_difference(smooth_max, _truth, [COMPILED], "torch")


def _cases() -> Iterator[Case]:
    dtypes = torch.float32, torch.float64
    for shape, dtype in ((shape, dtype) for dtype in dtypes for shape in SHAPES):
        yield Case(f"with {dtype}, shape {shape}", partial(_call, _example(shape, dtype)), _say)
    large = torch.tensor([1000.0, 999.0, -1000.0])
    yield Case("with x = [1000, 999, -1000]", partial(_call, large), _say)
    for dtype in dtypes:
        yield Case(f"the fake kernel, with {dtype}, shape (2, 3)", partial(_fake, dtype), _say)
    for shape, scale in ((shape, scale) for shape in SHAPES for scale in SCALES):
        shows = f"the gradient with shape {shape}, scale = {scale}"
        yield Case(shows, partial(_gradient, shape, scale), _say)
    changed = "the gradient, with x changed in place after the call"
    yield Case(changed, _gradient_of_the_changed, WATCHED)


def _say(mine, real, advice=""):
    """Return the first difference; of an error, say only what you raised."""
    if not isinstance(mine, Raised):
        return say_first_part("torch", advice)(mine, real)
    if "may not alias" in str(mine):
        return "the result is x itself, or shares its memory: return a new tensor"
    return f"yours {mine}{ONE_EACH if 'number of gradients' in str(mine) else ''}"


def _example(shape, dtype=None):
    numbers = torch.linspace(-2, 3, torch.Size(shape).numel(), dtype=dtype or torch.float64)
    return numbers.reshape(shape)


def _plain(tensor) -> list:
    return tensor.double().round(decimals=6).tolist()


def _returned(op, x, scale: float):
    y = op(x, scale)
    if not isinstance(y, torch.Tensor):
        raise InvalidAnswer(f"smooth_max returned {short_repr(y)}; it must return a tensor")
    return y


def _call(x, op) -> dict:
    seen = {}
    for scale in SCALES:
        own = x.clone()
        y = _returned(op, own, scale)
        seen |= {f"the result, scale = {scale}": _plain(y), "the dtype": str(y.dtype)}
        seen["x after the call"] = _plain(own)
        own.zero_()
        seen["the result once x is overwritten"] = _plain(y)
    return seen


def _fake(dtype, op) -> dict:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        y = _returned(op, torch.empty((2, 3), dtype=dtype), SCALES[0])
    return {"the shape": tuple(y.shape), "the dtype": str(y.dtype)}


def _gradient(shape, scale: float, op) -> dict:
    x = _example(shape).requires_grad_()
    y = _returned(op, x, scale)
    y.backward(1 + torch.arange(y.numel(), dtype=y.dtype).reshape(y.shape))
    return {"dx": _plain(x.grad)}


def _gradient_of_the_changed(op) -> str:
    right, x = _gradient((3,), SCALES[0], _truth)["dx"], _example((3,)).requires_grad_()
    given = x * 1
    y = _returned(op, given, SCALES[0])
    given.mul_(10)
    try:
        y.backward()
    except RuntimeError:
        return "refused or right"
    return "refused or right" if same_result(_plain(x.grad), right) else f"wrong: {_plain(x.grad)}"


def _failed_opcheck(op) -> str | None:
    x = _example((2, 3)).requires_grad_()
    for test, result in torch.library.opcheck(op, (x, SCALES[0]), raise_exception=False).items():
        if isinstance(result, BaseException):
            return f"opcheck, {test}: {error_message(result)}"
    return None


@compiled_apart()
def _compiled(op) -> dict:
    from torch._dynamo.backends.debugging import aot_eager

    def counting(graph, inputs):
        graphs.append(graph)
        return aot_eager(graph, inputs)

    graphs, step, grads = [], lambda x: op(x, 2.0) * 2, []
    if op is not _truth:
        step = torch.compile(step, backend=counting, fullgraph=True, dynamic=True)
    for n in (3, 5, 7):
        x = _example((n, n + 1)).requires_grad_()
        step(x).sum().backward()
        grads.append(_plain(x.grad))
    return {"graphs": len(graphs) or 1, "the gradients": grads}


BACKEND = "compiled with aot_eager, for the sizes 3, 5 and 7"


def _say_of_compiled(mine, real):
    several = type(mine) is dict and mine["graphs"] > real["graphs"]
    return _say(mine, real, NUMBERS * several)


COMPILED = Case(BACKEND, _compiled, _say_of_compiled)
