"""Chapter 7, case 1: a patch that does not take, for two seams pass it by.

The cure is a `with` block. It is tried on fresh copies of the project, also on one with a module
that the learner has not seen.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from helpers.capture.text.value import short_repr
from helpers.model.graphs import Graph
from helpers.model.tables import Listing
from helpers.model.trace_records import TraceLedger
from helpers.safety import progress
from helpers.safety.arguments import real_type_name
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.chapter_7.project import fresh
from helpers.study.engine import Exercise, InvalidAnswer, describe_difference, same_result, tried

PENALTY = "penalty"


def _shows_holder(model: Listing | Graph) -> bool:
    """Tell whether the second name that holds penalty is there."""
    rows = model.rows if isinstance(model, Listing) else model.nodes
    paths = {getattr(row, "path", getattr(row, "label", "")) for row in rows}
    return PENALTY in model.title and f"training.{PENALTY}" in paths


def _shows_hit(model: TraceLedger) -> bool:
    """Tell whether a call found the graph of before, though penalty was another."""
    hits = [entry for entry in model.entries if entry.verdict == "hit"]
    return "loss" in model.title and any(PENALTY in entry.note for entry in hits)


EVIDENCE = (
    Evidence(
        "name",
        (Listing, Graph),
        "every place that holds penalty; ask before a patch, for then losses.penalty is another",
        _shows_holder,
    ),
    Evidence(
        "cache key",
        (TraceLedger,),
        "a hit of loss though penalty is another: watch loss before the patch, and call what "
        "watch_traces returned while the patch is in force",
        _shows_hit,
    ),
)
ELSEWHERE = {
    "frame": "no frame of loss is evaluated by the second call at all: ask why",
    "C call": "'C call': what arrives there is right, for the graph that was found",
}


THIRD = {
    "report": """
from training import loss as measured


def told(weights, error):
    return measured(weights, error)
"""
}
TWICE = {
    "training": """
import tensorflow as tf
from losses import penalty


@tf.function
def loss(weights, error):
    return 2.0 * error + penalty(weights)
"""
}
WEIGHTS = ([3.0, -4.0], [0.5, 2.0, -1.0], [1.0, 1.0], [-2.0, 0.25, 3.0])
SHAPES = len({len(one) for one in WEIGHTS})
CHANGED = "sources is no longer the project of this case: run the cell that defines it again"


def _sizes(weights):
    import tensorflow as tf

    return tf.reduce_sum(tf.abs(weights))


def _cubes(weights):
    import tensorflow as tf

    return 0.5 * tf.reduce_sum(weights**3)


def _squares(weights):
    import tensorflow as tf

    return tf.reduce_sum(weights**2)


class Meant(BaseException):
    """What a block of the judge's raises, as Ctrl-C does."""


TRIALS = {  # in words -> modules of the project that are others, what the block does
    "": {},
    "when the block raises, ": {"raises": KeyError},
    "when Ctrl-C ends the block, ": {"raises": Meant},
    "with one block in another, ": {"nested": True},
    "with a third module, which imported both, ": {"others": THIRD},
    "with a project whose loss counts the error twice, ": {"others": TWICE, "factor": 2.0},
}


def _judge(seam, proof, patched: Callable, sources):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    with only_new_objects():
        with fresh({**sources}) as modules:
            if Project(modules, 1.0).unlike(_squares):
                raise InvalidAnswer(CHANGED)
        for shows, how in progress.counted("judging your answer, trial", TRIALS.items()):
            if because := _try(patched, sources, **how):
                return f"{shows}{because}"
    return None


def _try(patched, sources, others=None, factor=1.0, raises=None, nested=False) -> str | None:
    with fresh({**sources, **(others or {})}) as modules:
        project, because, heard = Project(modules, factor), None, raises is None
        project.unlike(_squares)  # its graphs are made before anybody patches it
        try:
            with _block(patched, project, _sizes) as outer:
                if raises:
                    raise raises("from the block")
                if nested:
                    with _block(patched, project, _cubes) as inner:
                        because = project.unpatched(inner)
                because = because or project.unpatched(outer)
        except (KeyError, Meant) as error:
            if type(error) is not raises:
                raise
            heard = True
        if not heard:
            return "the block raised, and nobody heard of it"
        return because or project.left_behind()


@contextmanager
def _block(patched, project, body):
    """Enter what the learner's function returns; yield the replacement, which counts."""
    new = Patched(body)
    block = tried(patched(project.losses, project.training, new.penalty))
    if not hasattr(type(block), "__enter__"):
        raise InvalidAnswer(
            f"patched must return a context manager, not {real_type_name(block)}: @contextmanager"
        )
    with block:
        yield new


class Patched:
    """A replacement of penalty that counts how often Python ran it, and how often eagerly."""

    def __init__(self, body):
        import tensorflow as tf

        def penalty(weights):
            self.ran += 1
            self.eagerly += tf.executing_eagerly()
            return self.body(weights)

        self.body, self.ran, self.eagerly, self.penalty = body, 0, 0, penalty


class Project:
    """The modules, and what was in them. The loss counts the error `factor` times."""

    def __init__(self, modules: list, factor: float):
        self.losses, self.training, *self.others = modules
        self._factor, self._modules = factor, modules
        self._before = [dict(vars(module)) for module in modules]

    def unlike(self, penalty, loss=None, path="training.loss") -> str | None:
        """Return how the loss parts from one that was written with this penalty."""
        for weights, error in _calls():
            got = (loss or self.training.loss)(weights, error)
            wanted = penalty(weights) + self._factor * error
            if not same_result(got, wanted):
                both = f"gives {short_repr(got)}", f"gives {short_repr(wanted)}"
                return describe_difference(f"{path}: ", *both, "the loss to be had")
        return None

    def unpatched(self, new: Patched) -> str | None:
        """Return whose loss is not patched, or no tf.function any more."""
        losses = {"training.loss": self.training.loss}
        losses |= {f"{module.__name__}.told": module.told for module in self.others}
        for path, loss in losses.items():
            new.ran = new.eagerly = 0
            if because := self.unlike(new.body, loss, path):
                return because
            if new.eagerly or new.ran > SHAPES:
                return (
                    f"{path}: Python ran the new penalty {new.ran} times in {len(WEIGHTS)} calls: "
                    "loss is to stay a tf.function, with a graph for each shape"
                )
        return None

    def left_behind(self) -> str | None:
        """Return what is another after the block."""
        for module, before in zip(self._modules, self._before, strict=True):
            now = vars(module)
            for name in sorted({*before, *now}):
                if now.get(name) is not before.get(name):
                    return f"{module.__name__}.{name} is not what it was, after the block"
        because = self.unlike(_squares)
        return because and f"after the block {because}"


def _calls() -> Iterator[tuple]:
    import tensorflow as tf

    for at, weights in enumerate(WEIGHTS):
        yield tf.constant(weights), tf.constant(float(at))


STUCK_PATCH = Exercise(
    "stuck_patch",
    _judge,
    "Whoever calls the loss gets the new penalty, in a graph, and afterwards all is as before.",
    (
        "Two things were looked up before the patch came: a function, and a graph. Which exhibit "
        "lists who holds a function? Which says whether a call made a graph?",
        "show_bindings(losses.penalty) is the first. For the second, let calls = "
        "watch_traces(training.loss), and call it while both names are patched.",
        "Rebinding a function at each place that holds it is rebind_everywhere(old, new). A "
        "tf.function that has no graph yet is tf.function(training.loss.python_function). Where "
        "must that one stand?",
        "Both are places to rebind: with rebind_everywhere(losses.penalty, new), "
        "rebind_everywhere(training.loss, again): yield",
    ),
    seconds=30,
)
