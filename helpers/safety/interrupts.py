"""A signal while a verb is at work -> its handler runs in the user's code, not in a recorder.

A recorder's code runs between any two lines of the user's: in a tracer, in a callback from C. What
a handler raises there would end the recorder, leave its record in the middle of a change, or be
lost. So a handler, that of Ctrl-C too, waits until the user's code runs on, but no longer than
`PATIENCE`. The program finds its own handlers where it asks for them, and may set others.
"""

import _signal
import _thread
import operator
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from operator import methodcaller
from types import CodeType, FrameType, FunctionType

from .dynamo_aside import leave_to_python
from .signal_actions import SystemAction
from .users_frames import is_machinery, is_users

PATIENCE, AGAIN = 0.5, 0.002  # seconds that an interrupt waits; between two tries
LONG_PATIENCE = 10.0  # in a recorder, which would lose what another handler raises
# Signals that programs rarely use, and that nothing happens for.
_RARE = ("SIGURG", "SIGCONT") if hasattr(signal, "pthread_kill") else ()
WAKING = [getattr(signal, name) for name in _RARE]
DO_NOTHING = operator.is_  # with the number of a signal and a frame, and without a line of Python
# By the id of its code, as a hash of code asks its constants: what C calls and what must not be
# left by an exception, because C has no place for it.
CALLED_BY_C: dict[int, CodeType] = {}
# What runs in the middle of a user's call, and takes an exception for a fault of its own.
RECORDERS: dict[int, CodeType] = {}


def are_called_by_c(*functions: Callable) -> None:
    """Have no handler run in these functions, which C calls."""
    CALLED_BY_C.update((id(function.__code__), function.__code__) for function in functions)


def are_recorders(*functions: Callable) -> None:
    """Have no handler of a program run in these functions, or in what they call."""
    RECORDERS.update((id(function.__code__), function.__code__) for function in functions)


class _Presses:
    """Reading `once_more` repeats a signal whose handler waits, without a line of Python.

    CPython runs handlers after a call, at the start of a function and at a jump back, and not after
    an attribute is read. So a recorder that reads it last has the handler run after the recorder.
    No press is left when a handler is chosen: from then on `press` does nothing.
    """

    once_more = property(methodcaller("press"))

    def __init__(self):
        self.press = tuple

    def repeat(self, waiting: Iterable[int]) -> None:
        """Repeat the first signal that waits from now on, if one does."""
        number = next(iter(waiting), None)
        self.press = tuple if number is None else partial(_thread.interrupt_main, number)


PRESSES = _Presses()
HERE = globals()  # a frame with these globals chooses a handler: no recorder tells of it


class in_users_code:  # noqa: N801 (used like a function)
    """A `with` block in which signal handlers run where code of the user's runs.

    Nothing is changed in another thread than the main one, or in another such block.
    `raised`: what handlers raised that had still waited when the block ended.
    """

    def __init__(self):
        self.raised: list[BaseException] = []
        self._waiting: dict[int, float] = {}  # number of a signal -> since when it waits
        self._is_on = self._is_choosing = self._is_pressing = False
        self._handlers: dict[int, _Handler] = {}
        self._waking = 0  # the number of a signal that ends a sleep and does nothing else

    def __enter__(self) -> "in_users_code":
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal._signal is _signal:
            leave_to_python(*_functions())
            self._main, self._is_on = threading.get_ident(), True
            found = {number: _signal.getsignal(number) for number in range(1, signal.NSIG)}
            for number, handler in found.items():
                if callable(handler):
                    _exchange(number, self._in_place_of(number, handler))
            self._waking = next((one for one in WAKING if found[one] == _signal.SIG_DFL), 0)
            if self._waking:
                _signal.signal(self._waking, DO_NOTHING)
            signal._signal = _Signals(self)
        return self

    def __exit__(self, kind, error, trace) -> None:
        if not self._is_on:
            return
        self._is_on, PRESSES.press = False, tuple
        signal._signal = _signal
        for number, handler in self._handlers.items():
            if _signal.getsignal(number) is handler:
                _exchange(number, handler.of_user)
        if self._waking and _signal.getsignal(self._waking) is DO_NOTHING:
            _signal.signal(self._waking, _signal.SIG_DFL)
        for number in self._waiting:
            try:
                _run(_signal.getsignal(number), number)
            except BaseException as error:
                self.raised.append(error)

    def set_handler(self, number: int, handler):
        """Do what `_signal.signal` does, and return what it would return in a plain run.

        A handler that still waits runs first, as it would have.
        """
        before = self.handler_of_user(number)
        if self._waiting.pop(number, None) is not None:
            PRESSES.repeat(self._waiting)
            _run(before, number)
        _signal.signal(number, self._in_place_of(number, handler) if callable(handler) else handler)
        if number == self._waking:
            self._waking = 0
        return before

    def handler_of_user(self, number: int):
        """Return what `_signal.getsignal` would return in a plain run."""
        handler = _signal.getsignal(number)
        if handler is DO_NOTHING and number == self._waking:
            return _signal.SIG_DFL
        return handler.of_user if isinstance(handler, _Handler) else handler

    def _in_place_of(self, number: int, handler: Callable) -> "_Handler":
        self._handlers[number] = _Handler(self, number, handler)
        return self._handlers[number]

    def choose(self, number: int, handler: Callable, frame: FrameType | None) -> Callable:
        """Return the handler if it may run in this frame now, else what does nothing."""
        if not self._is_on:
            return handler
        if self._is_choosing:  # it came in these lines
            self._wait_for(number)
            return DO_NOTHING
        self._is_choosing, PRESSES.press = True, tuple
        try:
            if self._must_wait(number, handler, frame):
                self._wait_for(number)
                return DO_NOTHING
            self._waiting.pop(number, None)
            return handler
        finally:
            PRESSES.repeat(self._waiting)
            self._is_choosing = False

    def _wait_for(self, number: int) -> None:
        self._waiting.setdefault(number, time.monotonic())
        if not self._is_pressing:
            self._is_pressing = True
            _thread.start_new_thread(self._press_again, ())  # no lock of `threading` is taken

    def _must_wait(self, number: int, handler: Callable, frame: FrameType | None) -> bool:
        if frame is None or frame.f_globals is HERE:
            return True
        waited = time.monotonic() - self._waiting.get(number, time.monotonic())
        if handler is not signal.default_int_handler and _is_recording(frame):
            return waited < LONG_PATIENCE
        return (id(frame.f_code) in CALLED_BY_C or waited < PATIENCE) and _is_at_work(frame)

    def _press_again(self) -> None:
        while self._is_pressing:
            time.sleep(AGAIN)
            PRESSES.once_more  # noqa: B018
            if self._waking and self._is_on:
                signal.pthread_kill(self._main, self._waking)
            if not (self._waiting and self._is_on):
                self._is_pressing = False
                # A signal that came between these two lines has started no other thread.
                self._is_pressing = bool(self._waiting and self._is_on)


class _Handler:
    """Stands for a handler of the user's: Python code chooses it, and C then calls the handler.

    So the traceback of what the handler raises shows no frame of ours.
    """

    def __init__(self, block: in_users_code, number: int, of_user: Callable):
        self._block, self._number, self.of_user = block, number, of_user

    @property
    def __call__(self):
        return self._block.choose(self._number, self.of_user, sys._getframe(1))


class _Signals:
    """What the module `signal` calls in place of `_signal`: it speaks of the user's handlers."""

    def __init__(self, block: in_users_code):
        self._block = block

    def signal(self, number: int, handler):
        return self._block.set_handler(number, handler)

    def getsignal(self, number: int):
        return self._block.handler_of_user(number)

    def __getattr__(self, name: str):
        return getattr(_signal, name)


def _exchange(number: int, handler: Callable) -> None:
    """Put one callable in place of another: for the system, nothing changes."""
    action = SystemAction(number)
    _signal.signal(number, handler)
    action.restore()


def _run(handler: object, number: int) -> None:
    """Run a handler that has waited, with the innermost frame that is not a verb's."""
    frame = sys._getframe(1)
    while frame is not None and is_machinery(frame):
        frame = frame.f_back
    if callable(handler):
        handler(number, frame)


def _is_recording(frame: FrameType | None) -> bool:
    """Return whether this frame is of a recorder, or of what one has called."""
    while frame is not None:
        if id(frame.f_code) in CALLED_BY_C or id(frame.f_code) in RECORDERS:
            return True
        frame = frame.f_back
    return False


def _is_at_work(frame: FrameType | None) -> bool:
    """Return whether this frame is a verb's, or a library's that a verb has called."""
    while frame is not None:
        if is_machinery(frame):
            return True
        if is_users(frame):
            return False
        frame = frame.f_back
    return False


def _functions() -> list[Callable]:
    """Return the functions that may run in the program: no compiler is to translate them."""
    owned = *vars(in_users_code).values(), *vars(_Signals).values(), _run, _exchange
    owned += tuple(vars(SystemAction).values())
    return [one for one in owned if type(one) is FunctionType] + [_Handler.__call__.fget]
