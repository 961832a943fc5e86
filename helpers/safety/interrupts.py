"""A signal while a verb is at work -> its handler runs in the user's code, not in a recorder.

A recorder's code runs between any two lines of the user's: in a tracer, in a callback from C. What
a handler raises there would end the recorder, leave its record in the middle of a change, or be
lost. So a handler, that of Ctrl-C too, waits until the user's code runs on, but no longer than
`PATIENCE`. The program finds its own handlers where it asks for them, and may set others.
"""

import _signal
import _thread
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType

from .dynamo_aside import leave_to_python
from .users_frames import is_machinery, is_users

PATIENCE, AGAIN = 0.5, 0.002  # seconds that an interrupt waits; between two tries
LONG_PATIENCE = 10.0  # in a recorder, which would lose what another handler raises
# By the id of its code, as a hash of code asks its constants: what C calls and what must not be left
# by an exception, because C has no place for it.
CALLED_BY_C: dict[int, CodeType] = {}
# What runs in the middle of a user's call, and takes an exception for a fault of its own.
RECORDERS: dict[int, CodeType] = {}


def are_called_by_c(*functions: Callable) -> None:
    """Have no handler run in these functions, which C calls."""
    CALLED_BY_C.update((id(function.__code__), function.__code__) for function in functions)


def are_recorders(*functions: Callable) -> None:
    """Have no handler of a program run in these functions, or in what they call."""
    RECORDERS.update((id(function.__code__), function.__code__) for function in functions)


class in_users_code:  # noqa: N801 (used like a function)
    """A `with` block in which signal handlers run where code of the user's runs.

    Nothing is changed in another thread than the main one, or in another such block.
    `raised`: what handlers raised that had still waited when the block ended.
    """

    def __init__(self):
        self.raised: list[BaseException] = []
        self._waiting: dict[int, float] = {}  # number of a signal -> until when it waits
        self._is_on, self._lock = False, threading.Lock()
        self._handlers: dict[int, _Handler] = {}

    def __enter__(self) -> "in_users_code":
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal._signal is _signal:
            leave_to_python(*_functions())
            self._main, self._is_on = threading.get_ident(), True
            for number in range(1, signal.NSIG):
                handler = _signal.getsignal(number)
                if callable(handler):
                    _signal.signal(number, self._in_place_of(number, handler))
            signal._signal = _Signals(self)
        return self

    def __exit__(self, kind, error, trace) -> None:
        if not self._is_on:
            return
        with self._lock:  # no press is on its way from here on
            self._is_on = False
        signal._signal = _signal
        for number, handler in self._handlers.items():
            if _signal.getsignal(number) is handler:
                _signal.signal(number, handler.of_user)
        for number in self._waiting:
            try:
                _run(_signal.getsignal(number), number)
            except BaseException as error:
                self.raised.append(error)

    def set_handler(self, number: int, handler):
        """Do what `_signal.signal` does, and return what it would return in a plain run.

        A handler that still waits runs first, as it would have.
        """
        before = _handler_of_user(_signal.getsignal(number))
        with self._lock:
            waits = self._waiting.pop(number, None) is not None
        if waits:
            _run(before, number)
        _signal.signal(number, self._in_place_of(number, handler) if callable(handler) else handler)
        return before

    def _in_place_of(self, number: int, handler: Callable) -> "_Handler":
        self._handlers[number] = _Handler(self, number, handler)
        return self._handlers[number]

    def choose(self, number: int, handler: Callable, frame: FrameType | None) -> Callable:
        """Return the handler if it may run in this frame now, else what does nothing."""
        if not self._is_on or not self._must_wait(number, handler, frame):
            self._waiting.pop(number, None)
            return handler
        with self._lock:
            is_pressing = bool(self._waiting)
            self._waiting.setdefault(number, time.monotonic())
        if not is_pressing:
            _thread.start_new_thread(self._press_again, ())  # no lock of `threading` is taken
        return _do_nothing

    def _must_wait(self, number: int, handler: Callable, frame: FrameType | None) -> bool:
        waited = time.monotonic() - self._waiting.get(number, time.monotonic())
        if handler is not signal.default_int_handler and _is_recording(frame):
            return waited < LONG_PATIENCE
        is_in_c = frame is not None and id(frame.f_code) in CALLED_BY_C
        return (is_in_c or waited < PATIENCE) and _is_at_work(frame)

    def _press_again(self) -> None:
        while True:
            time.sleep(AGAIN)
            with self._lock:
                if not (self._waiting and self._is_on):
                    return
                for number in [*self._waiting]:
                    if hasattr(signal, "pthread_kill"):  # it ends a sleep, too
                        signal.pthread_kill(self._main, number)
                    else:
                        _thread.interrupt_main(number)


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
        return _handler_of_user(_signal.getsignal(number))

    def __getattr__(self, name: str):
        return getattr(_signal, name)


def _handler_of_user(handler):
    return handler.of_user if isinstance(handler, _Handler) else handler


def _run(handler: object, number: int) -> None:
    """Run a handler that has waited, with the innermost frame that is not a verb's."""
    frame = sys._getframe(1)
    while frame is not None and is_machinery(frame):
        frame = frame.f_back
    if callable(handler):
        handler(number, frame)


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Let the handler wait."""


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
    owned = *vars(in_users_code).values(), *vars(_Signals).values(), _do_nothing, _run
    return [one for one in owned if type(one) is FunctionType] + [_Handler.__call__.fget]
