"""Paths and patterns of paths (`keep` and `only`) -> which places of an object they select."""

from fnmatch import fnmatchcase

from ...model.phrase import format_names
from ...safety.arguments import is_exactly, printable
from ..text.value import format_label
from .places import Place

MOST_NAMED = 3  # places that an error names


def require_patterns(value: object, argument: str) -> tuple[str, ...]:
    """Return `keep` or `only` as a tuple of paths or patterns; it may be one str, or several.

    `argument` is which of the two it is, for the TypeError.
    """
    patterns = (value,) if type(value) is str else value
    is_collection = is_exactly(patterns, tuple, list, set)
    if is_collection and all(type(pattern) is str for pattern in patterns):
        return tuple(patterns)
    needed = f"{argument} must be a path such as '__main__.op', or a list of paths"
    raise TypeError(f"{needed}; this is {format_label(value)}")


def require_matches(patterns: tuple[str, ...], places: tuple[Place, ...]) -> None:
    """Raise ValueError for a pattern that matches none of the places."""
    for pattern in patterns:
        if any(_is_selected(place, (pattern,)) for place in places):
            continue
        paths = format_names(sorted(place.binding.path for place in places), MOST_NAMED)
        raise ValueError(
            f"'{printable(pattern)}' matches no place that holds it; there are {paths}"
        )


def _is_selected(place: Place, patterns: tuple[str, ...]) -> bool:
    """Return whether one of the patterns is, or matches, a path of the place."""
    for path in place.paths:
        for pattern in patterns:
            # A path contains brackets, which mean themselves, as in `items[0]`.
            if path == pattern or fnmatchcase(path, pattern.replace("[", "[[]")):
                return True
    return False


def find_choice_reason(place: Place, keep: tuple[str, ...], only: tuple[str, ...]) -> str:
    """Return why `keep` and `only` leave a place alone; "" if they do not."""
    if _is_selected(place, keep):
        return "kept on request"
    if only and not _is_selected(place, only):
        return "not selected"
    return ""
