"""A layout -> the places of boxes and the lines of arrows, for a picture that leads downwards.

A deep graph is read like a page: a layer is a row of boxes, and the page scrolls as pages do.
"""

from dataclasses import dataclass, replace

BOX, MARGIN = 40, 8  # pixels
STEP, BETWEEN = 92, 24
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


def spots_close(
    layout, widths: dict[str, int], step: int = STEP, heights: dict[str, int] | None = None
) -> dict[object, Spot]:
    """Return the same as `spots_down`, where a box takes no more room than it needs.

    `step`: from the top of a row to that of the next, plus what its highest box is higher than
    others (`heights`, in pixels); what passes by a high box is as high.
    """
    cell, spots, top = sorted(widths.values())[len(widths) // 2] + BETWEEN, {}, MARGIN
    heights = heights or {}
    for layer in layout.layers:
        free, high = float("-inf"), max(heights.get(key, BOX) for key in layer)
        for key in sorted(layer, key=layout.rows.get):
            width = widths.get(key, 0)
            left = max((layout.rows[key] + 0.5) * cell - width / 2, free)
            own = heights.get(key, BOX) if width else high
            spots[key] = Spot(round(left), top, width, own)
            free = left + width + BETWEEN
        top += step + high - BOX
    shift = MARGIN - min(spot.x for spot in spots.values())
    return {key: replace(spot, x=spot.x + shift) for key, spot in spots.items()}


def spots_down(layout, widths: dict[str, int]) -> dict[object, Spot]:
    """Return a spot per key of the layout; `widths`: pixels per box, a bend has none."""
    cell, spots = max(widths.values()) + BETWEEN, {}
    for number, layer in enumerate(layout.layers):
        for key in layer:
            width = widths.get(key, 0)
            centre = MARGIN + (layout.rows[key] + 0.5) * cell
            spots[key] = Spot(round(centre - width / 2), MARGIN + number * STEP, width)
    return spots


def arrow_down(spots: list[Spot], fan: bool) -> tuple[str, int, int]:
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
