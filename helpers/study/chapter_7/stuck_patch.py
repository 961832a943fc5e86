"""Chapter 7, case 1: a patch without effect, because calls bypass it at two seams. A project has a
module `losses` with a function `penalty`, and a module `training` with a tf.function `loss` that
calls it. A learner replaces `losses.penalty`, and the loss stays the same: `training` has imported
the old function by name, and the graph of `loss` contains what that function computed. The learner
writes `patched`, a context manager in whose block the new penalty takes effect.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from helpers.capture.references.rebind import rebind_everywhere
from helpers.study.answers import require_no_stub
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, read_parts
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.frameworks import tf
from helpers.study.observations import RaisedByCheck
from helpers.study.project import fresh_project, list_changed_names

PENALTY = "penalty"


def _shows_holder(model) -> bool:
    """Return whether an exhibit's model lists `training.penalty` as a name of the old penalty."""
    # A table of bindings has `rows` with a path; a graph of references has `nodes` with a label.
    rows = (*read_parts(model, "rows"), *read_parts(model, "nodes"))
    paths = {getattr(row, "path", getattr(row, "label", "")) for row in rows}
    return f"training.{PENALTY}" in paths and PENALTY in model.title


def _shows_hit(model) -> bool:
    """Return whether an exhibit's model proves that a call of the loss ran the old graph.

    The proof is a ledger of the calls of `loss` with a *hit*: a call that ran an existing graph.
    The note of a hit names the globals that have been rebound since the trace, here the penalty.
    """
    for entry in read_parts(model, "entries"):
        is_hit = getattr(entry, "verdict", "") == "hit"
        if is_hit and PENALTY in entry.note:
            return "loss" in model.title
    return False


THIRD_MODULE = {
    "report": """
from training import loss as measured


def told(weights, error):
    return measured(weights, error)
"""
}
WEIGHTS = ([3.0, -4.0], [0.5, 2.0, -1.0], [1.0, 1.0], [-2.0, 0.25, 3.0])
SHAPE_COUNT = len({len(weights) for weights in WEIGHTS})


@dataclass(frozen=True)
class PatchTrial:
    """One run of the project: how it is prepared, and what happens in the learner's block."""

    #: What is raised in the block.
    raises: type[BaseException] | None = None
    #: Whether another block is entered inside the block.
    is_nested: bool = False
    #: Further modules of the project.
    more_sources: dict[str, str] = field(default_factory=dict)


# The situation, in words -> the trial.
TRIALS = {
    "in one block": PatchTrial(),
    "when the block raises": PatchTrial(raises=KeyError),
    "when Ctrl-C ends the block": PatchTrial(raises=RaisedByCheck),
    "with one block inside another": PatchTrial(is_nested=True),
    "with a third module that imports loss": PatchTrial(more_sources=THIRD_MODULE),
}


STUCK_PATCH_HINTS = (
    "Two things were looked up before the patch: a function and a graph. Which exhibit lists what "
    "refers to a function? Which one says whether a call made a graph?",
    "The first is show_bindings(losses.penalty). For the second, write calls = "
    "watch_traces(training.loss), and call it while both names are patched.",
    "rebind_everywhere(old, new) rebinds a function at each place that refers to it. "
    "tf.function(training.loss.python_function) has no graph yet. Where must you put it?",
    "Rebind both: with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, "
    "again): yield",
)
STUCK_PATCH_ADVICE = {
    "frame": "no frame of loss is evaluated in the second call. Why not?",
    "C call": "the inputs of the C call are right for the graph that was found",
}
STUCK_PATCH_EVIDENCE = (
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


@exercise(*STUCK_PATCH_HINTS, seconds=30)
@diagnosed(STUCK_PATCH_ADVICE, *STUCK_PATCH_EVIDENCE)
def stuck_patch(seam, proof, patched: Callable, sources):
    """All callers of the loss get the new penalty, from a graph. Afterwards all is as before."""
    # `@diagnosed` has judged seam and proof. `patched(losses, training, new)` is the learner's
    # context manager; `sources` are the texts of the project, by the names of its modules.
    rows = [(shows, sources, trial) for shows, trial in TRIALS.items()]
    # `rebind_everywhere` searches all objects that the collector lists. That would be slow.
    with only_new_objects():
        cases = make_cases(_run_trial, rows, advise_on_first_part())
        return find_difference(patched, _patch_both, cases)


@contextmanager
def _patch_both(losses, training, new):
    """Do what a right answer does: rebind the penalty, and the loss to one without a graph.

    This is the reference for the learner's `patched`.
    """
    # The graphs of `training.loss` contain the old penalty. A new tf.function of the same Python
    # function has no graph yet, and traces with the new penalty.
    untraced_loss = tf.function(training.loss.python_function)
    with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, untraced_loss):
        yield


def _sum_of_magnitudes(weights):
    return tf.reduce_sum(tf.abs(weights))


def _half_sum_of_cubes(weights):
    return tf.reduce_sum(weights**3) / 2


def _run_trial(sources, trial: PatchTrial, patched: Callable) -> dict:
    """Run the project with a learner's context manager; return label -> observation.

    `sources` maps the name of a module to its source, and `patched` is the learner's. The
    observations are the losses in the block and after it, the names that the block leaves changed,
    and whether an exception that is raised in the block propagates.
    """
    # If the trial raises nothing, this is true. Otherwise it becomes true when the exception
    # arrives.
    values = {"an error propagates": trial.raises is None}
    with fresh_project({**sources, **trial.more_sources}) as modules:
        names_before = [dict(vars(module)) for module in modules]
        _read_losses(modules)  # so that the loss has graphs before the patch
        try:
            with _patching(patched, modules, _sum_of_magnitudes) as runs:
                if trial.raises:
                    raise trial.raises("from the block")
                if trial.is_nested:
                    with _patching(patched, modules, _half_sum_of_cubes) as inner_runs:
                        values |= _read_losses(modules, "in the inner block ", inner_runs)
                values |= _read_losses(modules, "in the block ", runs)
        except (KeyError, RaisedByCheck) as error:
            if type(error) is not trial.raises:
                raise  # it is an error of the learner's code, not the one raised above
            values["an error propagates"] = True

        values["changed after the block"] = _list_changes(modules, names_before)
        return values | _read_losses(modules, "after the block ")


def _list_changes(modules, names_before: list[dict]) -> list[str]:
    """Return the names that are bound to another object than before, as in "losses.penalty".

    `names_before` has the earlier namespace of each module, in the same order.
    """
    changed = []
    for module, before in zip(modules, names_before, strict=True):
        for name in list_changed_names(vars(module), before):
            changed.append(f"{module.__name__}.{name}")
    return changed


@contextmanager
def _patching(patched: Callable, modules, body: Callable) -> Iterator[list[str]]:
    """Enter the learner's block with a new penalty that computes `body`.

    Yield a list to which the new penalty adds "eagerly" or "while tracing" each time that it runs.
    """
    runs = []

    def penalty(weights):
        """Compute `body`, and note how TensorFlow runs this function."""
        runs.append("eagerly" if tf.executing_eagerly() else "while tracing")
        return body(weights)

    losses, training, *_ = modules
    with require_no_stub(patched(losses, training, penalty)):
        yield runs


def _read_losses(modules, moment: str = "", runs: Sequence[str] = ()) -> dict:
    """Call the loss by each of its names; return label -> observation.

    For each name there are two observations: the results of the calls, and whether a graph computed
    them.

    Parameters
    ----------
    modules
        The modules `losses` and `training`, and perhaps that of `THIRD_MODULE`, whose function
        `told` calls the loss.
    moment
        When the calls are made, as the beginning of each label.
    runs
        The list that `_patching` yielded, to which the new penalty appends during the calls. If no
        penalty is patched, the list is empty. Then each loss counts as a graph.
    """
    _, training, *others = modules
    losses = {"training.loss": training.loss}
    for module in others:
        losses[f"{module.__name__}.told"] = module.told

    values = {}
    for path, loss in losses.items():  # a name such as "training.loss", and the function
        earlier_count = len(runs)
        results = []
        for index, weights in enumerate(WEIGHTS):
            results.append(float(loss(tf.constant(weights), tf.constant(float(index)))))
        values[f"{moment}{path}"] = results

        # In a graph, the Python code of the penalty runs only while the graph is traced, and that
        # happens at most once for each shape.
        new_runs = list(runs)[earlier_count:]
        is_graph = len(new_runs) <= SHAPE_COUNT and "eagerly" not in new_runs
        values[f"{moment}{path} is a graph"] = is_graph
    return values
