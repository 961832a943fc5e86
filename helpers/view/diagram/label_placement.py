"""Arrows with labels -> the same arrows, each label moved along its arrow to where it covers least.
The *ground* of a label, a box or an arrow's head is the rectangle that it covers.

This is point selection as in automated map lettering: each label has candidate places, the costs of
each are counted, and a greedy pass gives the labels with least freedom their place first.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import dist
from typing import NamedTuple

from .arrow_lines import CELL, Point, list_points
from .drawing import Arrow, Rectangle

APART = 2  # pixels from a label to what it keeps off
HEAD = 7  # pixels that an arrow's head reaches from its end
MANY_LABELS = 40  # of so many, each tries fewer places
SOLID = 10  # how much worse a covered box, head or label is than a covered line
# A label tries every 12th point of its line in a picture with many labels, else every 2nd.
FEW_POINTS, ALL_POINTS = 12, 2
NO_CELLS = ((), ())  # a row of cells that no arrow passes

Ground = tuple[float, float, float, float]  # left, top, right and bottom of what covers something


class _Candidate(NamedTuple):
    """A place for a label. (A tuple, because there are hundreds for each label.)"""

    cost: int
    """How much the label covers there: 1 for a line, `SOLID` for a box or a head."""
    point: Point
    """The middle of the label."""
    ground: Ground
    """The ground that it covers."""


class _Cells:
    """The cells of a grid of squares, each with the arrows that pass through it.

    The arrows of a cell are the bits of an integer: `0b101` for the arrows 0 and 2. The arrows of
    many cells are then joined by `|`, which is fast.
    """

    def __init__(self, arrows: Sequence[Arrow]):
        """Find the cells of each arrow; arrow 2 of `arrows` has bit 2."""
        bits = defaultdict(lambda: defaultdict(int))  # row -> column -> the bits of its arrows
        for number, arrow in enumerate(arrows):
            for x, y in list_points(arrow.line):
                bits[y // CELL][x // CELL] |= 1 << number

        # row -> (its columns in order, the bits of each column), for a search by bisection
        self._rows = {}
        for row, bits_by_column in bits.items():
            self._rows[row] = tuple(zip(*sorted(bits_by_column.items()), strict=True))

    def count_others(self, own_number: int, point: Point, width: int, height: int) -> int:
        """Return how many other arrows pass through a label whose middle is at `point`.

        `own_number` is the position of the label's own arrow. `width` and `height` are the label's
        in pixels.
        """
        x, y = point
        # The cells at the label's four sides. All is doubled, so that half of an odd width is not
        # rounded.
        left = (2 * x - width) // (2 * CELL)
        right = (2 * x + width) // (2 * CELL)
        top = (2 * y - height) // (2 * CELL)
        bottom = (2 * y + height) // (2 * CELL)

        covered_arrows = 0  # a bit for each arrow
        for row in range(top, bottom + 1):
            # The columns of this row through which an arrow passes, and the bits of each column.
            columns, bits = self._rows.get(row, NO_CELLS)
            for arrow_bits in bits[bisect_left(columns, left) : bisect_right(columns, right)]:
                covered_arrows |= arrow_bits
        covered_arrows &= ~(1 << own_number)
        return covered_arrows.bit_count()


class _Label:
    """The label of an arrow, and the places that it may have, the nearest to its line first."""

    def __init__(self, number: int, arrow: Arrow, points: list[Point]):
        """Set up the label of arrow `number`; `points` are the places for the label's middle."""
        self.number = number
        self._arrow = arrow
        self._points = points
        self.candidates: list[_Candidate] = []

        grounds = [self._find_ground(point) for point in points]
        lefts, tops, rights, bottoms = zip(*grounds, strict=True)
        # The rectangle around the grounds of all places; what is outside of it is never covered.
        self.reach = (min(lefts), min(tops), max(rights), max(bottoms))

    def _find_ground(self, point: Point) -> Ground:
        """Return the ground that the label covers if its middle is at `point`."""
        x, y = point
        half_width = self._arrow.plate_width / 2
        half_height = self._arrow.plate_height / 2
        return x - half_width, y - half_height, x + half_width, y + half_height

    def weigh_candidates(self, cells: _Cells, solids: list[Ground]) -> None:
        """Fill `candidates`: each place with its cost, which does not count other labels yet.

        `cells` has the arrows. `solids` are the grounds of boxes and of arrows' heads.
        """
        # `self.reach` is the rectangle around all places of the label.
        solids_near = _find_overlapping(self.reach, solids)
        width = self._arrow.plate_width
        height = self._arrow.plate_height
        for point in self._points:
            ground = self._find_ground(point)
            cost = cells.count_others(self.number, point, width, height)
            cost += SOLID * len(_find_overlapping(ground, solids_near))
            self.candidates.append(_Candidate(cost, point, ground))

    def measure_freedom(self) -> tuple[bool, int]:
        """Return a key by which labels are sorted, the least free first.

        The key is a pair: whether the label covers nothing where it stands at first, and the number
        of places where it covers nothing.
        """
        costs = [candidate.cost for candidate in self.candidates]  # item 0 is where it stands
        covers_nothing_here = costs[0] == 0
        return covers_nothing_here, costs.count(0)

    def choose_candidate(self, placed: list[Ground]) -> _Candidate:
        """Return the cheapest place, with a cost that also counts covered labels.

        `placed` are the grounds of the labels that have their place already.
        """
        # `self.reach` is the rectangle around all places of the label.
        placed_near = _find_overlapping(self.reach, placed)
        best = None
        for candidate in self.candidates:
            if best and candidate.cost >= best.cost:
                continue  # labels that it covers can only add to the cost of this candidate
            covered_count = len(_find_overlapping(candidate.ground, placed_near))
            cost = candidate.cost + SOLID * covered_count
            if best is None or cost < best.cost:
                best = candidate._replace(cost=cost)
        return best


def place_labels(
    arrows: Iterable[Arrow], rectangles: Iterable[Rectangle], lift: int = 0, clear: bool = False
) -> tuple[Arrow, ...]:
    """Return the arrows with their labels in place.

    Parameters
    ----------
    arrows : iterable of Arrow
        The arrows, with their labels where they stand if they cover nothing there.
    rectangles : iterable of Rectangle
        The boxes, which no label should cover.
    lift : int
        How many pixels above its line a label stands.
    clear : bool
        Whether a label stands above the highest point of its own line that is within its width,
        and so never covers its own line.
    """
    arrows = list(arrows)
    labelled_numbers = [number for number, arrow in enumerate(arrows) if arrow.label]
    step = FEW_POINTS if len(labelled_numbers) > MANY_LABELS else ALL_POINTS
    cells = _Cells(arrows)
    solids = _list_solids(arrows, rectangles)

    labels = []
    for number in labelled_numbers:
        arrow = arrows[number]
        label = _Label(number, arrow, _list_places(arrow, step, lift, clear))
        label.weigh_candidates(cells, solids)
        labels.append(label)

    placed = []
    for label in sorted(labels, key=_Label.measure_freedom):
        best = label.choose_candidate(placed)
        placed.append(best.ground)
        x, y = best.point
        arrow = arrows[label.number]
        arrows[label.number] = replace(arrow, label_x=x, label_y=y, is_crowded=best.cost > 0)
    return tuple(arrows)


def _list_solids(arrows: list[Arrow], rectangles: Iterable[Rectangle]) -> list[Ground]:
    """Return the grounds of boxes and of arrows' heads."""
    solids = []
    for rectangle in rectangles:
        if rectangle.width:  # a bend has none; its arrow counts as a line
            solids.append((rectangle.x, rectangle.y, rectangle.right, rectangle.bottom))
    for arrow in arrows:
        x, y = list_points(arrow.line)[-1]
        solids.append((x - HEAD, y - HEAD, x + HEAD, y + HEAD))
    return solids


def _list_places(arrow: Arrow, step: int, lift: int, clear: bool) -> list[Point]:
    """Return the places that a label tries, the nearest to where it stands first.

    The places are every `step`-th point of the arrow's line. `lift` and `clear` are those of
    `place_labels`.
    """
    here = (arrow.label_x, arrow.label_y)
    points = [here, *list_points(arrow.line)[1:-1:step]]
    places = points
    if clear:
        half_width = arrow.plate_width / 2
        places = [(x, _find_top(points, x, half_width)) for x, _ in points]

    nearest_first = sorted(places, key=lambda place: dist(here, place))
    return [(x, y - lift) for x, y in nearest_first]


def _find_top(points: list[Point], x: int, reach: float) -> int:
    """Return the y of the highest of the points that are at most `reach` left or right of `x`."""
    return min(y for other_x, y in points if abs(other_x - x) <= reach)


def _find_overlapping(ground: Ground, others: list[Ground]) -> list[Ground]:
    """Return those of the other grounds that overlap this one or are closer than `APART`."""
    if not others:
        return []

    left = ground[0] - APART
    top = ground[1] - APART
    right = ground[2] + APART
    bottom = ground[3] + APART
    # By index, because this runs for each place of each label: unpacking would take longer.
    return [o for o in others if o[0] < right and left < o[2] and o[1] < bottom and top < o[3]]
