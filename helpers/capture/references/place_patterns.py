"""Select places by patterns of their dotted paths, such as `app.*`, for the arguments `keep` and
`only` of `rebind_everywhere`. A place is one reference to the object that is replaced, such as the
global name `app.op`.
"""

from fnmatch import fnmatchcase

from ...model.phrase import format_names
from ...safety.arguments import is_exactly, printable
from ..text.value import format_label
from .places import Place

MOST_NAMED = 3  # places that an error names
# Why a place is left alone.
KEPT = "kept on request"
NOT_SELECTED = "not selected"


def require_patterns(value: object, argument: str) -> tuple[str, ...]:
    """Return the value of `keep` or `only` as a tuple of patterns; TypeError for a wrong value.

    The value is one str, or a tuple, list or set of str. `argument` is the name of the argument,
    for the error.
    """
    patterns = (value,) if type(value) is str else value
    is_collection = is_exactly(patterns, tuple, list, set)
    if is_collection and all(type(pattern) is str for pattern in patterns):
        return tuple(patterns)
    needed = f"{argument} must be a path such as '__main__.op', or a list of paths"
    raise TypeError(f"{needed}; this is {format_label(value)}")


def require_matches(patterns: tuple[str, ...], places: tuple[Place, ...]) -> None:
    """Raise ValueError for a pattern that matches none of the places, because it is a mistake."""
    for pattern in patterns:
        if any(_is_selected(place, (pattern,)) for place in places):
            continue
        paths = format_names(sorted(place.binding.path for place in places), MOST_NAMED)
        raise ValueError(
            f"'{printable(pattern)}' matches no place that holds it; there are {paths}"
        )


def _is_selected(place: Place, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns is a path of the place, or matches one."""
    for path in place.paths:
        for pattern in patterns:
            # A path may contain brackets, as in `items[0]`. `fnmatch` would read them as a set of
            # characters, so each `[` is escaped as `[[]`.
            if path == pattern or fnmatchcase(path, pattern.replace("[", "[[]")):
                return True
    return False


def find_choice_reason(place: Place, keep: tuple[str, ...], only: tuple[str, ...]) -> str:
    """Return why `keep` or `only` leaves a place alone; "" if the place is to be rebound.

    An empty `only` selects all places. `keep` wins over `only`.
    """
    if _is_selected(place, keep):
        return KEPT
    if only and not _is_selected(place, only):
        return NOT_SELECTED
    return ""
