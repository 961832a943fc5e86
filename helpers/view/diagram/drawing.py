"""Boxes and arrows of a graph, with their places -> an SVG, and a page with the same as text."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..images import embed_picture
from ..markup import render
from .box_kinds import draw_outline, draw_style, list_classes, render_kinds_legend

BOX_HEIGHT = 40  # pixels
MARGIN = 8  # pixels around a drawing
PLATE_HEIGHT = 17  # pixels: the ground of a label with one line


@dataclass(frozen=True)
class Rectangle:
    """Where a box, or a bend of an arrow, is in a picture, in pixels."""

    x: int
    """The left side."""
    y: int
    """The upper side."""
    width: int
    """Its width; 0 for most bends."""
    height: int = BOX_HEIGHT
    """Its height."""

    @property
    def centre_x(self) -> int:
        """The middle from left to right, where arrows that lead downwards meet it."""
        return self.x + self.width // 2

    @property
    def centre_y(self) -> int:
        """The middle from top to bottom, where arrows that lead to the right meet it."""
        return self.y + self.height // 2

    @property
    def right(self) -> int:
        """The right side."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """The lower side."""
        return self.y + self.height


@dataclass(frozen=True)
class Box:
    """A node as it is drawn."""

    rectangle: Rectangle
    """Its place."""
    label: str
    """Its name, cut to fit."""
    detail: str
    """A second line in smaller letters, cut to fit; empty for none."""
    kind: str
    """The kind of the node, and words that set it apart, such as `forward own found`."""
    baseline: int
    """The y on which the letters of the label stand."""
    tip: str = ""
    """The whole name and detail, where they are cut; shown when the mouse is over the box."""


@dataclass(frozen=True)
class Arrow:
    """An edge as it is drawn."""

    line: str
    """Its way as an SVG path in absolute numbers."""
    label: str
    """The label, cut to fit; empty for none."""
    label_x: int
    """The middle of its label, in pixels from the left."""
    label_y: int
    """The middle of its label, in pixels from the top."""
    plate_width: int
    """The width of the ground behind the label; 0 without a label."""
    plate_height: int = PLATE_HEIGHT
    """The height of the ground behind the label."""
    is_marked: bool = False
    """It stands out, because a tensor is read again in the backward half."""
    change: str = ""
    """`new` or `gone` in a picture of two graphs, else empty."""
    tip: str | None = None
    """Shown when the mouse is over the arrow; None in pictures whose arrows react to nothing."""
    is_crowded: bool = False
    """Its label covers something, wherever it stands."""


@dataclass(frozen=True)
class BodyFrame:
    """The line round a body, or round a caller with its bodies."""

    rectangle: Rectangle
    """Its place."""
    kind: str = ""
    """The kind of the caller; empty for a body."""
    title: str = ""
    """The name of the body; empty for a caller."""


@dataclass(frozen=True)
class Drawing:
    """Boxes and arrows that are placed, with the upper left corner at 0, 0."""

    width: int
    """Its width in pixels."""
    height: int
    """Its height in pixels."""
    boxes: tuple[Box, ...] = ()
    """Its boxes."""
    arrows: tuple[Arrow, ...] = ()
    """Its arrows, which are drawn below the boxes."""
    frames: tuple[BodyFrame, ...] = ()
    """Its frames, which are drawn below the arrows."""
    inner: tuple[tuple[int, int, "Drawing"], ...] = ()
    """Further drawings in it, each with the x and the y at which it stands."""


def measure_size(rectangles: Iterable[Rectangle], arrows: Iterable[Arrow] = ()) -> tuple[int, int]:
    """Return the width and the height that boxes, bends and labels need, with a margin."""
    right_sides = []
    bottoms = []
    for rectangle in rectangles:
        right_sides.append(rectangle.right)
        bottoms.append(rectangle.bottom)
    for arrow in arrows:
        right_sides.append(arrow.label_x + arrow.plate_width // 2)
    return max(right_sides) + MARGIN, max(bottoms) + MARGIN


def render_svg(title: str, drawing: Drawing, kinds: Iterable[str]) -> str:
    """Return a drawing as SVG text; `kinds` are those of its boxes, whose colours it needs."""
    return render(
        "diagram.svg",
        title=title,
        drawing=drawing,
        style=draw_style(kinds),
        outline=draw_outline,
        classes=list_classes,
        has_changes=any(arrow.change for arrow in drawing.arrows),
        has_tips=any(arrow.tip is not None for arrow in drawing.arrows),
    )


def render_picture_page(
    model, text: str, svg="", alt="", kinds: Iterable[str] = (), has_found=False
) -> str:
    """Return HTML: a picture under the model's title, its legend, and the same facts as text.

    `text` is the text form of the model. `alt` is what a screen reader says of the picture. `kinds`
    and `has_found` are those of `render_kinds_legend`. Without an `svg` there is only the text.
    """
    image = embed_picture(svg) if svg else {"image": ""}
    legend = render_kinds_legend(kinds, has_found)
    return render("diagram.html", model=model, body=text, alt=alt, legend=legend, **image)
