"""A profiler of ours that steps aside, unheard, when the program sets one of its own.

CPython reports the end of a call of C to the profiler that is set at that time, if one was set when
the call began (ceval.c: `C_TRACE`). So a program that calls `sys.setprofile` under a profiler of
ours would let its own hear the end of that call, which it does not hear without us. An object whose
`__call__` is found by Python code, and then is the C function itself, is called without a report.
"""

import sys
import threading
from collections.abc import Callable
from itertools import repeat
from types import CodeType, FrameType, FunctionType

from ..safety import interrupts
from ..safety.users_frames import is_library
from .own_hooks import GETPROFILE, SETPROFILE, is_of_program, profiler_setter

_ASIDE = globals(), interrupts.HERE  # what steps aside, and what chooses a handler


class OwnProfilers:
    """Has `profiler` hear this thread from `start` to `finish`, or until the program sets another.

    `replaced_at`: the code and the line in the program that did so, None if none did. `is_heard`:
    whether the program's own profiler heard the end of that call. `sys.getprofile` returns in the
    program what it would return without us. `had_own`: a profiler was set before. `is_found`:
    whether the program has kept `sys.getprofile` itself, and so has found `profiler`.
    """

    def __init__(self, profiler: Callable):
        self._profiler, self._before = profiler, GETPROFILE()
        self._put_back = profiler_setter()
        self.had_own, self._is_put_back = is_of_program(self._before), False
        self._thread = threading.get_ident()
        self._switches = {
            "setprofile": _InPlaceOf(SETPROFILE, self._hand_over),
            "getprofile": _InPlaceOf(GETPROFILE, self._answer),
        }
        self.replaced_at: tuple[CodeType, int] | None = None
        self.is_heard, self.is_found, self._is_reporting = False, False, False

    def start(self) -> None:
        """Set the profiler."""
        for name, switch in self._switches.items():
            setattr(sys, name, switch)
        SETPROFILE(self._profiler)

    @property
    def is_set_again(self) -> bool:
        """Whether what was set before is set now, by `finish`."""
        return self._is_put_back and GETPROFILE() is self._before

    def finish(self) -> bool:
        """Put back what was set before, if ours still is; return whether the program set none."""
        self._leave()
        if GETPROFILE() == self._profiler:
            self._put_back()
            self._is_put_back = True
            return not self.replaced_at
        return False

    def note_setting(self, frame: FrameType) -> None:
        """Note that a frame calls the C function `sys.setprofile`, as the profiler has heard."""
        self.is_heard = True
        self._leave()
        self.replaced_at = self.replaced_at or users_line(frame)

    def _leave(self) -> None:
        for name, switch in self._switches.items():
            if vars(sys)[name] is switch:
                setattr(sys, name, switch.function)

    def _is_set(self) -> bool:
        return threading.get_ident() == self._thread and GETPROFILE() == self._profiler

    def _hand_over(self, frame: FrameType) -> Callable:
        self._leave()
        if self._is_set():
            SETPROFILE(None)
            self._report(frame, SETPROFILE)
            self.replaced_at = self.replaced_at or users_line(frame)
            self.is_heard = False
        return SETPROFILE

    def _answer(self, frame: FrameType) -> Callable:
        if not self._is_set():
            return GETPROFILE
        SETPROFILE(None)
        self._report(frame, GETPROFILE)
        SETPROFILE(self._profiler)
        return repeat(self._before).__next__

    def note_asking(self) -> None:
        """Note that the C function `sys.getprofile` is called, as the profiler has heard."""
        self.is_found = self.is_found or not self._is_reporting

    def _report(self, frame: FrameType, function: Callable) -> None:
        self._is_reporting = True
        for event in ("c_call", "c_return"):
            self._profiler(frame, event, function)
        self._is_reporting = False


class _InPlaceOf:
    """Stands for a C function: `choose` gets the calling frame, and returns what is called."""

    def __init__(self, function: Callable, choose: Callable[[FrameType], Callable]):
        self.function, self._choose = function, choose

    @property
    def __call__(self):
        return self._choose(sys._getframe(1))

    def __getattr__(self, name):
        return getattr(self.function, name)

    def __repr__(self):
        return repr(self.function)


def is_aside(frame: FrameType) -> bool:
    """Return whether a frame runs only because of a recorder, which does not count it."""
    space = frame.f_globals
    return space is _ASIDE[0] or space is _ASIDE[1]


def users_line(frame: FrameType) -> tuple[CodeType, int]:
    """Return code and line of the innermost frame that is no library's, or of this one."""
    innermost = frame
    while frame is not None and is_library(frame.f_code.co_filename):
        frame = frame.f_back
    frame = frame or innermost
    return frame.f_code, frame.f_lineno


def functions() -> list[FunctionType]:
    """Return the functions that may run in the program: no compiler is to translate them."""
    owned = (*vars(OwnProfilers).values(), *vars(_InPlaceOf).values(), users_line)
    return [one for one in owned if type(one) is FunctionType] + [_InPlaceOf.__call__.fget]
