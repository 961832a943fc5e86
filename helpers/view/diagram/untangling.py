"""A layout of all moments of a run -> the same with few crossings in each of the moments.

Two arrows that are never there at once may cross: each arrow has a mask with a bit per moment, and
a crossing counts once for each moment in which both arrows are there.
"""

from itertools import combinations
from random import Random

from helpers.view.diagram.layered_layout import Layout, spread

ROUNDS, SWEEPS, SHAKES = 8, 6, 12
MOST = 120  # boxes and bends: a larger picture gets no further try


def untangled(
    layout: Layout, masks: tuple[int, ...], rooms: dict, names=frozenset(), bend: float = 1
) -> Layout:
    """Return the layout with its columns reordered; `masks`: the moments of each path, as bits.

    `rooms`: how many rows each box takes, in the order in which they came; a box leaves it only
    where that takes crossings away. Those in `names` stand a row apart; a bend takes `bend` of one.
    """
    links = _links(layout, masks)
    columns, fewest = min(
        ((each, _sift(each, links)) for each in _starts(layout, rooms)), key=_last
    )
    if fewest and sum(map(len, columns)) <= MOST:
        columns = _shaken(columns, fewest, links)
    return Layout(
        tuple(map(tuple, columns)), _rows(columns, links, rooms, names, bend), layout.paths
    )


def crossings(columns, links) -> int:
    """Return how many crossings there are, those of all moments added up."""
    positions = _positions(columns)
    return sum(
        _cost(upper, lower)
        for column in columns
        for upper, lower in combinations(_ends(column, positions, links.after), 2)
    )


class _Links:
    """Neighbours of each key to the left and to the right, with the moments of the link.

    `known`: what was once worked out for a column, by where its neighbours stood; layouts are tried
    that differ in one column.
    """

    def __init__(self):
        self.known: dict[tuple, dict] = {}
        self.before: dict[object, list[tuple[object, int]]] = {}
        self.after: dict[object, list[tuple[object, int]]] = {}

    def add(self, left, right, mask: int):
        self.after.setdefault(left, []).append((right, mask))
        self.before.setdefault(right, []).append((left, mask))


def _links(layout: Layout, masks) -> _Links:
    links = _Links()
    layer = {key: number for number, keys in enumerate(layout.layers) for key in keys}
    for path, mask in zip(layout.paths, masks, strict=True):
        for left, right in zip(path, path[1:], strict=False):
            if layer[left] != layer[right]:
                links.add(left, right, mask)
    return links


def _starts(layout: Layout, boxes):
    """Yield orders to begin with: as the boxes came, and as their neighbours would have them."""
    came = {key: number for number, key in enumerate(boxes)}
    for path in layout.paths:
        came |= dict.fromkeys(path[1:-1], came[path[0]])
    yield [sorted(column, key=came.get) for column in layout.layers]
    yield [list(column) for column in layout.layers]


def _last(pair):
    return pair[-1]


def _shaken(columns: list[list], fewest: int, links: _Links) -> list[list]:
    """Return the best of many orders: each time one column is shuffled, and all sifted again."""
    chance = Random(0)  # the same picture each time
    for _ in range(SHAKES):
        other = [list(column) for column in columns]
        chance.shuffle(chance.choice(other))
        count = _sift(other, links)
        if count <= fewest:
            columns, fewest = other, count
        if not fewest:
            break
    return columns


def _sift(columns: list[list], links: _Links) -> int:
    """Move each key of each column to its best place, until nothing gets better.

    It begins on the right: names keep the order in which they were bound if objects can move.
    """
    positions = _positions(columns)
    for _ in range(ROUNDS):
        before = [list(column) for column in columns]
        for column in reversed(columns):
            more = _more_crossings(column, positions, links)
            for key in list(column):
                _place(key, column, positions, more)
        if before == columns:
            break
    return crossings(columns, links)


def _place(key, column: list, positions: dict, more: dict):
    """Move a key of a column to its best place, and tell `positions`."""
    others = [other for other in column if other != key]
    own, cost, costs = column.index(key), 0, [0]
    for other in others:  # the cost of each place, but for what all have in common
        cost += more[other, key]
        costs.append(cost)
    best = min(range(len(costs)), key=lambda place: (costs[place], abs(place - own)))
    if best != own:
        column[:] = [*others[:best], key, *others[best:]]
        positions |= {key: place for place, key in enumerate(column)}


def _more_crossings(column: list, positions: dict, links: _Links) -> dict:
    """Return, for each two keys, how many more crossings there are with the first one above."""
    sides = links.before, links.after
    keys = sorted(column, key=hash)
    where = (*keys, *(positions[near] for key in keys for s in sides for near, _ in s.get(key, ())))
    if where not in links.known:
        links.known[where] = more = {}
        ends = zip(keys, *(_ends(keys, positions, side) for side in sides), strict=True)
        for (a, here, there), (b, near, far) in combinations(ends, 2):
            more[a, b] = _cost(here, near) - _cost(near, here) if here and near else 0
            if there and far:
                more[a, b] += _cost(there, far) - _cost(far, there)
            more[b, a] = -more[a, b]
    return links.known[where]


def _ends(column, positions, side) -> list[list[tuple[int, int]]]:
    """Return where the links of each key end on one side, with their masks."""
    return [[(positions[near], mask) for near, mask in side.get(key, ())] for key in column]


def _cost(upper: list, lower: list) -> int:
    """Return the crossings of the links of two keys of a column, given where those links end."""
    count = 0
    for near, mask in upper:
        for far, other in lower:
            if near > far:
                count += (mask & other).bit_count()
    return count


def _positions(columns) -> dict[object, int]:
    return {key: place for column in columns for place, key in enumerate(column)}


def _rows(columns, links: _Links, rooms, names, bend: float) -> dict[object, float]:
    rows = {key: float(place) for column in columns for place, key in enumerate(column)}
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        side = links.before if forward else links.after
        for column in columns if forward else reversed(columns):
            if names.issuperset(column):
                continue
            wanted = {key: _wanted(side.get(key, ()), rows, rows[key]) for key in column}
            rows |= spread(column, wanted, rooms, bend)
    top = min(rows.values())
    return {key: row - top for key, row in rows.items()}


def _wanted(near, rows, own: float) -> float:
    weights = [(rows[key], mask.bit_count()) for key, mask in near]
    total = sum(weight for _, weight in weights)
    return sum(row * weight for row, weight in weights) / total if total else own
