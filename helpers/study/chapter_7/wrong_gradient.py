"""Case 5: an op whose gradient is wrong, and which trains anyway.

The rule of the cure is run as torch runs it, behind a `torch.autograd.Function` of the judge's own,
beside a right one. What it gives must be the gradient as it is: torch sums and converts in silence
what does not fit.
"""

from collections.abc import Callable

from helpers.model.op_log import Op, OpLog
from helpers.model.phrase import counted
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.engine import Case, Exercise, Raised, Untried, find_difference, same_result

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
    """Return None where a way back of the op is listed, with a sum that no line asks for."""
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
    """Return whether an op reads rows and leaves one."""
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


def _right_rule(ctx, dy):
    w, x, y = ctx.saved_tensors
    error = dy * 2 * (x @ w - y) / len(x)
    return error @ x, error[:, None] * w, -error


def _run(rule, rows: int, columns: int, factor: float, dtype: str) -> dict:
    """Return what arrives at w, what the rule gave, and what it changed."""
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
            found = rule(ctx, dy)
            if found is ... or (isinstance(found, tuple) and any(part is ... for part in found)):
                raise Untried("cured")
            seen["changes"] = [name for name in given if not given[name].equal(before[name])]
            seen["gave"] = found
            return found

    leaves = [each.clone().requires_grad_() for each in (w, x, y)]
    (factor * Op.apply(*leaves)).backward()
    gave = seen["gave"]
    kind = None if gave[0] is None else (tuple(gave[0].shape), _dtype(gave[0]))
    return {
        "changes": seen["changes"],
        "the gradient for w": leaves[0].grad,
        "kind": kind,
        "the gradient for x": gave[1],
        "the gradient for y": gave[2],
    }


def _dtype(tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _differing(mine: dict, real: dict) -> list[str]:
    """Return what differs; the gradients for x and y are free to be left out, not to be wrong."""
    free = {name for name in mine if name[-1] in "xy" and mine[name] is None}
    return [n for n in real if n not in free and not same_result(mine[n], real[n], 1e-4)]


def _is_right(mine, real) -> bool:
    return isinstance(mine, dict) and not _differing(mine, real)


def _advise(mine, real) -> str | None:
    if isinstance(mine, Raised):
        return f"with cured as its rule, the way back {mine}"
    name = _differing(mine, real)[0]
    if name == "changes":
        return f"cured changes {mine[name][0]}, which others may still read"
    if name == "kind":
        (shape, dtype), (right, kind) = mine[name], real[name]
        if shape != right:
            return f"cured gives the shape {shape} for a w of {right}: torch still sums it"
        return f"cured gives {dtype} for a w of {kind}: torch still converts it"
    if mine[name] is None:
        return "no gradient arrives at w"
    return f"{name}: yours gives {_words(mine[name])}, plain torch gives {_words(real[name])}"


def _words(tensor) -> str:
    return str([round(number, 4) for number in tensor.ravel().tolist()])


def _judge(seam, proof, cured: Callable):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    cases = []
    for rows, columns, factor, dtype in DRAWN:
        times = f", and a loss that is multiplied by {factor:g}" if factor != 1 else ""
        drawn = rows, columns, factor, dtype
        run = lambda rule, drawn=drawn: _run(rule, *drawn)  # noqa: E731
        cases.append(Case(f"for {counted(rows, 'row')}{times}", run, _advise))
    return find_difference(cured, _right_rule, cases, "plain torch", _is_right)


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
