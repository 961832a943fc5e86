"""PEP 523: which function evaluates the frames of a function, as a graph."""

from dataclasses import replace

from ...mini import frame_hook
from ...model.graphs import Edge, Graph, Node, join_graphs
from ...model.phrase import format_count
from ...safety.arguments import real_isinstance, real_type_name
from ..text.value import format_text
from .objects import read_function_name, require_python_function
from .unwrapping import unwrap


def build_evaluator_graph(fn) -> Graph:
    """Return the way from a call of `fn` to what evaluates its frame now (`pycore_ceval.h`)."""
    function_or_method, sentences = unwrap(fn)
    function, _ = require_python_function(function_or_method, "show_evaluator")
    name = read_function_name(function)
    code = function.__code__
    code_name = format_text(code.co_name)
    variable_count = len(code.co_varnames) + len(code.co_cellvars) + len(code.co_freevars)
    room = f"{format_count(variable_count, 'variable')}, stack of {code.co_stacksize}"
    size = f"{len(code.co_code) // 2} code units"
    nodes = [
        Node("call", f"{name}(…)", "site", "a call"),
        Node("function", name, "function", "function: code, globals, defaults, cells"),
        Node("code", f"code of {code_name}", "code", size),
        Node("frame", f"frame of {code_name}", "frame", room),
    ]
    edges = [
        Edge("call", "function", "calls"),
        Edge("function", "code", "__code__"),
        Edge("call", "frame", "makes"),
        Edge("frame", "code", "runs"),
    ]

    previous = "frame"
    label = "goes to"
    for place, evaluator in enumerate(frame_hook.installed()):
        key = f"evaluator {place}"
        nodes.append(Node(key, evaluator.name, "function", evaluator.owner))
        edges.append(Edge(previous, key, label))
        previous = key
        label = "goes on to"
    title = f"Who evaluates a frame of {name} now"
    return Graph(title, tuple(nodes), tuple(edges), " ".join(sentences))


def compare_evaluators(fn, before: Graph) -> Graph:
    """Return the graph of an earlier moment beside that of this one; what is new is marked +."""
    if not real_isinstance(before, Graph):
        raise TypeError(f"before must be a result of show_evaluator, not {real_type_name(before)}")
    function_or_method, _ = unwrap(fn)
    function, _ = require_python_function(function_or_method, "show_evaluator")
    now = build_evaluator_graph(fn)
    # By what they show: the same key may stand for another evaluator.
    nodes_before = {(node.label, node.detail) for node in before.nodes}
    nodes = []
    has_new = False
    for node in now.nodes:
        if (node.label, node.detail) not in nodes_before:
            node = replace(node, label=f"+ {node.label}", kind=f"{node.kind} new")
            has_new = True
        nodes.append(node)
    moments = {"before": before, "now": replace(now, nodes=tuple(nodes))}
    note = "+ marks what is new." if has_new else ""
    return join_graphs(f"Who evaluates a frame of {read_function_name(function)}", moments, note)
