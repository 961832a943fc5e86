"""Chapter 5, exercise `smooth_max`: judge an op that a learner has written with `torch.library`.
The op computes `logsumexp(scale * x) / scale` over the last axis. A learner also writes its *fake
kernel*, which returns only the shape and the dtype of the result, and its gradient.
"""

import logging
from collections.abc import Iterator
from functools import partial
from unittest.mock import patch

from helpers.capture.text.error import describe_error
from helpers.capture.text.value import short_repr
from helpers.internals.compiled_apart import compiled_apart
from helpers.study.answers import InvalidAnswer
from helpers.study.check import exercise
from helpers.study.engine import JudgedCase, advise_on_first_part, find_difference
from helpers.study.frameworks import torch
from helpers.study.observations import Raised
from helpers.study.sameness import is_same_result

SHAPES = (4,), (2, 3), (2, 3, 1)
SCALES = 2.0, -0.5
ONE_EACH = ": return a tuple with one for each input of the op, None for scale"
WATCHED = "backward did not notice the change; after ctx.save_for_backward(x), it would notice it"
NUMBERS = "somewhere a size became a number, as int() makes it; leave sizes as they are"
# Switched off while an op is judged, because the verdict contains the same messages.
LOG = logging.getLogger("torch._subclasses.fake_tensor")


def fit_around(activation) -> tuple:
    """Train two layers with `activation` between them; return 200 losses and both layers."""
    torch.manual_seed(0)
    x = torch.randn(64, 2)
    target = x[:, :1].abs()
    first = torch.nn.Linear(2, 8)
    last = torch.nn.Linear(8, 1)
    sgd = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.1)
    losses = []
    for _ in range(200):
        output = last(activation(first(x)))
        loss = (output - target).square().mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    return losses, first, last


def _smooth_max(x, scale: float):
    """Return what the learner's op should compute."""
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
    # This returns a sentence on what is wrong, None if the op is right.
    op_types = (  # of a decorated function, and of an op as `torch.ops` returns it
        torch.library.CustomOpDef,
        type(torch.ops.aten.abs),
        type(torch.ops.aten.abs.default),
    )
    if not isinstance(smooth_max, op_types):
        must = f"the result of @torch.library.custom_op, not {short_repr(smooth_max)}"
        raise InvalidAnswer(f"smooth_max must be the op itself: {must}")

    with patch.object(LOG, "disabled", True):
        return (
            find_difference(smooth_max, _smooth_max, _make_eager_cases(), "torch")
            or _find_failed_opcheck(smooth_max)
            or find_difference(smooth_max, _smooth_max, [COMPILED], "torch")
        )


def _make_eager_cases() -> Iterator[JudgedCase]:
    """Yield cases without compilation: results, the fake kernel, gradients, and a change of x.

    A case has a text for messages, a function that is run with the learner's op and with the right
    one, and what to say if the results differ.
    """
    dtypes = torch.float32, torch.float64
    for dtype in dtypes:
        for shape in SHAPES:
            run = partial(_run_forward, _make_example(shape, dtype))
            yield JudgedCase(f"with {dtype}, shape {shape}", run, _advise_on_op)

    large = torch.tensor([1000.0, 999.0, -1000.0])
    yield JudgedCase("with x = [1000, 999, -1000]", partial(_run_forward, large), _advise_on_op)

    for dtype in dtypes:
        shows = f"the fake kernel, with {dtype}, shape (2, 3)"
        yield JudgedCase(shows, partial(_run_fake_kernel, dtype), _advise_on_op)

    for shape in SHAPES:
        for scale in SCALES:
            shows = f"the gradient with shape {shape}, scale = {scale}"
            yield JudgedCase(shows, partial(_run_backward, shape, scale), _advise_on_op)

    changed = "the gradient, with x changed in place after the call"
    yield JudgedCase(changed, _run_backward_after_change, WATCHED)


def _advise_on_op(mine, real, advice=""):
    """Return a sentence on the first difference of two results, or on the error of the op.

    Parameters
    ----------
    mine : dict or Raised
        The result of the learner's op, or the error that it raised.
    real : dict
        The right result.
    advice : str
        What the learner should look at if the results differ.
    """
    if not isinstance(mine, Raised):
        return advise_on_first_part("torch", advice)(mine, real)
    message = str(mine)
    if "may not alias" in message:
        return "the result is x itself, or shares its memory: return a new tensor"
    if "number of gradients" in message:
        return f"yours {message}{ONE_EACH}"
    return f"yours {message}"


def _make_example(shape, dtype=None):
    """Return a tensor with numbers from -2 to 3, all different, in float64 by default."""
    count = torch.Size(shape).numel()
    numbers = torch.linspace(-2, 3, count, dtype=dtype or torch.float64)
    return numbers.reshape(shape)


def _round_tensor(tensor) -> list:
    """Return the numbers of a tensor as nested lists, rounded to six decimals."""
    return tensor.double().round(decimals=6).tolist()


def _call_op(op, x, scale: float):
    """Return the tensor that an op returns; InvalidAnswer for anything else."""
    y = op(x, scale)
    if not isinstance(y, torch.Tensor):
        raise InvalidAnswer(f"smooth_max returned {short_repr(y)}; it must return a tensor")
    return y


def _run_forward(x, op) -> dict:
    """Return the results of an op by name, and what happens to x and to the result.

    "x after the call" shows whether the op has changed x. "the result once x is overwritten" shows
    whether the result shares the memory of x.
    """
    values = {}
    for scale in SCALES:
        own_x = x.clone()
        y = _call_op(op, own_x, scale)
        values[f"the result, scale = {scale}"] = _round_tensor(y)
        values["the dtype"] = str(y.dtype)
        values["x after the call"] = _round_tensor(own_x)

        own_x.zero_()  # this changes the result too, if it shares the memory of x
        values["the result once x is overwritten"] = _round_tensor(y)
    return values


def _run_fake_kernel(dtype, op) -> dict:
    """Return the shape and the dtype that the op's fake kernel returns.

    In FakeTensorMode tensors have no numbers, so PyTorch calls the fake kernel.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty((2, 3), dtype=dtype)
        y = _call_op(op, x, SCALES[0])
    return {"the shape": tuple(y.shape), "the dtype": str(y.dtype)}


def _run_backward(shape, scale: float, op) -> dict:
    """Return the gradient for x that the op computes, for an x of this shape.

    A different number, 1, 2, 3 and so on, comes back to each item of the result.
    """
    x = _make_example(shape).requires_grad_()
    y = _call_op(op, x, scale)
    dy = 1 + torch.arange(y.numel(), dtype=y.dtype)
    y.backward(dy.reshape(y.shape))
    return {"dx": _round_tensor(x.grad)}


def _run_backward_after_change(op) -> str:
    """Change x in place between forward and backward; return whether the gradient is then wrong.

    An op that has saved x with `ctx.save_for_backward(x)` raises an error in backward. An op that
    has saved x with `ctx.x = x` computes the gradient with the new numbers, which is wrong. Return
    "refused or right", or "wrong: " and the gradient.
    """
    right = _run_backward((3,), SCALES[0], _smooth_max)["dx"]
    x = _make_example((3,)).requires_grad_()
    changed = x * 1  # PyTorch refuses to change x itself in place: it is a leaf with a gradient
    y = _call_op(op, changed, SCALES[0])
    changed.mul_(10)
    try:
        y.backward()
    except RuntimeError:
        return "refused or right"

    dx = _round_tensor(x.grad)
    if is_same_result(dx, right):
        return "refused or right"
    return f"wrong: {dx}"


def _find_failed_opcheck(op) -> str | None:
    """Return the first test of PyTorch's `opcheck` that the op fails, with its error.

    Return None if the op passes all tests.
    """
    x = _make_example((2, 3)).requires_grad_()
    results = torch.library.opcheck(op, (x, SCALES[0]), raise_exception=False)
    for test, result in results.items():
        if isinstance(result, BaseException):
            return f"opcheck, {test}: {describe_error(result)}"
    return None


@compiled_apart()  # the compiler's caches are as in a fresh process
def _run_compiled(op) -> dict:
    """Compile a function that calls the op, and run it on tensors of three sizes.

    Return how many graphs torch.compile made, and the gradients. One graph is enough for all sizes,
    unless the op turns a size into a number.
    """
    from torch._dynamo.backends.debugging import aot_eager

    graphs = []

    def note_graph(graph, inputs):
        """Note a graph, as the backend of torch.compile, and let `aot_eager` compile it."""
        graphs.append(graph)
        return aot_eager(graph, inputs)

    def step(x):
        return op(x, 2.0) * 2

    if op is not _smooth_max:  # the reference is not compiled, and counts as one graph
        step = torch.compile(step, backend=note_graph, fullgraph=True, dynamic=True)
    gradients = []
    for size in (3, 5, 7):
        x = _make_example((size, size + 1)).requires_grad_()
        step(x).sum().backward()
        gradients.append(_round_tensor(x.grad))
    return {"graphs": len(graphs) or 1, "the gradients": gradients}


def _advise_on_compiled(mine, real):
    """Return a sentence on the first difference of two results of `_run_compiled`.

    If the learner's op needs more graphs, the sentence advises to look for a size that was made a
    number.
    """
    has_more_graphs = type(mine) is dict and mine["graphs"] > real["graphs"]
    return _advise_on_op(mine, real, NUMBERS if has_more_graphs else "")


COMPILED = JudgedCase(
    "compiled with aot_eager, for the sizes 3, 5 and 7", _run_compiled, _advise_on_compiled
)
