"""The kind of a graph's node -> what it is drawn as: shape, classes, the style of the picture."""

from collections.abc import Iterable

from helpers.view import ink

# What is no kind of `ink` is drawn as one that is, and set apart by its outline.
DRAWN_AS = {
    "holder": "object",
    "group": "object",
    "input": "tensor",
    "output": "tensor",
    "call": "op",
    "variable": "cell",
    "gone": "object",
    "new": "update",
    "altered": "update",
}
SET_APART = ("group", "gone", "new", "altered", "own", "found")


def shape(kind: str, width: float, height: float) -> str:
    """Return the outline of a box of this kind as an SVG path from 0, 0."""
    return ink.outline(ink.KINDS[_drawn_as(kind)].shape, 0, 0, width, height)


def classes(kind: str) -> str:
    """Return the CSS classes of a box: what it is drawn as, and what sets it apart."""
    apart = [word for word in kind.split() if word in SET_APART]
    return " ".join([_drawn_as(kind), *apart])


def style(kinds: Iterable[str]) -> str:
    """Return one rule for each kind in a picture."""
    used = sorted({_drawn_as(kind) for kind in kinds})
    return "".join(
        f".{name}{{fill:var(--who-{name}-fill);stroke:var(--who-{name})}}" for name in used
    )


def _drawn_as(kind: str) -> str:
    first = kind.partition(" ")[0]
    found = DRAWN_AS.get(first, first)
    return found if found in ink.KINDS else "object"
