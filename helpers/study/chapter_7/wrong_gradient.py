"""Case 5: an op whose gradient is wrong, and which trains anyway.

The rule of the cure is run as torch runs it, behind a `torch.autograd.Function` of the judge's own,
and held against plain torch for numbers of rows and columns that the learner has not seen. What it
gives must be the gradient as it is: torch sums and converts in silence what does not fit.
"""

from helpers.capture.text.error import said
from helpers.model.op_log import Op, OpLog
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.check import Exercise, Untried
from helpers.study.two_answers import parted, within

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


def _judge(seam, proof, cured):
    if not callable(cured):
        return f"cured must be a function of ctx and dy, as rule is, not {kind_of(cured)}"
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    return next((because for drawn in DRAWN if (because := _unlike(cured, *drawn))), None)


def _unlike(cured, rows: int, columns: int, factor: float, dtype: str) -> str | None:
    """Return how the gradient parts from plain torch's."""
    import torch

    made = torch.Generator().manual_seed(10 * rows + columns)
    kind = getattr(torch, dtype)
    w, x, y = (
        torch.randn(size, generator=made, dtype=kind)
        for size in ((columns,), (rows, columns), (rows,))
    )
    what = counted(rows, "row")
    what += f", and a loss that is multiplied by {factor:g}" if factor != 1 else ""
    rule = _Rule(cured)
    try:
        mine = _gradients(rule.op(), factor, w, x, y)[0]
    except Untried:
        raise
    except Exception as error:
        return f"for {what}, with cured as its rule, the way back raised {said(error)}"
    if rule.changed:
        return f"for {what}, cured changes {rule.changed}, which others may still read"
    theirs = _gradients(_plain, factor, w, x, y)
    if mine is None:
        return f"for {what}, no gradient arrives at w"
    because = _other("w", mine, theirs[0]) or _refitted(rule.gave[0], w)
    if not because:  # those for x and y are free to be left out, not to be wrong
        rest = zip("xy", rule.gave[1:3], theirs[1:], strict=True)
        whys = (_other(*each) for each in rest if each[1] is not None)
        because = next((why for why in whys if why), None)
    return because and within(f"for {what}: ", because)


def _other(name: str, mine, theirs) -> str | None:
    """Return how the gradient for the input of that name parts from plain torch's."""
    import torch

    if mine.shape == theirs.shape and torch.allclose(mine.to(theirs.dtype), theirs, 1e-4, 1e-5):
        return None
    gives = f"gives {_words(mine)}", f"gives {_words(theirs)}"
    return parted(f"the gradient for {name}: ", *gives, "plain torch")


def _refitted(gave, w) -> str | None:
    """Return what torch has to do, unasked, to make fit what a rule gave for w."""
    shapes = tuple(gave.shape), tuple(w.shape)
    if shapes[0] != shapes[1]:
        return f"cured gives the shape {shapes[0]} for a w of {shapes[1]}: torch still sums it"
    if gave.dtype != w.dtype:
        kinds = (str(each.dtype).removeprefix("torch.") for each in (gave, w))
        return "cured gives {} for a w of {}: torch still converts it".format(*kinds)
    return None


def _plain(w, x, y):
    return ((x @ w - y) ** 2).mean()


class _Rule:
    """The rule of an op: what it `gave` back, and the name of what it `changed`, if anything."""

    def __init__(self, rule):
        self._rule, self.gave, self.changed = rule, (), ""

    def op(self):
        """Return the op with this rule, as `register_autograd` makes one of both."""
        import torch

        class Op(torch.autograd.Function):
            @staticmethod
            def forward(w, x, y):
                return _plain(w, x, y)

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, dy):
                return self._followed(ctx, dy)

        return Op.apply

    def _followed(self, ctx, dy):
        given = dict(zip("wxy", ctx.saved_tensors, strict=True)) | {"dy": dy}
        before = {name: tensor.detach().clone() for name, tensor in given.items()}
        found = self._rule(ctx, dy)
        if found is ... or is_a(found, tuple) and any(part is ... for part in found):
            raise Untried("cured")
        for name, tensor in given.items():
            if not tensor.equal(before[name]):
                self.changed = name
        self.gave = found
        return found


def _gradients(op, factor: float, *inputs) -> list:
    """Return the gradients for w, x and y on a way back through copies of them."""
    leaves = [each.clone().requires_grad_() for each in inputs]
    (factor * op(*leaves)).backward()
    return [leaf.grad for leaf in leaves]


def _words(tensor) -> str:
    return str([round(number, 4) for number in tensor.ravel().tolist()])


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
