"""Names that have another value, and things that are to be undone, for a `with` block.

`patched`, `patch`, `undone`; `PATCHES` holds what is under way, for the verb that puts all of it
back.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from helpers.safety.interrupts import uninterrupted
from helpers.safety.original_builtins import BUILTINS

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs

PATCHES: list["_Patch | _Undo"] = []
_MISSING = object()


def tell(words: str) -> None:
    """Warn; a learner's filter may make an error of it, which must not stop what is under way."""
    with suppress(Exception):
        warnings.warn(words, RuntimeWarning, stacklevel=4)


def patch(owner, name: str, value: object) -> None:
    """Give an attribute another value, until the block or the verb that this stands in ends."""
    PATCHES.append(_Patch(owner, name, vars(owner).get(name, _MISSING)))
    setattr(owner, name, value)


@contextmanager
def patched(owner, **names) -> Iterator[None]:
    """Give attributes of `owner` other values in a `with` block, and the old ones back after it.

    Whatever cuts the block in two, the verb that it stands in gives them back (interpreter_state).
    """
    mark = len(PATCHES)
    try:
        with uninterrupted():
            for name, value in names.items():
                patch(owner, name, value)
        yield
    finally:
        with uninterrupted():
            while len(PATCHES) > mark:
                PATCHES[-1].undo()


@contextmanager
def undone(undo: Callable[[], None]) -> Iterator[None]:
    """Call `undo` when a `with` block has ended; Ctrl-C waits meanwhile.

    If the block's own end is cut off, the verb that it stands in calls it (interpreter_state).
    """
    mark = len(PATCHES)
    try:
        PATCHES.append(_Undo(undo))
        yield
    finally:
        with uninterrupted():
            while len(PATCHES) > mark:
                PATCHES[-1].undo()


class _Undo:
    """Something that is to be called once, whoever comes first to call it."""

    __slots__ = ("_do",)

    def __init__(self, do: Callable[[], None]):
        self._do = do

    def undo(self) -> None:
        """Call it, and forget about it."""
        PATCHES.remove(self)
        try:
            self._do()
        except Exception as error:  # the others still have to be undone
            tell(f"something could not be undone: {error}")


@dataclass(frozen=True, eq=False)  # never compared by value: `==` could run a learner's code
class _Patch:
    owner: object
    name: str
    value: object

    def undo(self) -> None:
        """Give the attribute its old value back, and forget about it."""
        if self.value is _MISSING:
            if self.name in vars(self.owner):
                delattr(self.owner, self.name)
        else:
            setattr(self.owner, self.name, self.value)
        PATCHES.remove(self)
