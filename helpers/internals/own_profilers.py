"""A profiler of this course that removes itself, unnoticed, when the program sets its own profiler.

CPython reports the end of a call of a C function to the profiler that is set at that time, if any
profiler was set when the call began (ceval.c: `C_TRACE`). Suppose that a program calls
`sys.setprofile` while our profiler is set. The program's profiler would receive the end of that
call, which it would not receive without ours.

So this module replaces `sys.setprofile` and `sys.getprofile` by stand-ins. A stand-in is an object
whose `__call__` is a property. CPython reads the property before the call begins, and Python code
of ours runs. It removes our profiler, and returns the C function. CPython then calls that, and
reports nothing, because no profiler is set.
"""

import sys
import threading
from collections.abc import Callable
from itertools import repeat
from types import CodeType, FrameType, FunctionType

from ..safety import interrupts
from ..safety.users_frames import is_library
from .own_hooks import GETPROFILE, SETPROFILE, build_profiler_setter, is_of_program

# A recorder does not count frames with these globals: the code of this module, and the code that
# chooses a signal handler.
_ASIDE = (globals(), interrupts.HERE)


class OwnProfilers:
    """Has `profiler` called in this thread from `start` to `finish`.

    If the program sets a profiler of its own, that one stays, and `profiler` is called no more. In
    the program, `sys.getprofile` returns what it would return without us.
    """

    def __init__(self, profiler: Callable[[FrameType, str, object], object]):
        """Prepare to set `profiler`, a function as `sys.setprofile` takes it."""
        self._profiler = profiler
        self._before = GETPROFILE()
        self._put_back = build_profiler_setter()
        self._is_put_back = False
        self._thread = threading.get_ident()
        # Name of a function in `sys` -> the object that replaces the function.
        self._stand_ins = {
            "setprofile": _StandIn(SETPROFILE, self._hand_over),
            "getprofile": _StandIn(GETPROFILE, self._choose_getprofile),
        }
        self._is_reporting = False  # whether `_report` runs
        #: Whether the program had set a profiler before.
        self.had_own = is_of_program(self._before)
        #: The code object and the line of the program that set another profiler; None if none did.
        self.replaced_at: tuple[CodeType, int] | None = None
        #: Whether the program's own profiler received the end of the call that set it. That happens
        #: if the program called the C function `sys.setprofile` itself, and not the stand-in.
        self.is_heard = False
        #: Whether the program called the C function `sys.getprofile` itself, and not the stand-in.
        #: Then it has received `profiler`.
        self.is_found = False

    def start(self) -> None:
        """Put the stand-ins into `sys`, and set our profiler."""
        for name, stand_in in self._stand_ins.items():
            setattr(sys, name, stand_in)
        SETPROFILE(self._profiler)

    @property
    def is_set_again(self) -> bool:
        """Whether `finish` has set the earlier profiler, and that one is set now."""
        return self._is_put_back and GETPROFILE() is self._before

    def finish(self) -> bool:
        """Set the earlier profiler if ours is still set; return whether the program set none.

        If ours is not set any more, the profiler that the program has set stays.
        """
        self._remove_stand_ins()
        if GETPROFILE() == self._profiler:
            self._put_back()
            self._is_put_back = True
            # The program may have set a profiler, and then ours again.
            return not self.replaced_at
        return False

    def note_setting(self, frame: FrameType) -> None:
        """Note that a frame calls the C function `sys.setprofile` itself, and not the stand-in.

        `profiler` calls this method when it receives such a call.
        """
        self.is_heard = True
        self._remove_stand_ins()
        self.replaced_at = self.replaced_at or users_line(frame)

    def _remove_stand_ins(self) -> None:
        """Restore CPython's own functions in `sys`, unless the program has set others there."""
        for name, stand_in in self._stand_ins.items():
            if vars(sys)[name] is stand_in:
                setattr(sys, name, stand_in.function)

    def _is_set(self) -> bool:
        """Return whether this is the thread of our profiler, and the profiler is set."""
        return threading.get_ident() == self._thread and GETPROFILE() == self._profiler

    def _hand_over(self, frame: FrameType) -> Callable:
        """Remove our profiler, because `frame` is about to call `sys.setprofile`.

        Return CPython's own `sys.setprofile`, which the frame then calls. Our profiler first
        receives the call, as it would have from CPython.
        """
        self._remove_stand_ins()
        if self._is_set():
            SETPROFILE(None)  # so that our profiler receives no events of the lines below
            self._report(frame, SETPROFILE)
            self.replaced_at = self.replaced_at or users_line(frame)
            self.is_heard = False
        return SETPROFILE

    def _choose_getprofile(self, frame: FrameType) -> Callable:
        """Return what `frame` calls in place of `sys.getprofile`.

        It returns the profiler that the program itself had set. It is a method in C, so CPython
        reports no call of a Python function. Our profiler receives a call of `sys.getprofile`.
        """
        if not self._is_set():
            return GETPROFILE
        SETPROFILE(None)  # so that our profiler receives no events of the next line
        self._report(frame, GETPROFILE)
        SETPROFILE(self._profiler)
        return repeat(self._before).__next__

    def note_asking(self) -> None:
        """Note a call of the C function `sys.getprofile` that `profiler` has received.

        A call that `_report` has reported went through the stand-in, and is not noted.
        """
        self.is_found = self.is_found or not self._is_reporting

    def _report(self, frame: FrameType, function: Callable) -> None:
        """Call our profiler with the two events of a call of a C function by `frame`.

        CPython does not report the call, because our profiler is not set during it.
        """
        self._is_reporting = True
        for event in ("c_call", "c_return"):
            self._profiler(frame, event, function)
        self._is_reporting = False


class _StandIn:
    """Replaces a C function in `sys`, and chooses at each call what is called instead.

    `choose` receives the frame that is about to call. What it returns is called.
    """

    def __init__(self, function: Callable, choose: Callable[[FrameType], Callable]):
        """Replace `function`, which is one of CPython's."""
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


def is_of_recorder(frame: FrameType) -> bool:
    """Return whether a frame is of this module or of signal handling, not of the program.

    A recorder of calls does not count such a frame.
    """
    # Not `any`: this runs for each event of a profiler, and a generator costs a frame.
    own_globals, handler_globals = _ASIDE
    return frame.f_globals is own_globals or frame.f_globals is handler_globals


def users_line(frame: FrameType) -> tuple[CodeType, int]:
    """Return the code object and the line of the innermost user frame, from `frame` outwards.

    If all frames are of libraries, return the code object and the line of `frame` itself.
    """
    users_frame = frame
    while users_frame is not None and is_library(users_frame.f_code.co_filename):
        users_frame = users_frame.f_back
    users_frame = users_frame or frame
    return users_frame.f_code, users_frame.f_lineno


def functions() -> list[FunctionType]:
    """Return the functions of this module that run in the midst of the program.

    A recorder tells torch's Dynamo not to compile them.
    """
    members = (*vars(OwnProfilers).values(), *vars(_StandIn).values(), users_line)
    own_functions = [member for member in members if type(member) is FunctionType]
    return [*own_functions, _StandIn.__call__.fget]
