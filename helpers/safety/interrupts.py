"""Ctrl-C -> a KeyboardInterrupt now, or when a piece of work that must not be cut in two is done.

Python runs signal handlers in the main thread alone, between two instructions (Modules/
signalmodule.c); so elsewhere nothing has to wait, and `signal.signal` is not allowed either.
"""

import threading

# The C functions themselves, bound now: whoever has patched builtins, these go on working
# (signal.signal of Lib/signal.py calls `int`).
from _signal import SIGINT, getsignal
from _signal import signal as set_handler
from _thread import get_ident

from helpers.safety.code_places import HOUSE, LIBRARIES, STANDARD
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS

_callable = callable


def _hears() -> bool:
    try:
        set_handler(SIGINT, getsignal(SIGINT))
    except ValueError:  # another thread may import this; another interpreter never hears
        return threading.current_thread() is not threading.main_thread()
    except TypeError:  # set by C code
        pass
    return True


_HEARS = _hears()


def in_main_thread() -> bool:
    """Tell whether this is the thread, of the main interpreter, in which signals are handled."""
    return _HEARS and get_ident() == threading.main_thread().ident


def handler() -> object:
    """Return the function that Python calls at Ctrl-C, or None where there is none."""
    now = getsignal(SIGINT)
    return now if _callable(now) else None


def falls_to(base, frame, *codes) -> bool:
    """Tell whether Ctrl-C, come in `frame`, came in `base` itself or in a call of one of `codes`.

    What `base` called is found by walking back: a tracer may stand between, as a tracer is itself
    called at the first instruction of such a call. Needs no builtin; they may be patched.
    """
    called = None
    while frame is not base:
        if frame is None:
            return False
        called, frame = frame, frame.f_back
    if called is None:
        return True
    for code in codes:  # noqa: SIM110 (`any` may be the one that was patched)
        if called.f_code is code:
            return True
    return False


# C++ calls these, and Ctrl-C has to wait. Of an exception in the first TensorFlow dies (SIGSEGV);
# one in the second, while an error is made, becomes a RuntimeError of pybind11; for torch, one in
# the third says that a guard fails (torch/csrc/dynamo/guards.cpp). The fourth forgets a dead key of
# Dynamo's tables: what a callback of a weak reference raises is lost, and the press with it.
FRAGILE = {
    "_handle": "tensorflow.python.eager.context",
    "__init__": "tensorflow.python.framework.errors_impl",
    "fn": "torch._dynamo.guards",
    "<lambda>": "torch._dynamo.utils",
}
# Of an interrupt in these, other errors are made, or none; or their `finally` runs much later.
FRAMEWORKS = frozenset({"tensorflow", "keras", "tf_keras"})
MOMENTARY = frozenset({"contextlib", "weakref", "_weakrefset"})
_LIBRARY = (
    *(*STANDARD, *LIBRARIES, HOUSE),
    *("<string>", "<frozen ", "<attrs ", "<__array_"),
)


def in_fragile_code(frame, base) -> bool:
    """Tell whether Ctrl-C came in a call of `FRAGILE`, or in a tracer that reports it."""
    while frame is not None and frame is not base:
        home = FRAGILE.get(frame.f_code.co_name)
        if home is not None and dict.get(frame.f_globals, "__name__") == home:
            return True
        frame = frame.f_back
    return False


def in_import(frame, base) -> bool:
    """Tell whether Ctrl-C came while the body of a library's module ran for the first time.

    Cut there, it stays half a library: a second import of torch dies (SIGSEGV), one of networkx or
    TensorFlow may not register again what the first has registered.
    """
    while frame is not None and frame is not base:
        code, caller = frame.f_code, frame.f_back
        if code.co_name == "<module>" and caller is not None:
            file, home = code.co_filename, dict.get(caller.f_globals, "__name__")
            if home == "importlib._bootstrap" and type(file) is str and file.startswith(LIBRARIES):
                return True
        frame = caller
    return False


def in_framework(frame, base) -> bool:
    """Tell whether Ctrl-C came while a framework was at work, not code of the learner's.

    What a framework has called counts as its work, if it stands in a library or in the house.
    """
    while frame is not None and frame is not base:
        home = dict.get(frame.f_globals, "__name__")
        if type(home) is str and (home in MOMENTARY or home.partition(".")[0] in FRAMEWORKS):
            return True
        file = frame.f_code.co_filename
        if type(file) is not str or not file.startswith(_LIBRARY):
            return False
        frame = frame.f_back
    return False


class uninterrupted:  # noqa: N801 (used like a function, as contextlib names its own)
    """Let Ctrl-C wait until the `with` block has ended; then it comes, out of the block's end.

    For what must be done wholly or not at all. Blocks may stand in one another: it comes at the
    end of the outermost one. Nothing happens outside the main thread, or where the handler of
    SIGINT was set by C code.
    """

    __slots__ = ("_before", "_came")

    def __init__(self):
        self._before, self._came = None, None

    def __enter__(self) -> "uninterrupted":
        if in_main_thread():
            before = handler()
            if before is not None:
                # The C function first hands what is pending to the old handler: nothing is lost.
                self._before = before
                set_handler(SIGINT, self._note)
        return self

    @property
    def came(self) -> bool:
        """Return whether Ctrl-C came meanwhile, so that what waits need not wait any longer."""
        return self._came is not None

    def __exit__(self, kind, error, trace) -> None:
        before, self._before = self._before, None
        if before is not None:
            set_handler(SIGINT, before)
            if self._came is not None:
                came, self._came = self._came, None
                before(*came)

    def _note(self, number, frame) -> None:
        self._came = number, frame


class finishing(uninterrupted):  # noqa: N801
    """Let Ctrl-C come at once in what a frame calls, but wait while that is being written down.

    `frame`: the one whose block this is; there, and after `finish()`, one Ctrl-C waits for the end
    of the block. A second one comes at once, so that nothing can hang.
    """

    __slots__ = ("_frame", "_writing")

    def __init__(self, frame):
        super().__init__()
        self._frame, self._writing = frame, False

    def __exit__(self, kind, error, trace) -> None:
        self._frame = None  # it holds this object
        self._writing = True
        super().__exit__(kind, error, trace)

    def finish(self) -> None:
        """Say that the call has ended, and is to be written down."""
        self._writing = True

    def _note(self, number, frame) -> None:
        waits = self._writing or falls_to(self._frame, frame, *_OWN)
        if waits and self._came is None:
            self._came = number, frame
        else:
            self._before(number, frame)


_OWN = (uninterrupted.__enter__.__code__, finishing.finish.__code__, finishing.__exit__.__code__)
