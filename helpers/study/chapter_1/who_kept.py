"""Chapter 1, exercise 4: name what kept the old op when a patch failed, and cure each call. A small
project of several modules calls one *op*, the function `ops.scale`. Replacing the attribute
`ops.scale` does not reach copies of the reference in other *holders*, such as a default value, a
partial or a dict. The answer has two parts: `kept`, a list of the holders' names such as
"jobs.ten", and `cured(project, new)`, a context manager that replaces the op in every holder.
"""

import functools
import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType, SimpleNamespace
from unittest.mock import patch

from helpers.capture.text.value import short_repr
from helpers.study.answers import InvalidAnswer, require_items, require_no_stub
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.check import exercise
from helpers.study.engine import advise_on_first_part, find_difference, make_cases
from helpers.study.observations import Raised, RaisedByCheck
from helpers.study.project import fresh_project, list_changed_names

OWNER = "ops.scale"  # the name that a simple patch replaces
DOTTED = re.compile(r"\w+\.\w+")  # "module.name"
KEPT_ON_PURPOSE = "report.baseline"  # must keep the old op, because the report compares with it
PLUGIN_SOURCES = {"plugin": "import logs, ops\n\nlogs.TABLE |= {'more': ops.scale, 'text': str}\n"}
NAME_LIMIT = 100


@dataclass(frozen=True)
class ProjectTrial:
    """One run of the project with the answer's block: how it is prepared, what the block does."""

    #: Whether all calls of the project are made once before the block.
    is_used: bool = False
    #: Module name -> source of further modules of the project.
    more_sources: dict[str, str] = field(default_factory=dict)
    #: Whether a second block of the answer is entered inside the first.
    is_nested: bool = False
    #: What is raised in the block.
    raises: type[BaseException] | None = None


# description for the verdict -> trial
TRIALS = {
    "in one block": ProjectTrial(),
    "in a project that was used before": ProjectTrial(is_used=True),
    "in a project whose plugin added entries to logs.TABLE": ProjectTrial(
        is_used=True, more_sources=PLUGIN_SOURCES
    ),
    "with nested blocks": ProjectTrial(is_nested=True),
    "when the block raises": ProjectTrial(raises=KeyError),
    "when Ctrl-C ends the block": ProjectTrial(raises=RaisedByCheck),
}


def _new_op(x):
    """Replace the op `scale` in each trial."""
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


def _judge_listed_names(kept, sources) -> str | None:
    """Return what is wrong with the answer's list `kept`, or None.

    `kept` should have the name, "module.name", of each holder of the old op. `sources` maps the
    name of each module of the project to its source. The first module owns the op.
    """
    named = _read_listed_names(kept)
    with fresh_project(sources) as modules:
        values = {}  # "module.name" -> object
        for module in modules:
            for name, value in vars(module).items():
                values[f"{module.__name__}.{name}"] = value

        owner = modules[0]
        old = owner.scale
        # The exercise asks what still refers to the old op while the attribute `owner.scale` is
        # patched. A holder that looks the attribute up when it is called refers to the new op then.
        with patch.object(owner, "scale", _new_op):
            holders = {name for name, value in values.items() if _refers_to(value, old)}

    for name in sorted(named):
        if name == KEPT_ON_PURPOSE:
            return f"{name} keeps the old op on purpose, so leave it out"
        # `OWNER` is "ops.scale". Its value, collected before the patch, is the old op itself.
        if name not in holders or name == OWNER:
            reason = "There is no such name"
            if name in values:
                reason = "It has no copy of the reference"
            return f"{name} does not keep the old op inside the owner's patch. {reason}"

    for name in sorted(holders - named - {KEPT_ON_PURPOSE, OWNER}):
        # The verdict names only the module, and leaves the name to the learner.
        module = name.partition(".")[0]
        more = f"One more name of the module {module} keeps the old op"
        return f"kept is not complete. {more}. When did each of its calls read the reference?"
    return None


def _read_listed_names(kept) -> set[str]:
    """Return the names in an answer's list `kept`, each as "module.name".

    A text may go on after the name. InvalidAnswer for an item that does not begin with such a name.
    """
    names = set()
    for text in require_items(require_no_stub(kept, "kept"), NAME_LIMIT, "kept"):
        match = DOTTED.match(str(text))
        if match is None:
            raise InvalidAnswer(f"kept must contain texts like 'jobs.ten', not {short_repr(text)}")
        names.add(match.group())
    return names


@contextmanager
def _cure_all(project, new):
    """Be the reference answer: replace the op in each holder by `new`, and restore it at the end.

    The comments name the holder for which each step is needed.
    """
    old = project.ops.scale
    jobs = project.jobs
    logs = project.logs
    new_entries = {name: new for name, value in logs.TABLE.items() if value is old}
    # `logs.scale` is a wrapper, and its only cell contains the old op.
    [cell] = logs.scale.__closure__
    with (
        patch.object(project.ops, "scale", new),
        patch.object(project.report, "scale", new),
        # Without staticmethod, a call through an instance would pass the instance as well.
        patch.object(project.layers.Layer, "op", staticmethod(new)),
        patch.object(jobs.apply, "__defaults__", (new,)),
        # The function of a partial is read-only, so the name gets another partial.
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
    """Run the project with the block of an answer; return label -> what was observed.

    There is a label for the result of each call at each moment ("area in the block"), for whether
    an error leaves the block, and for the names of each module that differ afterwards.

    `calls(project, x)` is a function of the notebook. It makes all calls of the project, and
    returns name of a call -> result. `cured` is the answer, or the reference `_cure_all`.
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
            with _make_block(cured, project, _new_op):
                note_results("in the block")
                if trial.is_nested:
                    with _make_block(cured, project, lambda x: 1 + 5 * x):
                        note_results("in the inner block")
                    note_results("after the inner block")
                if trial.raises:
                    raise trial.raises("from the block")
            # Here no error has left the block, which is right only if none was raised.
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
    """Call the answer; return its context manager, or raise InvalidAnswer for another object."""
    manager = require_no_stub(cured(project, new))
    if not hasattr(type(manager), "__exit__"):
        must = "cured must return a context manager"
        raise InvalidAnswer(f"{must}, not {short_repr(manager)}")
    return manager


def _advise_on_cure(mine, real) -> str | None:
    """Return a sentence on how an answer's run differs from that of the reference.

    `mine` and `real` are results of `_run_trial`. If the answer raised an error, `mine` is a
    Raised, and the sentence is about the error and its likely cause.
    """
    if not isinstance(mine, Raised):
        return advise_on_first_part()(mine, real)
    # Python's message for a function with one parameter that is called as a method.
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
    # Return None if the answer is right, else a sentence on what is wrong. The docstring is what
    # the learner reads after a pass. `kept` and `cured` are the two parts of the answer. `sources`
    # maps the names of the project's modules to their texts, and `calls(project, x)` makes all its
    # calls.
    rows = [(shows, sources, calls, trial) for shows, trial in TRIALS.items()]
    with only_new_objects():
        cases = make_cases(_run_trial, rows, _advise_on_cure)
        return _judge_listed_names(kept, sources) or find_difference(cured, _cure_all, cases)
