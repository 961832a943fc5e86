"""A tree of calls -> its outline: every call of a small one, the ways to the landmarks of a large.

What is not on a way to a landmark folds to one line among its neighbours, and is counted.
"""

from collections import Counter
from dataclasses import dataclass

from helpers.model.calls import CallTree
from helpers.model.phrase import clipped, listed

MOST_WHOLE = 50
MOST_NAMED = 4
MOST_LINES, LONGEST = 400, 120


@dataclass(frozen=True)
class Line:
    """One line of an outline. `inside`: how many calls it stands for, with those inside them."""

    depth: int
    words: str
    inside: int
    c: bool = False
    door: bool = False
    folded: bool = False


def outline(tree: CallTree) -> tuple[Line, ...]:
    """Return the lines of a tree in order; every call is counted in exactly one way down.

    Of very many lines the last one says how many are left out.
    """
    inside, way = tree.inside(), tree.on_the_way()
    whole = len(tree.calls) <= MOST_WHOLE
    lines, at = [], 0
    while at < len(tree.calls):
        if whole or at in way or not way:
            lines.append(_line(tree, at, inside[at]))
            at += 1
        else:
            stop = at + inside[at]
            while stop < len(tree.calls) and stop not in way and _same_depth(tree, at, stop):
                stop += inside[stop]
            lines.append(_folded(tree, at, stop))
            at = stop
    merged = list(_merged(lines))
    left_out = len(merged) - MOST_LINES
    if left_out > 0:
        words = f"… and {left_out:,} more lines; .model.calls holds every call"
        merged[MOST_LINES:] = [Line(0, words, 0, folded=True)]
    return tuple(merged)


def _same_depth(tree: CallTree, first: int, second: int) -> bool:
    return tree.calls[first].depth == tree.calls[second].depth


def _line(tree: CallTree, at: int, inside: int) -> Line:
    call = tree.calls[at]
    words = f"{'[C] ' * call.c}{_short(call.path)}{' (raised)' * call.raised}"
    return Line(call.depth, words, inside, call.c, call.door)


def _short(path: str) -> str:
    return clipped(path, LONGEST)


def _folded(tree: CallTree, start: int, stop: int) -> Line:
    depth = tree.calls[start].depth
    calls = tree.calls[start:stop]
    named = Counter(_short(call.path) for call in calls if call.depth == depth)
    words = [f"{name} ×{n}" if n > 1 else name for name, n in named.items()]
    return Line(depth, f"… {listed(words, MOST_NAMED)}", stop - start, folded=True)


def _merged(lines: list[Line]):
    """Yield the lines; neighbours without calls inside that say the same become one."""
    kept, times = None, 0
    for line in (*lines, None):
        if kept is not None and line == kept and line.inside == 1:
            times += 1
            continue
        if kept is not None:
            words = f"{kept.words} ×{times}" if times > 1 else kept.words
            yield Line(kept.depth, words, kept.inside * times, kept.c, kept.door, kept.folded)
        kept, times = line, 1
