"""A profiler of ours that steps aside, unnoticed, when the program sets one of its own.

CPython reports the end of a call of C to the profiler that is set at that time, if one was set when
the call began (ceval.c: `C_TRACE`). If a program calls `sys.setprofile` under a profiler of ours,
the program's own profiler would receive the end of that call, which it does not without ours. So
`sys.setprofile` is replaced by an object. Python code finds its `__call__`, which is the C function
itself, and CPython calls that without a report.
"""

import sys
import threading
from collections.abc import Callable
from itertools import repeat
from types import CodeType, FrameType, FunctionType

from ..safety import interrupts
from ..safety.users_frames import is_library
from .own_hooks import GETPROFILE, SETPROFILE, is_of_program, profiler_setter

# The globals of the code that steps aside, and of the code that chooses a signal handler.
_ASIDE = (globals(), interrupts.HERE)


class OwnProfilers:
    """Calls `profiler` for this thread from `start` to `finish`, or until the program sets another.

    In the program, `sys.getprofile` returns what it would return without us.
    """

    def __init__(self, profiler: Callable[[FrameType, str, object], object]):
        """Prepare to set `profiler`, a function as `sys.setprofile` takes it."""
        self._profiler = profiler
        self._before = GETPROFILE()
        self._put_back = profiler_setter()
        self._is_put_back = False
        self._thread = threading.get_ident()
        # The names of two functions in `sys` -> what stands in their place.
        self._stand_ins = {
            "setprofile": _InPlaceOf(SETPROFILE, self._hand_over),
            "getprofile": _InPlaceOf(GETPROFILE, self._answer),
        }
        self._is_reporting = False  # `_report` runs
        #: Whether the program had set a profiler before.
        self.had_own = is_of_program(self._before)
        #: The code and the line in the program that set another profiler, None if none did.
        self.replaced_at: tuple[CodeType, int] | None = None
        #: Whether the program's own profiler received the end of that call.
        self.is_heard = False
        #: Whether the program has kept `sys.getprofile` itself, and so has found `profiler`.
        self.is_found = False

    def start(self) -> None:
        """Set the profiler."""
        for name, stand_in in self._stand_ins.items():
            setattr(sys, name, stand_in)
        SETPROFILE(self._profiler)

    @property
    def is_set_again(self) -> bool:
        """Whether what was set before is set now, by `finish`."""
        return self._is_put_back and GETPROFILE() is self._before

    def finish(self) -> bool:
        """Set the earlier profiler, if ours is still set; return whether the program set none."""
        self._leave()
        if GETPROFILE() == self._profiler:
            self._put_back()
            self._is_put_back = True
            return not self.replaced_at
        return False

    def note_setting(self, frame: FrameType) -> None:
        """Note that a frame calls the C function `sys.setprofile`; `profiler` reports that here."""
        self.is_heard = True
        self._leave()
        self.replaced_at = self.replaced_at or users_line(frame)

    def _leave(self) -> None:
        """Set CPython's own functions in `sys` again, unless the program has set others."""
        for name, stand_in in self._stand_ins.items():
            if vars(sys)[name] is stand_in:
                setattr(sys, name, stand_in.function)

    def _is_set(self) -> bool:
        """Return whether our profiler is set now, in the thread for which it is."""
        return threading.get_ident() == self._thread and GETPROFILE() == self._profiler

    def _hand_over(self, frame: FrameType) -> Callable:
        """Take our profiler off, report the call to it, and return `sys.setprofile` itself.

        `frame` is the one that is about to call that.
        """
        self._leave()
        if self._is_set():
            SETPROFILE(None)  # or what follows here would be reported
            self._report(frame, SETPROFILE)
            self.replaced_at = self.replaced_at or users_line(frame)
            self.is_heard = False
        return SETPROFILE

    def _answer(self, frame: FrameType) -> Callable:
        """Report the call to our profiler, and return what the program calls.

        A call of that returns the program's own profiler. It is a method in C, so CPython reports
        no call of Python.
        """
        if not self._is_set():
            return GETPROFILE
        SETPROFILE(None)  # or what follows here would be reported
        self._report(frame, GETPROFILE)
        SETPROFILE(self._profiler)
        return repeat(self._before).__next__

    def note_asking(self) -> None:
        """Note that the C function `sys.getprofile` is called; `profiler` reports that here."""
        self.is_found = self.is_found or not self._is_reporting

    def _report(self, frame: FrameType, function: Callable) -> None:
        """Report to our profiler that a frame calls a C function, which CPython does not report."""
        self._is_reporting = True
        for event in ("c_call", "c_return"):
            self._profiler(frame, event, function)
        self._is_reporting = False


class _InPlaceOf:
    """Stands for a C function: `choose` receives the calling frame, and returns what is called."""

    def __init__(self, function: Callable, choose: Callable[[FrameType], Callable]):
        """Stand for `function`."""
        self.function = function
        self._choose = choose

    @property
    def __call__(self):
        """What is called: a property, so that this code runs before the call begins."""
        return self._choose(sys._getframe(1))

    def __getattr__(self, name):
        return getattr(self.function, name)

    def __repr__(self):
        return repr(self.function)


def is_aside(frame: FrameType) -> bool:
    """Return whether a frame runs only because of a recorder, which does not count it."""
    # Not `any`: this runs for each event of a profiler, and a generator costs a frame.
    own_globals, handler_globals = _ASIDE
    return frame.f_globals is own_globals or frame.f_globals is handler_globals


def users_line(frame: FrameType) -> tuple[CodeType, int]:
    """Return code and line of the innermost frame that is no library's, or of `frame` itself."""
    found = frame
    while found is not None and is_library(found.f_code.co_filename):
        found = found.f_back
    found = found or frame
    return found.f_code, found.f_lineno


def functions() -> list[FunctionType]:
    """Return the functions that may run in the program: no compiler is to translate them."""
    members = (*vars(OwnProfilers).values(), *vars(_InPlaceOf).values(), users_line)
    own_functions = [member for member in members if type(member) is FunctionType]
    return [*own_functions, _InPlaceOf.__call__.fget]
