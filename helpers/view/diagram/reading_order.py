"""The arrows of a graph -> the same arrows: what leads to a box before what leaves it."""

from collections import defaultdict
from heapq import heapify, heappop, heappush

from helpers.model.graph import Edge


def in_reading_order(edges: tuple[Edge, ...]) -> list[Edge]:
    """Return the arrows as they are given, but for those that would leave a box too early.

    Such an arrow waits for the last one that leads to its box. Where boxes wait for each other, in
    a cycle, the first arrow that is left goes on.
    """
    leaving, awaited = defaultdict(list), defaultdict(int)
    for at, edge in enumerate(edges):
        leaving[edge.source].append(at)
        awaited[edge.target] += 1
    ready = [at for at, edge in enumerate(edges) if not awaited[edge.source]]
    heapify(ready)
    told, found, first = set(), [], 0
    while len(found) < len(edges):
        while first in told:
            first += 1
        at = heappop(ready) if ready else first
        if at in told:
            continue
        told.add(at)
        found.append(edges[at])
        target = edges[at].target
        awaited[target] -= 1
        if not awaited[target]:
            for after in leaving[target]:
                heappush(ready, after)
    return found
