"""Chapter 1, exercise 4: name what kept the old op when a patch failed, and cure each call."""

import functools
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType, SimpleNamespace
from unittest.mock import patch

from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_attempt, require_items
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.observations import Raised, RaisedByCheck
from helpers.study.project import fresh_project, list_changed_names

OWNER = "ops.scale"
DOTTED = re.compile(r"\w+\.\w+")
PURPOSE = "report.baseline"  # keeps the old op, because the report compares with it
PLUGIN = {"plugin": "import logs, ops\n\nlogs.TABLE |= {'more': ops.scale, 'text': str}\n"}
MOST_NAMES = 100


@dataclass(frozen=True)
class ProjectTrial:
    """How the project is prepared, and what the block does."""

    #: Whether all calls were made before the block.
    is_used: bool = False
    #: Further modules of the project.
    more_sources: dict[str, str] = field(default_factory=dict)
    #: Whether another block is entered inside the block.
    is_nested: bool = False
    #: What is raised in the block.
    raises: type[BaseException] | None = None


TRIALS = {
    "in one block": ProjectTrial(),
    "in a project that was used before": ProjectTrial(is_used=True),
    "in a project whose plugin added entries to logs.TABLE": ProjectTrial(
        is_used=True, more_sources=PLUGIN
    ),
    "with nested blocks": ProjectTrial(is_nested=True),
    "when the block raises": ProjectTrial(raises=KeyError),
    "when Ctrl-C ends the block": ProjectTrial(raises=RaisedByCheck),
}


def _triple(x):
    """Stand in for the op `scale`: the new op of each trial."""
    return 3 * x


def _refers_to(holder, op) -> bool:
    """Return whether an object is the op, or refers to it directly.

    A function refers to its defaults and to what is in its cells, a partial to its function, a
    dict to its values, and a class to its attributes.
    """
    values = [holder]
    if isinstance(holder, FunctionType):
        values += holder.__defaults__ or ()
        values += (holder.__kwdefaults__ or {}).values()
        values += [cell.cell_contents for cell in holder.__closure__ or ()]
    elif isinstance(holder, functools.partial):
        values.append(holder.func)
    elif isinstance(holder, dict):
        values += [_unwrap_method(value) for value in holder.values()]
    elif isinstance(holder, type):
        values += [_unwrap_method(value) for value in vars(holder).values()]
    return any(value is op for value in values)


def _unwrap_method(value):
    """Return the function of a staticmethod, classmethod or method; anything else as it is."""
    return getattr(value, "__func__", value)


def _judge_names(kept, sources) -> str | None:
    """Return what is wrong with the learner's list `kept` of names that keep the old op, or None.

    `sources` are the texts of the project, by the names of its modules. The first one owns the op.
    """
    named = _read_names(kept)
    with fresh_project(sources) as modules:
        values = {}
        for module in modules:
            for name, value in vars(module).items():
                values[f"{module.__name__}.{name}"] = value

        owner = modules[0]
        old = owner.scale
        # The exercise asks what keeps the old op while its owner is patched.
        with patch.object(owner, "scale", _triple):
            holders = {name for name, value in values.items() if _refers_to(value, old)}

    for name in sorted(named):
        if name == PURPOSE:
            return f"{name} keeps the old op on purpose, so leave it out"
        if name not in holders or name == OWNER:
            reason = "There is no such name"
            if name in values:
                reason = "It has no copy of the reference"
            return f"{name} does not keep the old op inside the owner's patch. {reason}"

    for name in sorted(holders - named - {PURPOSE, OWNER}):
        module = name.partition(".")[0]
        more = f"One more name of the module {module} keeps the old op"
        return f"kept is not complete. {more}. When did each of its calls read the reference?"
    return None


def _read_names(kept) -> set[str]:
    """Return the names of an answer, as module.name; InvalidAnswer for anything else."""
    names = set()
    for text in require_items(require_attempt(kept, "kept"), MOST_NAMES, "kept"):
        match = DOTTED.match(str(text))
        if match is None:
            raise InvalidAnswer(f"kept must contain texts like 'jobs.ten', not {short_repr(text)}")
        names.add(match.group())
    return names


@contextmanager
def _cure_all(project, new):
    """Do what a right answer does: replace the op at each holder, and restore it."""
    old = project.ops.scale
    jobs = project.jobs
    logs = project.logs
    new_entries = {name: new for name, value in logs.TABLE.items() if value is old}
    # `logs.scale` is a wrapper, and its only cell contains the old op.
    [cell] = logs.scale.__closure__
    with (
        patch.object(project.ops, "scale", new),
        patch.object(project.report, "scale", new),
        patch.object(project.layers.Layer, "op", staticmethod(new)),
        patch.object(jobs.apply, "__defaults__", (new,)),
        patch.object(jobs, "ten", functools.partial(new, *jobs.ten.args)),
        patch.dict(logs.TABLE, new_entries),
    ):
        project.totals.area.cache_clear()  # its cache contains results of the old op
        try:
            cell.cell_contents = new
            yield
        finally:
            cell.cell_contents = old
            project.totals.area.cache_clear()  # and now results of the new one


def _run_trial(sources, calls, trial: ProjectTrial, cured) -> dict:
    """Run the project with a learner's block; return label -> what was observed.

    The labels name the result of each call at each moment, whether an error that is raised in the
    block comes out of it, and the names of each module that the block leaves changed.
    `calls(project, x)` is the page's function; it returns name -> result.
    """
    values = {}
    with fresh_project({**sources, **trial.more_sources}) as modules:
        project = SimpleNamespace(**{module.__name__: module for module in modules})
        names_before = [dict(vars(module)) for module in modules]

        def note_results(moment: str) -> None:
            for name, result in calls(project, 7).items():
                values[f"{name} {moment}"] = result

        if trial.is_used:
            note_results("before the block")
        try:
            with _make_block(cured, project, _triple):
                note_results("in the block")
                if trial.is_nested:
                    with _make_block(cured, project, lambda x: 1 + 5 * x):
                        note_results("in the inner block")
                    note_results("after the inner block")
                if trial.raises:
                    raise trial.raises("from the block")
            values["the error came through"] = not trial.raises
        except (KeyError, RaisedByCheck) as error:
            if type(error) is not trial.raises:
                raise  # it is the learner's own error, not the one raised above
            values["the error came through"] = True
        note_results("after the block")

        for module, before in zip(modules, names_before, strict=True):
            changed = list_changed_names(vars(module), before)
            values[f"changed in {module.__name__} after the block"] = changed
    return values


def _make_block(cured, project, new):
    """Return the context manager of an answer; InvalidAnswer if it is none."""
    manager = require_attempt(cured(project, new))
    if not hasattr(type(manager), "__exit__"):
        must = "cured must return a context manager"
        raise InvalidAnswer(f"{must}, not {short_repr(manager)}")
    return manager


def _advise_on_cure(mine, real) -> str | None:
    """Return the first difference of two runs, or the answer's error with its likely cause."""
    if not isinstance(mine, Raised):
        return advise_on_first_part()(mine, real)
    if "but 2 were given" in str(mine.error):
        cause = "A plain function in a class also gets the instance. staticmethod prevents that"
        return f"{mine.sentence}. {cause}"
    return mine.sentence


WHO_KEPT_HINTS = (
    "For each call that runs the old op, ask when it read the reference. Was it at the import, "
    "at a def, or at a call? Whatever kept it is the holder. One call keeps no op at all.",
    "Inside the owner's patch, show_bindings(old) lists what refers to the old function. "
    "totals.area is not in the list. What else can a function keep from an earlier call?",
    "patch.object(owner, name, value) sets an attribute and restores it, even fn.__defaults__. "
    "patch.dict sets items. The wrapper's cell is fn.__closure__[0]. Assign its cell_contents, "
    "and restore them in a finally. Or make another wrapper.",
    "A class needs staticmethod(new), because its calls go through an instance. You cannot "
    "assign to a partial's func, but you can rebind jobs.ten. Call area.cache_clear() before and "
    "after the block.",
)


@exercise(*WHO_KEPT_HINTS, seconds=20)
def who_kept(kept, cured: Callable, sources, calls):
    """You named each holder. Every call ran the new op, and afterwards all was as before."""
    rows = [(shows, sources, calls, trial) for shows, trial in TRIALS.items()]
    with only_new_objects():
        cases = make_cases(_run_trial, rows, _advise_on_cure)
        return _judge_names(kept, sources) or find_difference(cured, _cure_all, cases)
