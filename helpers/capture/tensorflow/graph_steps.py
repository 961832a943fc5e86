"""A graph -> its steps: which of its nodes could run in parallel. Step 0 are the nodes that read
nothing. The nodes of step n read at least one node of step n - 1 and none of a later step, so all
nodes of a step could run at the same time. The steps are the generations of a topological order
(Kahn, "Topological sorting of large networks", 1962), as networkx computes them.
"""

from contextlib import suppress

from ...model.graph_steps import LaneNode, ParallelStep, Steps
from ...model.graphs import Graph
from ...model.phrase import clip_text, format_names
from ...model.tables import Column

MOST_STEPS = 60  # in the table
MOST_NAMED = 8  # nodes of a step, and of the longest path
ENDS_NAMED = 3  # nodes at each end of a longer path
LONGEST = 100  # characters of a node's name
QUIET_KINDS = ("input", "constant")  # kinds of nodes that compute nothing
COLUMNS = (Column("step", "step"), Column("width", "nodes in this step"), Column("nodes", "nodes"))


def list_steps(graph: Graph) -> Steps:
    """Return the steps of a graph: a table, the nodes of each step for a picture, and a note.

    The model also has the longest path through the graph, and the largest number of nodes in a step
    that compute something. A node in a cycle, or one that waits for a cycle, has no step, and the
    note counts such nodes.
    """
    import networkx

    arrows = build_arrows(graph)
    levels = find_levels(arrows)  # key -> number of its step; none for a node in a cycle
    # key -> whether the node computes something, as inputs and constants do not
    computes = {node.key: node.kind not in QUIET_KINDS for node in graph.nodes}
    step_count = 1 + max(levels.values(), default=-1)
    keys_by_step: list[list[str]] = [[] for _ in range(step_count)]
    for key, step in levels.items():
        keys_by_step[step].append(key)

    rows = []  # of the table
    lanes = []  # of the picture: the nodes of each step
    for step, keys in enumerate(keys_by_step[:MOST_STEPS]):
        rows.append(ParallelStep(step, len(keys), format_names(keys, MOST_NAMED, LONGEST)))
        named = keys[:MOST_NAMED]
        lanes.append(tuple(LaneNode(clip_text(key, LONGEST), computes[key]) for key in named))

    path = tuple(networkx.dag_longest_path(arrows.subgraph(levels)))
    notes = _describe_limits(step_count, path, len(graph.nodes) - len(levels))
    widths = [sum(computes[key] for key in keys) for keys in keys_by_step]
    return Steps(
        f"{graph.title}, in steps",
        COLUMNS,
        tuple(rows),
        " ".join(notes),
        path,
        max(widths, default=0),
        tuple(lanes),
    )


def _describe_limits(step_count: int, path: tuple[str, ...], missing_count: int) -> list[str]:
    """Return the sentences of the note: on steps left out, on the longest path, and on cycles.

    `path` are the keys on the longest path. Of a long one, only both ends are named.
    `missing_count` is the number of nodes without a step.
    """
    notes = []
    if step_count > MOST_STEPS:
        notes.append(f"The first {MOST_STEPS} of {step_count} steps.")
    if path:
        named = path
        if len(path) > MOST_NAMED:
            named = (*path[:ENDS_NAMED], "…", *path[-ENDS_NAMED:])
        arrows = " → ".join(clip_text(key, LONGEST) for key in named)
        notes.append(f"The longest path has {len(path)} nodes: {arrows}.")
    if missing_count:
        notes.append(f"{missing_count} nodes have no step because they wait for a cycle.")
    return notes


def build_arrows(graph: Graph):
    """Return the keys and edges of a graph as a networkx.DiGraph, in the order of the graph."""
    import networkx

    arrows = networkx.DiGraph()
    arrows.add_nodes_from(node.key for node in graph.nodes)
    arrows.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    return arrows


def find_levels(arrows) -> dict[str, int]:
    """Return key -> number of its step, in the order of the graph.

    `arrows` is what `build_arrows` returns. A node in a cycle, or one that waits for a cycle, is
    not in the result.
    """
    import networkx

    levels = {}
    # If there is a cycle, networkx raises this after it has yielded all other nodes.
    with suppress(networkx.NetworkXUnfeasible):
        for step, keys in enumerate(networkx.topological_generations(arrows)):
            levels.update(dict.fromkeys(keys, step))
    return {key: levels[key] for key in arrows if key in levels}
