"""Delay the program's signal handlers, such as that of Ctrl-C, while code of a recorder runs.
A *recorder* is code of this package that notes events while the user's program runs. It runs
between two lines of the user's code, in a tracer or in a callback from C. If CPython called a
signal handler there, an error of the handler would end the recorder, leave its record half changed,
or be lost. So the handler waits until the user's code runs on, but no longer than `PATIENCE`.

If the program asks for its handlers by the module `signal`, it gets its own, and may set others.
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
from .users_frames import is_users_frame, is_verbs_frame

PATIENCE = 0.5  # seconds that the handler of Ctrl-C waits at most
AGAIN = 0.002  # seconds after which a signal whose handler waits is sent again
# Seconds that any other handler waits at most while a recorder runs. It waits longer, because the
# recorder would lose an error that such a handler raises.
LONG_PATIENCE = 10.0
# Signals that programs rarely use, and that do nothing by default. One of them wakes a sleep.
_RARE = ("SIGURG", "SIGCONT") if hasattr(signal, "pthread_kill") else ()
WAKING = [getattr(signal, name) for name in _RARE]
# A handler that does nothing. Like any handler it is called with a number and a frame. It is a
# function in C, so no line of Python runs.
DO_NOTHING = operator.is_
# Both tables are id(code object) -> code object. The code object itself is no key, because its hash
# needs the hashes of its constants. It is the value, so that no other object can get the same id.
# The functions that C calls. An exception must not leave them, because C would lose it.
CALLED_BY_C: dict[int, CodeType] = {}
# The functions of recorders. They treat an exception as a mistake of their own.
RECORDERS: dict[int, CodeType] = {}


def register_c_callbacks(*functions: Callable) -> None:
    """Register functions that C calls. From now on no signal handler runs in them."""
    for function in functions:
        CALLED_BY_C[id(function.__code__)] = function.__code__


def register_recorders(*functions: Callable) -> None:
    """Register functions of recorders. No handler of the program runs in them or in their calls."""
    for function in functions:
        RECORDERS[id(function.__code__)] = function.__code__


class _Presses:
    """Sends a signal again whose handler waits, when the attribute `once_more` is read.

    A recorder reads `once_more` in its last line, so that the waiting handler runs right after the
    recorder. That works because CPython runs handlers after a call, at the start of a function and
    at a jump back, but not after an attribute was read.
    """

    # Both functions are written in C, so reading the property runs no line of Python.
    once_more = property(methodcaller("press"))

    def __init__(self):
        """Begin with no signal to send."""
        #: What `once_more` calls. It sends a signal, or is `tuple`, which does nothing.
        self.press: Callable[[], object] = tuple

    def repeat(self, waiting: Iterable[int]) -> None:
        """Have `once_more` send the first of these signal numbers, or nothing if there is none."""
        number = next(iter(waiting), None)
        if number is None:
            self.press = tuple
        else:
            self.press = partial(_thread.interrupt_main, number)


PRESSES = _Presses()
# `frame.f_globals is HERE` says that a frame runs a function of this module.
HERE = globals()


class defer_signal_handlers:  # noqa: N801 (used like a function)
    """A `with` block in which signal handlers run only while the user's code runs.

    In the block, each handler of the program is replaced by a `_Handler`, which calls `choose` to
    decide whether the program's handler may run now. The functions of the module `signal` are
    replaced, too, so that they still return the program's own handlers.

    The block does nothing in a thread that is not the main thread, or inside another such block.
    """

    def __init__(self):
        """Prepare the block; `__enter__` decides whether it does anything."""
        #: The errors of handlers that still waited when the block ended.
        self.raised: list[BaseException] = []
        self._waiting: dict[int, float] = {}  # signal number -> time since which its handler waits
        self._is_on = False  # whether the handlers are replaced
        self._is_choosing = False  # whether `choose` is running
        self._is_pressing = False  # whether a thread is sending signals again
        self._handlers: dict[int, _Handler] = {}  # signal number -> replacement of its handler
        # The number of a signal that is sent only to end a sleep; 0 if there is none.
        self._waking = 0

    def __enter__(self) -> "defer_signal_handlers":
        """Replace the program's handlers, and the functions that the module `signal` calls."""
        is_main = threading.current_thread() is threading.main_thread()
        is_outermost = signal._signal is _signal  # else another such block has replaced it
        if not is_main or not is_outermost:  # Python sets handlers in the main thread only
            return self

        leave_to_python(*_list_functions())
        self._main = threading.get_ident()
        self._is_on = True
        handlers = {number: _signal.getsignal(number) for number in range(1, signal.NSIG)}
        for number, handler in handlers.items():
            if callable(handler):  # neither SIG_IGN nor SIG_DFL nor None
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
        PRESSES.press = tuple  # no signal is sent again
        signal._signal = _signal
        for number, handler in self._handlers.items():
            # A handler that the program has set by other means than `signal` stays.
            if _signal.getsignal(number) is handler:
                _exchange(number, handler.of_user)
        # `__enter__` gave the signal that only ends sleeps a handler that does nothing.
        if self._waking and _signal.getsignal(self._waking) is DO_NOTHING:
            _signal.signal(self._waking, _signal.SIG_DFL)
        for number in self._waiting:
            try:
                _run(_signal.getsignal(number), number)
            except BaseException as error:
                self.raised.append(error)

    def set_handler(self, number: int, handler):
        """Set a handler for the program, and return the program's earlier one.

        `signal.signal` calls this method in the block. If the earlier handler still waits for a
        signal that has come, it runs first. Without the block it would have run at that signal.
        """
        earlier_handler = self.handler_of_user(number)
        if self._waiting.pop(number, None) is not None:
            PRESSES.repeat(self._waiting)
            _run(earlier_handler, number)
        # SIG_IGN and SIG_DFL cannot be called, and need no replacement.
        replacement = self._replace(number, handler) if callable(handler) else handler
        _signal.signal(number, replacement)
        if number == self._waking:  # the program uses that signal from now on
            self._waking = 0
        return earlier_handler

    def handler_of_user(self, number: int):
        """Return the program's own handler of a signal, as `signal.getsignal` does elsewhere."""
        handler = _signal.getsignal(number)
        if handler is DO_NOTHING and number == self._waking:  # set by `__enter__`
            return _signal.SIG_DFL
        return handler.of_user if isinstance(handler, _Handler) else handler

    def _replace(self, number: int, handler: Callable) -> "_Handler":
        """Return the `_Handler` that stands for the program's handler in the block."""
        self._handlers[number] = _Handler(self, number, handler)
        return self._handlers[number]

    def choose(self, number: int, handler: Callable, frame: FrameType | None) -> Callable:
        """Return `handler` if it may run now, else `DO_NOTHING`. In that case the handler waits.

        A `_Handler` calls this method when the signal `number` has come. `handler` is the program's
        own handler, and `frame` the innermost frame.
        """
        if not self._is_on:  # the block has ended
            return handler
        if self._is_choosing:  # this signal came while `choose` was running for another one
            self._wait_for(number)
            return DO_NOTHING
        self._is_choosing = True
        PRESSES.press = tuple  # no signal is sent again during these lines
        try:
            if self._must_wait(number, handler, frame):
                self._wait_for(number)
                return DO_NOTHING
            self._waiting.pop(number, None)
            return handler
        finally:
            PRESSES.repeat(self._waiting)  # from now on, the first waiting signal is sent again
            self._is_choosing = False

    def _wait_for(self, number: int) -> None:
        """Note that the handler of a signal waits, and start a thread that sends the signal again.

        One thread is enough for all signals.
        """
        self._waiting.setdefault(number, time.monotonic())
        if not self._is_pressing:
            self._is_pressing = True
            _thread.start_new_thread(self._press_again, ())  # no lock of `threading` is taken

    def _must_wait(self, number: int, handler: Callable, frame: FrameType | None) -> bool:
        """Return whether a handler has to wait, because code of this package runs at the moment.

        `frame` is the innermost frame when the signal came.
        """
        if frame is None or frame.f_globals is HERE:
            return True
        waited_seconds = time.monotonic() - self._waiting.get(number, time.monotonic())
        # Python's own handler of Ctrl-C raises KeyboardInterrupt, which recorders let through. Any
        # other error would be lost in a recorder, so any other handler waits longer.
        if handler is not signal.default_int_handler and _is_recording(frame):
            return waited_seconds < LONG_PATIENCE
        # In a function that C calls, even the handler of Ctrl-C waits however long it takes.
        is_called_by_c = id(frame.f_code) in CALLED_BY_C
        may_still_wait = is_called_by_c or waited_seconds < PATIENCE
        return may_still_wait and _is_at_work(frame)

    def _press_again(self) -> None:
        """Send the signals again whose handlers wait, until none waits. Runs in its own thread."""
        while self._is_pressing:
            time.sleep(AGAIN)
            PRESSES.once_more  # noqa: B018 (reading it sends the signal)
            # If the user's code sleeps, the rare signal ends the sleep, and handlers can run.
            if self._waking and self._is_on:
                signal.pthread_kill(self._main, self._waking)
            if not (self._waiting and self._is_on):
                self._is_pressing = False
                # `_wait_for` starts a thread only if `_is_pressing` is False. A handler that began
                # to wait between the `if` and the line above has started no thread. So the same
                # question is asked again, and this thread goes on if such a handler waits.
                self._is_pressing = bool(self._waiting and self._is_on)


class _Handler:
    """Replaces a handler of the program, and decides at each signal whether that handler runs.

    At a signal, CPython looks up `__call__` and calls the result. Here `__call__` is a property,
    which returns the program's handler or `DO_NOTHING`. So CPython calls the handler itself, and
    the traceback of an error in it has no frame of this package.
    """

    def __init__(self, block: defer_signal_handlers, number: int, of_user: Callable):
        """Replace `of_user`, the program's handler of the signal `number`, in a block."""
        self._block = block
        self._number = number
        self.of_user = of_user

    @property
    def __call__(self):
        """The program's handler if it may run now, else `DO_NOTHING`."""
        return self._block.choose(self._number, self.of_user, sys._getframe(1))


class _Signals:
    """Replaces `_signal`, the C module to which the module `signal` passes its calls.

    Its functions return and set the program's own handlers, and never a `_Handler`.
    """

    def __init__(self, block: defer_signal_handlers):
        self._block = block

    def signal(self, number: int, handler):
        """Set a handler of the program, and return the program's earlier one."""
        return self._block.set_handler(number, handler)

    def getsignal(self, number: int):
        """Return the program's handler of a signal."""
        return self._block.handler_of_user(number)

    def __getattr__(self, name: str):
        return getattr(_signal, name)


def _exchange(number: int, handler: Callable) -> None:
    """Replace the callable that Python calls at a signal by another one.

    The operating system's settings for the signal stay as they are; `signal.signal` alone would
    reset some of them.
    """
    action = SystemAction(number)
    _signal.signal(number, handler)
    action.restore()


def _run(handler: object, number: int) -> None:
    """Run a handler that has waited, with the innermost frame that is not of this package.

    SIG_IGN and SIG_DFL are no functions, and nothing runs for them.
    """
    frame = sys._getframe(1)
    while frame is not None and is_verbs_frame(frame):
        frame = frame.f_back
    if callable(handler):
        handler(number, frame)


def _is_recording(frame: FrameType | None) -> bool:
    """Return whether this frame, or a frame that called it, runs a registered recorder function."""
    while frame is not None:
        if id(frame.f_code) in CALLED_BY_C or id(frame.f_code) in RECORDERS:
            return True
        frame = frame.f_back
    return False


def _is_at_work(frame: FrameType | None) -> bool:
    """Return whether code of this package runs, or a library function that it has called.

    Libraries' frames are skipped from the innermost outwards. The first other frame decides.
    """
    while frame is not None:
        if is_verbs_frame(frame):
            return True
        if is_users_frame(frame):
            return False
        frame = frame.f_back
    return False


def _list_functions() -> list[Callable]:
    """Return the functions of this module that run in the middle of the user's program.

    torch's compiler must not compile them.
    """
    functions = [_run, _exchange, _Handler.__call__.fget]
    for owner in (defer_signal_handlers, _Signals, SystemAction):
        functions += [member for member in vars(owner).values() if type(member) is FunctionType]
    return functions
