"""What a verb changes in the interpreter -> restored when the verb ends, however it ends.

What the learner's own function sets is the learner's, as in any cell.
"""

import builtins
import ctypes
import functools
import sys
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import ParamSpec, TypeVar

from . import PACKAGE
from .dynamo_aside import breaks_graph, leave_to_python
from .graph_frames import frames_left_out_of_graphs
from .interrupts import in_users_code
from .missing_parts import said_if_missing
from .users_frames import keep_users_frames
from .verb_calls import bind_call

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# A module that says `__builtins__ = BUILTINS` is skipped by the search for holders.
BUILTINS = {name: value for name, value in vars(builtins).items() if name != "_"}


class Own:
    """What the search for holders is made of: it holds what it looks for, and is never a result."""

    __slots__ = ()


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
# For each verb under way: `errors`, what ended a learner's code; `results`: types that are not
# raised again.
_UNDER_WAY: list[SimpleNamespace] = []


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


def preserves_interpreter_state(
    fn: Callable[Arguments, Result], results=Exception
) -> Callable[Arguments, Result]:
    """Return `fn` as a verb: it puts back `KEPT`, and refuses to run beside another thread's.

    What the learner's code sets stays, but after a check.

    What ends a learner's code is raised again when what `fn` returns has been drawn, but for the
    types of `results`: () in a verb that makes one call, Exception in one that compares cases,
    BaseException in a check, which judges. What is raised shows only the learner's own frames.
    """
    judges = issubclass(KeyboardInterrupt, results)

    @functools.wraps(fn)
    def guarded(*args, **kwargs):
        leave_to_python()  # torch may have been imported since
        interrupts = in_users_code()
        under_way = SimpleNamespace(errors=[], results=results)
        try:
            bind_call(guarded, args, kwargs)
            shell = running_shell()
            leaving = patched(shell, ask_exit=sys.exit) if shell else nullcontext()
            lock = one_thread_at_a_time()
            with nullcontext() if judges else interrupts:
                lock.__enter__()
                before = [(kept, kept.read()) for kept in KEPT]
                _UNDER_WAY.append(under_way)
                try:
                    # `exit()` of a notebook would end the kernel
                    with said_if_missing(), leaving, frames_left_out_of_graphs():
                        made = fn(*args, **kwargs)
                except (Exception, KeyboardInterrupt):  # a verb says an interrupt by one of its own
                    fatal = (e for e in under_way.errors if not isinstance(e, (Exception, results)))
                    if (first := next(fatal, None)) is None:
                        raise
                    raise first from None
                finally:
                    _UNDER_WAY.pop()
                    for kept, value in before:
                        now = kept.read()
                        if now != value and (judges or is_ours(now)):
                            kept.put(value)
                    lock.__exit__(None, None, None)
            raised = [e for e in under_way.errors if not isinstance(e, results)]
            raised += interrupts.raised
            if raised:
                with suppress(Exception):
                    draw(made)
                raise raised[0]
            return made
        except BaseException as error:
            of_user = any(error is one for one in (*under_way.errors, *interrupts.raised))
            keep_users_frames(error, fn.__name__, of_user)
            if interrupts.raised and isinstance(error, Exception) and not of_user:
                raise interrupts.raised[0] from None
            raise
        finally:  # their tracebacks lead to this frame, so that they would be in a cycle
            under_way.errors.clear()
            raised = first = fatal = None

    guarded.autograph_info__ = {}  # AutoGraph rewrites nothing that bears this name
    return breaks_graph(guarded)


def raises_what_the_call_raises(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `fn` as a verb that makes one call: it draws its result, then raises the call's error.

    Of a verb that compares cases, such an error is a result.
    """
    return preserves_interpreter_state(fn, results=())


def returns_what_to_call(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `fn`, with words for somebody who passes it the arguments of the later call."""
    fn.how_to_call = f"it returns what to call: {fn.__name__}(f)(…)"  # type: ignore[attr-defined]
    return fn


def is_ours(value: object) -> bool:
    """Return whether a tracer, a profiler or a stream is one of the verbs'; a number always is."""
    function = getattr(value, "__func__", value)
    kind = function if type(function) is FunctionType else type(value)
    return type(value) is int or str(kind.__module__).startswith(f"{PACKAGE}.")


def speaks_to_users(fn: Callable[Arguments, Result], name: str = "") -> Callable[Arguments, Result]:
    """Return `fn` as a function of the front door: its errors show only the learner's frames.

    For what changes nothing by its call, such as what returns a context manager. `name`: what
    learners call it, if that is not its own name.
    """

    @functools.wraps(fn)
    def spoken(*args, **kwargs):
        try:
            bind_call(spoken, args, kwargs)
            return fn(*args, **kwargs)
        except BaseException as error:
            keep_users_frames(error, spoken.users_name)
            raise

    spoken.users_name = name or fn.__name__
    spoken.autograph_info__ = {}
    return breaks_graph(spoken)


def running_shell():
    """Return the IPython that runs this, or None."""
    return getattr(module("IPython"), "get_ipython", lambda: None)()


def draw(made) -> None:
    """Show what a verb made before it raises: as a cell's result in IPython, else as text."""
    (module("IPython").display.display if running_shell() else print)(made)


def note_end(error: BaseException | None) -> None:
    """Let the verb under way raise this again in the end."""
    if _UNDER_WAY and error is not None:
        _UNDER_WAY[-1].errors.append(error)


def note_interrupt(error: KeyboardInterrupt) -> None:
    """Let the verb under way draw what it has, and raise the interrupt then; else raise it now.

    It is raised now without a verb, and in a check, which draws nothing.
    """
    if not _UNDER_WAY or isinstance(error, _UNDER_WAY[-1].results):
        raise error
    note_end(error)


def is_interrupted() -> bool:
    """Return whether an interrupt has ended the learner's code in the verb under way."""
    errors = _UNDER_WAY[-1].errors if _UNDER_WAY else ()
    return any(isinstance(error, KeyboardInterrupt) for error in errors)


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
