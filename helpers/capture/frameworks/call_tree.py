"""One call of a framework's function -> the tree of Python and C calls inside it.

`sys.setprofile` reports both kinds, so the way ends where Python ends: at the last function that
an extension module offers (tensorflow/python/_pywrap_tfe.so, or torch's own C functions).
"""

import gc
import sys
from collections.abc import Callable

from helpers.capture.cpython.objects import name_of, refuse_async
from helpers.capture.cpython.unwrapping import behind
from helpers.capture.frameworks.call_landmarks import DOORS, routes
from helpers.capture.text.error import instead, said
from helpers.model.calls import Call, CallTree
from helpers.model.phrase import counted
from helpers.safety.arguments import alive, kind_of, own
from helpers.safety.interpreter_state import theirs
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched while this runs

FRAMEWORKS = ("tensorflow", "keras", "torch")
MOST_CALLS = 20_000
NONE = (
    "No function of TensorFlow or PyTorch was called. What an operator (`x + y`) does in C is no "
    "call: `watch_ops` lists the ops; `watch_frames` shows calls of Python functions."
)


def call_tree(fn, *args, **kwargs) -> CallTree:
    """Return the calls inside `fn(*args, **kwargs)` that belong to a framework.

    The call is made twice, and the second time is recorded: the first fills TensorFlow's caches,
    and traces what has to be traced. What it raises becomes the tree's `outcome`. TypeError if
    `fn` cannot be called, or makes a coroutine.
    """
    if not callable(fn):
        needed = f"watch_call needs a function and its arguments, not {kind_of(fn)}"
        raise TypeError(f"{needed}{instead(fn)}")
    function = behind(fn)
    if function is not None:
        refuse_async(function, "watch_call")
    alive(fn, "what watch_call was given")
    _outcome(lambda: fn(*args, **kwargs))
    calls, outcome, left_out = _recorded(lambda: fn(*args, **kwargs))
    cut = f"The first {MOST_CALLS:,} calls; {left_out:,} more are left out." if left_out else ""
    cut = cut if calls else NONE
    tree = CallTree("", tuple(calls), tuple(routes(calls)), outcome)
    words = f"{name_of(fn)}: {counted(len(calls), 'call')}"
    if any(not call.module.startswith("torch") for call in calls):
        words += f", route: {tree.route}"
    return CallTree(words, tree.calls, tree.routes, outcome, cut)


def _outcome(run: Callable) -> str:
    """Return the words of what a run raised; an interrupt passes."""
    try:
        with theirs():
            run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return said(error)
    return ""


def _recorded(run: Callable) -> tuple[list[Call], str, int]:
    """Return the calls of a run, the words of what it raised, and how many calls were too many."""
    recorder = _Recorder()
    collecting, before = gc.isenabled(), sys.getprofile()
    gc.disable()  # a finaliser would add calls to one run and not to the next
    ended = None
    with theirs():
        sys.setprofile(recorder)
        try:
            run()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            ended = error
        finally:
            sys.setprofile(before)
            if collecting:
                gc.enable()
    return recorder.calls, said(ended) if ended is not None else "", recorder.left_out


class _Recorder:
    """A profile function. A call of no framework leaves no line, and its calls move up one."""

    def __init__(self):
        self.calls, self._open = [], []
        self._depth, self.left_out = 0, 0

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
        shown = module.partition(".")[0] in FRAMEWORKS
        if not shown or len(self.calls) >= MOST_CALLS:
            self.left_out += shown
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
        space = frame.f_globals
        return _text(dict.get(space, "__name__")), name
    try:
        return _where_in_c(function)
    except Exception:  # the class of a method's object may raise when it is asked for its name
        return "", ""


def _where_in_c(function) -> tuple[str, str]:
    owner = getattr(function, "__self__", None)
    module = _text(function.__module__) or _text(own(type(owner), "__module__"))
    if module.partition(".")[0] not in FRAMEWORKS:
        return "", ""  # and its name, which a class may compute, is not asked for
    name = function.__qualname__.removeprefix("PyCapsule.").rpartition("<locals>.")[2]
    return module, name.rpartition(".")[2] if "pybind11_detail" in name else name


def _text(value) -> str:
    return value if type(value) is str else ""
