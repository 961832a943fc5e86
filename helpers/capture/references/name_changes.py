"""Two moments of a run's names -> what the line between them does, as a sentence."""

from collections.abc import Sequence
from dataclasses import replace

from helpers.model.graph import Graph
from helpers.model.phrase import clipped, ended
from helpers.model.timeline import Step

OVER = "The call is over."
MOST_PRINTED = 60  # characters of output in a sentence


def told(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps, each with what its line is about to do: what the next one finds changed."""
    pairs = zip(steps, steps[1:], strict=False)
    said = [replace(step, says=_says(step, then), lane=_lane(step, then)) for step, then in pairs]
    return (*said, *(replace(step, says=OVER, lane="call") for step in steps[-1:]))


def _says(step: Step, then: Step) -> str:
    parts = _changes(_targets(step), _targets(then)) + _in_place(step, then)
    before, after = (one.panel("printed") for one in (step, then))
    if after != before:
        fresh = after.removeprefix(before) if after.startswith(before) else after
        parts.append(f"prints {clipped(repr(fresh.rstrip()), MOST_PRINTED)}")
    if " raised " in then.label:
        parts.append(f"raises {then.label.partition(' raised ')[2]}")
    return ended("; ".join(parts) or "changes no name, and nothing that a name refers to")


def _lane(step: Step, then: Step) -> str:
    if " raised " in then.label:
        return "exception"
    changed = _targets(step) != _targets(then) or _in_place(step, then)
    return "store" if changed else "operate"


def _targets(step: Step) -> dict[str, tuple[str, str]]:
    """Return name -> (key, words) of what it refers to."""
    graph = step.panel("names and objects")
    if type(graph) is not Graph:
        return {}
    nodes = {node.key: node for node in graph.nodes}
    names = {edge.source: edge.target for edge in graph.edges if nodes[edge.source].kind == "name"}
    return {nodes[name].label: (key, nodes[key].label) for name, key in names.items()}


def _changes(before: dict, after: dict) -> list[str]:
    parts = []
    for name, (key, words) in after.items():
        if name not in before:
            parts.append(f"makes {name} refer to {words}")
        elif before[name][0] != key:
            old = before[name][1]
            ways = f"one {old} to another" if old == words else f"{old} to {words}"
            parts.append(f"turns {name} from {ways}")
    return parts + [f"unbinds {name}" for name in before if name not in after]


def _in_place(step: Step, then: Step) -> list[str]:
    """Say which objects that are there before and after hold something else."""
    before, after, names = _contents(step), _contents(then), _targets(then)
    referring = {key: name for name, (key, _) in reversed(names.items())}
    parts = []
    for key in before.keys() & after.keys():
        if before[key] != after[key]:
            old, new = before[key][0], after[key][0]
            words = f" ({old} → {new})" if old != new else ""
            what = f"what {referring[key]} refers to" if key in referring else "an object"
            parts.append(f"changes {what} in place{words}")
    return sorted(parts)


def _contents(step: Step) -> dict[str, tuple]:
    """Return the key of each object -> its words, and where its arrows lead."""
    graph = step.panel("names and objects")
    if type(graph) is not Graph:
        return {}
    kept = {n.key: (n.detail, []) for n in graph.nodes if n.kind not in ("name", "group")}
    for edge in graph.edges:
        if edge.source in kept:
            kept[edge.source][1].append((edge.label, edge.target))
    return {key: (detail, tuple(sorted(leads))) for key, (detail, leads) in kept.items()}
