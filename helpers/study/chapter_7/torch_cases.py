"""Chapter 7, cases 5 and 8: an op whose gradient is wrong, and models that stay in memory.

Case 5: the rule of the cure is run as torch runs it, behind a `torch.autograd.Function` of the
judge's own, beside a right one. What it gives must be the gradient as it is: torch sums and
converts in silence what does not fit.

Case 8: the cured sweep is run on widths that the learner has not seen. Afterwards no model may be
alive, though all that the sweep gave is kept, and each model was measured once.
"""

import gc
from collections.abc import Callable, Iterator
from weakref import ref

from helpers.model.framework_records import OpLog
from helpers.model.phrase import counted
from helpers.model.tables import Listing
from helpers.safety.arguments import real_type_name
from helpers.study.chapter_7.diagnosis import Evidence, say_first_part, undiagnosed
from helpers.study.engine import Case, Exercise, InvalidAnswer, NotAttempted, find_difference, tried

PLAIN = "plain torch"
# rows, columns, what the loss is multiplied by, dtype
DRAWN = (
    (1, 2, 1.0, "float32"),
    (3, 2, 1.0, "float32"),
    (5, 3, 1.0, "float64"),
    (4, 1, 0.5, "float32"),
    (3, 3, -2.0, "float64"),
)


def _shows_sum(log: OpLog) -> bool:
    """Tell whether the op is in the list, and on the way back a sum that makes another shape."""
    sums = [row for row in log.rows if row.stage == "backward" and row.op == "aten.sum"]
    summed = any(len(row.reads) == 1 and row.reads[0].words != row.outputs for row in sums)
    return summed and any("mean_square" in row.op for row in log.rows)


OF_GRADIENT = (
    Evidence(
        "registry",
        (OpLog,),
        "what becomes of the gradient of mean_square on the way back; list that, not the way "
        "forward alone",
        _shows_sum,
    ),
)
NO_GRADIENT = {
    "evaluator": "nothing is compiled here, and the losses are wrong all the same",
    "C call": "the ops that C runs each give what they should: who asked for them, and why?",
}


def _judge_rule(seam, proof, cured: Callable):
    if because := undiagnosed(seam, proof, OF_GRADIENT, NO_GRADIENT):
        return because
    cases = []
    for rows, columns, factor, dtype in DRAWN:
        times = f", and a loss that is multiplied by {factor:g}" if factor != 1 else ""
        drawn = rows, columns, factor, dtype
        run = lambda rule, drawn=drawn: _run_rule(rule, *drawn)  # noqa: E731
        cases.append(Case(f"for {counted(rows, 'row')}{times}", run, say_first_part(PLAIN)))
    return find_difference(cured, _right_rule, cases, PLAIN)


def _right_rule(ctx, dy):
    w, x, y = ctx.saved_tensors
    error = dy * 2 * (x @ w - y) / len(x)
    return error @ x, error[:, None] * w, -error


def _run_rule(rule, rows: int, columns: int, factor: float, dtype: str) -> dict:
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
                raise NotAttempted("cured")
            changed = [name for name in given if not given[name].equal(before[name])]
            seen["changes"] = ", ".join(changed)
            return found

    leaves = [each.clone().requires_grad_() for each in (w, x, y)]
    (factor * Op.apply(*leaves)).backward()
    gave = [g if g is not None else r for g, r in zip(seen["gave"], seen["right"], strict=True)]
    arrived = leaves[0].grad
    return {
        "what cured changes, and others may still read": seen["changes"],
        "a gradient arrives at w": arrived is not None,
        "the gradient for w": _numbers(gave[0] if arrived is None else arrived),
        "its shape, before torch sums it": tuple(gave[0].shape),
        "its dtype, before torch converts it": str(gave[0].dtype),
        "the gradient for x": _numbers(gave[1]),
        "the gradient for y": _numbers(gave[2]),
    }


def _numbers(tensor) -> list[float]:
    return [round(number, 4) for number in tensor.ravel().tolist()]


WRONG_GRADIENT = Exercise(
    "wrong_gradient",
    _judge_rule,
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


WIDTH = 2  # the one that fits x
RUNS = ((2,), (3,), (2, 5, 2, 3), (), (4, 4, 1), (2,) * 12)  # widths


def _names_the_cache(listing: Listing) -> bool:
    owners = [getattr(row, "owner", "") for row in listing.rows]
    return any("size" in owner and "C object" in owner for owner in owners)


def _names_the_frames(listing: Listing) -> bool:
    return any("Net object" in getattr(row, "locals", "") for row in listing.rows)


OF_MODELS = (
    Evidence(
        "name",
        (Listing,),
        "a holder that only a search finds: ask for the holders of one in built that fits x",
        _names_the_cache,
        "cache key",  # functools.cache keeps the model in one
    ),
    Evidence(
        "frame",
        (Listing,),
        "frames that keep a model: show_traceback of an error lists the locals of frames",
        _names_the_frames,
    ),
)
NO_MODEL = {"C call": "what C computes is right, and gone. Who holds a reference to a model?"}


def _judge_sweep(seam, proof, cured: Callable):
    if because := undiagnosed(seam, proof, OF_MODELS, NO_MODEL):
        return because
    cases = []
    for run in RUNS:
        sweep = lambda made, run=run: _run_sweep(made, run)  # noqa: E731
        cases.append(Case(f"for the widths {list(run)}", sweep, say_first_part("sweep")))
    because = find_difference(cured, _sweep, cases, "sweep")
    return because or next(_complaints(cured, set(map(id, _modules()))), None)


def _sweep(widths, x, measure):
    """The sweep of the case: scores, and errors."""
    import torch

    scores, errors = [], []
    for width in widths:
        layer = torch.nn.Linear(width, 1)
        try:
            output = layer(x)
            size = measure(layer)
            scores.append((output / size).mean().item() + size)
        except RuntimeError as error:
            errors.append(error)
    return scores, errors


def _swept(cured, widths, x, measure) -> tuple:
    """Return scores and errors. InvalidAnswer where it gives back something else."""
    found = tried(cured(list(widths), x, measure), "cured")
    if type(found) is not tuple or len(found) != 2 or not all(type(f) is list for f in found):
        raise InvalidAnswer("cured must return two lists, the scores and the errors, as sweep does")
    if odd := [error for error in found[1] if not isinstance(error, RuntimeError)]:
        raise InvalidAnswer(
            f"the errors must be those that were raised, not {real_type_name(odd[0])}"
        )
    return found


def _run_sweep(cured, widths) -> dict:
    """Return what a sweep gives; a model that does not fit may be measured, too."""
    import torch

    models, twice = [], []

    def measure(model) -> int:
        twice.extend(known for known in models if known() is model)
        models.append(ref(model))
        return _count(model)

    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(len(widths))
        scores, errors = _swept(cured, widths, x, measure)
    return {
        "the scores": [round(float(score), 4) for score in scores],
        "the errors": [str(error) for error in errors],
        "models measured twice, though the cache is to stay": len(twice),
        "a model measured for each score": len(scores) <= len(models) <= len(widths),
    }


def _count(model) -> int:
    return sum(each.numel() for each in model.parameters())


def _chained(model):
    """Raise one error from another, whose frames have the model among their locals."""
    try:
        raise KeyError(type(model).__name__)
    except KeyError as error:
        raise RuntimeError("no measure of this model") from error


class Meant(Exception):
    """What is no RuntimeError, so that sweep lets it through."""


def _complaints(cured, known: set[int]) -> Iterator[str]:
    """Yield which models are alive after a sweep whose scores and errors are kept."""
    import torch

    x, fits, unfit = torch.ones(3, WIDTH), (WIDTH, WIDTH), (WIDTH + 1, WIDTH + 2)
    for widths, measure, which in (
        (fits, _count, "that fit"),
        (unfit, _count, "that do not"),
        (fits, _chained, "where measure raises one error from another"),
    ):
        kept = _swept(cured, widths, x, measure)
        yield from _still_alive(known, f"a sweep over two widths {which}")
        if measure is _chained and len(kept[1]) != len(widths):
            yield "what measure raises, sweep keeps as an error, and yours does not"
    asked = []

    def measure_once(model):
        if asked:
            raise Meant
        asked.append(None)
        return _count(model)

    try:
        tried(cured([WIDTH, WIDTH], torch.ones(1, WIDTH), measure_once))
        yield "an error that is no RuntimeError is swallowed: sweep lets it through"
    except Meant:
        pass
    yield from _still_alive(known, "a sweep that was ended by another error")


def _modules() -> list:
    """Return the modules of torch that are alive."""
    import torch

    objects = gc.get_objects()  # a million
    kinds = {kind for kind in set(map(type, objects)) if issubclass(kind, torch.nn.Module)}
    return [each for each in objects if type(each) in kinds]


def _still_alive(known: set[int], after: str) -> Iterator[str]:
    gc.collect()
    left = [type(module).__name__ for module in _modules() if id(module) not in known]
    if left:
        names = ", ".join(sorted({*left}))
        yield f"still in memory after {after}: {counted(len(left), 'module')} ({names})"


KEPT_MODELS = Exercise(
    "kept_models",
    _judge_sweep,
    "The same scores and errors, no model measured twice, and none is left.",
    (
        "Two kinds of models stay: those that ran, and those that failed. Take one of each out of "
        "built. Who holds the one that ran: show_bindings(model). For the other look at its error.",
        "functools.cache keeps its keys. What is the key of a method without arguments? And an "
        "error knows its traceback, that its frames, those their locals: show_traceback(error).",
        "Keep the size where it dies with the model: functools.cached_property, or an attribute. "
        "Keep the error without what it came through: error.with_traceback(None). Another that it "
        "was raised from (error.__cause__, error.__context__) has a traceback of its own.",
    ),
    seconds=30,
)
