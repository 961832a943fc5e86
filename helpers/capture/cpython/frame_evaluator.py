"""A function, and the running interpreter -> PEP 523 in one picture: who evaluates its frames."""

from dataclasses import replace

from helpers.capture.cpython.function import function_of
from helpers.capture.text.value import plain
from helpers.mini import frame_hook
from helpers.model.graph import Edge, Graph, Node
from helpers.model.op_log import together
from helpers.model.phrase import counted
from helpers.safety.arguments import is_a, kind_of


def evaluator_graph(fn) -> Graph:
    """Return the way from a call of `fn` to the evaluator that is installed at this moment.

    Mirrors `_PyEval_EvalFrame` (Include/internal/pycore_ceval.h), which asks the interpreter for
    its evaluator at every Python call. TypeError if `fn` is no Python function.
    """
    function, _ = function_of(fn, "show_evaluator")
    name, code = plain(function.__name__), function.__code__
    instructions = len(code.co_code) // 2
    nodes = [
        Node("call", f"{name}(…)", "site", "a call, somewhere"),
        Node("function", name, "function", "function: code, globals, defaults, cells"),
        Node("code", f"code of {plain(code.co_name)}", "code", f"{instructions} code units"),
        Node("frame", f"frame of {plain(code.co_name)}", "frame", _room(code)),
    ]
    edges = [
        Edge("call", "function", "calls"),
        Edge("function", "code", "__code__"),
        Edge("call", "frame", "makes"),
        Edge("frame", "code", "runs"),
    ]
    before, label = "frame", "is handed to"
    for place, one in enumerate(frame_hook.installed()):
        key = f"evaluator {place}"
        nodes.append(Node(key, one.name, "function", one.owner))
        edges.append(Edge(before, key, label))
        before, label = key, "goes on to"
    title = f"Who evaluates a frame of {name} now"
    return Graph(title, tuple(nodes), tuple(edges))


def evaluators_compared(fn, before: Graph) -> Graph:
    """Return the picture of an earlier moment and that of this one; what is new is marked +.

    TypeError if `fn` is no Python function, or `before` is no graph.
    """
    if not is_a(before, Graph):
        raise TypeError(f"before must be what show_evaluator gave, not {kind_of(before)}")
    function, _ = function_of(fn, "show_evaluator")
    now, known = evaluator_graph(fn), {(node.label, node.detail) for node in before.nodes}
    nodes = [
        node
        if (node.label, node.detail) in known
        else replace(node, label=f"+ {node.label}", kind=f"{node.kind} new")
        for node in now.nodes
    ]
    moments = {"before": before, "now": replace(now, nodes=tuple(nodes))}
    note = "+: was not there before." * any(node.kind.endswith(" new") for node in nodes)
    return together(f"Who evaluates a frame of {plain(function.__name__)}", moments, note)


def _room(code) -> str:
    places = len(code.co_varnames) + len(code.co_cellvars) + len(code.co_freevars)
    return f"{counted(places, 'variable')}, stack of {code.co_stacksize}"
