"""Restore what a verb changes in the interpreter, such as the tracer, however the verb ends.
A *verb* is a public function of this package. Many verbs run a function of the learner. What that
function itself sets in the interpreter stays, as after any other cell.
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
from .interrupts import defer_signal_handlers
from .missing_parts import raise_missing_part
from .users_frames import remove_verb_frames
from .verb_calls import require_valid_call

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# The search for holders lists everything that has a reference to an object. It skips a module with
# the line `__builtins__ = BUILTINS`. The name `_` is left out, because an interactive Python keeps
# its last result there.
BUILTINS = {name: value for name, value in vars(builtins).items() if name != "_"}


class HiddenFromSearch:
    """Base class of the objects that search for the holders of an object.

    They have references to the object themselves, and the search leaves them out of its result.
    """

    __slots__ = ()


def find_loaded_module(name: str):
    """Return a module if it has been imported already, else None. Nothing is imported."""
    return sys.modules.get(name)


@dataclass(frozen=True)
class InterpreterPart:
    """One setting of the interpreter that a verb may change, such as the tracer."""

    #: What it is called.
    name: str
    #: Returns its value.
    read: Callable[[], object]
    #: `put(value)` sets it.
    put: Callable[[object], object]


def frame_evaluator(verb: str, *addresses: int) -> int | None:
    """Get or set the C function with which CPython runs a frame (PEP 523, Python/pystate.c).

    `frame_evaluator("Get")` returns the address of that function, and `frame_evaluator("Set",
    address)` sets it and returns None.
    """
    # `argtypes` is not set: on a full stack it would turn a RecursionError into an ArgumentError.
    function = ctypes.pythonapi[f"_PyInterpreterState_{verb}EvalFrameFunc"]
    find_interpreter = ctypes.pythonapi["PyInterpreterState_Get"]
    function.restype = ctypes.c_void_p
    find_interpreter.restype = ctypes.c_void_p
    return function(*map(ctypes.c_void_p, (find_interpreter(), *addresses)))


RESTORED_PARTS = (
    # The tracer is restored first. Otherwise it would report the code that restores the rest.
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
        #: The errors that ended a learner's code in this call, oldest first.
        self.errors: list[BaseException] = []
        #: A type of errors, or a tuple of types. The verb returns such an error as a result, for
        #: example in a table, and does not raise it again.
        self.results = results


# The calls of verbs that have not ended, the innermost last. It is a global, because many functions
# run a learner's code and do not know for which verb. Only one thread at a time uses it.
_UNDER_WAY: list[_VerbUnderWay] = []


@contextmanager
def one_thread_at_a_time() -> Iterator[None]:
    """Raise RuntimeError if another thread is in such a `with` block already.

    All threads share most of what a verb changes, such as `sys.stdout`.
    """
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
    """Return a function that calls `fn` as a verb, and restores `RESTORED_PARTS` after it.

    The returned function refuses to run while a verb runs in another thread. Errors that leave it
    have only the learner's frames in their traceback.

    Parameters
    ----------
    fn
        The function. What a learner's code has set in the interpreter stays after it, unless `fn`
        is a check.
    results
        The types of errors that the verb returns as a result. Any other error that ended a
        learner's code is raised again, after the result of `fn` has been shown. The value is () for
        a verb that makes one call, Exception for one that compares cases, and BaseException for a
        check, which judges the learner's code.
    """
    is_check = issubclass(KeyboardInterrupt, results)

    @functools.wraps(fn)
    def guarded(*args, **kwargs):
        """Check the arguments, call `fn`, restore the interpreter; raise the learner's error."""
        leave_to_python()  # again, because torch may have been imported since the last verb
        interrupts = defer_signal_handlers()
        under_way = _VerbUnderWay(results)
        try:
            require_valid_call(guarded, args, kwargs)
            shell = running_shell()
            # In a notebook `exit()` calls `ask_exit`, which would end the kernel.
            exit_patch = patched(shell, ask_exit=sys.exit) if shell else nullcontext()
            lock = one_thread_at_a_time()
            # A check runs the code in `limits.enforce_limits`, which handles Ctrl-C itself.
            with nullcontext() if is_check else interrupts:
                # The lock is no `with` statement of its own, because each `with` of a generator
                # needs further frames, and a learner's stack may be full.
                lock.__enter__()
                values_before = [(part, part.read()) for part in RESTORED_PARTS]
                _UNDER_WAY.append(under_way)
                try:
                    with raise_missing_part(), exit_patch, frames_left_out_of_graphs():
                        # `fn` is called in this very frame, because some verbs count the frames
                        # between themselves and the learner's code.
                        result = fn(*args, **kwargs)
                except (Exception, KeyboardInterrupt):  # also the KeyboardInterrupt of a verb
                    # SystemExit or KeyboardInterrupt of the learner's code is more important than
                    # an error that followed from it.
                    fatal_error = _find_fatal(under_way.errors, results)
                    if fatal_error is None:
                        raise
                    raise fatal_error from None
                finally:
                    _UNDER_WAY.pop()
                    _restore_parts(values_before, also_learners=is_check)
                    lock.__exit__(None, None, None)

            due_errors = [error for error in under_way.errors if not isinstance(error, results)]
            due_errors += interrupts.raised
            if due_errors:
                # If the result cannot be shown, that error must not hide the learner's.
                with suppress(Exception):
                    show_result(result)
                raise due_errors[0]
            return result
        except BaseException as error:
            users_errors = (*under_way.errors, *interrupts.raised)
            of_user = any(error is users_error for users_error in users_errors)
            remove_verb_frames(error, fn.__name__, of_user)
            # The error of the program's signal handler is more important than one of this package.
            if interrupts.raised and isinstance(error, Exception) and not of_user:
                raise interrupts.raised[0] from None
            raise
        finally:
            # The traceback of an error has this frame. A variable of this frame that refers to the
            # error would make a reference cycle, and keep the learner's objects alive.
            under_way.errors.clear()
            due_errors = fatal_error = users_errors = None

    guarded.autograph_info__ = {}  # AutoGraph does not convert a function with this attribute
    return breaks_graph(guarded)


def _restore_parts(
    values_before: list[tuple[InterpreterPart, object]], also_learners: bool
) -> None:
    """Restore each part of `RESTORED_PARTS` whose value has changed since the verb began.

    `values_before` has pairs (part, value). What a learner's code has set stays, unless
    `also_learners` is True, as after a check.
    """
    for part, value in values_before:
        value_now = part.read()
        if value_now != value and (also_learners or is_set_by_verb(value_now)):
            part.put(value)


def _find_fatal(errors: list[BaseException], results) -> BaseException | None:
    """Return the first error that must end the verb: SystemExit, KeyboardInterrupt and the like.

    Return None if each error is an Exception, or is of the types `results`, which a verb returns.
    """
    for error in errors:
        if not isinstance(error, (Exception, results)):
            return error
    return None


def raises_what_the_call_raises(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `fn` as a verb that makes one call, and raises the error of that call again.

    The verb shows its result first. A verb that compares cases returns such an error as a result,
    and uses `preserves_interpreter_state` itself.
    """
    return preserves_interpreter_state(fn, results=())


def returns_what_to_call(fn: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return `fn`, marked as a verb that returns a function which the user then calls.

    The mark is a sentence that `require_valid_call` adds to its error, for a user who passes the
    arguments of the later call to the verb: `watch(f, x)` instead of `watch(f)(x)`.
    """
    fn.how_to_call = f"it returns what to call: {fn.__name__}(f)(…)"  # type: ignore[attr-defined]
    return fn


def is_set_by_verb(value: object) -> bool:
    """Return whether a verb has set this value of a part of `RESTORED_PARTS`.

    A tracer, a profiler or a stream is a verb's if its function or class is of this package. A
    number is the address of a frame evaluator; only verbs change that, so it is always a verb's.
    """
    if type(value) is int:
        return True
    function = getattr(value, "__func__", value)
    definition = function if type(function) is FunctionType else type(value)
    return str(definition.__module__).startswith(f"{PACKAGE}.")


def speaks_to_users(fn: Callable[Arguments, Result], name: str = "") -> Callable[Arguments, Result]:
    """Return a public function that calls `fn`, and whose errors show only the learner's frames.

    It is for functions that change nothing in the interpreter, such as one that returns a context
    manager. `name` is what learners call the function, if that is not its own name.
    """

    @functools.wraps(fn)
    def checked(*args, **kwargs):
        """Check the arguments, and call `fn`; remove this package's frames from an error."""
        try:
            require_valid_call(checked, args, kwargs)
            return fn(*args, **kwargs)
        except BaseException as error:
            remove_verb_frames(error, checked.users_name)
            raise

    checked.users_name = name or fn.__name__
    checked.autograph_info__ = {}  # AutoGraph does not convert a function with this attribute
    return breaks_graph(checked)


def running_shell():
    """Return the IPython shell in which this program runs, or None."""
    get_shell = getattr(find_loaded_module("IPython"), "get_ipython", None)
    return get_shell() if get_shell else None


def show_result(result: object) -> None:
    """Show the result of a verb that cannot return it: as a cell's result in IPython, else as text.

    A verb that ends with the learner's error cannot return its result.
    """
    if running_shell():
        find_loaded_module("IPython").display.display(result)
    else:
        print(result)


def raise_after_verb(error: BaseException | None) -> None:
    """Have the verb under way raise this error again when it ends.

    Do nothing for None, or if no verb is under way.
    """
    if _UNDER_WAY and error is not None:
        _UNDER_WAY[-1].errors.append(error)


def note_interrupt(error: KeyboardInterrupt) -> None:
    """Have the verb under way show what it has recorded, and raise the interrupt after that.

    Raise the interrupt at once if no verb is under way, or if the verb is a check, which has
    nothing to show.
    """
    if not _UNDER_WAY or isinstance(error, _UNDER_WAY[-1].results):
        raise error
    raise_after_verb(error)


def is_interrupted() -> bool:
    """Return whether an interrupt has ended the learner's code in the verb under way."""
    if not _UNDER_WAY:
        return False
    errors = _UNDER_WAY[-1].errors
    return any(isinstance(error, KeyboardInterrupt) for error in errors)


class running_user_code:  # noqa: N801 (used like a function)
    """A `with` block that runs a learner's code. The verb under way raises its error again."""

    def __enter__(self) -> None:
        """Do nothing: only the end of the code counts."""

    def __exit__(self, kind, error, trace) -> None:
        """Note the error that ends the code. The code around the block gets the error, too."""
        raise_after_verb(error)


@contextmanager
def patched(owner, **names) -> Iterator[None]:
    """Give attributes of `owner` other values in a `with` block, and restore them after it.

    `names` is attribute -> value in the block. An attribute that `owner` inherits or lacks is
    removed from it after the block.
    """
    # `vars` gives the stored value. `getattr` would call a property, and bind a method.
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
