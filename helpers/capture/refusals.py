"""What must not be rebound -> one clear sentence, before anything has changed."""

import types
from fnmatch import fnmatchcase

from helpers.capture.heap import is_a, is_immutable
from helpers.capture.owners import describe
from helpers.capture.places import Place

_VALUES = (int, str, bytes, float, complex, tuple, frozenset, range, slice)
_ONE_OF_A_KIND = (type(None), type(...), type(NotImplemented))


def few(paths: list[str]) -> str:
    """Return up to three paths as words, and how many more there are."""
    rest = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(sorted(paths)[:3]) + rest


def matches(place: Place, patterns) -> bool:
    """Return whether a path of this place is one of `patterns`, or fits one."""
    return any(
        path == pattern or fnmatchcase(path, pattern)
        for path in place.paths
        for pattern in patterns
    )


def refuse(old, new) -> None:
    """Raise ValueError or TypeError for an object or a replacement that must not be touched."""
    what = describe(old)
    if old is new:
        raise ValueError(f"{what} is to be replaced by itself; give a different object")
    if type(old) in _VALUES + _ONE_OF_A_KIND + (bool,):
        raise ValueError(
            f"{what} is a value that the interpreter shares; to rebind it would rebind half "
            "the process"
        )
    if is_a(old, types.ModuleType):
        raise TypeError(f"{what} is a module; rebind the names inside it instead")
    if is_a(old, type) and is_immutable(old):
        raise TypeError(f"{what} is built in, and the interpreter itself relies on it")
    if callable(old) and not callable(new):
        raise TypeError(f"{what} can be called, and {describe(new)} cannot; give a function")


def refuse_unknown(old, places, patterns) -> None:
    """Raise ValueError where nothing holds `old`, or where a pattern names none of its places."""
    if not places:
        raise ValueError(
            f"nothing that can be seen holds {describe(old)}; give an object with a name"
        )
    for pattern in patterns:
        if not any(matches(place, (pattern,)) for place in places):
            known = few([place.binding.path for place in places])
            raise ValueError(f"{pattern!r} names no place that holds it; there are {known}")


def nothing_to_do(old, left) -> str:
    """Return the sentence for an object that is held only where nobody may write."""
    reasons = few([f"{row.path} ({row.reason})" for row in left])
    return f"no place that holds {describe(old)} can be rebound: {reasons}"
