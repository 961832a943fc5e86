"""The kind and the place of a box -> its outline; two boxes -> the arrow between them, as paths."""

from dataclasses import dataclass

from helpers.view import ink
from helpers.view.diagram.kinds import drawn_as

HIGH, TAG = 40, 28  # heights of a box and of a name's tag, pixels
TIP, LOOP = 8, 40  # length of an arrow's head, and how far one goes out that comes back


@dataclass(frozen=True)
class Box:
    """A box of a kind: its left edge, the height of its middle, and its width, in pixels."""

    kind: str
    x: int
    middle: int
    width: int

    @property
    def high(self) -> int:
        """Its height."""
        return TAG if self.kind == "name" else HIGH

    @property
    def y(self) -> int:
        """Its upper edge."""
        return self.middle - self.high // 2

    @property
    def bottom(self) -> int:
        """Its lower edge."""
        return self.middle + self.high // 2

    @property
    def right(self) -> int:
        """Its right edge."""
        return self.x + self.width

    @property
    def centre(self) -> int:
        """Where its words stand."""
        return self.x + self.width // 2 - (4 if self.kind == "name" else 0)

    @property
    def outline(self) -> str:
        """The path around it."""
        return ink.outline(ink.KINDS[self.ink].shape, self.x, self.y, self.width, self.high)

    @property
    def ink(self) -> str:
        """The kind that it is drawn as."""
        return drawn_as(self.kind)


@dataclass(frozen=True)
class Arrow:
    """A line with its head at `tip`, turned by `turn` degrees.

    `curve`: the four points of its first piece, along which a label may stand. `right`, `bottom`:
    how far it reaches.
    """

    line: str
    curve: tuple[tuple[int, int], ...]
    tip: tuple[int, int]
    turn: int
    right: int
    bottom: int

    def at(self, part: float) -> tuple[int, int]:
        """Return the point of its first piece after this part of it, from 0 to 1."""
        rest = 1 - part
        shares = (rest**3, 3 * rest**2 * part, 3 * rest * part**2, part**3)
        return tuple(
            round(sum(share * point[axis] for share, point in zip(shares, self.curve, strict=True)))
            for axis in (0, 1)
        )


def arrow(start: Box, end: Box, through: list[tuple[int, int, int]], place: float) -> Arrow:
    """Return the arrow from the right of one box to the left of another, or round to its right.

    `through`: left, right and height of the gaps between boxes on the way. `place`: how far down
    the side of the last box it arrives, from 0 to 1.
    """
    if start.x == end.x:
        return _loop(start, end)
    tip = (end.x, end.y + 6 + round((end.high - 12) * place))
    curves, line, at = [], f"M{start.right} {start.middle}", (start.right, start.middle)
    for left, right, height in (*through, (end.x - TIP, end.x - TIP, tip[1])):
        half = (left - at[0]) * 11 // 20
        curves.append((at, (at[0] + half, at[1]), (left - half, height), (left, height)))
        line += "C{} {} {} {} {} {}".format(*(n for point in curves[-1][1:] for n in point))
        line += f"H{right}" if right > left else ""
        at = (right, height)
    low = max(start.middle, tip[1], *(height for _, _, height in through), 0)
    return Arrow(line, curves[0], tip, 0, end.x, low)


def _loop(start: Box, end: Box) -> Arrow:
    """Return the way out to the right and back, to a box of the same column or to the same one."""
    lift = 12 if start == end else 0
    first, last = (start.right, start.middle - lift), (end.right + TIP, end.middle + lift)
    far = max(start.right, end.right) + LOOP
    curve = (first, (far, first[1]), (far, last[1]), last)
    line = f"M{first[0]} {first[1]}C{far} {first[1]} {far} {last[1]} {last[0]} {last[1]}"
    return Arrow(line, curve, (end.right, last[1]), 180, far, max(first[1], last[1]))
