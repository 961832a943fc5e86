"""Draw as a graph which function evaluates the frames of a Python function.
CPython evaluates a frame with its own loop. With PEP 523, a program such as torch's Dynamo can set
another function, a frame evaluator, that CPython calls in place of the loop.
"""

from dataclasses import replace

from ...mini import frame_hook
from ...model.graphs import Edge, Graph, Node, join_graphs
from ...model.phrase import format_count
from ...safety.arguments import real_isinstance, real_type_name
from ..text.value import format_text
from .objects import read_function_name, require_python_function
from .unwrapping import unwrap


def build_evaluator_graph(fn) -> Graph:
    """Return a graph of a call of `fn`: function, code object, frame, and the frame's evaluators.

    The evaluators are those that are set now. The first gets the frame from CPython, and each may
    pass it on to the next. CPython's own loop is the last (`pycore_ceval.h`).
    """
    function_or_method, unwrapping_sentences = unwrap(fn)
    function, _ = require_python_function(function_or_method, "show_evaluator")
    name = read_function_name(function)
    code = function.__code__
    code_name = format_text(code.co_name)
    variable_count = len(code.co_varnames) + len(code.co_cellvars) + len(code.co_freevars)
    frame_size = f"{format_count(variable_count, 'variable')}, stack of {code.co_stacksize}"
    code_size = f"{len(code.co_code) // 2} code units"  # a code unit has two bytes
    # Each node is (key, label, kind, detail).
    nodes = [
        Node("call", f"{name}(…)", "site", "a call"),
        Node("function", name, "function", "function: code, globals, defaults, cells"),
        Node("code", f"code of {code_name}", "code", code_size),
        Node("frame", f"frame of {code_name}", "frame", frame_size),
    ]
    edges = [
        Edge("call", "function", "calls"),
        Edge("function", "code", "__code__"),
        Edge("call", "frame", "makes"),
        Edge("frame", "code", "runs"),
    ]

    # A chain below the frame: frame "goes to" the first evaluator, which "goes on to" the second.
    previous_key = "frame"
    edge_label = "goes to"
    for position, evaluator in enumerate(frame_hook.installed()):
        key = f"evaluator {position}"
        nodes.append(Node(key, evaluator.name, "function", evaluator.owner))
        edges.append(Edge(previous_key, key, edge_label))
        previous_key = key
        edge_label = "goes on to"
    title = f"Who evaluates a frame of {name} now"
    return Graph(title, tuple(nodes), tuple(edges), " ".join(unwrapping_sentences))


def compare_evaluators(fn, before: Graph) -> Graph:
    """Return an earlier graph of `build_evaluator_graph` beside the graph of `fn` as it is now.

    A node that the earlier graph does not have is marked with a + in its label.
    """
    if not real_isinstance(before, Graph):
        raise TypeError(f"before must be a result of show_evaluator, not {real_type_name(before)}")
    function_or_method, _ = unwrap(fn)
    function, _ = require_python_function(function_or_method, "show_evaluator")
    now = build_evaluator_graph(fn)
    # Nodes are compared by their text. The key "evaluator 0" may stand for another evaluator now.
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
