"""One thing that a verb leaves as it found it: `Kept`, and how two readings of it are compared."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

from helpers.safety.original_builtins import BUILTINS
from helpers.safety.output import still_open

__builtins__ = BUILTINS  # those of the interpreter may be patched when this runs


def is_same(now, before) -> bool:
    """Compare two readings that are one object as long as nobody put another there."""
    return now is before


def is_equal(now, before) -> bool:
    """Compare two readings of plain values."""
    return now == before


def is_as_set(now, before) -> bool:
    """Compare two readings of a setting, of a framework that may have come meanwhile."""
    return before is None or now == before


def each_is(now, before) -> bool:
    """Compare two sequences object by object; `==` could run a learner's code."""
    return len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=True))


def items_are(now: dict, before: dict) -> bool:
    """Compare two dicts object by object."""
    return now.keys() == before.keys() and all(now[name] is before[name] for name in before)


@dataclass(frozen=True)
class Kept:
    """One thing that stays: how it is read, how it is put back, when two readings are the same.

    `told`: whoever changed it is told that it is put back.
    """

    name: str
    read: Callable
    put: Callable
    same: Callable = is_same
    told: bool = False


def attribute(owner, name: str) -> Kept:
    """Return an attribute of an object; None where there is none."""
    label = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
    return Kept(label, lambda: getattr(owner, name, None), lambda old: setattr(owner, name, old))


def stream(name: str) -> Kept:
    """Return one of sys's streams; never put back is one that another verb, now over, put there."""
    return Kept(
        f"sys.{name}",
        lambda: getattr(sys, name, None),
        lambda old: setattr(sys, name, still_open(old)),
        lambda now, old: now is still_open(old),
    )
