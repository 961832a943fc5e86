"""A layered graph -> the place of each box and bend, so that arrows are short and straight.
A *key* stands for a box, or for a bend: a point where an arrow may turn in a layer that it passes.
Two keys are *linked* if a *piece* of an arrow leads from one directly to the other.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from operator import add, mul

from .drawing import BOX_HEIGHT, MARGIN, Rectangle
from .layered_layout import Key, LayeredGraph

ROUNDS = 6
SWEEPS = 8
# The weight of a piece of an arrow, by how many of its two ends are bends.
WEIGHTS = (1, 2, 8)
STRAIGHT = 4  # pixels: a piece with a smaller slant is as good as straight
LOOSE = 60  # pixels: the slant that counts for each piece between two boxes
WEAKEST = 1e-6  # the weight of a key without a link

BETWEEN_BOXES = 24  # pixels between two boxes of a layer that leads down
BESIDE_BEND = 16  # pixels between a bend and what is beside it there
BETWEEN_BOXES_ACROSS = 14
BESIDE_BEND_ACROSS = 22

# Returns key -> its place. The optional argument moves layers apart: number of a layer -> further
# pixels after it.
PlaceKeys = Callable[..., dict[Key, Rectangle]]


@dataclass
class _SpacedRow:
    """One layer, with the least distance of each key from the first one."""

    keys: tuple[Key, ...]
    """Its keys in their order."""
    offsets: list[float]
    """For each key, the least distance from the centre of the first key to its own, in pixels."""


@dataclass
class _Block:
    """Neighbours of a row that stand as close to each other as they may."""

    position: float
    """Where the first key of the whole row would be if only the links of this block pulled."""
    weight: float
    """How strongly the block is pulled there."""
    count: int
    """How many keys it has."""


def assign_coordinates(
    layered: LayeredGraph,
    sizes: dict[Key, int],
    between: int = BETWEEN_BOXES,
    beside: int = BESIDE_BEND,
) -> dict[Key, float]:
    """Return the centre of each key in its layer, in pixels.

    Each key goes to the weighted mean of the centres of its linked keys, layer after layer, there
    and back. As in Graphviz's `dot` (Gansner, Koutsofios, North and Vo, "A technique for drawing
    directed graphs", 1993), a piece between two bends counts most.

    Parameters
    ----------
    layered : LayeredGraph
        The layers with their order, and the paths of the edges.
    sizes : dict
        The size of each box in the direction of its layer; bends have none.
    between, beside : int
        Pixels between two boxes, and between a bend and what is beside it.
    """
    weights = _weigh_links(layered, sizes)
    rows = [_space_row(keys, sizes, between, beside) for keys in layered.layers]
    centres = {}  # at first, the keys of a layer stand as close as they may
    for row in rows:
        centres |= dict(zip(row.keys, row.offsets, strict=True))

    linked = {key: [other for other, _ in weights[key]] for key in centres}
    for _ in range(ROUNDS):
        # A pull depends on the slant of a piece, which the sweeps of the last round have changed.
        pulls = _measure_pulls(weights, sizes, centres)
        for sweep in range(SWEEPS):
            goes_back = sweep % 2 == 1
            for row in reversed(rows) if goes_back else rows:
                centres |= _settle_row(row, linked, pulls, centres)
    return centres


def _weigh_links(layered: LayeredGraph, sizes: dict) -> dict[Key, list[tuple[Key, int]]]:
    """Return key -> [(linked key, weight of the piece between them), …]."""
    weights = defaultdict(list)
    for path in layered.paths:
        for key, next_key in pairwise(path):
            bends = [end for end in (key, next_key) if end not in sizes]  # only boxes have a size
            weight = WEIGHTS[len(bends)]
            weights[key].append((next_key, weight))
            weights[next_key].append((key, weight))
    return weights


def _space_row(keys: tuple[Key, ...], sizes: dict, between: int, beside: int) -> _SpacedRow:
    """Return a row whose keys stand as close as they may.

    `between` is the least gap between two boxes in pixels, and `beside` that beside a bend.
    """
    offsets = [0.0]
    for key, next_key in pairwise(keys):
        gap = between if key in sizes and next_key in sizes else beside
        half_sizes = (sizes.get(key, 0) + sizes.get(next_key, 0)) / 2
        offsets.append(offsets[-1] + (gap + half_sizes))
    return _SpacedRow(keys, offsets)


def _measure_pulls(weights: dict, sizes: dict, centres: dict) -> dict[Key, list[float]]:
    """Return key -> how strongly each of its links pulls it, in the order of `weights[key]`.

    The slant of a piece is how far its ends are from each other in the direction of a layer. A
    piece with a bend pulls less, the greater its slant is, so that one long slope is preferred to
    many small ones. A piece between two boxes is drawn as a curve, so its slant does not count.
    """

    def measure_slant(key: Key, other: Key) -> float:
        """Return the slant of a piece in pixels; the same number for all pieces between boxes."""
        if key in sizes and other in sizes:
            return LOOSE
        return max(abs(centres[key] - centres[other]), STRAIGHT)

    pulls = {}
    for key in centres:
        pulls[key] = [weight / measure_slant(key, other) for other, weight in weights[key]]
    return pulls


def _settle_row(row: _SpacedRow, linked: dict, pulls: dict, centres: dict) -> dict[Key, float]:
    """Return the centres of a row, each as near as can be to where its links pull it.

    Keys that would come too close to each other share a mean: this is isotonic regression by the
    pool-adjacent-violators algorithm (Ayer and others, 1955).

    Parameters
    ----------
    row : _SpacedRow
        The keys of the layer in their order, and how close they may stand.
    linked, pulls : dict
        For each key the keys that it is linked with, and how strongly each of them pulls it.
    centres : dict
        The centre of each key so far, in pixels.
    """
    blocks: list[_Block] = []
    for key, offset in zip(row.keys, row.offsets, strict=True):
        pull = sum(pulls[key])
        if pull:  # the wanted centre is the weighted mean of the linked ones
            linked_centres = map(centres.get, linked[key])
            wanted = sum(map(mul, linked_centres, pulls[key])) / pull
        else:  # nothing pulls a key without a link
            wanted = centres[key]

        # The offset is subtracted: two keys keep their least distance exactly if the positions that
        # are left do not decrease. Blocks in which they would decrease are joined.
        block = _Block(position=wanted - offset, weight=pull or WEAKEST, count=1)
        while blocks and blocks[-1].position >= block.position:
            block = _join_blocks(blocks.pop(), block)
        blocks.append(block)

    positions = []
    for block in blocks:
        positions += [block.position] * block.count
    return dict(zip(row.keys, map(add, positions, row.offsets), strict=True))


def _join_blocks(first: _Block, second: _Block) -> _Block:
    """Return both blocks as one, at the weighted mean of their positions."""
    weight = first.weight + second.weight
    total = first.position * first.weight + second.position * second.weight
    return _Block(total / weight, weight, first.count + second.count)


# -- rectangles ------------------------------------------------------------------------------------


def place_layers(
    layered: LayeredGraph,
    widths: dict[Key, int],
    gap: int,
    down: bool,
    heights: dict[Key, int] | None = None,
    room: tuple[int, int] | None = None,
    extra_gaps: dict[int, int] | None = None,
) -> PlaceKeys:
    """Return a function that returns the place of each key, and can move layers apart.

    The centres in each layer are computed once, here. The returned function may be called often,
    with different `more_gaps`: number of a layer -> further pixels after it.

    If layers follow each other downwards, each is as high as its highest box. If they follow each
    other to the right, all boxes of a layer get the width of the widest.

    Parameters
    ----------
    layered : LayeredGraph
        The layers with their order.
    widths, heights : dict
        The size of each box in pixels; a height that is missing is the usual one.
    gap : int
        Pixels between two layers.
    down : bool
        Layers stand below each other, not beside each other.
    room : tuple, optional
        Pixels between two boxes of a layer, and between a bend and what is beside it.
    extra_gaps : dict, optional
        Further pixels after some layers, by the number of the layer.
    """
    # `along` is the direction in which layers follow each other, and `beside` the other one, in
    # which the boxes of one layer follow each other.
    all_heights = dict.fromkeys(widths, BOX_HEIGHT) | (heights or {})
    sizes_along = all_heights if down else widths
    sizes_beside = widths if down else all_heights
    if room is None:
        room = (BETWEEN_BOXES, BESIDE_BEND) if down else (BETWEEN_BOXES_ACROSS, BESIDE_BEND_ACROSS)
    between, beside_bend = room
    centres = assign_coordinates(layered, sizes_beside, between, beside_bend)
    fixed_gaps = Counter(extra_gaps or {})

    def place(more_gaps: dict[int, int] | None = None) -> dict[Key, Rectangle]:
        """Return the place of each key, with `more_gaps` in addition to `extra_gaps`."""
        gaps = fixed_gaps + Counter(more_gaps or {})
        places = {}  # key -> (along, length, beside, size), see `_make_rectangles`
        along = 0  # where the next layer begins
        for number, keys in enumerate(layered.layers):
            thickness = max(sizes_along.get(key, 0) for key in keys)
            for key in keys:
                size = sizes_beside.get(key, 0)
                beside = round(centres[key] - size / 2)
                length = thickness  # also of a bend: the arrow runs straight through the layer
                if down:
                    length = sizes_along.get(key, thickness)
                places[key] = (along, length, beside, size)
            along += thickness + gap + gaps[number]
        return _make_rectangles(places, down)

    return place


def _make_rectangles(places: dict[Key, tuple], down: bool) -> dict[Key, Rectangle]:
    """Return key -> its rectangle, all moved so that the picture begins at the margin.

    `places` has for each key (along, length, beside, size). In the direction in which layers follow
    each other, `along` is where the box begins and `length` how long it is. In the direction of its
    layer, `beside` is where the box begins and `size` how long it is.
    """
    first_along = min(along for along, *_ in places.values())
    first_beside = min(beside for _, _, beside, _ in places.values())

    rectangles = {}
    for key, (along, length, beside, size) in places.items():
        layer_start = MARGIN + along - first_along
        start = MARGIN + beside - first_beside
        if down:
            rectangles[key] = Rectangle(start, layer_start, size, length)
        else:
            rectangles[key] = Rectangle(layer_start, start, length, size)
    return rectangles
