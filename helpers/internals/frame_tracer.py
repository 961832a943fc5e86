"""A replacement for `sys.settrace` that does not overwrite the local variables of traced frames.

Up to 3.12, CPython copies a frame's variables into the dict `frame.f_locals` before it calls a
function that `sys.settrace` has set, and back afterwards (`call_trampoline`, Python/sysmodule.c). A
program that has written to that dict loses what it wrote, and the copies keep objects alive.
CPython makes no such copies for a C function that `PyEval_SetTrace` has set (Python/ceval.c). So
this module sets a C function, made by ctypes, that calls the tracer.
"""

import _thread
import ctypes
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

from ..safety import interrupts
from ..safety.dynamo_aside import leave_to_python
from ..safety.interrupts import PRESSES, register_c_callbacks
from .interpreter_frame import read_object
from .own_hooks import build_tracer_setter, is_of_program

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


class StopTracing(Exception):
    """A tracer raises this to end the tracing without an error."""


class FrameTracer:
    """Calls `tracer(frame, event, argument)` as `sys.settrace` would, from `start` to `put_back`.

    The owner calls `start()` to begin, `is_ours()` to ask whether our tracer is still set,
    `put_back()` to set the tracer that was set before, and at last `finish()`. An error in `tracer`
    ends the tracing and never reaches the program. In the program, `sys.gettrace` returns what it
    would return without our tracer.
    """

    def __init__(self, tracer: Callable):
        """Prepare to set `tracer`, a function as `sys.settrace` takes it."""
        #: The error that ended the tracing.
        self.error: BaseException | None = None
        self._tracer = tracer
        # id of a running frame -> the local tracer of the frame: what `tracer` returned for it
        self._local_tracers: dict[int, Callable] = {}
        # The ids of running frames whose `f_trace_lines` this object has set to False.
        self._ids_without_lines: set[int] = set()
        self._is_paused = False  # `_pause` has stopped the tracing
        self._has_seen_probe = False  # our tracer has seen a call of `_probe`, so it was set then
        self._was_ours = False  # the last answer of `is_ours`
        leave_to_python(FrameTracer._receive)  # torch's Dynamo must not compile it
        earlier_tracer = sys.gettrace()
        self._before = earlier_tracer
        #: Whether the program had set a tracer.
        self.had_own = is_of_program(earlier_tracer)
        c_form = _C_FORM(self._receive)
        # CPython stores an object with a C tracer, and `sys.gettrace` returns that object. Here it
        # is the earlier tracer, so that the program does not find ours.
        earlier_address = ctypes.c_void_p(None if earlier_tracer is None else id(earlier_tracer))
        # `start` and `put_back` are partials and no Python functions. A tracer in C that was set
        # before, such as that of coverage, counts calls and returns. Of a Python function it would
        # see only the call or only the return.
        self.start = partial(_set_trace, c_form, earlier_address)
        self.put_back = build_tracer_setter()

    def is_ours(self) -> bool:
        """Return whether our tracer is still set, or was stopped by `_pause`.

        If not, the program has set a tracer of its own, and `put_back` must not be called.
        """
        _probe()  # if our tracer is set, it sees this call
        self._was_ours = self._has_seen_probe or (self._is_paused and sys.gettrace() is None)
        return self._was_ours

    @property
    def is_set_again(self) -> bool:
        """Whether `put_back` has set the earlier tracer, and that one is set now."""
        return self._was_ours and sys.gettrace() is self._before

    def finish(self) -> bool:
        """Forget all frames, and return whether the program set no tracer and ours had no error."""
        self._local_tracers.clear()
        self.start = None  # `start` refers to this object, which would be a reference cycle
        return self._has_seen_probe or (self._is_paused and self.error is None)

    def _pause(self) -> None:
        """Stop the tracing. The tracer itself calls this."""
        self._is_paused = True
        self._local_tracers.clear()
        sys.settrace(None)

    def _receive(self, _, frame: FrameType, kind: int, pointer: int | None) -> int:
        """Receive an event from CPython in the form of a C tracer, and return 0 for "no error".

        `kind` is the number of the event in `EVENTS`. `pointer` is the address of the event's
        argument, such as the returned object, or None.
        """
        if frame.f_globals is interrupts.HERE:  # a frame that chooses a signal handler for us
            return 0
        try:
            self._dispatch(frame, kind, pointer)
        except StopTracing:
            self._pause()
        except BaseException as error:
            self.error = error.with_traceback(None)
            self._pause()
            if isinstance(error, KeyboardInterrupt):  # Ctrl-C was meant for the program
                _thread.interrupt_main()
        # Reading the attribute has a signal handler that waited run after this function.
        PRESSES.once_more  # noqa: B018
        return 0

    def _dispatch(self, frame: FrameType, kind: int, pointer: int | None) -> None:
        """Call the right tracer for an event, as `sys.settrace` would (Python/sysmodule.c).

        The tracer itself gets the event "call" of each frame. What it returns is the local tracer
        of the frame, which gets the further events of the frame.
        """
        if kind == _CALL:
            self._begin(frame)
            return
        frame_id = id(frame)
        local_tracer = self._local_tracers.get(frame_id)
        if local_tracer is not None:
            argument = read_object(pointer) if pointer else None
            next_tracer = local_tracer(frame, EVENTS[kind], argument)
            # A local tracer returns the tracer for the next event, or None to stay. It may also
            # have ended the tracing, which empties `_local_tracers`.
            if next_tracer is not None and frame_id in self._local_tracers:
                self._local_tracers[frame_id] = next_tracer
        if kind == _RETURN:
            self._local_tracers.pop(frame_id, None)
            if frame_id in self._ids_without_lines:
                self._ids_without_lines.discard(frame_id)
                frame.f_trace_lines = True

    def _begin(self, frame: FrameType) -> None:
        """Call the tracer for the start of a frame, and store the local tracer that it returns.

        If the tracer returns None, no further event of the frame is wanted.
        """
        if frame.f_code is _probe.__code__:
            self._has_seen_probe = True
            return
        local_tracer = self._tracer(frame, "call", None)
        if local_tracer is not None:
            self._local_tracers[id(frame)] = local_tracer
        elif frame.f_trace_lines:
            # CPython would call our C function for each line of the frame, which costs time.
            self._ids_without_lines.add(id(frame))
            frame.f_trace_lines = False


register_c_callbacks(FrameTracer._receive, FrameTracer._pause)


def ask_for_opcodes(frame: FrameType) -> None:
    """Have CPython send an event before each instruction of a frame.

    Since 3.13, CPython does so only if the attribute `f_trace` of the frame is set. The value is
    not called here, because the C function of `FrameTracer` gets the events.
    """
    if sys.version_info >= (3, 13) and frame.f_trace is None:
        frame.f_trace = _probe
    frame.f_trace_opcodes = True


def forget_tracer(frame: FrameType) -> None:
    """Undo what `ask_for_opcodes` did to a frame."""
    frame.f_trace_opcodes = False
    forget_own_tracer(frame)


def forget_own_tracer(frame: FrameType) -> None:
    """Clear `f_trace` of a frame if `ask_for_opcodes` has set it."""
    if frame.f_trace is _probe:
        frame.f_trace = None


def _probe(*_) -> None:
    """Do nothing. A `FrameTracer` that is set sees the call of this function."""
