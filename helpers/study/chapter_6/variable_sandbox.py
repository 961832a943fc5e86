"""A learner's guess about a program on a variable -> the truth, from its graph and from runs."""

import re
from collections import Counter
from dataclasses import replace

from helpers.capture.tensorflow.variable_outcomes import KINDS, outcomes, program_graph
from helpers.model.graphs import Graph
from helpers.model.study_records import Control, Sandbox
from helpers.study.engine import tf
from helpers.study.foretelling import Foretelling
from helpers.view.diagram.graph_view import figures

OLD, NEW, EITHER = "10", "11", "either: a race"
READS = ("v.read_value()", "v * 1", "v itself, where it is used")
SANDBOX = Sandbox(
    "What did the program see?",
    "v starts at 0 and the program adds 1. What is seen is 10 plus what was read: 10 or 11.",
    (
        Control("variable", tuple(KINDS)),
        Control("read", READS),
        Control("the update waits for the read", ("yes", "no"), "read", READS[:2]),
        Control("the use waits for the update", ("yes", "no")),
    ),
    (OLD, NEW, EITHER),
    "sandbox.run('11', variable='RefVariable')  # says whether the guess was right",
    ask="seen will be",
    button="Run the program",
    nudge="Predict first: 10, 11, or either?",
    style="course-what-if",
)
RUNS = 200


class VariableSandbox(Foretelling):
    """Programs to pick from, each with its graph; a button runs one many times."""

    def __init__(self):
        super().__init__(SANDBOX, "it sees")

    def _truth(self, picked, often):
        graph, counted = program_picture(picked), seen(picked, RUNS if often else 1)
        must, (looks, writes) = verdict(graph), graph.found
        if must == EITHER:
            why = f"No way leads from {writes} to {looks}, or back: nothing orders them."
        else:
            first, second = (looks, writes) if must == OLD else (writes, looks)
            why = f"{first} runs before {second}: a way in the graph leads there."
        if often:
            words = ", ".join(f"{value} ×{runs}" for value, runs in counted.items())
            why += f" {sum(counted.values())} runs: {words}."
        return must, f"is {must}. {why}", figures.html(graph)

    def _code(self, picked):
        return program_code(picked)


def variable_sandbox() -> VariableSandbox:
    """Return a what-if: pick the kind of variable, the read and the order; foretell; run; see."""
    return VariableSandbox()


def program_code(picked: dict[str, str]) -> str:
    """Return the program as it would be typed."""
    first, waits, after = _choices(picked)
    name = "v" if first == READS[2] else "before"
    update, use = "update = v.assign_add(1)", f"seen = {name} + 10"
    lines = [] if first == READS[2] else [f"before = {first}"]
    lines.append(f"with control_dependencies([before]): {update}" if waits else update)
    lines.append(f"with control_dependencies([update]): {use}" if after else use)
    return "\n".join(lines)


def program(picked: dict[str, str]):
    """Return the program of these choices, a function of a variable and the number 1."""
    first, waits, after = _choices(picked)

    def built(v, one):
        before = {READS[0]: v.read_value, READS[1]: lambda: v * one}.get(first, lambda: v)()
        with tf.control_dependencies([before] if waits else []):
            update = v.assign_add(one)
        with tf.control_dependencies([update] if after else []):
            seen = tf.add(before, 10.0, name="seen")
        return [seen, update]

    return built


def _choices(picked: dict[str, str]) -> tuple[str, bool, bool]:
    first = picked["read"]
    waits = picked["the update waits for the read"] == "yes" and first != READS[2]
    return first, waits, picked["the use waits for the update"] == "yes"


def program_picture(picked: dict[str, str]) -> Graph:
    """Return the program's graph: the place that looks and the place that writes pointed out."""
    graph = program_graph(program(picked), picked["variable"])
    first = "v/.*(initial_value|Assign|IsInitialized)"  # what initialises v
    nodes = tuple(node for node in graph.nodes if not re.match(first, node.key))
    keys = {node.key for node in nodes}
    edges = tuple(e for e in graph.edges if e.source in keys and e.target in keys)
    writes = next(node.key for node in nodes if node.op.startswith("AssignAdd"))
    return replace(graph, nodes=nodes, edges=edges, found=(_find_look(nodes, edges), writes))


def _find_look(nodes: tuple, edges: tuple) -> str:
    """Return the node that looks at the memory: for a RefVariable, whoever computes with it."""
    links = {(e.source, e.target) for e in edges if e.label != "control"}  # which brings no data
    found = {node.op: node.key for node in nodes if _leads(links, node.key, "seen")}
    return found.get("ReadVariableOp") or found.get("Mul", "seen")


def verdict(graph: Graph) -> str:
    """Return what a program must see, from the ways in its graph alone."""
    looks, writes = graph.found
    links = {(e.source, e.target) for e in graph.edges}
    if _leads(links, writes, looks):
        return NEW
    return OLD if _leads(links, looks, writes) else EITHER


def _leads(links: set, start: str, end: str) -> bool:
    import networkx

    return networkx.has_path(networkx.DiGraph([*links, (start, start), (end, end)]), start, end)


def seen(picked: dict[str, str], runs: int) -> dict[str, int]:
    """Return how often `seen` was what, over so many runs."""
    found = outcomes(program(picked), picked["variable"], runs).elements()
    return dict(sorted(Counter(words.partition(",")[0] for words in found).items()))
