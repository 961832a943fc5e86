"""The kind of a graph's node -> what it is drawn as: shape, classes, the style of the picture."""

from collections.abc import Iterable

from markupsafe import Markup

from helpers.view import ink

# What is no kind of `ink` is drawn as one that is, and set apart by its outline.
DRAWN_AS = {
    "holder": "object",
    "group": "object",
    "input": "tensor",
    "call": "op",
    "type": "code",
    "site": "name",
    "entry": "object",
    "leaf": "update",
    "variable": "cell",
    "after": "object",
    "gone": "object",
    "new": "update",
    "altered": "update",
}
# A legend says these kinds in these words, not in those of what they are drawn as.
WORDS = {
    "input": "input",
    "leaf": "adds to a leaf's .grad",
    "variable": "variable",
    "after": "after",
    "pass": "passes its input on",
    "type": "op type",
    "site": "call",
    "entry": "cache entry",
}
FOUND = "▸ what find= asked for"
SIDES = {
    "pill": 14,
    "round ends": 10,
    "hexagon": 10,
    "slanted box": 8,
    "double slanted box": 14,
    "tag": 6,
}
SET_APART = ("group", "gone", "new", "altered", "own", "found")


def room(kind: str) -> int:
    """Return how many pixels the sides of a shape take from the words in it."""
    return SIDES.get(ink.KINDS[drawn_as(kind)].shape, 0)


def shape(kind: str, width: float, height: float) -> str:
    """Return the outline of a box of this kind as an SVG path from 0, 0."""
    return ink.outline(ink.KINDS[drawn_as(kind)].shape, 0, 0, width, height)


def classes(kind: str) -> str:
    """Return the CSS classes of a box: what it is drawn as, and what sets it apart."""
    apart = [word for word in kind.split() if word in SET_APART]
    return " ".join([drawn_as(kind), *apart])


def style(kinds: Iterable[str]) -> str:
    """Return one rule for each kind in a picture."""
    used = sorted({drawn_as(kind) for kind in kinds})
    return "".join(
        f".{name}{{fill:var(--who-{name}-fill);stroke:var(--who-{name})}}" for name in used
    )


def legend(kinds: Iterable[str], found: bool = False) -> Markup:
    """Return the legend of a picture with these kinds; nothing where all are of one kind.

    What is gone, new or changed says so in its box, and stands in no legend. `found`: some boxes
    are what a search points out.
    """
    own = dict.fromkeys(kind.partition(" ")[0] for kind in kinds)
    shown = {WORDS.get(kind, drawn_as(kind)): drawn_as(kind) for kind in own}
    told = {word: kind for word, kind in shown.items() if not _says_so(kind, own)}
    said = ink.legend(told) if len(told) > 1 else Markup("")
    return said + Markup('<p style="margin:2px 0 6px 0">{}</p>').format(FOUND) * found


def _says_so(drawn: str, own) -> bool:
    """Say whether all that is drawn so is set apart by a word in its box."""
    return all(kind in SET_APART for kind in own if drawn_as(kind) == drawn)


def drawn_as(kind: str) -> str:
    """Return the kind of `ink` that a node of this kind is drawn as."""
    first = kind.partition(" ")[0]
    found = DRAWN_AS.get(first, first)
    return found if found in ink.KINDS else "object"
