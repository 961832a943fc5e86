"""A callback, and functions to watch -> the hook, on for a `with` block and always off after it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType

from ...safety.arguments import real_type_name
from . import building, slot


@cache
def _open_door():
    """Return the first of the two doors that works here, its name, and why there is none."""
    try:
        return building.extension(), "the course's C extension", ""
    except building.NotBuilt as error:
        because = str(error)
    try:
        building.refuse_python()
        from . import torch_callback

        return torch_callback.Door(), "torch's own hook", ""
    except (ImportError, building.NotBuilt):
        return None, "", f"{because}; torch's hook would work, but is not usable"


def available() -> str:
    """Return which hook this machine has, in words; empty where it has none."""
    return _open_door()[1]


def why_not() -> str:
    """Return in one sentence why there is no hook here; empty where there is one."""
    return _open_door()[2]


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
        if not callable(callback):
            raise TypeError(f"the callback must be callable, not {real_type_name(callback)} object")
        self._callback = callback
        self._codes = None if only is None else _codes_of(only)

    def __enter__(self):
        door, _, because = _open_door()
        if door is None:
            raise building.NotBuilt(because)
        if door.is_on(self):
            raise RuntimeError("this hook is already active; make another one for another block")
        _be_a_frame()
        try:  # an interrupt comes before the hook is on, or here: never between this and the block
            door.on(self, self._callback, self._codes, watching.__exit__.__code__)
            return self
        except BaseException:
            door.off(self)
            raise

    def __exit__(self, kind, error, trace) -> None:
        # hook.c switches the hook off before the first line. Nothing here needs another frame of
        # Python, for which there might be no room.
        raised, _ = _open_door()[0].off(self)
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
        given = real_type_name(replacement)
        raise TypeError(f"the replacement must be callable, not {given} object")
    inside = False

    def stand_in(*arguments):
        nonlocal inside
        inside = True
        try:
            return replacement(*arguments)
        finally:
            inside = False

    return watching(lambda code, arguments: None if inside else stand_in, only=[function])


def _codes_of(only) -> tuple[CodeType, ...]:
    things = only if isinstance(only, (list, tuple, set, frozenset)) else [only]
    if not things:
        raise ValueError("only is empty, so nothing would be watched; leave it out to watch all")
    codes = tuple(getattr(thing, "__code__", thing) for thing in things)
    for code in codes:
        if not isinstance(code, CodeType):
            given = f"not {real_type_name(code)} object"
            raise TypeError(f"only functions of Python and code objects have frames, {given}")
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
        with watching(_be_a_frame, only=[_be_a_frame]):
            yield
    finally:
        if slot.address_installed() != before:
            slot.install(before)
