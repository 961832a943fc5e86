"""Chapter 7: an op that a program does not find, and models that stay in memory."""

import gc
from collections.abc import Callable
from weakref import ref

from helpers.safety.arguments import real_type_name
from helpers.study.chapter_7.clinic_projects import start
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, parts
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import (
    by_name,
    describe_difference,
    find_difference,
    make_cases,
    say_first_part,
    torch,
)

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
TRIALS = (  # in words, the program, texts that are others, its answer
    ("serve", "serve", {}, [1.25, 0.0]),
    ("a new program, where ops is another", "report", {"report": REPORT, "ops": OTHER_OPS}, [2.5]),
)


def _shows_registration(model) -> bool:
    runs = [run for run in parts(model, "runs") if "torch.ops" in run.source]  # it is called there
    return {"error", "well"} <= {run.end for run in runs}


@exercise(
    "model finds torch in serve as it does in train. What does torch.ops know of shop in the "
    "one, and what in the other? Compare what the two programs import.",
    "An op is in torch's registry once the code ran that registers it. Run a call of the op in "
    "two children, watch_in_child(call, shop['ops'] + call, imports=''): as it is, and "
    "behind the text that registers.",
    "Nobody should have to know which module registers the op of model. Who needs it says so: "
    "shop | {'model': ...}.",
    seconds=120,
)
@diagnosed(
    {
        "C call": "no kernel of rescale is called at all: who did not find one?",
        "frame": "'frame': the frame of predict runs, and asks for an op; who answers?",
        "evaluator": "nothing is compiled here",
    },
    Evidence(
        "registry",
        _shows_registration,
        "the op both ways: one child that fails to find it, and one that runs it",
        "name",  # torch.ops.shop looks the op up by its name, in that registry
    ),
)
def missing_op(seam, proof, cured, sources):
    """Whoever imports model has its op, and no program has to know of ops."""
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
