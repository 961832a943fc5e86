"""Chapter 7, case 1: a patch without effect, because calls bypass it at two seams."""

from collections.abc import Callable
from contextlib import contextmanager

from helpers.capture.references.rebind import rebind_everywhere
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.chapter_7.diagnosis import Evidence, Meant, diagnosed, parts
from helpers.study.check import exercise, tried
from helpers.study.engine import find_difference, make_cases, say_first_part, tf
from helpers.study.project import fresh

PENALTY = "penalty"


def _shows_holder(model) -> bool:
    rows = (*parts(model, "rows"), *parts(model, "nodes"))
    paths = {getattr(row, "path", getattr(row, "label", "")) for row in rows}
    return f"training.{PENALTY}" in paths and PENALTY in model.title


def _shows_hit(model) -> bool:
    hits = [one for one in parts(model, "entries") if getattr(one, "verdict", "") == "hit"]
    return any(PENALTY in entry.note for entry in hits) and "loss" in model.title


THIRD = {
    "report": """
from training import loss as measured


def told(weights, error):
    return measured(weights, error)
"""
}
WEIGHTS = ([3.0, -4.0], [0.5, 2.0, -1.0], [1.0, 1.0], [-2.0, 0.25, 3.0])
SHAPES = len({len(one) for one in WEIGHTS})
TRIALS = {  # in words -> other modules of the project, and what the block does
    "in one block": {},
    "when the block raises": {"raises": KeyError},
    "when Ctrl-C ends the block": {"raises": Meant},
    "with one block inside another": {"nested": True},
    "with a third module that imports loss": {"others": THIRD},
}


@exercise(
    "Two things were looked up before the patch: a function and a graph. Which exhibit lists what "
    "refers to a function? Which one says whether a call made a graph?",
    "The first is show_bindings(losses.penalty). For the second, write calls = "
    "watch_traces(training.loss), and call it while both names are patched.",
    "rebind_everywhere(old, new) rebinds a function at each place that refers to it. "
    "tf.function(training.loss.python_function) has no graph yet. Where must you put it?",
    "Rebind both: with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, "
    "again): yield",
    seconds=30,
)
@diagnosed(
    {
        "frame": "no frame of loss is evaluated in the second call. Why not?",
        "C call": "the inputs of the C call are right for the graph that was found",
    },
    Evidence(
        "name",
        _shows_holder,
        "every place that refers to penalty. Ask before a patch, because it changes losses.penalty",
    ),
    Evidence(
        "cache key",
        _shows_hit,
        "a hit of loss although penalty was replaced. Call what watch_traces returned while the "
        "patch is active",
    ),
)
def stuck_patch(seam, proof, patched: Callable, sources):
    """All callers of the loss get the new penalty, from a graph. Afterwards all is as before."""
    with only_new_objects():
        rows = ((shows, sources, how) for shows, how in TRIALS.items())
        return find_difference(patched, _reference, make_cases(_try, rows, say_first_part()))


@contextmanager
def _reference(losses, training, new):
    again = tf.function(training.loss.python_function)
    with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, again):
        yield


def _try(sources, how: dict, patched) -> dict:
    raises = how.get("raises")
    with fresh({**sources, **how.get("others", {})}) as modules:
        seen, before = {"an error propagates": raises is None}, [{**vars(m)} for m in modules]
        _look(modules)  # makes its graphs before the patch
        try:
            with _block(patched, modules, lambda w: tf.reduce_sum(tf.abs(w))) as ran:
                if raises:
                    raise raises("from the block")
                if how.get("nested"):
                    with _block(patched, modules, lambda w: tf.reduce_sum(w**3) / 2) as again:
                        seen |= _look(modules, "in the inner block ", again)
                seen |= _look(modules, "in the block ", ran)
        except (KeyError, Meant) as error:
            if type(error) is not raises:
                raise
            seen["an error propagates"] = True
        changed = []
        for module, old in zip(modules, before, strict=True):
            now, names = vars(module), sorted({*old, *vars(module)})
            changed += [f"{module.__name__}.{n}" for n in names if now.get(n) is not old.get(n)]
        return seen | {"changed after the block": changed} | _look(modules, "after the block ")


@contextmanager
def _block(patched, modules, body):
    def penalty(weights):
        ran.append("eagerly" if tf.executing_eagerly() else "while tracing")
        return body(weights)

    ran, block = [], tried(patched(*modules[:2], penalty))
    with block:
        yield ran


def _look(modules, when: str = "", ran=()) -> dict:
    """Return each loss, and whether it made a graph for each shape or ran eagerly."""
    losses, seen = {"training.loss": modules[1].loss}, {}
    losses |= {f"{module.__name__}.told": module.told for module in modules[2:]}
    for path, loss in losses.items():
        many = len(ran)
        found = [loss(tf.constant(one), tf.constant(float(at))) for at, one in enumerate(WEIGHTS)]
        seen[f"{when}{path}"] = [float(value) for value in found]
        new = [*ran][many:]
        seen[f"{when}{path} is a graph"] = len(new) <= SHAPES and "eagerly" not in new
    return seen
