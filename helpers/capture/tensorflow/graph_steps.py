"""A graph -> its steps: what could run at the same time if there were threads enough."""

from helpers.capture.tensorflow.tf_graph import tf_graph
from helpers.model.graph import Graph
from helpers.model.listing import Column
from helpers.model.phrase import clipped, ended, listed
from helpers.model.steps import Node, Step, Steps

MOST_ROWS = 60
MOST_NAMED, LONGEST = 8, 100
COLUMNS = (Column("step", "step"), Column("width", "side by side"), Column("nodes", "nodes"))


def tf_steps(thing, *args, **kwargs) -> Steps:
    """Return the steps of what `tf_graph` returns for the same arguments."""
    return steps(tf_graph(thing, *args, **kwargs))


def steps(graph: Graph) -> Steps:
    """Return the steps of a graph: step 0 needs nothing, step n needs a node of step n - 1.

    What stands in a cycle, and what waits for it, has no step; the note counts it.
    """
    level, back = _levels(graph)
    by_step: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for key, step in level.items():
        by_step[step].append(key)
    kinds = {node.key: node.kind for node in graph.nodes}
    works = {key: kind not in ("input", "constant") for key, kind in kinds.items()}
    widths = [sum(works[key] for key in keys) for keys in by_step]
    lanes = tuple(
        tuple(Node(_short(key), works[key]) for key in keys[:MOST_NAMED])
        for keys in by_step[:MOST_ROWS]
    )
    rows = [Step(n, len(keys), _names(keys)) for n, keys in enumerate(by_step[:MOST_ROWS])]
    path = _longest(level, back)
    note = " ".join(_notes(graph, level, by_step, path))
    widest = max(widths, default=0)
    return Steps(f"{graph.title}, in steps", COLUMNS, tuple(rows), note, path, widest, lanes)


def _levels(graph: Graph) -> tuple[dict[str, int], dict[str, str]]:
    """Return each key's step, in the graph's order, and the input that it waited for last."""
    missing = {node.key: 0 for node in graph.nodes}
    readers: dict[str, list[str]] = {key: [] for key in missing}
    for edge in graph.edges:
        missing[edge.target] += 1
        readers[edge.source].append(edge.target)
    ready = [key for key, count in missing.items() if not count]
    level, back = dict.fromkeys(ready, 0), {}
    for key in ready:  # grows while it is walked
        for reader in readers[key]:
            missing[reader] -= 1
            if level[key] >= level.get(reader, 0):
                level[reader], back[reader] = level[key] + 1, key
            if not missing[reader]:
                ready.append(reader)
    done = set(ready)
    return {key: level[key] for key in missing if key in done}, back


def _longest(level, back) -> tuple[str, ...]:
    key = max(level, key=level.get, default=None)
    path = []
    while key is not None:
        path.append(key)
        key = back.get(key)
    return tuple(reversed(path))


def _notes(graph: Graph, level, by_step, path):
    if len(by_step) > MOST_ROWS:
        yield f"The first {MOST_ROWS} of {len(by_step)} steps."
    if path:
        ends = path if len(path) <= MOST_NAMED else (*path[:3], "…", *path[-3:])
        yield ended(f"A longest way has {len(path)} nodes: {' → '.join(map(_short, ends))}")
    if len(level) < len(graph.nodes):
        yield f"{len(graph.nodes) - len(level)} nodes have no step: they wait for a cycle."


def _names(keys) -> str:
    return listed(keys, MOST_NAMED, LONGEST)


def _short(key: str) -> str:
    return clipped(key, LONGEST)
