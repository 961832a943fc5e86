"""A kind of box and its place -> how it is drawn: the ink of its kind, and its outline."""

from helpers.view import ink
from helpers.view.diagram.positions import BOX, Spot

# What a capture calls a thing -> the kind of thing that it is.
INKS = {
    "input": "tensor",
    "output": "tensor",
    "variable": "cell",
    "call": "op",
    "holder": "object",
    "group": "object",
}


def drawn(kind: str, spot: Spot) -> dict:
    """Return what the template asks of a box: ink and outline, and the class words of its state."""
    words = kind.split()
    word = next((w for w in (INKS.get(w, w) for w in words) if w in ink.KINDS), "object")
    shape = ink.KINDS[word].shape
    outline = "" if kind == "heading" else ink.outline(shape, spot.x, spot.y, spot.width, BOX)
    header = 3 * (shape == "window")  # words stand below it
    return {"ink": word, "kind": kind, "outline": outline, "top": spot.y + header, "spot": spot}
