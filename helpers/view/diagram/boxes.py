"""A node -> its box, an edge -> its labelled arrow, and all of them -> the SVG of a picture."""

from collections.abc import Iterable
from dataclasses import dataclass

from helpers.model.graph import Edge, Node
from helpers.model.op_log import AGAIN
from helpers.view import row_limit
from helpers.view.diagram import kinds
from helpers.view.diagram.pixel_positions import BOX, Spot
from helpers.view.markup import one_line, render

LONGEST_SAID = 400  # characters of a label in the text form
LONGEST_LABEL = 52
CHARACTER, SMALL = 7.9, 7.0  # width of a letter at 13 and at 11.5 pixels


@dataclass(frozen=True)
class Piece:
    """A drawing from 0, 0: boxes, arrows, frames for the template; pieces in it at (x, y)."""

    width: int
    height: int
    boxes: tuple[dict, ...] = ()
    arrows: tuple[dict, ...] = ()
    frames: tuple[dict, ...] = ()
    inner: tuple[tuple[int, int, "Piece"], ...] = ()


def as_svg(title: str, piece: Piece, drawn: Iterable[str]) -> str:
    """Return a drawing as SVG text; `drawn`: the kinds of its boxes."""
    return render(
        "diagram.svg",
        title=title,
        piece=piece,
        box=BOX,
        style=kinds.style(drawn),
        shape=kinds.shape,
        classes=kinds.classes,
    )


def box_width(node: Node) -> int:
    """Return how wide the box of a node is, in pixels."""
    wide = max(len(short(node.label)) * CHARACTER, len(short(node.detail)) * SMALL)
    return round(max(wide, 24) + 24) + kinds.room(node.kind)


def short(words: str, most: int = LONGEST_LABEL) -> str:
    """Return words cut in the middle, where a dotted path says least."""
    words = one_line(words)
    half = (most - 1) // 2
    return words if len(words) <= most else f"{words[:half]}…{words[-half:]}"


def box(node: Node, spot: Spot, found: bool) -> dict:
    """Return a box for the template, at this spot."""
    label, detail = short(node.label), short(node.detail)
    whole = (label, detail) == (one_line(node.label), one_line(node.detail))
    return {
        "kind": f"{node.kind} found" if found else node.kind,
        "tip": "" if whole else named(node),
        "spot": spot,
        "centre": spot.x + spot.width // 2,
        "label": f"▸ {label}" if found else label,
        "detail": detail,
        "base": spot.y + (17 if node.detail else 25),
    }


def named(node: Node) -> str:
    """Return what the text form calls a node."""
    return said(f"{node.label} ({node.detail})" if node.detail else node.label)


def said(words: str) -> str:
    """Return words as the text form says them: in one line, and not too long."""
    return row_limit.cut(one_line(words), LONGEST_SAID)


def labelled(edge: Edge, line: str, x: int, y: int) -> dict:
    """Return an arrow for the template, with the place of its label."""
    plate, marked = plate_width(edge.label), AGAIN in edge.label
    label = short(edge.label)
    return {"line": line, "label": label, "x": x, "y": y, "plate": plate, "marked": marked}


def one_per_pair(edges) -> tuple[Edge, ...]:
    """Return one arrow per pair of boxes, with the labels of all that lead the same way."""
    labels = {}
    for edge in edges:
        labels.setdefault((edge.source, edge.target), []).append(edge.label)
    return tuple(Edge(*ends, _together(words)) for ends, words in labels.items())


def _together(labels: list[str]) -> str:
    """Return labels as one: more than fit are cut by the picture, which cuts in the middle."""
    words = [label for label in labels if label]
    if len(words) > 2 * LONGEST_LABEL:
        words = [*words[:LONGEST_LABEL], *words[-LONGEST_LABEL:]]
    return ", ".join(words)


def plate_width(label: str) -> int:
    """Return how wide the ground of a label is, in pixels; of none it is 0."""
    return round(len(short(label)) * SMALL + 8) if label else 0
