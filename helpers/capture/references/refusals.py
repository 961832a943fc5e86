"""What must not be rebound -> one clear sentence, before anything has changed."""

import types

from helpers.capture.cpython.objects import is_immutable
from helpers.capture.references.paths import describe
from helpers.capture.references.places import Place
from helpers.capture.text.label import label
from helpers.safety.arguments import is_a, is_exactly, printable
from helpers.safety.original_builtins import BUILTINS, is_ours

__builtins__ = BUILTINS

_VALUES = (int, str, bytes, float, complex, tuple, frozenset, range, slice)
_ONE_OF_A_KIND = (type(None), type(...), type(NotImplemented))


def few(paths: list[str]) -> str:
    """Return up to three paths as words, and how many more there are."""
    rest = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(sorted(paths)[:3]) + rest


def matches(place: Place, patterns) -> bool:
    """Return whether a path of this place is one of `patterns`, or fits one."""
    return any(
        path == pattern or fits(path, pattern) for path in place.paths for pattern in patterns
    )


def fits(path: str, pattern: str) -> bool:
    """Return whether a path fits a pattern: `*` stands for anything, `?` for one character.

    `fnmatch` would do it, if a learner had not replaced what it calls.
    """
    at, wanted, star, tried = 0, 0, -1, 0
    while at < len(path):
        if wanted < len(pattern) and pattern[wanted] == "*":
            star, tried = wanted, at
            wanted += 1
        elif wanted < len(pattern) and pattern[wanted] in ("?", path[at]):
            at, wanted = at + 1, wanted + 1
        elif star >= 0:  # let the last star take one character more
            tried += 1
            at, wanted = tried, star + 1
        else:
            return False
    return not pattern[wanted:].strip("*")


def is_shared(thing) -> bool:
    """Return whether a value may be anybody's: the interpreter makes it once for all."""
    return is_exactly(thing, *_VALUES, *_ONE_OF_A_KIND, bool)


def refuse(old, new) -> None:
    """Raise ValueError or TypeError for an object or a replacement that must not be touched."""
    what = describe(old)
    if old is new:
        raise ValueError(f"{what} is to be replaced by itself; give a different object")
    if is_shared(old):
        raise ValueError(
            f"{what} is a value that the interpreter shares; to rebind it would rebind half "
            "the process"
        )
    if is_a(old, types.ModuleType):
        raise TypeError(f"{what} is a module; rebind the names inside it instead")
    if is_a(old, type) and is_immutable(old):
        raise TypeError(f"{what} is built in, and the interpreter itself relies on it")
    if is_a(old, types.FunctionType) and is_ours(old.__globals__):
        raise ValueError(f"{what} is a part of what puts everything back; give another function")
    if callable(old) and not callable(new):
        raise TypeError(f"{what} can be called, and {describe(new)} cannot; give a function")


def patterns(asked, name: str) -> tuple[str, ...]:
    """Return the paths or patterns of `keep` or `only`, given as one str or as several."""
    if type(asked) is str:
        return (asked,)
    several = tuple(asked) if is_exactly(asked, tuple, list, set, frozenset) else (None,)
    if any(type(one) is not str for one in several):
        raise TypeError(
            f"{name} is a path such as '__main__.op', or a list of such; this is {label(asked)}"
        )
    return several


def refuse_unknown(old, places, patterns) -> None:
    """Raise ValueError where nothing holds `old`, or where a pattern names none of its places."""
    if not places:
        raise ValueError(
            f"nothing that can be seen holds {describe(old)}; give an object with a name"
        )
    for pattern in patterns:
        if not any(matches(place, (pattern,)) for place in places):
            known = few([place.binding.path for place in places])
            raise ValueError(
                f"'{printable(pattern)}' names no place that holds it; there are {known}"
            )


def nothing_to_do(old, left) -> str:
    """Return the sentence for an object that is held only where nobody may write."""
    reasons = few([f"{row.path} ({row.reason})" for row in left])
    return f"no place that holds {describe(old)} can be rebound: {reasons}"
