"""Case 8: models that stay in memory, for two reasons.

The cured sweep is run on widths that the learner has not seen. Afterwards no model may be alive,
though all that the sweep gave is kept, errors that were raised from others among it; and each model
was measured once.
"""

import gc
from collections.abc import Callable, Iterator
from weakref import ref

from helpers.capture.text.error import said
from helpers.model.listing import Listing
from helpers.model.phrase import counted
from helpers.safety.arguments import kind_of
from helpers.study.chapter_7.diagnosis import (
    Evidence,
    find_complaint,
    say_first_part,
    undiagnosed,
)
from helpers.study.engine import Case, Exercise, Unfit, find_difference, tried

MODEL = "Net"
WIDTH = 2  # the one that fits x
RUNS = ((2,), (3,), (2, 5, 2, 3), (), (4, 4, 1), (2,) * 12)  # widths
KEY = "cache key"  # functools.cache keeps the model in one


def _names_the_cache(listing: Listing) -> str | None:
    owners = [getattr(row, "owner", "") for row in listing.rows]
    if any("size" in owner and "C object" in owner for owner in owners):
        return None
    if not any(hasattr(row, "rebindable") for row in listing.rows):
        return "it lists no holders"
    return "the holders in it are all in plain sight: ask for one in built that fits x"


def _names_the_frames(listing: Listing) -> str | None:
    words = [getattr(row, "locals", "") for row in listing.rows]
    if any(f"{MODEL} object" in one for one in words):
        return None
    if not any(words):
        return "no locals of frames are listed in it: show_traceback of an error lists them"
    return f"no frame in it has a {MODEL} among its locals"


EVIDENCE = (
    Evidence("name", (Listing,), "a holder that only a search finds", _names_the_cache, KEY),
    Evidence("frame", (Listing,), "frames that keep a model", _names_the_frames),
)
ELSEWHERE = {
    "registry": "no op is registered here. Who holds a reference to a model?",
    "C call": "what C computes is right, and gone. Who holds a reference to a model?",
}


SAY = {
    "kinds": "there must be two lists, with {1}",
    "scores": "yours gives the scores {0}, sweep gives the scores {1}",
    "errors": "an error says something else now",
    "twice": "a model is measured twice: the cache is to stay",
    "measured": "yours measures {0}: the cache is to stay, a place for each model",
}


def _judge(seam, proof, cured: Callable):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    cases = []
    for run in RUNS:
        sweep = lambda made, run=run: _run(made, run)  # noqa: E731
        cases.append(Case(f"for the widths {list(run)}", sweep, say_first_part(SAY)))
    if because := find_difference(cured, _sweep, cases, "sweep"):
        return because
    known = set(map(id, _modules()))
    return find_complaint(cured, {"cured": lambda made: next(_complaints(made, known), None)})


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
    """Return scores and errors. Unfit where it gives back something else."""
    found = tried(cured(list(widths), x, measure), "cured")
    if type(found) is not tuple or len(found) != 2 or not all(type(f) is list for f in found):
        raise Unfit("cured must return two lists, the scores and the errors, as sweep does")
    if odd := [error for error in found[1] if not isinstance(error, RuntimeError)]:
        raise Unfit(f"the errors must be those that were raised, not {kind_of(odd[0])}")
    return found


def _run(cured, widths) -> dict:
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
    as_many = len(scores) <= len(models) <= len(widths)
    return {
        "kinds": f"{counted(len(scores), 'score')} and {counted(len(errors), 'error')}",
        "scores": [round(float(score), 4) for score in scores],
        "errors": [str(error) for error in errors],
        "twice": bool(twice),
        "measured": "" if as_many else counted(len(models), "model"),
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
    keeps = "what measure raises, sweep keeps as an error, and yours"
    for widths, measure, which in (
        (fits, _count, "that fit"),
        (unfit, _count, "that do not"),
        (fits, _chained, "where measure raises one error from another"),
    ):
        try:
            kept = _swept(cured, widths, x, measure)
        except RuntimeError as error:
            yield f"{keeps} raised {said(error)}"
        yield from _still_alive(known, f"a sweep over two widths {which}")
        if measure is _chained and len(kept[1]) != len(widths):
            yield f"{keeps} does not"
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
    _judge,
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
