"""Graphs as pictures: place -> route -> label. Here: a node -> its box; a drawing -> an SVG.

What has no kind of `ink` is drawn as one that has, and set apart by its outline.
"""

from collections import namedtuple
from collections.abc import Iterable
from functools import lru_cache

from markupsafe import Markup

from ...model.framework_records import AGAIN
from ...model.graphs import Edge, Node
from .. import ink
from ..ink import LETTER, SMALL, drawn_width
from ..markup import cut, one_line, render

BOX, MARGIN = 40, 8  # pixels
LONGEST_SAID = 400  # characters of a label in the text form
LONGEST_LABEL = 52
DRAWN_AS = dict.fromkeys(("holder", "group", "entry", "after", "gone"), "object")
DRAWN_AS |= dict.fromkeys(("leaf", "new", "altered"), "update")
DRAWN_AS |= {
    "input": "tensor",
    "call": "op",
    "recompute": "forward",
    "type": "code",
    "site": "name",
    "variable": "cell",
}
# A legend says these kinds in these words, not in those of what they are drawn as.
WORDS = {name: name for name in ("input", "variable", "after", "recompute")}
WORDS |= {"leaf": "adds to a leaf's .grad", "pass": "passes its input on"}
WORDS |= {"type": "op type", "site": "call", "entry": "cache entry"}
SET_APART = {"group", "gone", "new", "altered", "own", "found"}
FOUND = Markup('<p style="margin:2px 0 6px 0">▸ contains the text that you passed as find=</p>')
# how many pixels the sides of a shape take from the words in it
SIDES = {"pill": 14, "round ends": 10, "hexagon": 10, "slanted box": 8, "tag": 6}
SIDES["double slanted box"] = 14


class Spot(namedtuple("Spot", "x y width height", defaults=(BOX,))):
    """The place of a box or a bend in pixels; arrows meet it at `middle`, downwards at `centre`."""

    middle = property(lambda self: self.y + self.height // 2)
    centre = property(lambda self: self.x + self.width // 2)
    bottom = property(lambda self: self.y + self.height)
    right = property(lambda self: self.x + self.width)


def far_ends(spots: Iterable[Spot], arrows: Iterable[dict] = ()) -> tuple[int, int]:
    """Return how far boxes, bends and labels reach to the right and down, with a margin."""
    right, bottom = zip(*((spot.right, spot.bottom) for spot in spots), strict=True)
    labels = (arrow["x"] + arrow["plate"] // 2 for arrow in arrows)
    return max([*right, *labels]) + MARGIN, max(bottom) + MARGIN


# A drawing from 0, 0: boxes, arrows, frames for the template; `inner`: pieces in it, as (x, y, it).
Piece = namedtuple(
    "Piece", ["width", "height", "boxes", "arrows", "frames", "inner"], defaults=[()] * 4
)


def as_svg(title: str, piece: Piece, kinds: Iterable[str]) -> str:
    """Return a drawing as SVG text; `kinds`: those of its boxes."""
    used = sorted({drawn_as(kind) for kind in kinds})
    style = (f".{name}{{fill:var(--who-{name}-fill);stroke:var(--who-{name})}}" for name in used)
    values = {"title": title, "piece": piece, "style": "".join(style), "outline": outline}
    values["fates"] = any(arrow["fate"] for arrow in piece.arrows)
    values["classes"] = lambda kind: " ".join([drawn_as(kind), *(SET_APART & set(kind.split()))])
    return render("diagram.svg", **values)


def page(model, body: str, svg="", alt="", kinds: Iterable[str] = (), found=False) -> str:
    """Return a picture under the model's title, with its legend, and the same as text."""
    image = ink.pictured(svg) if svg else {"image": ""}
    told = {"model": model, "body": body, "alt": alt, "legend": legend(kinds, found)}
    return render("diagram.html", **told, **image)


def drawn_as(kind: str) -> str:
    """Return the kind of `ink` that a node of this kind is drawn as."""
    first = kind.partition(" ")[0]
    found = DRAWN_AS.get(first, first)
    return found if found in ink.KINDS else "object"


def outline(kind: str, x: float, y: float, width: float, height: float) -> str:
    """Return the outline of a box of this kind as an SVG path."""
    return ink.outline(ink.KINDS[drawn_as(kind)].shape, x, y, width, height)


def legend(kinds: Iterable[str], found: bool = False) -> Markup:
    """Return the legend, if there are several kinds; what says itself that it is new is in none."""
    own = dict.fromkeys(kind.partition(" ")[0] for kind in kinds)
    told = {drawn_as(kind) for kind in own if kind not in SET_APART}
    shown = {WORDS.get(kind, drawn_as(kind)): drawn_as(kind) for kind in own}
    shown = {word: kind for word, kind in shown.items() if kind in told}
    return (ink.legend(shown) if len(shown) > 1 else Markup("")) + FOUND * found


@lru_cache(maxsize=4_000)  # pictures of a run say the same words at most steps
def short(words: str, most: int = LONGEST_LABEL) -> str:
    """Return words cut in the middle, where a dotted path says least."""
    words = one_line(words)
    half = (most - 1) // 2
    return words if len(words) <= most else f"{words[:half]}…{words[-half:]}"


def said(words: str) -> str:
    """Return words as the text form says them: in one line, and not too long."""
    return cut(one_line(words), LONGEST_SAID)


def named(node: Node) -> str:
    """Return what the text form calls a node."""
    return said(f"{node.label} ({node.detail})" if node.detail else node.label)


def box_width(node: Node, longest: int = LONGEST_LABEL) -> int:
    """Return how wide the box of a node is, in pixels."""
    label, detail = short(node.label, longest), short(node.detail, longest)
    wide = max(drawn_width(label, LETTER), drawn_width(detail, SMALL), 24)
    return wide + 24 + SIDES.get(ink.KINDS[drawn_as(node.kind)].shape, 0)


def plate_width(label: str) -> int:
    """Return how wide the ground of a label is, in pixels; of none it is 0."""
    return drawn_width(short(label), SMALL) + 8 if label else 0


def box(node: Node, spot: Spot, found: bool = False, longest: int = LONGEST_LABEL) -> dict:
    """Return a box for the template, at this spot."""
    label, detail = short(node.label, longest), short(node.detail, longest)
    whole = (label, detail) == (one_line(node.label), one_line(node.detail))
    drawn = {"spot": spot, "detail": detail, "base": spot.y + (17 if node.detail else 25)}
    drawn |= {"tip": "" if whole else named(node), "label": f"▸ {label}" if found else label}
    return drawn | {"kind": f"{node.kind} found" if found else node.kind}


def labelled(label: str, line: str, x: int, y: int) -> dict:
    """Return an arrow for the template, with the place of its label."""
    plate, marked = plate_width(label), AGAIN in label
    arrow = {"line": line, "label": short(label), "x": x, "y": y, "plate": plate}
    return arrow | {"marked": marked, "fate": ""}


def one_per_pair(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Return one arrow per pair of boxes, with the labels of all that lead the same way."""
    labels = {}
    for edge in edges:
        labels.setdefault((edge.source, edge.target), []).append(edge.label)
    return tuple(
        Edge(*ends, ", ".join([word for word in words if word][: 2 * LONGEST_LABEL]))
        for ends, words in labels.items()
    )
