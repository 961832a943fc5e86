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

PATIENCE = 0.5  # seconds that an interrupt waits at most
AGAIN = 0.002  # seconds between two tries
# Seconds that another handler waits at most in a recorder, which would lose what it raises.
LONG_PATIENCE = 10.0
# Signals that programs rarely use, and that do nothing by default.
_RARE = ("SIGURG", "SIGCONT") if hasattr(signal, "pthread_kill") else ()
WAKING = [getattr(signal, name) for name in _RARE]
# A handler gets the number of a signal and a frame. This one runs no line of Python.
DO_NOTHING = operator.is_
# The two tables have the id of a code object as key, because the hash of a code object asks its
# constants for theirs. The code object is kept, so that no other one gets its id.
# The functions that C calls. An exception must not leave them, because C has no place for it.
CALLED_BY_C: dict[int, CodeType] = {}
# The functions that run in the middle of a user's call, and take an exception for a fault of ours.
RECORDERS: dict[int, CodeType] = {}


def are_called_by_c(*functions: Callable) -> None:
    """Note functions which C calls: no signal handler runs in them from now on."""
    for function in functions:
        CALLED_BY_C[id(function.__code__)] = function.__code__


def are_recorders(*functions: Callable) -> None:
    """Note functions of recorders: no handler of a program runs in them or in what they call."""
    for function in functions:
        RECORDERS[id(function.__code__)] = function.__code__


class _Presses:
    """Repeats a signal whose handler waits: reading the attribute `once_more` does so.

    A press is such a repeated signal. Reading an attribute runs no line of Python. CPython runs
    handlers after a call, at the start of a function and at a jump back, and not after an attribute
    is read. So a recorder that reads `once_more` last has the handler run after the recorder. No
    press is left when a handler is chosen: from then on `press` does nothing.
    """

    once_more = property(methodcaller("press"))  # in C, so that no line of Python runs

    def __init__(self):
        """Begin without a press."""
        #: What `once_more` calls: `tuple`, which does nothing, or what repeats a signal.
        self.press: Callable[[], object] = tuple

    def repeat(self, waiting: Iterable[int]) -> None:
        """Repeat the first of these numbers of signals at each press from now on, if any."""
        number = next(iter(waiting), None)
        if number is None:
            self.press = tuple
        else:
            self.press = partial(_thread.interrupt_main, number)


PRESSES = _Presses()
HERE = globals()  # a frame with these globals chooses a handler: no recorder reports it


class in_users_code:  # noqa: N801 (used like a function)
    """A `with` block in which signal handlers run where code of the user's runs.

    Nothing is changed in another thread than the main one, or in another such block. In the block,
    each handler of the program's is replaced by a `_Handler`, and the functions of the module
    `signal` speak of the program's own handlers.
    """

    def __init__(self):
        """Prepare the block; `__enter__` decides whether it does anything."""
        #: What handlers raised that had still waited when the block ended.
        self.raised: list[BaseException] = []
        self._waiting: dict[int, float] = {}  # number of a signal -> since when its handler waits
        self._is_on = False
        self._is_choosing = False  # the lines of `choose` run
        self._is_pressing = False  # a thread repeats signals
        self._handlers: dict[int, _Handler] = {}  # number of a signal -> what replaces its handler
        self._waking = 0  # the number of a signal that ends a sleep and does nothing else; 0: none

    def __enter__(self) -> "in_users_code":
        """Replace the program's handlers, and what the module `signal` calls."""
        is_main = threading.current_thread() is threading.main_thread()
        is_outermost = signal._signal is _signal
        if not is_main or not is_outermost:  # Python sets handlers in the main thread only
            return self

        leave_to_python(*_functions())
        self._main = threading.get_ident()
        self._is_on = True
        handlers = {number: _signal.getsignal(number) for number in range(1, signal.NSIG)}
        for number, handler in handlers.items():
            if callable(handler):
                _exchange(number, self._replace(number, handler))
        unused = [number for number in WAKING if handlers[number] == _signal.SIG_DFL]
        if unused:
            self._waking = unused[0]
            _signal.signal(self._waking, DO_NOTHING)
        signal._signal = _Signals(self)
        return self

    def __exit__(self, kind, error, trace) -> None:
        """Restore the program's handlers, and run those that still wait."""
        if not self._is_on:
            return
        self._is_on = False
        PRESSES.press = tuple
        signal._signal = _signal
        for number, handler in self._handlers.items():
            if _signal.getsignal(number) is handler:  # else the program has set another
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
        # SIG_IGN and SIG_DFL cannot be called, and need no replacement.
        replacement = self._replace(number, handler) if callable(handler) else handler
        _signal.signal(number, replacement)
        if number == self._waking:  # the program uses that signal from now on
            self._waking = 0
        return before

    def handler_of_user(self, number: int):
        """Return what `_signal.getsignal` would return in a plain run."""
        handler = _signal.getsignal(number)
        if handler is DO_NOTHING and number == self._waking:
            return _signal.SIG_DFL
        return handler.of_user if isinstance(handler, _Handler) else handler

    def _replace(self, number: int, handler: Callable) -> "_Handler":
        """Return what replaces a handler of the program's in the block."""
        self._handlers[number] = _Handler(self, number, handler)
        return self._handlers[number]

    def choose(self, number: int, handler: Callable, frame: FrameType | None) -> Callable:
        """Return the handler if it may run in this frame now, else what does nothing.

        A `_Handler` calls this method when the signal of this number has come.
        """
        if not self._is_on:
            return handler
        if self._is_choosing:  # the signal came while these lines ran for another one
            self._wait_for(number)
            return DO_NOTHING
        self._is_choosing = True
        PRESSES.press = tuple
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
        """Note that a handler waits, and have a thread repeat its signal."""
        self._waiting.setdefault(number, time.monotonic())
        if not self._is_pressing:
            self._is_pressing = True
            _thread.start_new_thread(self._press_again, ())  # no lock of `threading` is taken

    def _must_wait(self, number: int, handler: Callable, frame: FrameType | None) -> bool:
        """Return whether a handler may not run in this frame now: ours, or a recorder's.

        `frame` is the innermost frame when the signal came.
        """
        if frame is None or frame.f_globals is HERE:
            return True
        waited = time.monotonic() - self._waiting.get(number, time.monotonic())
        # What Python's own handler of Ctrl-C raises, recorders know. Any other error they would
        # lose, so other handlers wait longer.
        if handler is not signal.default_int_handler and _is_recording(frame):
            return waited < LONG_PATIENCE
        is_called_by_c = id(frame.f_code) in CALLED_BY_C
        return (is_called_by_c or waited < PATIENCE) and _is_at_work(frame)

    def _press_again(self) -> None:
        """Repeat the signals that wait, until none does. Runs in a thread of its own."""
        while self._is_pressing:
            time.sleep(AGAIN)
            PRESSES.once_more  # noqa: B018
            if self._waking and self._is_on:
                signal.pthread_kill(self._main, self._waking)
            if not (self._waiting and self._is_on):
                self._is_pressing = False
                # `_wait_for` starts a thread only if this is False. So a signal that came between
                # the question and this line has started none, and the question is asked again.
                self._is_pressing = bool(self._waiting and self._is_on)


class _Handler:
    """Stands for a handler of the user's: Python code chooses it, and C then calls the handler.

    So the traceback of what the handler raises shows no frame of ours. C finds `__call__` by the
    property, which is where the code runs that chooses.
    """

    def __init__(self, block: in_users_code, number: int, of_user: Callable):
        """Stand for `of_user`, the program's handler of the signal of this number."""
        self._block = block
        self._number = number
        self.of_user = of_user

    @property
    def __call__(self):
        """The handler of the user's, or what does nothing."""
        return self._block.choose(self._number, self.of_user, sys._getframe(1))


class _Signals:
    """What the module `signal` calls instead of `_signal`: it speaks of the user's handlers."""

    def __init__(self, block: in_users_code):
        self._block = block

    def signal(self, number: int, handler):
        """Set a handler of the user's, and return the one before it."""
        return self._block.set_handler(number, handler)

    def getsignal(self, number: int):
        """Return the handler of the user's."""
        return self._block.handler_of_user(number)

    def __getattr__(self, name: str):
        return getattr(_signal, name)


def _exchange(number: int, handler: Callable) -> None:
    """Set a callable as the handler of a signal that has one: for the system, nothing changes."""
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
    functions = [_run, _exchange, _Handler.__call__.fget]
    for owner in (in_users_code, _Signals, SystemAction):
        functions += [member for member in vars(owner).values() if type(member) is FunctionType]
    return functions
