"""Chapter 7, case 1: a patch without effect, because calls bypass it at two seams."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from helpers.capture.references.rebind import rebind_everywhere
from helpers.study.answers import require_attempt
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.chapter_7.diagnosis import Evidence, diagnosed, read_parts
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.frameworks import tf
from helpers.study.observations import RaisedByCheck
from helpers.study.project import fresh_project, list_changed_names

PENALTY = "penalty"


def _shows_holder(model) -> bool:
    """Return whether an exhibit's model lists `training.penalty` as a name of the penalty."""
    # A table of bindings has `rows` with a path; a graph of references has `nodes` with a label.
    rows = (*read_parts(model, "rows"), *read_parts(model, "nodes"))
    paths = {getattr(row, "path", getattr(row, "label", "")) for row in rows}
    return f"training.{PENALTY}" in paths and PENALTY in model.title


def _shows_hit(model) -> bool:
    """Return whether a model is a ledger of the loss with a hit that names the changed penalty.

    The ledger writes into the note of a hit which globals have changed since the trace.
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
    """How the project is prepared, and what the block does."""

    #: What is raised in the block.
    raises: type[BaseException] | None = None
    #: Whether another block is entered inside the block.
    is_nested: bool = False
    #: Further modules of the project.
    more_sources: dict[str, str] = field(default_factory=dict)


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
    with only_new_objects():  # what rebind_everywhere has to search
        cases = make_cases(_run_trial, rows, advise_on_first_part())
        return find_difference(patched, _patch_both, cases)


@contextmanager
def _patch_both(losses, training, new):
    """Do what a right answer does: rebind the penalty, and the loss to one without a graph."""
    # The graphs of training.loss contain the old penalty, so the block needs an untraced loss.
    untraced_loss = tf.function(training.loss.python_function)
    with rebind_everywhere(losses.penalty, new), rebind_everywhere(training.loss, untraced_loss):
        yield


def _sum_of_magnitudes(weights):
    return tf.reduce_sum(tf.abs(weights))


def _half_sum_of_cubes(weights):
    return tf.reduce_sum(weights**3) / 2


def _run_trial(sources, trial: PatchTrial, patched: Callable) -> dict:
    """Run the project with a learner's block; return label -> what was observed.

    The labels name the losses in the block and after it, the names that the block leaves changed,
    and whether an error that is raised in the block comes out of it.
    """
    # True at once if nothing is raised; else it becomes true when the error has come out.
    values = {"an error propagates": trial.raises is None}
    with fresh_project({**sources, **trial.more_sources}) as modules:
        names_before = [dict(vars(module)) for module in modules]
        _read_losses(modules)  # makes its graphs before the patch
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
                raise  # it is the learner's own error, not the one raised above
            values["an error propagates"] = True

        values["changed after the block"] = _list_changes(modules, names_before)
        return values | _read_losses(modules, "after the block ")


def _list_changes(modules, names_before: list[dict]) -> list[str]:
    """Return module.name of each name that is not bound as in the earlier namespaces."""
    changed = []
    for module, before in zip(modules, names_before, strict=True):
        for name in list_changed_names(vars(module), before):
            changed.append(f"{module.__name__}.{name}")
    return changed


@contextmanager
def _patching(patched: Callable, modules, body: Callable) -> Iterator[list[str]]:
    """Enter the learner's block with a new penalty that computes `body`.

    Yield a list to which each run of that penalty adds "eagerly" or "while tracing".
    """
    runs = []

    def penalty(weights):
        runs.append("eagerly" if tf.executing_eagerly() else "while tracing")
        return body(weights)

    losses, training, *_ = modules
    with require_attempt(patched(losses, training, penalty)):
        yield runs


def _read_losses(modules, moment: str = "", runs: Sequence[str] = ()) -> dict:
    """Call the loss by each of its names; return label -> results, and label -> is it a graph.

    Parameters
    ----------
    modules
        losses, training and perhaps `THIRD_MODULE`, whose `told` calls the loss.
    moment
        When the calls are made, as the beginning of each label.
    runs
        The list that `_patching` yielded; the calls append to it while they are made. Empty where
        no penalty is patched: then nothing is known of the runs, and each loss counts as a graph.
    """
    _, training, *others = modules
    losses = {"training.loss": training.loss}
    for module in others:
        losses[f"{module.__name__}.told"] = module.told

    values = {}
    for path, loss in losses.items():
        earlier_count = len(runs)
        results = []
        for index, weights in enumerate(WEIGHTS):
            results.append(float(loss(tf.constant(weights), tf.constant(float(index)))))
        values[f"{moment}{path}"] = results

        # A graph runs the Python of the penalty at most once per shape, while it is traced.
        new_runs = list(runs)[earlier_count:]
        is_graph = len(new_runs) <= SHAPE_COUNT and "eagerly" not in new_runs
        values[f"{moment}{path} is a graph"] = is_graph
    return values
