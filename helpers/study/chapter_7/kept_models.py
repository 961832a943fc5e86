"""Case 8: models that stay in memory, for two reasons.

The cured sweep is run on widths that the learner has not seen. Afterwards no model may be alive,
though all that the sweep gave is kept, errors that were raised from others among it; and each model
was measured once.
"""

from weakref import ref

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.model.listing import Listing
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.chapter_7.live_modules import alive_since, known_modules
from helpers.study.check import Exercise, Unfit, Untried, tried
from helpers.study.two_answers import parted

MODEL = "Net"
WIDTH = 2  # the one that fits x
RUNS = ((2,), (3,), (2, 2), (2, 5, 2, 3), (), (4, 4, 1), (2,) * 12)  # widths
CLOSE = 1e-5
KEY = "cache key"  # functools.cache keeps the model in one


def _names_the_cache(listing: Listing) -> str | None:
    """Return None where the cache of `size` is among the holders of a model."""
    owners = [getattr(row, "owner", "") for row in listing.rows]
    if any("size" in owner and "C object" in owner for owner in owners):
        return None
    if not any(hasattr(row, "rebindable") for row in listing.rows):
        return "it lists no holders"
    return "the holders in it are all in plain sight: ask for one in built that fits x"


def _names_the_frames(listing: Listing) -> str | None:
    """Return None where a frame of a traceback has a model among its locals."""
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


def _judge(seam, proof, cured):
    if not callable(cured):
        return f"cured must be a function, as sweep is, not {kind_of(cured)}"
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    because = next((because for run in RUNS if (because := _unlike(cured, run))), None)
    known = known_modules()
    return because or _left(cured, known) or _deaf(cured, known)


def _unlike(cured, widths: tuple[int, ...]) -> str | None:
    """Return how one sweep parts from that of the case: what it gives, and how often it asks."""
    import torch

    x, asked = torch.tensor([[1.0, -2.0], [0.5, 3.0]]), _Asked()
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(len(widths))
        theirs = _sweep(widths, x)
        torch.manual_seed(len(widths))
        mine = _swept(cured, widths, x, asked.measure)
    what = f"for the widths {list(widths)}: "
    if because := _other(*mine, *theirs):
        return what + because
    if asked.again:
        return f"{what}a model is measured twice: the cache is to stay"
    if not len(theirs[0]) <= len(asked.models) <= len(widths):
        times = (f"measures {counted(len(many), 'model')}" for many in (asked.models, theirs[0]))
        return parted(what, *times, "sweep", ": the cache is to stay, a place for each model")
    return None


class _Asked:
    """The models that were measured, not kept alive; `again` if one was twice."""

    def __init__(self):
        self.models, self.again = [], False

    def measure(self, model) -> int:
        """Return how many numbers a model has."""
        self.again |= any(known() is model for known in self.models)
        self.models.append(ref(model))
        return _count(model)


def _chained(model):
    """Raise one error from another, whose frames have the model among their locals."""
    try:
        raise KeyError(type(model).__name__)
    except KeyError as error:
        raise RuntimeError("no measure of this model") from error


def _left(cured, known: set[int]) -> str | None:
    """Return which models are alive after a sweep whose scores and errors are kept."""
    import torch

    x, fits, unfit = torch.ones(3, WIDTH), (WIDTH, WIDTH), (WIDTH + 1, WIDTH + 2)
    for widths, measure, which in (
        (fits, _count, "that fit"),
        (unfit, _count, "that do not"),
        (fits, _chained, "where measure raises one error from another"),
    ):
        try:
            kept = _swept(cured, widths, x, measure)
        except RuntimeError as error:
            if measure is not _chained:
                raise
            return f"what measure raises, sweep keeps as an error, and yours raised {said(error)}"
        if because := alive_since(known, f"a sweep over two widths {which}"):
            return because
        if measure is _chained and len(kept[1]) != len(widths):
            return "what measure raises, sweep keeps as an error, and yours does not"
    return None


def _sweep(widths, x) -> tuple[list[float], list[str]]:
    """Return the scores of the sweep of the case, and what its errors say."""
    import torch

    scores, errors = [], []
    for width in widths:
        layer = torch.nn.Linear(width, 1)
        size = _count(layer)
        try:
            scores.append((layer(x) / size).mean().item() + size)
        except RuntimeError as error:
            errors.append(str(error))
    return scores, errors


def _swept(cured, widths, x, measure) -> tuple:
    """Return scores and errors. Unfit where it gives back something else."""
    found = tried(cured(list(widths), x, measure), "cured")
    if not is_a(found, tuple) or len(found) != 2:
        raise Unfit("cured must return two lists, the scores and the errors, as sweep does")
    return found


def _count(model) -> int:
    return sum(each.numel() for each in model.parameters())


def _other(scores, errors, right: list[float], said: list[str]) -> str | None:
    """Return how scores and errors part from those of the sweep of the case."""
    lists = is_a(scores, list) and is_a(errors, list)
    if not lists or (len(scores), len(errors)) != (len(right), len(said)):
        wanted = f"{counted(len(right), 'score')} and {counted(len(said), 'error')}"
        return f"there must be two lists, with {wanted}"
    odd = [score for score in scores if not is_a(score, float)]
    if odd or any(abs(a - b) > CLOSE for a, b in zip(scores, right, strict=True)):
        return parted("", *(f"gives the scores {brief(each)}" for each in (scores, right)), "sweep")
    if odd := [error for error in errors if not is_a(error, RuntimeError)]:
        return f"the errors must be those that were raised, not {kind_of(odd[0])}"
    return None if [str(error) for error in errors] == said else "an error says something else now"


def _deaf(cured, known: set[int]) -> str | None:
    """Return what is wrong where another error comes, which sweep does not keep."""
    import torch

    class Meant(Exception):
        pass

    def measure(model):
        if asked:
            raise Meant
        asked.append(None)
        return _count(model)

    asked = []
    try:
        cured([WIDTH, WIDTH], torch.ones(1, WIDTH), measure)
    except Meant:
        pass
    except Untried:
        raise
    else:
        return "an error that is no RuntimeError is swallowed: sweep lets it through"
    return alive_since(known, "a sweep that was ended by another error")


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
