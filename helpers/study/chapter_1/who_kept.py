"""Chapter 1, exercise 4: name what kept the old op when a patch failed, and cure each call."""

import functools
import re
from collections.abc import Callable
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace
from unittest.mock import patch

from helpers.capture.text.value import short_repr
from helpers.study.chapter_1.default_finder import only_new_objects
from helpers.study.check import InvalidAnswer, exercise, tried
from helpers.study.engine import Raised, find_difference, in_order, make_cases, say_first_part
from helpers.study.project import fresh


class Meant(BaseException):
    """An error that the check raises inside a block, like that of Ctrl-C."""


PURPOSE = "report.baseline"  # keeps the old op, because the report compares with it
PLUGIN = {"plugin": "import logs, ops\n\nlogs.TABLE |= {'more': ops.scale, 'text': str}\n"}
TRIALS = {  # in words -> how the project is prepared, and what the block does
    "in one block": {},
    "in a project that was used before": {"used": True},
    "in a project whose plugin added entries to logs.TABLE": {"used": True, "more": PLUGIN},
    "with nested blocks": {"nested": True},
    "when the block raises": {"raises": KeyError},
    "when Ctrl-C ends the block": {"raises": Meant},
}


def _triple(x):
    return 3 * x


def _holds(thing, op) -> bool:
    """Return whether an object itself refers to the op, and not through another object."""
    held = [thing]
    if isinstance(thing, FunctionType):
        held += [*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
        held += [cell.cell_contents for cell in thing.__closure__ or ()]
    elif isinstance(thing, functools.partial):
        held += [thing.func]
    elif isinstance(thing, dict | type):
        values = thing.values() if isinstance(thing, dict) else vars(thing).values()
        held += [getattr(value, "__func__", value) for value in values]
    return any(one is op for one in held)


def _wrong_names(kept, sources) -> str | None:
    names = in_order(tried(kept, "kept"), 100, "kept")
    if odd := [one for one in names if not re.match(r"\w+\.\w+", str(one))]:
        raise InvalidAnswer(f"kept must contain texts like 'jobs.ten', not {short_repr(odd[0])}")
    named = {re.match(r"\w+\.\w+", str(one)).group() for one in names}
    with fresh(sources) as modules:
        things = {f"{m.__name__}.{name}": thing for m in modules for name, thing in vars(m).items()}
        old = modules[0].scale
        with patch.object(modules[0], "scale", _triple):
            held = {name for name, thing in things.items() if _holds(thing, old)}
    for name in sorted(named):
        if name == PURPOSE:
            return f"{name} keeps the old op on purpose, so leave it out"
        if name not in held or name == "ops.scale":
            why = "It has no copy of the reference" if name in things else "There is no such name"
            return f"{name} does not keep the old op inside the owner's patch. {why}"
    for name in sorted(held - named - {PURPOSE, "ops.scale"}):
        where = f"One more name of the module {name.partition('.')[0]} keeps the old op"
        return f"kept is not complete. {where}. When did each of its calls read the reference?"
    return None


@contextmanager
def _reference(project, new):
    old, jobs, logs = project.ops.scale, project.jobs, project.logs
    entries = {name: new for name, held in logs.TABLE.items() if held is old}
    [cell] = logs.scale.__closure__
    with (
        patch.object(project.ops, "scale", new),
        patch.object(project.report, "scale", new),
        patch.object(project.layers.Layer, "op", staticmethod(new)),
        patch.object(jobs.apply, "__defaults__", (new,)),
        patch.object(jobs, "ten", functools.partial(new, *jobs.ten.args)),
        patch.dict(logs.TABLE, entries),
    ):
        project.totals.area.cache_clear()
        try:
            cell.cell_contents = new
            yield
        finally:
            cell.cell_contents = old
            project.totals.area.cache_clear()


def _try(sources, calls, how: dict, cured) -> dict:
    seen, raises = {}, how.get("raises")
    with fresh({**sources, **how.get("more", {})}) as modules:
        project = SimpleNamespace(**{module.__name__: module for module in modules})
        before = [{**vars(module)} for module in modules]

        def look(when):
            seen.update({f"{name} {when}": value for name, value in calls(project, 7).items()})

        def block(new):
            manager = tried(cured(project, new))
            if not hasattr(type(manager), "__exit__"):
                must = "cured must return a context manager"
                raise InvalidAnswer(f"{must}, not {short_repr(manager)}")
            return manager

        if how.get("used"):
            look("before the block")
        try:
            with block(_triple):
                look("in the block")
                if how.get("nested"):
                    with block(lambda x: 1 + 5 * x):
                        look("in the inner block")
                    look("after the inner block")
                if raises:
                    raise raises("from the block")
            seen["the error came through"] = not raises
        except (KeyError, Meant) as error:
            if type(error) is not raises:
                raise
            seen["the error came through"] = True
        look("after the block")
        for module, names in zip(modules, before, strict=True):
            now = vars(module)
            changed = [n for n in sorted({*names, *now}) if now.get(n) is not names.get(n)]
            seen[f"changed in {module.__name__} after the block"] = changed
    return seen


def _advise(mine, real) -> str | None:
    if isinstance(mine, Raised):
        cause = ". A plain function in a class also gets the instance. staticmethod prevents that"
        is_method = "but 2 were given" in str(mine.error)
        return mine.sentence + cause * is_method
    return say_first_part()(mine, real)


@exercise(
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
    seconds=20,
)
def who_kept(kept, cured: Callable, sources, calls):
    """You named each holder. Every call ran the new op, and afterwards all was as before."""
    rows = ((shows, sources, calls, how) for shows, how in TRIALS.items())
    with only_new_objects():
        cases = make_cases(_try, rows, _advise)
        return _wrong_names(kept, sources) or find_difference(cured, _reference, cases)
