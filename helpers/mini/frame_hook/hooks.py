"""Switches a frame hook on for a `with` block, and always off after it. A frame hook calls a Python
*callback* before CPython evaluates a frame. There are two: the course's C extension, and torch's
own hook for machines that cannot build the extension.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType
from typing import NamedTuple

from ...safety.arguments import real_type_name
from . import building, slot


class FoundHook(NamedTuple):
    """The frame hook that works on this machine, if any."""

    #: The object with `on`, `off` and `is_on`; None if there is no hook.
    hook: object
    #: Its name for the reader, "" if there is no hook.
    name: str
    #: Why there is no hook, in one sentence; "" if there is one.
    reason: str


@cache
def find_hook() -> FoundHook:
    """Return the course's extension if it can be built here, else torch's hook, else the reason."""
    try:
        return FoundHook(building.extension(), "the course's C extension", "")
    except building.NotBuilt as error:
        reason = str(error)
    try:
        building.refuse_python()  # torch's hook, too, needs a version of Python that is known here
        from . import torch_callback

        return FoundHook(torch_callback.TorchHook(), "torch's own hook", "")
    except (ImportError, building.NotBuilt):
        return FoundHook(None, "", f"{reason}; torch's hook would work, but is not usable")


def available() -> str:
    """Return the name of the hook that this machine has; "" if it has none."""
    return find_hook().name


def why_not() -> str:
    """Return in one sentence why there is no hook here; "" if there is one."""
    return find_hook().reason


class watching:  # noqa: N801 (used like a function, as contextlib names its own)
    """Ask `callback(code, arguments)` before each frame of this thread, in a `with` block.

    `arguments` are the values of the frame's parameters, as a tuple, in the order of
    `code.co_varnames`. The callback returns None (evaluate the frame), a code object of the same
    layout (evaluate that instead) or a callable (its result for these arguments is the frame's).
    `only`: a function, a method or a code object, or a list, tuple or set of them; without it
    every frame is passed on, except the callback's own, and where the stack is nearly full.

    What the callback raises is raised when the block ends (if the block itself raises, it is added
    to that as a note), and the callback is asked no more. Of two blocks, one in the other, the
    inner callback is asked first; its first answer counts.
    """

    def __init__(self, callback: Callable, only=None):
        """Check the arguments; TypeError or ValueError says what is wrong with one."""
        if not callable(callback):
            raise TypeError(f"the callback must be callable, not {real_type_name(callback)} object")
        self._callback = callback
        self._codes = None if only is None else _list_codes(only)

    def __enter__(self):
        """Switch the hook on. NotBuilt where there is none, RuntimeError where it is on already."""
        hook, _, reason = find_hook()
        if hook is None:
            raise building.NotBuilt(reason)
        if hook.is_on(self):
            raise RuntimeError("this hook is already active; make another one for another block")
        _enter_one_frame()
        # KeyboardInterrupt may come at any time. Inside this `try` it switches the hook off again;
        # the interpreter checks for it no more between the `return` and the block.
        try:
            hook.on(self, self._callback, self._codes, watching.__exit__.__code__)
            return self
        except BaseException:
            hook.off(self)
            raise

    def __exit__(self, kind, error, trace) -> None:
        """Switch the hook off, and raise what the callback raised."""
        # hook.c has already switched the hook off when this frame began. The code here calls no
        # Python function, because the stack may be too full for another frame.
        callback_error, _ = find_hook().hook.off(self)
        if callback_error is not None:
            if error is None:
                raise callback_error
            kind = type(callback_error).__name__
            error.add_note(f"the hook's callback raised {kind} before: {callback_error}")


def _enter_one_frame() -> None:
    """Do nothing. By the frame of this call, hook.c sees if another evaluator calls its own."""


def replaced(function, replacement: Callable) -> watching:
    """Run `replacement(*arguments)` instead of every frame of `function`, in a `with` block.

    While the replacement runs, frames of `function` are evaluated as usual. So the replacement may
    call the function.
    """
    if not callable(replacement):
        kind = real_type_name(replacement)
        raise TypeError(f"the replacement must be callable, not {kind} object")
    is_running = False  # whether the replacement is running

    def run_replacement(*arguments):
        nonlocal is_running
        is_running = True
        try:
            return replacement(*arguments)
        finally:
            is_running = False

    def find_replacement(code, arguments):
        # The callback's answer: None evaluates the frame, a function is called instead of it.
        return None if is_running else run_replacement

    return watching(find_replacement, only=[function])


def _list_codes(only) -> tuple[CodeType, ...]:
    """Return the code objects that the argument `only` of `watching` means.

    `only` is a function, a method or a code object, or a list, tuple or set of them. TypeError or
    ValueError for anything else.
    """
    functions = only if isinstance(only, (list, tuple, set, frozenset)) else [only]
    if not functions:
        raise ValueError("only is empty, so nothing would be watched; leave it out to watch all")
    codes = tuple(getattr(function, "__code__", function) for function in functions)
    for code in codes:
        if not isinstance(code, CodeType):
            kind = real_type_name(code)
            raise TypeError(
                f"only functions of Python and code objects have frames, not {kind} object"
            )
    return codes


@contextmanager
def check_c_stack() -> Iterator[None]:
    """Before each frame in a `with` block, check that the C stack has room for it.

    torch's evaluator does not check that, and a deep recursion under it ends the interpreter. torch
    may leave its evaluator on after an error, so the previous evaluator is restored.

    Nothing is done if the course's extension cannot be built, because torch's hook has no such
    check, or if torch's evaluator is on already. If the course's evaluator came on top of it, the
    two would call each other without end.
    """
    try:
        building.extension()
    except building.NotBuilt:
        yield
        return
    if slot.installed()[0].owner == "torch":
        yield
        return
    previous_address = slot.address_installed()
    try:
        # While hook.c is on, it checks the C stack before each frame, whichever code it watches. So
        # it watches a function that nobody calls.
        with watching(_enter_one_frame, only=[_enter_one_frame]):
            yield
    finally:
        if slot.address_installed() != previous_address:
            slot.install(previous_address)
