"""Chapter 1, exercise 4: a patch did not work; name who kept the old op, and cure each call."""

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
    """What a block of the check's raises, as Ctrl-C does."""


PURPOSE = "report.baseline"  # keeps the old op, for the report compares with it
PLUGIN = {"plugin": "import logs, ops\n\nlogs.TABLE |= {'more': ops.scale, 'text': str}\n"}
TRIALS = {  # in words -> what is done with the project before the block, and what the block does
    "in one block": {},
    "in a project that was used before": {"used": True},
    "in a project with a plugin, which added entries to logs.TABLE": {"used": True, "more": PLUGIN},
    "with one block in another": {"nested": True},
    "when the block raises": {"raises": KeyError},
    "when Ctrl-C ends the block": {"raises": Meant},
}


def _triple(x):
    return 3 * x


def _holds(thing, op) -> bool:
    """Tell whether an object itself holds the op: by its own place, not by that of another."""
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
    """Return what is wrong with the holders that were named, while `ops.scale` is another."""
    names = in_order(tried(kept, "kept"), 100, "kept")
    if odd := [one for one in names if not re.match(r"\w+\.\w+", str(one))]:
        raise InvalidAnswer(f"kept must have texts such as 'jobs.ten', not {short_repr(odd[0])}")
    named = {re.match(r"\w+\.\w+", str(one)).group() for one in names}
    with fresh(sources) as modules:
        things = {f"{m.__name__}.{name}": thing for m in modules for name, thing in vars(m).items()}
        old = modules[0].scale
        with patch.object(modules[0], "scale", _triple):
            held = {name for name, thing in things.items() if _holds(thing, old)}
    for name in sorted(named):
        if name == PURPOSE:
            return f"{name} keeps the old op on purpose, and its call is right: leave it out"
        if name not in held or name == "ops.scale":
            why = "a copy of the reference is not what it has" if name in things else "no such name"
            return f"{name} does not hold the old op under the owner's patch: {why}"
    for name in sorted(held - named - {PURPOSE, "ops.scale"}):
        where = f"one more name of the module {name.partition('.')[0]} holds the old op"
        return f"kept is not complete: {where}; when did each of its calls read the reference?"
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
                raise InvalidAnswer(
                    f"cured must return a context manager, not {short_repr(manager)}"
                )
            return manager

        if how.get("used"):
            look("before the block")
        try:
            with block(_triple):
                look("in the block")
                if how.get("nested"):
                    with block(lambda x: 1 + 5 * x):
                        look("in the inner block")
                    look("between the two ends")
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
        cause = "; a plain function in a class gets the instance, too: staticmethod prevents that"
        return mine.sentence + cause * (mine.kind is TypeError)
    return say_first_part()(mine, real)


@exercise(
    "For each call that runs the old op, ask when it read the reference: at the import, at a "
    "def, at a call? What keeps what it read is the holder. One call holds no op at all.",
    "show_bindings(old), inside the owner's patch, lists who holds the old function. totals.area "
    "is not in the list: what else can a function keep from an earlier call?",
    "patch.object(owner, name, value) writes an attribute and puts it back, fn.__defaults__ too; "
    "patch.dict writes items. The wrapper's cell is fn.__closure__[0]: assign its cell_contents, "
    "and put the old one back in a finally; or make another wrapper.",
    "A class needs staticmethod(new), for its calls go through an instance. A partial cannot be "
    "written to, but the name jobs.ten can. area.cache_clear() belongs before the block and after.",
    seconds=20,
)
def who_kept(kept, cured: Callable, sources, calls):
    """You named each holder; every call ran the new op, and afterwards all was as before."""
    rows = ((shows, sources, calls, how) for shows, how in TRIALS.items())
    with only_new_objects():
        cases = make_cases(_try, rows, _advise)
        return _wrong_names(kept, sources) or find_difference(cured, _reference, cases)
