"""Rows of boxes and bends, in their order -> where the centre of each stands, so that arrows are
short, and straight where they pass by boxes.

What a row gives up to be straight is weighed as dot does it (Gansner and others, A technique for
drawing directed graphs, 1993): a piece of an arrow between two bends counts most.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

BETWEEN, BESIDE = 24, 16  # pixels between two boxes; between a bend and what stands beside it
WEIGHTS = (1, 2, 8)  # of a piece with no bend, one and two
SWEEPS, ROUNDS = 8, 6  # passes over all rows; how often pieces are weighed anew
NEAR, LOOSE = 4, 60  # pixels: what is as good as straight; where two boxes pull as one bend does


def straightened(
    rows: Sequence[Sequence[object]], paths: Iterable[Sequence[object]], widths: dict[object, int]
) -> dict[object, float]:
    """Return a centre per key, in pixels; what has no width is a bend. Rows keep their order."""
    links, centres = _links(paths, widths), {}
    for row in rows:
        right = 0.0
        offsets = _offsets(row, widths)
        centres |= {key: right + at for key, at in zip(row, offsets, strict=True)}
    for _ in range(ROUNDS):
        near = {
            key: [(to, weight / _far(key, to, centres, widths)) for to, weight in own]
            for key, own in links.items()
        }
        for sweep in range(SWEEPS):
            for row in rows if sweep % 2 == 0 else reversed(rows):
                centres |= _settled(row, near, centres, widths)
    return centres


def _far(one, other, centres, widths) -> float:
    """Return by what a piece weighs less: a bent one, by how much; one between boxes, by the same.

    So a box stands in the middle of its readers, and of the pieces at bends few are not straight.
    """
    if one in widths and other in widths:
        return LOOSE
    return max(abs(centres[one] - centres[other]), NEAR)


def _links(paths, widths) -> dict[object, list[tuple[object, int]]]:
    links: dict[object, list[tuple[object, int]]] = {}
    for path in paths:
        for one, other in pairwise(path):
            weight = WEIGHTS[(one not in widths) + (other not in widths)]
            links.setdefault(one, []).append((other, weight))
            links.setdefault(other, []).append((one, weight))
    return links


def _offsets(row, widths) -> list[float]:
    """Return how far to the right each key is at least of the first one."""
    found, at = [], 0.0
    for before, key in zip((None, *row), row, strict=False):
        if found:
            room = BETWEEN if before in widths and key in widths else BESIDE
            at += (widths.get(before, 0) + widths.get(key, 0)) / 2 + room
        found.append(at)
    return found


def _settled(row, near, centres, widths) -> dict[object, float]:
    """Return the centres of a row that lie nearest to those of its neighbours in other rows.

    Keys that would come too close stand side by side, at their common mean: each group of `blocks`
    has its place, its weight and how many keys it holds.
    """
    offsets, blocks = _offsets(row, widths), []
    for key, offset in zip(row, offsets, strict=True):
        pulls = near.get(key, ())
        weight = sum(pull for _, pull in pulls)
        wanted = sum(centres[to] * pull for to, pull in pulls) / weight if weight else centres[key]
        blocks.append([wanted - offset, weight or 1e-6, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (place, heavy, count), (last, weight, more) = blocks[-2:]
            blocks[-2:] = [
                [
                    (place * heavy + last * weight) / (heavy + weight),
                    heavy + weight,
                    count + more,
                ]
            ]
    places = [place for place, _, count in blocks for _ in range(count)]
    return {key: at + offset for key, at, offset in zip(row, places, offsets, strict=True)}
