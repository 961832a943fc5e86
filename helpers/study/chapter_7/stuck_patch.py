"""Chapter 7, case 1: a patch that does not take, for two seams pass it by.

The cure is a `with` block. It is tried on fresh copies of the project, also on one with a module
that the learner has not seen.
"""

from contextlib import contextmanager

from helpers.model.graph import Graph
from helpers.model.listing import Listing
from helpers.model.traces import TraceLedger
from helpers.safety import progress
from helpers.safety.arguments import kind_of
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.chapter_7.diagnosis import Evidence, undiagnosed
from helpers.study.chapter_7.patched_project import NEW, Patched, opened
from helpers.study.check import Exercise, Unfit, tried

HELD, PENALTY = "training.penalty", "penalty"


def _shows_holder(model: Listing | Graph) -> str | None:
    """Ask for the second name that holds penalty."""
    if PENALTY not in model.title:
        asked = model.title.rpartition(" ")[2]
        return f"it is of {asked}: in a patch, losses.penalty is the replacement; ask before it"
    rows = model.rows if isinstance(model, Listing) else model.nodes
    paths = {getattr(row, "path", getattr(row, "label", "")) for row in rows}
    return None if HELD in paths else "ask who holds the function, while training does"


def _shows_hit(model: TraceLedger) -> str | None:
    """Ask for a call that found the graph of before, though it was patched."""
    if not model.entries:
        return "call what watch_traces returned, while the patch is in force"
    hits = [entry for entry in model.entries if entry.verdict == "hit"]
    if not hits or "loss" not in model.title:
        return "the question is what loss does when it is called the second time"
    if any(PENALTY in entry.note for entry in hits):
        return None
    return (
        "no hit in it says that penalty is another by now. Watch loss before the patch, and call "
        "it while training.penalty is patched"
    )


EVIDENCE = (
    Evidence("name", (Listing, Graph), "every place that holds penalty", _shows_holder),
    Evidence("cache key", (TraceLedger,), "what a call of loss finds when patched", _shows_hit),
)
ELSEWHERE = {
    "frame": "no frame of loss is evaluated by the second call at all: ask why",
    "evaluator": "'evaluator': nobody has replaced CPython's; show_evaluator would say so",
    "registry": "'registry': the right kernels run, for the ops that the graph has",
    "C call": "'C call': what arrives there is right, for the graph that was found",
}


def _judge_stuck_patch(seam, proof, patched, sources):
    if because := undiagnosed(seam, proof, EVIDENCE, ELSEWHERE):
        return because
    if not callable(patched):
        return f"patched must be a function, not {kind_of(patched)}"
    trials = (_inside_and_after, _on_error, _nested, _third_module, _another_loss)
    with only_new_objects():
        trials = progress.counted("judging your answer, trial", trials)
        whys = (trial(patched, sources) for trial in trials)
        return next((because for because in whys if because), None)


def _inside_and_after(patched, sources) -> str | None:
    with opened(sources) as project:
        project.run()
        with _block(patched, project, NEW[0]) as new:
            because = project.unlike(new)
        return because or project.left_behind()


class Meant(BaseException):
    """What a block of the judge's raises, as Ctrl-C does."""


def _on_error(patched, sources) -> str | None:
    for kind in (KeyError, Meant):
        with opened(sources) as project:
            try:
                with _block(patched, project, NEW[0]):
                    raise kind("from the block")
            except kind:
                if because := project.left_behind():
                    what = "Ctrl-C ends the block" if kind is Meant else "the block raises"
                    return f"when {what}, {because}"
            else:
                return "the block raised, and nobody heard of it"
    return None


def _nested(patched, sources) -> str | None:
    with opened(sources) as project:
        with _block(patched, project, NEW[0]) as outer:
            project.run()
            with _block(patched, project, NEW[1]) as inner:
                because = project.unlike(inner)
            because = because or project.unlike(outer)
        because = because or project.left_behind()
        return because and f"with one block in another, {because}"


def _third_module(patched, sources) -> str | None:
    with opened(sources, third=True) as project:
        project.run()
        with _block(patched, project, NEW[0]) as new:
            because = project.unlike(new)
        because = because or project.left_behind()
        return because and f"with a third module, which imported both, {because}"


def _another_loss(patched, sources) -> str | None:
    with opened(sources, twice=True) as project, _block(patched, project, NEW[0]) as new:
        because = project.unlike(new)
        return because and (
            f"with a project whose loss counts the error twice, {because}: a patch is to leave "
            "the rest of loss as it is"
        )


@contextmanager
def _block(patched, project, body):
    """Enter what the learner's function returns; yield the replacement, which counts."""
    new = Patched(body)
    block = tried(patched(project.losses, project.training, new.penalty))
    if not hasattr(type(block), "__enter__"):
        raise Unfit(f"patched must return a context manager, not {kind_of(block)}: @contextmanager")
    with block:
        yield new


STUCK_PATCH = Exercise(
    "stuck_patch",
    _judge_stuck_patch,
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
