"""What a verb changes in the interpreter -> restored when the verb ends, however it ends.

What the learner's own function sets is the learner's, as in any cell.
"""

import builtins
import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from types import FunctionType
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

# A module that says `__builtins__ = BUILTINS` is skipped by the search for holders. The name `_` is
# left out, because an interactive Python keeps its last result there.
BUILTINS = {name: value for name, value in vars(builtins).items() if name != "_"}


class Own:
    """What the search for holders is made of: it holds what it looks for, and is never a result."""

    __slots__ = ()


def module(name: str):
    """Return a module that somebody has imported already, or None."""
    return sys.modules.get(name)


@dataclass(frozen=True)
class InterpreterPart:
    """One thing of the interpreter that a verb may change."""

    #: What it is called.
    name: str
    #: Returns its value.
    read: Callable[[], object]
    #: `put(value)` sets it.
    put: Callable[[object], object]


def frame_evaluator(verb: str, *addresses: int) -> int | None:
    """Get or set the function that evaluates frames (PEP 523, Python/pystate.c), by its address.

    `frame_evaluator("Get")` returns the address, and `frame_evaluator("Set", address)` sets it.
    """
    # No argtypes: they make an ArgumentError of the RecursionError of a stack that is full.
    function = ctypes.pythonapi[f"_PyInterpreterState_{verb}EvalFrameFunc"]
    find_interpreter = ctypes.pythonapi["PyInterpreterState_Get"]
    function.restype = ctypes.c_void_p
    find_interpreter.restype = ctypes.c_void_p
    return function(*map(ctypes.c_void_p, (find_interpreter(), *addresses)))


KEPT = (
    # The tracer is first, or it would report what puts back the rest.
    InterpreterPart("sys.settrace", sys.gettrace, sys.settrace),
    InterpreterPart("sys.setprofile", sys.getprofile, sys.setprofile),
    InterpreterPart(
        "the frame evaluator", partial(frame_evaluator, "Get"), partial(frame_evaluator, "Set")
    ),
    InterpreterPart("sys.stdout", lambda: sys.stdout, partial(setattr, sys, "stdout")),
    InterpreterPart("sys.stderr", lambda: sys.stderr, partial(setattr, sys, "stderr")),
)

_LOCK = threading.RLock()


class _VerbUnderWay:
    """A call of a verb that has not ended yet."""

    def __init__(self, results):
        """Begin a call without errors."""
        #: What ended a learner's code, oldest first.
        self.errors: list[BaseException] = []
        #: The type of errors, or a tuple of types, that are a result and not raised again.
        self.results = results


# The calls of verbs that have not ended, the innermost last. It is a global because a learner's
# code runs in many places that know no verb, and because one thread at a time may use it.
_UNDER_WAY: list[_VerbUnderWay] = []


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
    """Return `fn` as a verb: it restores `KEPT`, and refuses to run beside another thread's verb.

    Parameters
    ----------
    fn
        The function. What a learner's code has set in the interpreter stays after it, unless `fn`
        is a check.
    results
        The types of errors that are a result of the verb. Any other error that ended a learner's
        code is raised again, after the result of `fn` has been drawn. () in a verb that makes one
        call, Exception in one that compares cases, BaseException in a check, which judges.

    What is raised shows only the learner's own frames.
    """
    judges = issubclass(KeyboardInterrupt, results)

    @functools.wraps(fn)
    def guarded(*args, **kwargs):
        """Check the arguments, call `fn`, restore the interpreter, and raise what is due."""
        leave_to_python()  # torch may have been imported since
        interrupts = in_users_code()
        under_way = _VerbUnderWay(results)
        try:
            bind_call(guarded, args, kwargs)
            shell = running_shell()
            # `exit()` of a notebook would end the kernel.
            leaving = patched(shell, ask_exit=sys.exit) if shell else nullcontext()
            lock = one_thread_at_a_time()
            # In a check, the handler of Ctrl-C is that of `limits.limited`.
            with nullcontext() if judges else interrupts:
                # Not a `with` of their own: each costs frames, and a learner's stack may be full.
                lock.__enter__()
                before = [(part, part.read()) for part in KEPT]
                _UNDER_WAY.append(under_way)
                try:
                    with said_if_missing(), leaving, frames_left_out_of_graphs():
                        # Called from here: some verbs count the frames up to the learner's.
                        result = fn(*args, **kwargs)
                except (Exception, KeyboardInterrupt):  # a verb says an interrupt by one of its own
                    # SystemExit and an interrupt of the learner's code come first.
                    fatal = _find_fatal(under_way.errors, results)
                    if fatal is None:
                        raise
                    raise fatal from None
                finally:
                    _UNDER_WAY.pop()
                    for part, value in before:
                        value_now = part.read()
                        # What the learner's code has set stays, but in a check nothing stays.
                        if value_now != value and (judges or is_ours(value_now)):
                            part.put(value)
                    lock.__exit__(None, None, None)

            raised = [error for error in under_way.errors if not isinstance(error, results)]
            raised += interrupts.raised
            if raised:
                # An error of the drawing would hide the learner's.
                with suppress(Exception):
                    draw(result)
                raise raised[0]
            return result
        except BaseException as error:
            of_user = any(error is one for one in (*under_way.errors, *interrupts.raised))
            keep_users_frames(error, fn.__name__, of_user)
            # What the program's own handler raised comes before an error of ours.
            if interrupts.raised and isinstance(error, Exception) and not of_user:
                raise interrupts.raised[0] from None
            raise
        finally:
            # The tracebacks of errors lead to this frame, so a variable here would make a cycle.
            under_way.errors.clear()
            raised = fatal = None

    guarded.autograph_info__ = {}  # AutoGraph rewrites nothing that bears this name
    return breaks_graph(guarded)


def _find_fatal(errors: list[BaseException], results) -> BaseException | None:
    """Return the first error that is neither an Exception nor a result of the verb, or None."""
    for error in errors:
        if not isinstance(error, (Exception, results)):
            return error
    return None


def raises_what_the_call_raises(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `fn` as a verb that makes one call: it draws its result, then raises the call's error.

    In a verb that compares cases, such an error is a result.
    """
    return preserves_interpreter_state(fn, results=())


def returns_what_to_call(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `fn`, with a sentence for somebody who passes it the arguments of the later call.

    `bind_call` adds the sentence to its error.
    """
    fn.how_to_call = f"it returns what to call: {fn.__name__}(f)(…)"  # type: ignore[attr-defined]
    return fn


def is_ours(value: object) -> bool:
    """Return whether a value of a part of `KEPT` was set by a verb: its code is of this package.

    A value is a tracer, a profiler or a stream. A number is the address of a frame evaluator, which
    only the verbs change.
    """
    if type(value) is int:
        return True
    function = getattr(value, "__func__", value)
    definition = function if type(function) is FunctionType else type(value)
    return str(definition.__module__).startswith(f"{PACKAGE}.")


def speaks_to_users(fn: Callable[Arguments, Result], name: str = "") -> Callable[Arguments, Result]:
    """Return `fn` as a function of the front door: its errors show only the learner's frames.

    It is for functions that change nothing in the interpreter, such as one that returns a context
    manager. `name` is what learners call the function, if that is not its own name.
    """

    @functools.wraps(fn)
    def spoken(*args, **kwargs):
        """Check the arguments, and call `fn`; an error of either loses our frames."""
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
    """Return the IPython shell in which this program runs, or None."""
    get_shell = getattr(module("IPython"), "get_ipython", None)
    return get_shell() if get_shell else None


def draw(result: object) -> None:
    """Show the result of a verb that raises: as a cell's result in IPython, else as text."""
    if running_shell():
        module("IPython").display.display(result)
    else:
        print(result)


def note_end(error: BaseException | None) -> None:
    """Have the verb under way raise this error again in the end. Without a verb, do nothing."""
    if _UNDER_WAY and error is not None:
        _UNDER_WAY[-1].errors.append(error)


def note_interrupt(error: KeyboardInterrupt) -> None:
    """Have the verb under way draw what it has recorded, and raise the interrupt after that.

    The interrupt is raised now where there is no verb, and in a check, which draws nothing.
    """
    if not _UNDER_WAY or isinstance(error, _UNDER_WAY[-1].results):
        raise error
    note_end(error)


def is_interrupted() -> bool:
    """Return whether an interrupt has ended the learner's code in the verb under way."""
    if not _UNDER_WAY:
        return False
    errors = _UNDER_WAY[-1].errors
    return any(isinstance(error, KeyboardInterrupt) for error in errors)


class running_user_code:  # noqa: N801 (used like a function)
    """A `with` block in which a learner's code runs: the verb raises again what ends it."""

    def __enter__(self) -> None:
        """Do nothing: only the end of the code counts."""

    def __exit__(self, kind, error, trace) -> None:
        """Note the error that ends the code, which goes on to the recorder."""
        note_end(error)


@contextmanager
def patched(owner, **names) -> Iterator[None]:
    """Give attributes of `owner` other values in a `with` block, and restore them after it.

    `names` are the attributes with these values. One that `owner` only inherits, or lacks, is
    removed again.
    """
    # From `vars`, because `getattr` would call a property, and bind a method.
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
