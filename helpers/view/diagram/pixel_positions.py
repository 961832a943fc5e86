"""A layout -> the places of boxes and the lines of arrows, for a picture that leads downwards.

A deep graph is read like a page: a layer is a row of boxes, and the page scrolls as pages do.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from helpers.view.diagram.layered_layout import Layout
from helpers.view.diagram.straightening import straightened

BOX, MARGIN = 40, 8  # pixels
STEP = 92  # from row to row
HEAD = 25  # of an arrow: its length, and half a label beside it


@dataclass(frozen=True)
class Spot:
    """The place of a box or a bend: its left, top, width and height in pixels."""

    x: int
    y: int
    width: int
    height: int = BOX

    @property
    def middle(self) -> int:
        """The height at which arrows leave and arrive."""
        return self.y + self.height // 2

    @property
    def centre(self) -> int:
        """The same for arrows that lead downwards."""
        return self.x + self.width // 2

    @property
    def bottom(self) -> int:
        """The lower edge."""
        return self.y + self.height

    @property
    def right(self) -> int:
        """The right edge."""
        return self.x + self.width


def places_down(layout: Layout, widths: dict[str, int]) -> Callable[..., dict[object, Spot]]:
    """Return what gives a spot per key of the layout; `widths`: pixels per box, a bend has none."""
    rows = [sorted(layer, key=layout.rows.get) for layer in layout.layers]
    return partial(_spots, rows, straightened(rows, layout.paths, widths), widths)


def _spots(rows, centres, widths, step: int = STEP, more=None, heights=None) -> dict[object, Spot]:
    """Return the spots.

    `step`: from the top of a row to that of the next, plus what its highest box is higher than
    others (`heights`, pixels per key), plus `more`, pixels per number of a row; what passes by a
    high box is as high.
    """
    heights, more, spots, top = heights or {}, more or {}, {}, MARGIN
    for number, row in enumerate(rows):
        high = max(heights.get(key, BOX) for key in row)
        for key in row:
            width = widths.get(key, 0)
            own = heights.get(key, BOX) if width else high
            spots[key] = Spot(round(centres[key] - width / 2), top, width, own)
        top += step + high - BOX + more.get(number, 0)
    shift = MARGIN - min(spot.x for spot in spots.values())
    return {key: replace(spot, x=spot.x + shift) for key, spot in spots.items()}


def arrow_down(spots: list[Spot], fan: bool, plate: int = 0) -> tuple[str, int, int]:
    """Return the line through these spots from top to bottom, and the place of its label."""
    start, end = spots[0], spots[-1]
    line = f"M{start.centre} {start.bottom}"
    for before, after in zip(spots, spots[1:], strict=False):
        half = (before.bottom + after.y) // 2
        tip = after.y - 4 if after is end else after.y
        line += f" C{before.centre} {half},{after.centre} {half},{after.centre} {tip}"
        line += "" if after is end else f" V{after.bottom}"
    return line, *_label_place(start, spots[1], 2 if fan else 1)  # a fan lies apart near its end


def _label_place(start: Spot, end: Spot, thirds: int) -> tuple[int, int]:
    """Return the point so many thirds of the way down, or higher: no label covers a head."""
    down = end.y - start.bottom
    part = min(thirds / 3, max(down - HEAD, 0) / max(down, 1))
    return start.centre + round(part * (end.centre - start.centre)), start.bottom + round(
        part * down
    )
