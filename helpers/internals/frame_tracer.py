"""A tracer that leaves the variables of the frames that it sees as they are.

Up to 3.12, CPython copies a frame's variables into the dict of `frame.f_locals` before it calls a
function of `sys.settrace`, and back afterwards (`call_trampoline`, Python/sysmodule.c). A program
that has written to that dict loses what it wrote, and the copies keep objects alive. A function in
C form (`PyEval_SetTrace`, Python/ceval.c) is called without these copies.
"""

import _thread
import ctypes
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from ..safety import interrupts
from ..safety.dynamo_aside import leave_to_python
from ..safety.interrupts import PRESSES, are_called_by_c
from .interpreter_frame import read_object
from .own_hooks import is_of_program, tracer_setter

# The names of the events, by the number that CPython passes to a tracer in C.
EVENTS = ("call", "exception", "line", "return", "c_call", "c_exception", "c_return", "opcode")
_CALL = EVENTS.index("call")
_RETURN = EVENTS.index("return")
# int (*Py_tracefunc)(PyObject *, PyFrameObject *, int, PyObject *), Include/cpython/pystate.h
_C_FORM = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.py_object, ctypes.c_int, ctypes.c_void_p
)

_set_trace = ctypes.pythonapi["PyEval_SetTrace"]
_set_trace.restype = None


class Enough(Exception):
    """Raised by a tracer that wants to see nothing more."""


class FrameTracer:
    """Calls `tracer(frame, event, argument)` as `sys.settrace` would, from `start` to `put_back`.

    Both are called without arguments. `put_back` sets the tracer that was set before, and `finish`
    comes last. An error in `tracer` never reaches the program: it ends the tracing. In the program,
    `sys.gettrace` returns what it would return without us.
    """

    def __init__(self, tracer: Callable):
        """Prepare to set `tracer`, a function as `sys.settrace` takes it."""
        #: The error that ended the tracing.
        self.error: BaseException | None = None
        self._tracer = tracer
        self._followed: dict[int, Callable] = {}  # id of a running frame -> its own tracer
        self._quiet: set[int] = set()  # ids of running frames that send no lines because of us
        self._is_paused = False  # we have stopped the tracing
        self._is_probed = False  # the call of `_probe` has been traced: our tracer is set
        self._was_ours = False  # at the last `is_ours`
        leave_to_python(FrameTracer._receive)
        earlier_tracer = sys.gettrace()
        self._before = earlier_tracer
        #: Whether the program had set a tracer.
        self.had_own = is_of_program(earlier_tracer)
        c_form = _C_FORM(self._receive)
        # The object that belongs to our C function, and that `sys.gettrace` returns.
        earlier_address = ctypes.c_void_p(None if earlier_tracer is None else id(earlier_tracer))
        # Neither is a function in Python: a tracer in C, as coverage's, counts calls and returns,
        # and would see the one without the other.
        self.start = partial(_set_trace, c_form, earlier_address)
        self.put_back = tracer_setter()

    def is_ours(self) -> bool:
        """Return whether `put_back` is due: no, if the program has set a tracer of its own."""
        _probe()  # our tracer notes this call, if it is set
        self._was_ours = self._is_probed or (self._is_paused and sys.gettrace() is None)
        return self._was_ours

    @property
    def is_set_again(self) -> bool:
        """Whether what was set before is set now, by `put_back`."""
        return self._was_ours and sys.gettrace() is self._before

    def finish(self) -> bool:
        """Forget all frames, and return whether the program left the tracing as it was."""
        self._followed.clear()
        self.start = None  # which refers to this object
        return self._is_probed or (self._is_paused and self.error is None)

    def _pause(self) -> None:
        """Stop the tracing, from inside of the tracer."""
        self._is_paused = True
        self._followed.clear()
        sys.settrace(None)

    def _receive(self, _, frame: FrameType, kind: int, pointer: int | None) -> int:
        """Receive an event from CPython, in C form, and return 0: no error.

        `kind` is the number of an event, and `pointer` the address of its argument.
        """
        if frame.f_globals is interrupts.HERE:
            return 0
        try:
            self._dispatch(frame, kind, pointer)
        except Enough:
            self._pause()
        except BaseException as error:
            self.error = error.with_traceback(None)
            self._pause()
            if isinstance(error, KeyboardInterrupt):  # it is for the program
                _thread.interrupt_main()
        PRESSES.once_more  # noqa: B018 (a handler that waits runs after these lines)
        return 0

    def _dispatch(self, frame: FrameType, kind: int, pointer: int | None) -> None:
        """Call the tracer for an event, as `sys.settrace` would (Python/sysmodule.c)."""
        if kind == _CALL:
            self._begin(frame)
            return
        key = id(frame)
        local = self._followed.get(key)
        if local is not None:
            argument = read_object(pointer) if pointer else None
            following = local(frame, EVENTS[kind], argument)
            # None keeps the same one. `local` may have ended the tracing, which forgets all frames.
            if following is not None and key in self._followed:
                self._followed[key] = following
        if kind == _RETURN:
            self._followed.pop(key, None)
            if key in self._quiet:
                self._quiet.discard(key)
                frame.f_trace_lines = True

    def _begin(self, frame: FrameType) -> None:
        """Call the tracer for the start of a frame; what it returns traces that frame."""
        if frame.f_code is _probe.__code__:
            self._is_probed = True
            return
        local = self._tracer(frame, "call", None)
        if local is not None:
            self._followed[id(frame)] = local
        elif frame.f_trace_lines:  # a call for each of its lines would cost time
            self._quiet.add(id(frame))
            frame.f_trace_lines = False


are_called_by_c(FrameTracer._receive, FrameTracer._pause)


def ask_for_opcodes(frame: FrameType) -> None:
    """Let a frame send an event before each instruction; 3.13 does if the frame has a tracer."""
    if sys.version_info >= (3, 13) and frame.f_trace is None:
        frame.f_trace = _probe
    frame.f_trace_opcodes = True


def forget_tracer(frame: FrameType) -> None:
    """Undo what `ask_for_opcodes` did to a frame."""
    frame.f_trace_opcodes = False
    forget_own_tracer(frame)


def forget_own_tracer(frame: FrameType) -> None:
    """Take away the tracer that `ask_for_opcodes` gave to a frame."""
    if frame.f_trace is _probe:
        frame.f_trace = None


def _probe(*_) -> None:
    """Do nothing, in a frame that a tracer sees."""
