"""A callback, and functions to watch -> the hook, on for a `with` block and always off after it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType
from typing import NamedTuple

from ...safety.arguments import real_type_name
from . import building, slot


class FoundHook(NamedTuple):
    """Which of the two hooks works on this machine."""

    #: What switches it on and off, None where there is none.
    hook: object
    #: Its name, in words.
    name: str
    #: Why there is none, in one sentence.
    reason: str


@cache
def find_hook() -> FoundHook:
    """Return the first of the two hooks that works here, and why there is none."""
    try:
        return FoundHook(building.extension(), "the course's C extension", "")
    except building.NotBuilt as error:
        reason = str(error)
    try:
        building.refuse_python()
        from . import torch_callback

        return FoundHook(torch_callback.TorchHook(), "torch's own hook", "")
    except (ImportError, building.NotBuilt):
        return FoundHook(None, "", f"{reason}; torch's hook would work, but is not usable")


def available() -> str:
    """Return which hook this machine has, in words; empty where it has none."""
    return find_hook().name


def why_not() -> str:
    """Return in one sentence why there is no hook here; empty where there is one."""
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
        self._codes = None if only is None else _codes_of(only)

    def __enter__(self):
        """Switch the hook on. NotBuilt where there is none, RuntimeError where it is on already."""
        hook, _, reason = find_hook()
        if hook is None:
            raise building.NotBuilt(reason)
        if hook.is_on(self):
            raise RuntimeError("this hook is already active; make another one for another block")
        _be_a_frame()
        try:  # an interrupt comes before the hook is on, or here: never between this and the block
            hook.on(self, self._callback, self._codes, watching.__exit__.__code__)
            return self
        except BaseException:
            hook.off(self)
            raise

    def __exit__(self, kind, error, trace) -> None:
        """Switch the hook off, and raise what the callback raised."""
        # hook.c switches the hook off before the first line. Nothing here needs another frame of
        # Python, for which there might be no room.
        raised, _ = find_hook().hook.off(self)
        if raised is not None:
            if error is None:
                raise raised
            error.add_note(f"the hook's callback raised {type(raised).__name__} before: {raised}")


def _be_a_frame() -> None:
    """Be a frame, by which hook.c sees whether another evaluator calls ours."""


def replaced(function, replacement: Callable) -> watching:
    """Run `replacement(*arguments)` instead of every frame of `function`, in a `with` block.

    While the replacement runs they are evaluated, so it may call the function.
    """
    if not callable(replacement):
        kind = real_type_name(replacement)
        raise TypeError(f"the replacement must be callable, not {kind} object")
    is_running = False  # the replacement: `answer` leaves frames alone meanwhile

    def stand_in(*arguments):
        nonlocal is_running
        is_running = True
        try:
            return replacement(*arguments)
        finally:
            is_running = False

    def answer(code, arguments):
        return None if is_running else stand_in

    return watching(answer, only=[function])


def _codes_of(only) -> tuple[CodeType, ...]:
    """Return the code objects of a function, or of a list, tuple or set of functions or codes.

    TypeError or ValueError for anything else.
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
def guarded() -> Iterator[None]:
    """Check every frame against the C stack in a `with` block, with any evaluator.

    Under torch's evaluator, which does not, a deep recursion ends in a dead interpreter. torch may
    leave it on, so the one before is restored. Nothing is done where only torch's hook is there, or
    where torch's evaluator is on already: if ours came on top, each would go on to the other.
    """
    try:
        building.extension()
    except building.NotBuilt:
        yield
        return
    if slot.installed()[0].owner == "torch":
        yield
        return
    before = slot.address_installed()
    try:
        # `hook.c` looks at the C stack before each frame while it is on, whichever code it watches.
        # Which one it watches does not matter.
        with watching(_be_a_frame, only=[_be_a_frame]):
            yield
    finally:
        if slot.address_installed() != before:
            slot.install(before)
