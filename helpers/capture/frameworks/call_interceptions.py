"""This interpreter -> every way in which somebody gets hold of its calls, and who is there now.

Only what is registered is read: nothing is called, and a framework that has not been imported is
not imported for this. Audit hooks (`sys.addaudithook`) cannot be listed; CPython keeps them in C.
"""

import builtins
import importlib.machinery as machinery
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from dis import opmap

from helpers.capture.cpython.objects import called
from helpers.capture.references.patched import patched_names
from helpers.capture.tensorflow.op_callbacks import DOORS
from helpers.capture.text.value import type_name
from helpers.internals import tensorflow_private, torch_private
from helpers.mini import frame_hook
from helpers.model.listing import Column, Listing
from helpers.model.phrase import listed
from helpers.safety import restoring
from helpers.safety.restoring import BUILTINS

NOBODY = "nobody"
NEW, OLD = "not in this Python", "not imported"
MOST = 3
PRINTS = "PRINT_EXPR" if "PRINT_EXPR" in opmap else "INTRINSIC_PRINT"
_FINDERS = (machinery.BuiltinImporter, machinery.FrozenImporter, machinery.PathFinder)


@dataclass(frozen=True)
class Interception:
    """One way in: who is there `now`, what it `sees`, and where the real thing is asked."""

    way: str
    now: str
    sees: str
    source: str

    @property
    def taken(self) -> bool:
        """Return whether somebody is there."""
        return self.now not in (NOBODY, NEW, OLD)


@dataclass(frozen=True)
class Interceptions(Listing):
    """A listing of `Interception`s."""

    @property
    def taken(self) -> dict[str, str]:
        """Return way -> who is there, of those where somebody is."""
        return {row.way: row.now for row in self.rows if row.taken}


def interceptions() -> Interceptions:
    """Return a row per way in, from the name to the op, and how many are taken in the note."""
    rows = tuple(Interception(way, who(), sees, where) for way, who, sees, where in _WAYS)
    many = sum(row.taken for row in rows)
    taken = f"{many} of {len(rows)} ways in are taken."
    note = f"{taken} Audit hooks are missing: Python lists them nowhere."
    columns = (
        Column("way", "way in"),
        Column("now", "who is there now", code=True),
        Column("sees", "what it sees"),
        Column("source", "where it gets in", code=True),
    )
    return Interceptions("Who gets hold of your calls now", columns, rows, note)


def _names(functions: Iterable) -> str:
    return listed([_name(each) for each in functions], MOST) or NOBODY


def _name(thing) -> str:
    """Return what a hook is called: a function's own name, or the type of what has no name."""
    return called(thing) if callable(thing) else type_name(thing)


def _one(read: Callable) -> Callable[[], str]:
    def who() -> str:
        found = read()
        return NOBODY if found is None else _name(found)

    return who


def _unless(read: Callable, own: object) -> Callable[[], str]:
    """Return who says who is there, where that is another one than Python's own."""
    return lambda: NOBODY if read() is own else _name(read())


def _listed(names: Iterable) -> str:
    return listed(list(names), MOST) or NOBODY


def _tools() -> str:
    if not hasattr(sys, "monitoring"):
        return NEW
    names = map(sys.monitoring.get_tool, range(6))
    return _listed(name for name in names if type(name) is str)


def _builtins() -> str:
    now = vars(builtins)
    changed = [name for name, own in BUILTINS.items() if name != "_" and now.get(name) is not own]
    return _listed(f"{_name(now[n]) if n in now else NOBODY} for {n}" for n in changed)


def _evaluators() -> str:
    if sys.implementation.name != "cpython":
        return NEW
    first = frame_hook.installed()[0]
    return NOBODY if first.owner.startswith("CPython") else f"{first.name} ({first.owner})"


def _of(framework: str, who: Callable[[], str]) -> Callable[[], str]:
    """Return who says who is there, where the framework has been imported."""
    return lambda: who() if restoring.module(framework) else OLD


def _torch_callback() -> str:
    found = torch_private.frame_callback()
    return NOBODY if found is None or found is False else _name(found)


def _torch_modes(which: int) -> Callable[[], str]:
    return lambda: _listed(map(type_name, torch_private.modes()[which]))


def _op_callbacks() -> str:
    return _names(tensorflow_private.context.context().op_callbacks)


def _doors() -> str:
    doors = {name: getattr(tensorflow_private.doors, name) for name in DOORS}
    others = {name: fn for name, fn in doors.items() if type(fn) is not type(len)}
    return _listed(f"{_name(fn)} for {name}" for name, fn in others.items())


def _graphs() -> str:
    graphs = tensorflow_private.graphs_being_built()
    return type_name(graphs[-1]) if graphs else NOBODY


def _finders() -> str:
    return _names(one for one in sys.meta_path if all(one is not own for own in _FINDERS))


def _shell(read: Callable) -> Callable[[], str]:
    """Return who says who is there in IPython, where this runs in it."""

    def who() -> str:
        ipython = restoring.module("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
        return OLD if shell is None else _names(read(shell))

    return who


def _cell_events(shell) -> list:
    return [
        hook for name in sorted(shell.events.callbacks) for hook in shell.events.callbacks[name]
    ]


_WAYS = (
    ("patched names", lambda: patched_names(MOST) or NOBODY, "calls by that name", "LOAD_GLOBAL"),
    ("builtins", _builtins, "calls by names found nowhere nearer", "LOAD_GLOBAL"),
    ("import finders", _finders, "imports of new modules", "sys.meta_path"),
    (
        *("cell transformers", _shell(lambda shell: shell.ast_transformers)),
        *("the syntax tree of each cell", "IPython: interactiveshell.py"),
    ),
    ("cell events", _shell(_cell_events), "begin and end of each cell", "IPython: events.py"),
    (
        *("frame evaluator", _evaluators),
        *("each Python frame, before it runs", "_PyEval_EvalFrame (PEP 523)"),
    ),
    (
        *("torch's frame callback", _of("torch", _torch_callback)),
        *("frames that no compiled code fits", "torch: dynamo/eval_frame.c"),
    ),
    (
        *("sys.settrace", _one(sys.gettrace)),
        *("calls, lines, returns of this thread", "Python/legacy_tracing.c, ceval.c"),
    ),
    (
        *("sys.setprofile", _one(sys.getprofile)),
        *("calls and returns of this thread, of C too", "Python/legacy_tracing.c, ceval.c"),
    ),
    (
        "threading.settrace",
        _one(threading.gettrace),
        "calls, lines, returns of new threads",
        "threading.py",
    ),
    (
        "threading.setprofile",
        _one(threading.getprofile),
        "calls and returns of new threads, of C too",
        "threading.py",
    ),
    ("sys.monitoring", _tools, "the events that each tool asked for", "PEP 669: instrumentation.c"),
    (
        *("torch function modes", _of("torch", _torch_modes(1))),
        *("calls of torch's functions", "torch: overrides.py"),
    ),
    (
        *("torch dispatch modes", _of("torch", _torch_modes(0))),
        *("ops, below autograd", "torch: utils/_python_dispatch.py"),
    ),
    (
        "TensorFlow op callbacks",
        _of("tensorflow", _op_callbacks),
        "ops, after each",
        "framework/op_callbacks.py",
    ),
    (
        "TensorFlow's doors to C",
        _of("tensorflow", _doors),
        "eager ops, before each",
        "python/pywrap_tfe.py",
    ),
    (
        "a graph being built",
        _of("tensorflow", _graphs),
        "ops, which do not run",
        "framework/ops.py",
    ),
    (
        *("sys.displayhook", _unless(lambda: sys.displayhook, sys.__displayhook__)),
        *("the value of a last line", PRINTS),
    ),
    (
        *("sys.excepthook", _unless(lambda: sys.excepthook, sys.__excepthook__)),
        *("errors that nobody caught", "Python/pythonrun.c"),
    ),
    (
        *("sys.unraisablehook", _unless(lambda: sys.unraisablehook, sys.__unraisablehook__)),
        *("errors that nobody can catch", "Python/errors.c"),
    ),
    (
        *("sys.breakpointhook", _unless(lambda: sys.breakpointhook, sys.__breakpointhook__)),
        *("breakpoint()", "Python/bltinmodule.c"),
    ),
)
