"""Chapter 7, cases 5 and 8: an op whose gradient is wrong, and models that stay in memory."""

import gc
from collections.abc import Callable
from types import SimpleNamespace
from weakref import ref

from helpers.model.phrase import counted
from helpers.safety.arguments import real_type_name
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import find_difference, make_cases, say_first_part, torch

PLAIN = "plain torch"
# rows, columns, what the loss is multiplied by, dtype
DRAWN = ((1, 2, 1.0, "float32"), (3, 2, 1.0, "float32"), (5, 3, 1.0, "float64"))
DRAWN += ((4, 1, 0.5, "float32"), (3, 3, -2.0, "float64"))


def _shows_sum(model) -> bool:
    rows = [row for row in parts(model, "rows") if hasattr(row, "stage")]
    sums = [row for row in rows if row.stage == "backward" and row.op == "aten.sum"]
    summed = any(len(row.reads) == 1 and row.reads[0].words != row.outputs for row in sums)
    return summed and any("mean_square" in row.op for row in rows)


@exercise(
    "Both losses fall, so the direction is right. What of its length? Compare one row with "
    "the same row twice: what does w.grad do there, with the op and with plain torch?",
    "The rule of an op may give back another shape than that of the input. Who makes it fit? "
    "List the ops of one way back: watch_ops(step), where step calls the op and .backward().",
    "The gradient of a mean over rows is the mean of the rows' gradients. torch sums what has "
    "one axis too many. Give back the mean over axis 0, of the shape of w.",
)
@diagnosed(
    {
        "evaluator": "nothing is compiled here, and the losses are wrong all the same",
        "C call": "the ops that C runs each give what they should: who asked for them, and why?",
    },
    Evidence(
        "registry",
        _shows_sum,
        "what becomes of the gradient of mean_square on the way back, not the way forward alone",
    ),
)
def wrong_gradient(seam, proof, cured: Callable):
    """The gradient is plain torch's, for any number of rows."""
    rows = []
    for many, columns, factor, dtype in DRAWN:
        times = f", and a loss that is multiplied by {factor:g}" if factor != 1 else ""
        rows.append((f"for {counted(many, 'row')}{times}", many, columns, factor, dtype))
    cases = make_cases(_run_rule, rows, say_first_part(PLAIN))
    return find_difference(cured, _right_rule, cases, PLAIN)


def _right_rule(ctx, dy):
    w, x, y = ctx.saved_tensors
    error = dy * 2 * (x @ w - y) / len(x)
    return error @ x, error[:, None] * w, -error


def _run_rule(rows: int, columns: int, factor: float, dtype: str, rule) -> dict:
    """Return what the rule gives; the gradients for x and y are free to be left out."""
    made, kind = torch.Generator().manual_seed(10 * rows + columns), getattr(torch, dtype)
    sizes = ((columns,), (rows, columns), (rows,))
    ctx = SimpleNamespace(needs_input_grad=(True, False, False))
    ctx.saved_tensors = tuple(torch.randn(n, generator=made, dtype=kind) for n in sizes)
    with torch.no_grad():
        right = _right_rule(ctx, torch.tensor(factor, dtype=kind))
        found = tried(rule(ctx, torch.tensor(factor, dtype=kind)), "cured")
    if type(found) is not tuple or len(found) != 3 or found[0] is None:
        raise InvalidAnswer("cured must return three gradients, of w, x and y; None for x and y")
    found = [r if f is None else tried(f, "cured") for f, r in zip(found, right, strict=True)]
    values = [[round(number, 4) for number in tensor.ravel().tolist()] for tensor in found]
    return {
        "the gradient for w": values[0],
        "its shape, before torch sums it": tuple(found[0].shape),
        "its dtype, before torch converts it": str(found[0].dtype),
        "the gradient for x": values[1],
        "the gradient for y": values[2],
    }


def _names_the_cache(model) -> bool:
    owners = [getattr(row, "owner", "") for row in parts(model, "rows")]
    return any("size" in owner and "C object" in owner for owner in owners)


def _names_the_frames(model) -> bool:
    return any("Net object" in getattr(row, "locals", "") for row in parts(model, "rows"))


@exercise(
    "Two kinds of models stay: those that ran, and those that failed. Take one of each out of "
    "built. Who holds the one that ran: show_bindings(model). For the other look at its error.",
    "functools.cache keeps its keys. What is the key of a method without arguments? And an "
    "error knows its traceback, that its frames, those their locals: show_traceback(error).",
    "Keep the size where it dies with the model: functools.cached_property, or an attribute. "
    "Keep the error without what it came through: error.with_traceback(None). Another that it "
    "was raised from (error.__cause__, error.__context__) has a traceback of its own.",
    seconds=30,
)
@diagnosed(
    {"C call": "what C computes is right, and gone. Who holds a reference to a model?"},
    Evidence(
        "name",
        _names_the_cache,
        "a holder that only a search finds: ask for the holders of one in built that fits x",
        "cache key",  # functools.cache keeps the model in one
    ),
    Evidence(
        "frame", _names_the_frames, "frames that keep a model: ask show_traceback of an error"
    ),
)
def kept_models(seam, proof, cured: Callable):
    """The same scores and errors, no model measured twice, and none is left."""
    known = set(map(id, _modules()))
    rows = ((f"for the widths {[*run]}{words}", known, run, how) for run, how, words in RUNS)
    return find_difference(cured, _sweep, make_cases(_run_sweep, rows, SAY), "sweep")


def _sweep(widths, x, measure):
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


def _count(model) -> int:
    return sum(each.numel() for each in model.parameters())


def _chained(model):
    try:
        raise KeyError(type(model).__name__)
    except KeyError as error:
        raise RuntimeError("no measure of this model") from error


def _lost(model):
    raise LookupError


SAY = say_first_part("sweep")
WIDTHS = ((2, 2), (3, 4), (2, 5, 2, 3), (), (2,) * 12)  # of which 2 fits x
RUNS = (  # widths, what measures a model, words
    *((widths, _count, "") for widths in WIDTHS),
    ((2, 2), _chained, ", where measure raises one error from another"),
    ((2, 2), _lost, ", where measure raises what is no RuntimeError"),
)


def _run_sweep(known: set[int], widths, measure: Callable, cured) -> dict:
    """Return what a sweep gives; and, of two models, which are alive while that is kept."""
    models, twice = [], []

    def measure_once(model) -> int:
        twice.extend(known for known in models if known() is model)
        models.append(ref(model))
        return measure(model)

    x, passed = torch.tensor([[1.0, -2.0], [0.5, 3.0]]), False
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(len(widths))
        try:
            found = tried(cured(list(widths), x, measure_once), "cured")
        except LookupError:
            found, passed = ([], []), True
    if type(found) is not tuple or len(found) != 2 or not all(type(f) is list for f in found):
        raise InvalidAnswer("cured must return two lists, the scores and the errors, as sweep does")
    scores, errors = found
    if odd := [real_type_name(one) for one in errors if not isinstance(one, RuntimeError)]:
        raise InvalidAnswer(f"the errors must be those that were raised, not {odd[0]}")
    seen = {
        "the scores": [round(float(score), 4) for score in scores],
        "the errors": [str(error) for error in errors],
        "another error comes through": passed,
        "models measured twice, though the cache is to stay": len(twice),
        "a model measured for each score": len(scores) <= len(models) <= len(widths),
    }
    alive = _modules() if len(widths) == 2 and cured is not _sweep else []
    names = {type(one).__name__ for one in alive if id(one) not in known}
    return seen | {"modules still in memory": sorted(names)}


def _modules() -> list:
    gc.collect()
    objects = gc.get_objects()  # a million
    kinds = {kind for kind in set(map(type, objects)) if issubclass(kind, torch.nn.Module)}
    return [each for each in objects if type(each) in kinds]
