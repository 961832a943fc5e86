"""Case 5: an op whose gradient is wrong, and which trains anyway.

The rule of the cure is run as torch runs it, behind a `torch.autograd.Function` of the judge's own,
beside a right one. What it gives must be the gradient as it is: torch sums and converts in silence
what does not fit.
"""

from collections.abc import Callable

from helpers.model.op_log import Op, OpLog
from helpers.model.phrase import counted
from helpers.study.chapter_7.diagnosis import Evidence, say_first_part, undiagnosed
from helpers.study.engine import Case, Exercise, Untried, find_difference, tried

OP = "mean_square"
# rows, columns, what the loss is multiplied by, dtype
DRAWN = (
    (1, 2, 1.0, "float32"),
    (3, 2, 1.0, "float32"),
    (5, 3, 1.0, "float64"),
    (4, 1, 0.5, "float32"),
    (3, 3, -2.0, "float64"),
)


def _shows(log: OpLog) -> str | None:
    asked = [{value.number for value in row.reads} for row in log.rows if OP in row.op]
    if not asked:
        return f"it lists no {OP}"
    back = [row for row in log.rows if row.stage == "backward"]
    if not back:
        return "it lists the way forward alone, which is right"
    summed = [_sources(row, back) for row in back if _sums(row)]
    if not summed:
        return "nothing in it is summed on the way back"
    if any(read <= sources for read in asked for sources in summed):
        return None
    return f"what is summed in it, on the way back, is of another op than {OP}"


def _sums(row: Op) -> bool:
    return row.op == "aten.sum" and len(row.reads) == 1 and row.reads[0].words != row.outputs


def _sources(row: Op, back: list[Op]) -> set[int]:
    """Return the numbers of all values of which an op's result was made, on the way back."""
    found = {value.number for value in row.reads}
    for one in reversed(back[: back.index(row)]):
        if any(value.number in found for value in one.makes):
            found |= {value.number for value in one.reads}
    return found


EVIDENCE = (
    Evidence("registry", (OpLog,), "what becomes of the op's gradient on the way back", _shows),
)
ELSEWHERE = {
    "name": "every call reaches the op that was meant",
    "evaluator": "nothing is compiled here, and the losses are wrong all the same",
    "C call": "the ops that C runs each give what they should: who asked for them, and why?",
}


SAY = {
    "changes": "cured changes {0}, which others may still read",
    "arrives": "no gradient arrives at w",
    "the gradient for w": "the gradient for w: yours gives {0}, plain torch gives {1}",
    "shape": "cured gives the shape {0} for a w of {1}: torch still sums it",
    "dtype": "cured gives {0} for a w of {1}: torch still converts it",
    "the gradient for x": "the gradient for x: yours gives {0}, plain torch gives {1}",
    "the gradient for y": "the gradient for y: yours gives {0}, plain torch gives {1}",
}


def _judge(seam, proof, cured: Callable):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    advice, cases = say_first_part(SAY, "with cured as its rule, the way back {}"), []
    for rows, columns, factor, dtype in DRAWN:
        times = f", and a loss that is multiplied by {factor:g}" if factor != 1 else ""
        drawn = rows, columns, factor, dtype
        run = lambda rule, drawn=drawn: _run(rule, *drawn)  # noqa: E731
        cases.append(Case(f"for {counted(rows, 'row')}{times}", run, advice))
    return find_difference(cured, _right_rule, cases, "plain torch")


def _right_rule(ctx, dy):
    w, x, y = ctx.saved_tensors
    error = dy * 2 * (x @ w - y) / len(x)
    return error @ x, error[:, None] * w, -error


def _run(rule, rows: int, columns: int, factor: float, dtype: str) -> dict:
    """Return what arrives at w, what the rule gave, and what it changed.

    The gradients for x and y are free to be left out, not to be wrong.
    """
    import torch

    made = torch.Generator().manual_seed(10 * rows + columns)
    sizes = ((columns,), (rows, columns), (rows,))
    w, x, y = (torch.randn(n, generator=made, dtype=getattr(torch, dtype)) for n in sizes)
    seen = {}

    class Op(torch.autograd.Function):
        @staticmethod
        def forward(w, x, y):
            return ((x @ w - y) ** 2).mean()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, dy):
            given = dict(zip("wxy", ctx.saved_tensors, strict=True)) | {"dy": dy}
            before = {name: tensor.detach().clone() for name, tensor in given.items()}
            seen["right"] = _right_rule(ctx, dy)
            seen["gave"] = found = tried(rule(ctx, dy), "cured")
            if isinstance(found, tuple) and any(part is ... for part in found):
                raise Untried("cured")
            changed = [name for name in given if not given[name].equal(before[name])]
            seen["changes"] = ", ".join(changed)
            return found

    leaves = [each.clone().requires_grad_() for each in (w, x, y)]
    (factor * Op.apply(*leaves)).backward()
    gave = [g if g is not None else r for g, r in zip(seen["gave"], seen["right"], strict=True)]
    arrived = leaves[0].grad
    return {
        "changes": seen["changes"],
        "arrives": arrived is not None,
        "the gradient for w": _numbers(gave[0] if arrived is None else arrived),
        "shape": str(tuple(gave[0].shape)),
        "dtype": str(gave[0].dtype).removeprefix("torch."),
        "the gradient for x": _numbers(gave[1]),
        "the gradient for y": _numbers(gave[2]),
    }


def _numbers(tensor) -> list[float]:
    return [round(number, 4) for number in tensor.ravel().tolist()]


WRONG_GRADIENT = Exercise(
    "wrong_gradient",
    _judge,
    "The gradient is plain torch's, for any number of rows.",
    (
        "Both losses fall, so the direction is right. What of its length? Compare one row with "
        "the same row twice: what does w.grad do there, with the op and with plain torch?",
        "The rule of an op may give back another shape than that of the input. Who makes it fit? "
        "List the ops of one way back: watch_ops(step), where step calls the op and .backward().",
        "The gradient of a mean over rows is the mean of the rows' gradients. torch sums what has "
        "one axis too many. Give back the mean over axis 0, of the shape of w.",
    ),
)
