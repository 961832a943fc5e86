"""Chapter 7: an op that a program does not find, and models that stay in memory."""

import gc
from collections.abc import Callable
from weakref import ref

from helpers.safety.arguments import real_type_name
from helpers.study.chapter_7.clinic_projects import start
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.check import InvalidAnswer, describe_difference, exercise, tried
from helpers.study.engine import by_name, find_difference, make_cases, say_first_part, torch

OTHER_OPS = """
import torch


@torch.library.custom_op("shop::rescale", mutates_args=())
def rescale(x: torch.Tensor) -> torch.Tensor:
    return x * 3
"""
REPORT = """
import torch
import model

answer = model.predict(torch.tensor([0.5])).tolist()
"""
TRIALS = (  # in words, the program, other texts, its answer
    ("serve", "serve", {}, [1.25, 0.0]),
    ("a new program with a different ops", "report", {"report": REPORT, "ops": OTHER_OPS}, [2.5]),
)


def _shows_registration(model) -> bool:
    runs = [run for run in parts(model, "runs") if "torch.ops" in run.source]  # it is called there
    return {"error", "well"} <= {run.end for run in runs}


@exercise(
    "Both programs import model, and model imports torch. What does torch.ops know about shop in "
    "train, and what in serve? Compare what the two programs import.",
    "torch's registry has an op once the code that registers it has run. Call the op in two "
    "children with watch_in_child(call, shop['ops'] + call, imports=''). One runs the call alone, "
    "and one registers the op first.",
    "Nobody should have to know which module registers the op of model. The module that needs the "
    "op should say so: shop | {'model': ...}.",
    seconds=120,
)
@diagnosed(
    {
        "C call": "no kernel of rescale is called at all. What failed to find one?",
        "frame": "the frame of predict runs and asks for an op. What answers?",
        "evaluator": "nothing is compiled here",
    },
    Evidence(
        "registry",
        _shows_registration,
        "the op both ways. One child must fail to find it, and one must run it",
        "name",  # torch.ops.shop looks the op up by its name, in that registry
    ),
)
def missing_op(seam, proof, cured, sources):
    """Every program that imports model has its op, and none has to know about ops."""
    texts = by_name(cured, sources, "cured")
    for words, program, others, right in TRIALS:
        try:
            found = start({**texts, **others}, program)
        except RuntimeError as error:
            return f"{words}: {error}"
        if found != right:
            return describe_difference(f"{words}: ", f"gives {found}", f"gives {right}", "the op")
    return None


def _names_the_cache(model) -> bool:
    owners = [getattr(row, "owner", "") for row in parts(model, "rows")]
    return any("size(its cache)" in owner for owner in owners)


def _names_the_frames(model) -> bool:
    return any("Net object" in getattr(row, "locals", "") for row in parts(model, "rows"))


@exercise(
    "Two kinds of models stay, those that ran and those that failed. Take one of each from built. "
    "For the one that ran, use show_bindings(model). For the other, look at its error.",
    "functools.cache keeps its keys. What is the key of a method without arguments? An error "
    "refers to its traceback, that to its frames, and they to their locals: show_traceback(error).",
    "Keep the size where it dies with the model, in functools.cached_property or an attribute. "
    "Keep the error without its traceback: error.with_traceback(None). If it was raised from "
    "another error (error.__cause__, error.__context__), that one has its own traceback.",
    seconds=30,
)
@diagnosed(
    {"C call": "what the C call computes is right, and freed. What still refers to a model?"},
    Evidence(
        "name",
        _names_the_cache,
        "a holder that only a search finds. List the holders of one in built that fits x",
        "cache key",  # functools.cache keeps the model in one
    ),
    Evidence(
        "frame", _names_the_frames, "frames that keep a model. Pass an error to show_traceback"
    ),
)
def kept_models(seam, proof, cured: Callable):
    """The scores and errors are the same. No model is measured twice, and none is left."""
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
    ((2, 2), _lost, ", where measure raises another error than RuntimeError"),
)


def _run_sweep(known: set[int], widths, measure: Callable, cured) -> dict:
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
        raise InvalidAnswer(f"the errors must be the exceptions that were raised, not {odd[0]}")
    seen = {
        "the scores": [round(float(score), 4) for score in scores],
        "the errors": [str(error) for error in errors],
        "another error propagates": passed,
        "models measured twice, though the cache must stay": len(twice),
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
