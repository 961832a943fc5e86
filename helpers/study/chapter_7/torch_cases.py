"""Chapter 7: an op that a program does not find, and models that stay in memory. Both exercises ask
for a *seam* (the place where something intercepts a call), a *proof* (an exhibit that shows it) and
a *cure* (code). `@diagnosed` judges seam and proof, and the functions here run the cure. In the
first, a program does not import the module that registers an op. In the second, a sweep over models
keeps each model alive: by a cache on a method, or by the traceback of an error.
"""

import gc
from collections.abc import Callable
from dataclasses import dataclass
from weakref import ref

from helpers.safety.arguments import real_type_name
from helpers.study.answers import InvalidAnswer, require_named_values, require_no_stub
from helpers.study.chapter_7.clinic_projects import start
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, read_parts
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.frameworks import torch
from helpers.study.sentences import describe_difference

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
# (the trial in words, the module to import, modules that replace those of the learner, its answer)
TRIALS = (
    ("serve", "serve", {}, [1.25, 0.0]),
    ("a new program with a different ops", "report", {"report": REPORT, "ops": OTHER_OPS}, [2.5]),
)


def _shows_registration(model) -> bool:
    """Return whether an exhibit's model proves that the op is found only after its registration.

    The proof are two runs in child processes that call the op: one ends with an error, and the
    other one, which registers the op first, ends well.
    """
    ends = set()  # how the runs ended, "error" or "well"
    for run in read_parts(model, "runs"):
        if "torch.ops" in run.source:  # this child calls the op, and does not only register it
            ends.add(run.end)
    return {"error", "well"} <= ends


MISSING_OP_HINTS = (
    "Both programs import model, and model imports torch. What does torch.ops know about shop in "
    "train, and what in serve? Compare what the two programs import.",
    "torch's registry has an op once the code that registers it has run. Call the op in two "
    "children with watch_in_child(call, shop['ops'] + call, imports=''). One runs the call alone, "
    "and one registers the op first.",
    "Nobody should have to know which module registers the op of model. The module that needs the "
    "op should say so: shop | {'model': ...}.",
)
MISSING_OP_ADVICE = {
    "C call": "no kernel of rescale is called at all. What failed to find one?",
    "frame": "the frame of predict runs and asks for an op. What answers?",
    "evaluator": "nothing is compiled here",
}
MISSING_OP_EVIDENCE = (
    Evidence(
        "registry",
        _shows_registration,
        "the op both ways. One child must fail to find it, and one must run it",
        "name",  # torch.ops.shop looks the op up by its name, in that registry
    ),
)


@exercise(*MISSING_OP_HINTS, seconds=120)
@diagnosed(MISSING_OP_ADVICE, *MISSING_OP_EVIDENCE)
def missing_op(seam, proof, cured, sources):
    """Every program that imports model has its op, and none has to know about ops."""
    # `@diagnosed` has judged seam and proof. `sources` and `cured` are texts of modules, by name.
    texts = require_named_values(cured, sources, "cured")
    for shows, program, other_texts, expected_answer in TRIALS:
        try:
            result = start({**texts, **other_texts}, program)
        except RuntimeError as error:
            return f"{shows}: {error}"
        if result != expected_answer:
            before = f"{shows}: "
            expected = f"gives {expected_answer}"
            return describe_difference(before, f"gives {result}", expected, "the op")
    return None


def _names_the_cache(model) -> bool:
    """Return whether an exhibit's model is a table of references with the cache of `size`."""
    rows = read_parts(model, "rows")
    return any("size(its cache)" in getattr(row, "owner", "") for row in rows)


def _names_the_frames(model) -> bool:
    """Return whether an exhibit's model is a table of frames with a model among their locals."""
    rows = read_parts(model, "rows")
    return any("Net object" in getattr(row, "locals", "") for row in rows)


KEPT_MODELS_HINTS = (
    "Two kinds of models stay, those that ran and those that failed. Take one of each from built. "
    "For the one that ran, use show_bindings(model). For the other, look at its error.",
    "functools.cache keeps its keys. What is the key of a method without arguments? An error "
    "refers to its traceback, that to its frames, and they to their locals: show_traceback(error).",
    "Keep the size where it dies with the model, in functools.cached_property or an attribute. "
    "Keep the error without its traceback: error.with_traceback(None). If it was raised from "
    "another error (error.__cause__, error.__context__), that one has its own traceback.",
)
KEPT_MODELS_ADVICE = {
    "C call": "what the C call computes is right, and freed. What still refers to a model?"
}
KEPT_MODELS_EVIDENCE = (
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


@exercise(*KEPT_MODELS_HINTS, seconds=30)
@diagnosed(KEPT_MODELS_ADVICE, *KEPT_MODELS_EVIDENCE)
def kept_models(seam, proof, cured: Callable):
    """The scores and errors are the same. No model is measured twice, and none is left."""
    # `@diagnosed` has judged seam and proof. `cured(widths, x, measure)` is the learner's sweep.
    known_ids = {id(module) for module in _find_modules()}
    rows = []
    for run in RUNS:
        rows.append((f"for the widths {list(run.widths)}{run.words}", known_ids, run))
    cases = make_cases(_run_sweep, rows, advise_on_first_part("sweep"))
    return find_difference(cured, _sweep, cases, "sweep")


def _sweep(widths, x, measure):
    """Act as a right answer: return the scores of the models that fit x, and the others' errors.

    This is the reference for the learner's `cured`.
    """
    scores = []
    errors = []
    for width in widths:
        layer = torch.nn.Linear(width, 1)
        try:
            output = layer(x)
            size = measure(layer)
            scores.append((output / size).mean().item() + size)
        except RuntimeError as error:
            errors.append(error)
    return scores, errors


def _count_parameters(model) -> int:
    """Return the number of a model's parameters. This is what a sweep usually measures."""
    return sum(parameter.numel() for parameter in model.parameters())


def _raise_chained(model):
    """Raise an error whose cause has a traceback of its own, which keeps the model, too."""
    try:
        raise KeyError(type(model).__name__)
    except KeyError as error:
        raise RuntimeError("no measure of this model") from error


def _raise_other_error(model):
    """Raise an error that a sweep must not catch."""
    raise LookupError


@dataclass(frozen=True)
class SweepRun:
    """One run of a learner's sweep."""

    #: The widths of the models. A model of the width 2 fits the data x, and any other one fails.
    widths: tuple[int, ...]
    #: The function that the sweep calls to measure a model.
    measure: Callable = _count_parameters
    #: What is unusual about the run, in words.
    words: str = ""


RUNS = (
    SweepRun((2, 2)),
    SweepRun((3, 4)),
    SweepRun((2, 5, 2, 3)),
    SweepRun(()),
    SweepRun((2,) * 12),
    SweepRun((2, 2), _raise_chained, ", where measure raises one error from another"),
    SweepRun((2, 2), _raise_other_error, ", where measure raises another error than RuntimeError"),
)


def _run_sweep(known_ids: set[int], run: SweepRun, cured) -> dict:
    """Run a learner's sweep; return label -> observation.

    The observations are its scores and errors, whether it measured a model twice, and which models
    are still in memory. `known_ids` are the ids of the modules that were in memory before.
    """
    measured_models = []  # weak references, because the check must not keep a model alive
    measured_again = []

    def measure_once(model) -> int:
        """Measure a model, and note if it was measured before."""
        for reference in measured_models:
            if reference() is model:
                measured_again.append(reference)
        measured_models.append(ref(model))
        return run.measure(model)

    x = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    has_propagated = False
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(len(run.widths))
        try:
            pair = require_no_stub(cured(list(run.widths), x, measure_once), "cured")
        except LookupError:
            pair = ([], [])
            has_propagated = True
    scores, errors = _require_two_lists(pair)

    values = {
        "the scores": [round(float(score), 4) for score in scores],
        "the errors": [str(error) for error in errors],
        "another error propagates": has_propagated,
        "models measured twice, though the cache must stay": len(measured_again),
        "a model measured for each score": len(scores) <= len(measured_models) <= len(run.widths),
    }
    # The search goes through all objects of the process. That is slow, so only short runs do it.
    # The reference keeps its errors with their tracebacks, and so its models. There the expected
    # answer, no models, is written down without a search.
    is_searched = len(run.widths) == 2 and cured is not _sweep
    values["modules still in memory"] = _list_new_modules(known_ids) if is_searched else []
    return values


def _require_two_lists(pair) -> tuple[list, list]:
    """Return (scores, errors), or raise InvalidAnswer if `pair` is no pair of two such lists."""
    is_pair = type(pair) is tuple and len(pair) == 2
    if not is_pair or not all(type(part) is list for part in pair):
        raise InvalidAnswer("cured must return two lists, the scores and the errors, as sweep does")

    scores, errors = pair
    for error in errors:
        if not isinstance(error, RuntimeError):
            kind = real_type_name(error)
            raise InvalidAnswer(f"the errors must be the exceptions that were raised, not {kind}")
    return scores, errors


def _list_new_modules(known_ids: set[int]) -> list[str]:
    """Return the names of the types of torch modules in memory, except those with known ids."""
    new_types = {type(module).__name__ for module in _find_modules() if id(module) not in known_ids}
    return sorted(new_types)


def _find_modules() -> list:
    """Return all torch modules (torch.nn.Module) that are in memory."""
    gc.collect()
    # There are a million objects, but few types. So each type is tested once.
    objects = gc.get_objects()
    kinds = {kind for kind in set(map(type, objects)) if issubclass(kind, torch.nn.Module)}
    return [candidate for candidate in objects if type(candidate) in kinds]
