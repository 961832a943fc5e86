"""One call of a framework's function -> the tree of Python and C calls inside it.

`sys.setprofile` reports both kinds, so the way ends where Python ends: at the last function that
an extension module offers (tensorflow/python/_pywrap_tfe.so, or torch's own C functions).
"""

import contextlib
import gc
import sys
from collections.abc import Callable

from helpers.capture.call_routes import DOORS, routes
from helpers.capture.said import said
from helpers.capture.words import label, type_name
from helpers.model.calls import Call, CallTree

FRAMEWORKS = ("tensorflow", "keras", "torch")
MOST_CALLS = 20_000


def call_tree(fn, *args, **kwargs) -> CallTree:
    """Return the calls inside `fn(*args, **kwargs)` that belong to a framework.

    The call is made twice, and the second time is recorded: the first fills TensorFlow's caches,
    and traces what has to be traced. What it raises becomes the tree's `outcome`. TypeError if
    `fn` cannot be called.
    """
    if not callable(fn):
        raise TypeError(f"watch_call needs a function and its arguments, not {type_name(fn)}")
    with contextlib.suppress(Exception):
        fn(*args, **kwargs)
    calls, outcome = _recorded(lambda: fn(*args, **kwargs))
    cut = f"The first {MOST_CALLS:,} calls." if len(calls) == MOST_CALLS else ""
    tree = CallTree("", tuple(calls), tuple(routes(calls)), outcome)
    words = f"{name_of(fn)}: {len(calls)} call{'s' * (len(calls) != 1)}"
    if any(not call.module.startswith("torch") for call in calls):
        words += f", route: {tree.route}"
    return CallTree(words, tree.calls, tree.routes, outcome, cut)


def name_of(fn) -> str:
    """Return a function's own name, or a label where it has none or will not tell."""
    try:
        given = fn.__name__
    except Exception:
        given = ""
    return given if isinstance(given, str) and given else label(fn)


def _recorded(run: Callable) -> tuple[list[Call], str]:
    """Return the calls of a run, and the words of what it raised."""
    recorder = _Recorder()
    collecting, before = gc.isenabled(), sys.getprofile()
    gc.disable()  # a finaliser would add calls to one run and not to the next
    sys.setprofile(recorder)
    try:
        run()
        outcome = ""
    except Exception as error:
        outcome = error
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return recorder.calls, outcome and said(outcome)


class _Recorder:
    """A profile function. A call of no framework leaves no line, and its calls move up one."""

    def __init__(self):
        self.calls, self._open = [], []
        self._depth = 0

    def __call__(self, frame, event, argument):
        if event in ("call", "c_call"):
            self._enter(*_where(frame, event, argument), event == "c_call")
        elif self._open:
            at = self._open.pop()
            if at is not None:
                self._depth -= 1
                if event == "c_exception":
                    self.calls[at] = _raised(self.calls[at])

    def _enter(self, module: str, name: str, c: bool) -> None:
        if module.partition(".")[0] not in FRAMEWORKS or len(self.calls) >= MOST_CALLS:
            self._open.append(None)
            return
        self._open.append(len(self.calls))
        self.calls.append(Call(self._depth, module, name, c, door=name in DOORS))
        self._depth += 1


def _raised(call: Call) -> Call:
    return Call(call.depth, call.module, call.name, call.c, True, call.door)


def _where(frame, event: str, function) -> tuple[str, str]:
    """Return module and name of a function, without the words that pybind11 puts before it."""
    if event == "call":
        name = frame.f_code.co_qualname.rpartition("<locals>.")[2]
        return str(frame.f_globals.get("__name__", "")), name
    owner = getattr(function, "__self__", None)
    module = function.__module__ or type(owner).__module__ or ""
    name = function.__qualname__.removeprefix("PyCapsule.")
    return (module if isinstance(module, str) else ""), name.rpartition("<locals>.")[2]
