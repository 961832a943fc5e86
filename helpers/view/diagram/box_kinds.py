"""The kind of a node -> its colour and shape, and its words in a legend.
A kind may have several words, such as `forward own found`: the first is what the node is, the
others set it apart by their line. A kind that `ink`, the table of colours and shapes, does not
have is drawn as a kind that `ink` has.
"""

from collections.abc import Iterable

from markupsafe import Markup

from .. import ink
from ..shapes import draw_shape

DRAWN_AS = {
    "holder": "object",
    "group": "object",
    "entry": "object",
    "after": "object",
    "gone": "object",
    "leaf": "update",
    "new": "update",
    "altered": "update",
    "input": "tensor",
    "call": "op",
    "recompute": "forward",
    "type": "code",
    "site": "name",
    "variable": "cell",
}

# A legend calls these kinds so, and all others by the kind that they are drawn as.
LEGEND_WORDS = {
    "input": "input",
    "variable": "variable",
    "after": "after",
    "recompute": "recompute",
    "leaf": "adds to a leaf's .grad",
    "pass": "passes its input on",
    "type": "op type",
    "site": "call",
    "entry": "cache entry",
}

SET_APART = {"group", "gone", "new", "altered", "own", "found"}
FOUND = Markup('<p style="margin:2px 0 6px 0">▸ contains the text that you passed as find=</p>')


def find_ink_kind(kind: str) -> str:
    """Return the kind of `ink` that a node of this kind is drawn as."""
    first_word = kind.partition(" ")[0]
    ink_kind = DRAWN_AS.get(first_word, first_word)
    return ink_kind if ink_kind in ink.KINDS else "object"


def find_shape(kind: str) -> str:
    """Return the shape of a node of this kind."""
    return ink.KINDS[find_ink_kind(kind)].shape


def list_classes(kind: str) -> str:
    """Return the CSS classes of a box of this kind."""
    set_apart = [word for word in kind.split() if word in SET_APART]
    return " ".join([find_ink_kind(kind), *set_apart])


def draw_outline(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Return the outline of a box of this kind as an SVG path."""
    return draw_shape(find_shape(kind), x, y, width, height)


def draw_style(kinds: Iterable[str]) -> str:
    """Return the CSS rules that colour the boxes of these kinds."""
    rules = []
    for name in sorted({find_ink_kind(kind) for kind in kinds}):
        rules.append(f".{name}{{fill:var(--who-{name}-fill);stroke:var(--who-{name})}}")
    return "".join(rules)


def render_kinds_legend(kinds: Iterable[str], has_found: bool = False) -> Markup:
    """Return the legend of a picture whose nodes are of these kinds.

    A legend of a single kind is left out. A kind that is set apart, such as `gone`, needs no entry,
    because its box says what it is. `has_found` adds what the mark of a searched text means.
    """
    first_words = dict.fromkeys(kind.partition(" ")[0] for kind in kinds)
    kinds_to_explain = {find_ink_kind(word) for word in first_words if word not in SET_APART}

    ink_kinds_by_word = {}  # the words of the legend -> the kind of `ink` whose mark is beside them
    for word in first_words:
        ink_kind = find_ink_kind(word)
        if ink_kind in kinds_to_explain:
            legend_word = LEGEND_WORDS.get(word, ink_kind)
            ink_kinds_by_word[legend_word] = ink_kind

    legend = Markup("")
    if len(ink_kinds_by_word) > 1:
        legend += ink.render_legend(ink_kinds_by_word)
    if has_found:
        legend += FOUND
    return legend
