"""A call -> the same call, after which the interpreter is as it was before: `whole`, `theirs`.

What can be left behind by code that was cut in two (Ctrl-C at any moment, an exception, a learner's
own `sys.settrace`) is read before and put back after: tracers, evaluator, output, modes, callbacks,
builtins, patched names. What frameworks hold is read only where they have been imported.

Most of that is one for the whole process, so verbs in several threads take turns (turns.py).
"""

import contextlib
import functools
import sys
from _thread import interrupt_main, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from os import _exit, getpid
from sys import gettrace, setrecursionlimit, settrace
from time import monotonic, sleep

from helpers.safety import imported, missing_parts
from helpers.safety.arguments import is_a
from helpers.safety.interrupts import (
    SIGINT,
    falls_to,
    handler,
    in_fragile_code,
    in_framework,
    in_import,
    in_main_thread,
    set_handler,
)
from helpers.safety.kept_state import KEPT, Kept
from helpers.safety.kept_state.python import builtins_are, put_builtins, read_builtins
from helpers.safety.leaving import exit_raises
from helpers.safety.original_builtins import BUILTINS
from helpers.safety.output import shielded
from helpers.safety.patches import PATCHES, tell
from helpers.safety.turns import Turn

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

LONGEST_WAIT = 5  # seconds that Ctrl-C waits for a framework; then it comes there


def whole(fn: Callable, names: tuple[str, ...] = (), raises: bool = True) -> Callable:
    """Return `fn`, which then leaves the interpreter as it found it, however it ends.

    `names`: what is kept, of `KEPT`; all of it if none is given. Of settings that `fn` has made for
    the whole process (settings.py), one sentence on stderr says that they are put back.

    Ctrl-C comes at once while `fn` runs, and waits while things are put back, or a framework is at
    work. If a framework makes another error of it, the call ends with a KeyboardInterrupt still.

    What ends a learner's code without being an Exception (SystemExit, pytest.fail, a timer's) is
    raised again when what `fn` returns has been drawn, if `raises`: not in a check, which judges.
    """

    @functools.wraps(fn)
    def guarded(*args, **kwargs):
        guard = Guard(sys._getframe(), names)
        try:
            guard.open()
            made = fn(*args, **kwargs)
        except ImportError as error:
            missing_parts.note(error)
            raise
        finally:
            guard.close(raises)
        if raises and guard.ended is not None:
            _drawn(made)
            guard.raise_again()
        return made

    guarded.__whole__ = True
    guarded.autograph_info__ = {}  # AutoGraph rewrites nothing that bears this name
    return guarded


class Guard:
    """Reads what is to stay (`open`) and puts it back (`close`), on behalf of one frame.

    `names`: what is kept, of `KEPT`; all of it if none is given.

    An interrupt that arrives in that very frame, in `close` or in a tracer called at its first
    instruction waits for the end of `close`: between `fn` and the putting back there is no
    instruction at which it could get lost. One that finds a framework at work comes when that
    returns to other code, or calls it; at the latest after `LONGEST_WAIT`, or when a second comes.
    One that finds a library being imported comes when that is done: of half a library, no second
    import makes a whole. A process that `fn` forked ends in `close`: it would be a second kernel.
    """

    __slots__ = (
        *("_before", "_came", "_closing", "_error", "_frame", "_handler"),
        *(
            "_late",
            "_limit",
            "_names",
            "_patches",
            "_pending",
            "_process",
            "_shields",
            "_since",
            "_thrown",
            "_told",
            "_turn",
            "ended",
        ),
    )

    def __init__(self, frame, names: tuple[str, ...] = ()):
        self._frame, self._handler, self._names = frame, None, names
        self._before, self._patches, self._turn = None, float("inf"), Turn()
        self._came, self._closing, self._late = None, False, False
        self._error, self._since, self._thrown = id(sys.exc_info()[1]), None, False
        self._pending, self._process, self._told = None, getpid(), []
        self._shields, self._limit, self.ended = (), 0, None

    def open(self) -> None:
        """Take SIGINT over in the main thread, wait for a turn, read the state of the interpreter.

        RecursionError, in one sentence, where the stack has no room for that; RuntimeError where
        no turn comes.
        """
        if in_main_thread():  # first: two presses while it waits would cut `close` in two
            self._handler = handler()
            if self._handler is not None:
                set_handler(SIGINT, self._interrupt)
        if not self._names:
            self._turn.take()
            _OPEN.append(self)
            self._patches, self._limit = len(PATCHES), sys.getrecursionlimit()
        try:
            asked = [kept for kept in KEPT if not self._names or kept.name in self._names]
            self._before = [(kept, value) for kept in asked for value in _readings(kept)]
        except RecursionError:
            raise RecursionError(
                "too many calls are under way here: call this from less deep, or raise the "
                "limit with sys.setrecursionlimit"
            ) from None
        if not self._names:
            sys.modules = imported.MODULES  # a cell before may have put another in its place
            there = sys.stdout, sys.stderr
            sys.stdout, sys.stderr = shielded(there[0]), shielded(there[1])
            now = sys.stdout, sys.stderr
            self._shields = [a for a, b in zip(now, there, strict=True) if a is not b]
            exit_raises()

    def close(self, raises: bool = False) -> None:
        """Put everything back, then let an interrupt through that came meanwhile."""
        if getpid() != self._process:
            _exit(0)
        self._closing = True
        if self._pending is not None:
            self._came, self._pending = self._pending, None
        if self._limit:  # it may have been lowered so far that the calls below have no room
            setrecursionlimit(self._limit)
        for shield in self._shields:
            shield.ended = True
        # Tracers and builtins come first, with nothing that needs builtins: they may be patched.
        for kept, before in self._before or ():
            if _put_back(kept, before) and kept.told:
                self._told.append(kept.name)
        error = self._new_error()
        if self._thrown and error is not None:
            _end_blocks(error)
            for kept, before in self._before or ():
                _put_back(kept, before)
        while len(PATCHES) > self._patches:
            PATCHES[-1].undo()
        if self in _OPEN:
            _OPEN.remove(self)
        self._turn.leave()
        for _ in range(1000):  # unless somebody else took Ctrl-C over meanwhile
            if not self._late:
                break
            sleep(0.001)  # it would come when the call has ended, where nobody expects it
        if self._told and not self._thrown and self._came is None:
            _say(self._told)
        self._frame = None
        before, self._handler = self._handler, None
        if before is not None:
            set_handler(SIGINT, before)
            if self._came is not None:
                before(*self._came)
        if self._thrown and is_a(error, Exception):
            raise KeyboardInterrupt from None  # a framework has made that error of it
        if raises and self.ended is not None and is_a(error, Exception):
            self.raise_again()

    def raise_again(self) -> None:
        """Raise what ended a learner's code, and let go of it: its traceback holds this."""
        ended, self.ended = self.ended, None
        try:
            raise ended
        finally:
            del ended

    def _new_error(self) -> BaseException | None:
        """Return what ends the call, unless it was under way before."""
        error = sys.exc_info()[1]
        return None if id(error) == self._error else error

    def _interrupt(self, number, frame) -> None:
        self._late = False
        if in_import(frame, self._frame):
            self._try_later()
            return
        if self._pending is not None:  # this is the second one
            self._since = -LONGEST_WAIT
        if self._has_to_wait(frame):
            self._postpone(number, frame)
        elif self._closing or falls_to(self._frame, frame, _CLOSE):
            self._came = number, frame
        else:
            self._pending = None
            try:
                self._handler(number, frame)
            except KeyboardInterrupt:
                self._thrown = True
                raise

    def _has_to_wait(self, frame) -> bool:
        if in_fragile_code(frame, self._frame):
            return True
        if self._closing or not in_framework(frame, self._frame):
            return False
        if self._since is None:
            self._since = monotonic()
        return monotonic() - self._since < LONGEST_WAIT

    def _postpone(self, number, frame) -> None:
        """Try again at the next step outside of the framework; by a thread if others are tracing.

        A thread alone would not do: it gets its turn when a kernel of the framework lets others
        run, and so finds the framework at work again and again.
        """
        if self._pending is not None:
            return
        if gettrace() is not None:
            self._try_later()
            return
        self._pending = number, frame

        def step(now, event, given):
            if self._pending is not None and not self._has_to_wait(now):
                settrace(None)
                self._pending = None
                (handler() or self._interrupt)(number, now)  # of a block that it has to wait for
            return step

        def entered(now, event, given) -> None:
            if self._pending is None:
                settrace(None)
            step(now, event, given)

        while frame is not None:
            if not in_framework(frame, self._frame):
                frame.f_trace = step
            frame = None if frame is self._frame else frame.f_back
        start_new_thread(self._at_last, ())
        settrace(entered)

    def _try_later(self) -> None:
        self._late = True
        start_new_thread(_once_more, ())

    def _at_last(self) -> None:
        sleep(LONGEST_WAIT)
        if self._pending is not None:
            interrupt_main()


def _once_more() -> None:
    sleep(0.001)
    interrupt_main()


def _end_blocks(error: BaseException) -> None:
    """End the generators of those `with` blocks whose own end was cut off before it began.

    Their `finally` would run when the traceback goes, and undo what has been put back. They hang
    on the frames of contextlib, where the error came.
    """
    trace = error.__traceback__
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        if frame.f_code.co_filename == _CONTEXTLIB:
            with suppress(RuntimeError):  # it is still running: the call itself is inside of it
                frame.clear()


_CLOSE = Guard.close.__code__
_OPEN: list[Guard] = []  # the verbs under way: one in another, for they take turns
_CONTEXTLIB = contextlib.__file__


def _readings(kept: Kept) -> list:
    """Return what is read, alone in a list; nothing if a learner's code stands in the way."""
    try:
        return [kept.read()]
    except RecursionError:
        raise
    except Exception:
        return []


def _put_back(kept: Kept, before) -> bool:
    """Put one thing back; return whether that was needed, and done."""
    try:
        if not kept.same(kept.read(), before):
            kept.put(before)
            return True
    except Exception as error:  # the others still have to be put back
        tell(f"{kept.name} could not be put back: {error}")
    return False


def _say(names: list[str]) -> None:
    """Say on stderr, where it is no output of the call, what the call had set."""
    *most, last = names
    words = f"{', '.join(most)} and {last}" if most else last
    with suppress(Exception):
        print(
            f"The call changed {words}: that is put back, so that other cells find it as it was. "
            "What is to stay is set in a cell of its own.",
            file=sys.stderr,
        )


def _drawn(made) -> None:
    """Show what a verb made although it returns nothing: in Jupyter as a cell would, else as text.

    What cannot be drawn must not hide the error that is to be raised.
    """
    ipython = imported.module("IPython")
    with suppress(Exception):
        (ipython.display.display if ipython and ipython.get_ipython() else print)(made)


def note_end(error: BaseException | None) -> None:
    """Let the verb under way raise this again in the end, unless it is an Exception."""
    if _OPEN and error is not None and not is_a(error, Exception):
        _OPEN[-1].ended = _OPEN[-1].ended or error


class theirs:  # noqa: N801 (used like a function)
    """Let a learner's code run in a `with` block; after it, one can work as before it.

    What makes an exhibit of the run, in the house and in the libraries, calls builtins and imports.
    The verb around it (`whole`) raises again what ended the code, unless that is an Exception.
    """

    __slots__ = ("_before", "_imported")

    def __enter__(self) -> None:
        self._before, self._imported = read_builtins(), imported.read()

    def __exit__(self, kind, error, trace) -> None:
        note_end(error)
        if not builtins_are(read_builtins(), self._before):
            put_builtins(self._before)
        if not imported.same(imported.read(), self._imported):
            imported.put(self._imported)
