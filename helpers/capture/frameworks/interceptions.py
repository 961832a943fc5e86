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
from helpers.capture.text.value import type_name
from helpers.mini import frame_hook
from helpers.model.listing import Column, Listing
from helpers.model.phrase import listed
from helpers.safety import imported
from helpers.safety.kept_state import KEPT
from helpers.safety.original_builtins import BUILTINS

NOBODY = "nobody"
NEW, OLD = "not in this Python", "not imported"
MOST = 3
PRINTS = "PRINT_EXPR" if "PRINT_EXPR" in opmap else "INTRINSIC_PRINT"
_READ = {kept.name: kept.read for kept in KEPT}
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


def _tools() -> str:
    if not hasattr(sys, "monitoring"):
        return NEW
    return listed([name for name in _READ["sys.monitoring"]() if type(name) is str], MOST) or NOBODY


def _builtins() -> str:
    now = vars(builtins)
    changed = [name for name, own in BUILTINS.items() if name != "_" and now.get(name) is not own]
    who = [f"{_name(now[n]) if n in now else NOBODY} for {n}" for n in changed]
    return listed(who, MOST) or NOBODY


def _evaluators() -> str:
    if sys.implementation.name != "cpython":
        return NEW
    first = frame_hook.installed()[0]
    return NOBODY if first.owner.startswith("CPython") else f"{first.name} ({first.owner})"


def _torch_callback() -> str:
    if not imported.module("torch"):
        return OLD
    found = _READ["torch's frame callback"]()
    return NOBODY if found is None or found is False else _name(found)


def _torch_modes(which: int) -> Callable[[], str]:
    def who() -> str:
        modes = _READ["torch's modes"]()
        return listed([type_name(mode) for mode in modes[which]], MOST) or NOBODY if modes else OLD

    return who


def _op_callbacks() -> str:
    if not imported.module("tensorflow"):
        return OLD
    return _names(_READ["TensorFlow's op callbacks"]())


def _doors() -> str:
    if not imported.module("tensorflow"):
        return OLD
    doors = _READ["TensorFlow's doors to C"]()
    others = {name: fn for name, fn in doors.items() if type(fn) is not type(len)}
    return listed([f"{_name(fn)} for {name}" for name, fn in others.items()], MOST) or NOBODY


def _graphs() -> str:
    if not imported.module("tensorflow"):
        return OLD
    *graphs, eager = _READ["TensorFlow's graphs"]() or (True,)
    return NOBODY if eager or not graphs else type_name(graphs[-1])


def _finders() -> str:
    return _names(one for one in sys.meta_path if all(one is not own for own in _FINDERS))


def _shell(read: Callable) -> Callable[[], str]:
    """Return who says who is there in IPython, where this runs in it."""

    def who() -> str:
        ipython = imported.module("IPython")
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
        *("torch's frame callback", _torch_callback),
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
        *("torch function modes", _torch_modes(1)),
        *("calls of torch's functions", "torch: overrides.py"),
    ),
    (
        *("torch dispatch modes", _torch_modes(0)),
        *("ops, below autograd", "torch: utils/_python_dispatch.py"),
    ),
    ("TensorFlow op callbacks", _op_callbacks, "ops, after each", "framework/op_callbacks.py"),
    ("TensorFlow's doors to C", _doors, "eager ops, before each", "python/pywrap_tfe.py"),
    ("a graph being built", _graphs, "ops, which do not run", "framework/ops.py"),
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
