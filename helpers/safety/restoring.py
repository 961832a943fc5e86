"""What a verb changes in the interpreter -> restored when the verb ends, however it ends.

What the learner's own function sets is the learner's, as in any cell.
"""

import builtins
import ctypes
import functools
import os
import sys
import sysconfig
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from functools import partial
from pathlib import Path

from .missing_parts import said_if_missing

# whose code it is, by the file of its code object
_PLACES = sysconfig.get_paths()
HOUSE = str(Path(__file__).parents[1]) + os.sep
_HOMES = tuple(_PLACES[n] + os.sep for n in ("stdlib", "platstdlib", "purelib", "platlib"))
_HOMES += HOUSE, "<frozen "

# A module that says `__builtins__ = BUILTINS` is skipped by the search for holders.
BUILTINS = {name: value for name, value in vars(builtins).items() if name != "_"}
redirected = redirect_stdout  # the name that other rooms use


class Own:
    """What the search for holders is made of: it holds what it looks for, and is never a result."""

    __slots__ = ()


def is_library(file: str) -> bool:
    """Return whether a file is of the standard library, an installed package or these verbs."""
    installed = {"site-packages", "dist-packages"} & {*Path(file).parts}  # of any environment
    return file.startswith(_HOMES) or bool(installed)


def module(name: str):
    """Return a module that somebody has imported already, or None."""
    return sys.modules.get(name)


# One thing of the interpreter: how it is read, and how it is restored.
Kept = namedtuple("Kept", "name read put")


def frame_evaluator(verb: str, *given):
    """Get, or Set, the evaluator of frames (PEP 523, Python/pystate.c), by its address."""
    # No argtypes: they make an ArgumentError of the RecursionError of a stack that is full.
    function = ctypes.pythonapi[f"_PyInterpreterState_{verb}EvalFrameFunc"]
    interpreter = ctypes.pythonapi["PyInterpreterState_Get"]
    function.restype = interpreter.restype = ctypes.c_void_p
    return function(*map(ctypes.c_void_p, (interpreter(), *given)))


KEPT = (
    Kept("sys.settrace", sys.gettrace, sys.settrace),  # first, or it would report the rest
    Kept("sys.setprofile", sys.getprofile, sys.setprofile),
    Kept("the frame evaluator", partial(frame_evaluator, "Get"), partial(frame_evaluator, "Set")),
    Kept("sys.stdout", lambda: sys.stdout, partial(setattr, sys, "stdout")),
    Kept("sys.stderr", lambda: sys.stderr, partial(setattr, sys, "stderr")),
)

_LOCK = threading.RLock()
_ENDED: list[list[BaseException]] = []  # what ended a learner's code, for each verb under way


@contextmanager
def one_thread_at_a_time() -> Iterator[None]:
    """Let one thread watch in the block: what a verb changes is one for the whole process."""
    if not _LOCK.acquire(blocking=False):
        raise RuntimeError(
            "a verb is at work in another thread, and verbs are for one thread at a time: "
            "call this one when that has ended"
        )
    try:
        yield
    finally:
        _LOCK.release()


def preserves_interpreter_state(fn: Callable, results=Exception) -> Callable:
    """Return `fn` as a verb: it puts back `KEPT`, and refuses to run beside another thread's.

    What ends a learner's code is raised again when what `fn` returns has been drawn, but for the
    types of `results`: () in a verb that makes one call, Exception in one that compares cases,
    BaseException in a check, which judges.
    """

    @functools.wraps(fn)
    def guarded(*args, **kwargs):
        shell, ended = getattr(module("IPython"), "get_ipython", lambda: None)(), []
        leaving = patched(shell, ask_exit=sys.exit) if shell else nullcontext()
        lock = one_thread_at_a_time()
        lock.__enter__()
        before = [(kept, kept.read()) for kept in KEPT]
        _ENDED.append(ended)
        try:
            with said_if_missing(), leaving:  # `exit()` of a notebook would end the kernel
                made = fn(*args, **kwargs)
        except Exception:
            if fatal := [e for e in ended if not isinstance(e, (Exception, results))]:
                raise fatal[0] from None
            raise
        finally:
            _ENDED.pop()
            for kept, value in before:
                if kept.read() != value:
                    kept.put(value)
            lock.__exit__(None, None, None)
        if raised := [e for e in ended if not isinstance(e, results)]:
            with suppress(Exception):
                (module("IPython").display.display if shell else print)(made)
            raise raised[0]
        return made

    guarded.autograph_info__ = {}  # AutoGraph rewrites nothing that bears this name
    return guarded


def note_end(error: BaseException | None) -> None:
    """Let the verb under way raise this again in the end."""
    if _ENDED and error is not None:
        _ENDED[-1].append(error)


class running_user_code:  # noqa: N801 (used like a function)
    """A `with` block in which a learner's code runs: the verb raises again what ends it."""

    def __enter__(self) -> None:
        """Let it run."""

    def __exit__(self, kind, error, trace) -> None:
        note_end(error)


@contextmanager
def patched(owner, **names) -> Iterator[None]:
    """Give attributes of `owner` other values in a `with` block, and the old ones back after it."""
    before = {name: vars(owner)[name] for name in names if name in vars(owner)}
    try:
        for name, value in names.items():
            setattr(owner, name, value)
        yield
    finally:
        for name in names:
            if name in before:
                setattr(owner, name, before[name])
            elif name in vars(owner):
                delattr(owner, name)
