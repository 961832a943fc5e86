"""A node that a learner's recorder has just made -> all is well, or Unfit says what is not.

Torch is imported when a node is looked at.
"""

from collections.abc import Mapping

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.study.check import Unfit, Untried


def run(method: str, fn, *args):
    """Return what a method gives; Unfit, in words without a graph in them, if it raises."""
    try:
        return fn(*args)
    except Untried:
        raise
    except AssertionError:  # fx says no more
        words = "the graph takes fn, a tuple and a dict, and was given something else"
        raise Unfit(f"{method}: {words}") from None
    except Exception as error:
        if str(error).startswith("Node ["):  # fx shows the whole graph
            words = "A text names a method (call_method), all else is called (call_function)"
            raise Unfit(f"call of {_named(args[0])}: the graph refuses it. {words}") from None
        raise Unfit(f"{method} raised {said(error)}") from None


def _named(fn) -> str:
    return repr(fn) if isinstance(fn, str) else getattr(fn, "__name__", "a function")


def size(recorder) -> int:
    """Return how many nodes its graph has; Unfit if it has no graph."""
    from torch import fx

    graph = getattr(recorder, "graph", None)
    if not isinstance(graph, fx.Graph):
        raise Unfit(f"a recorder needs a graph: self.graph = fx.Graph(), not {brief(graph)}")
    return len(graph.nodes)


def check_graph(recorder, before) -> None:
    """Raise Unfit if a recorder has another graph than before."""
    if recorder.graph is not before:
        raise Unfit("a recorder has one graph, made in __init__, and yours takes another one")


def _check_node(method: str, recorder, node, before: int) -> None:
    from torch import fx

    if not isinstance(node, fx.Node):
        raise Unfit(f"{method} must return the node that it made, not {brief(node)}")
    if node.graph is not recorder.graph or node is not next(reversed(recorder.graph.nodes)):
        raise Unfit(f"{method} must add its node at the end of self.graph, and return that one")
    if (added := size(recorder) - before) != 1:
        raise Unfit(f"{method} must add one node each time, and yours added {added}")


def check_input(recorder, node, source: str, before: int) -> None:
    """Raise Unfit unless an input stands in the graph, and is kept, as it should."""
    _check_node("input", recorder, node, before)
    inputs = getattr(recorder, "inputs", None)
    if not isinstance(inputs, Mapping) or inputs.get(source) is not node:
        raise Unfit("input must keep its node: self.inputs[source] = node")
    made = [n for n in recorder.graph.nodes if n.op == "placeholder"]
    if len(inputs) != len(made):
        raise Unfit(f"self.inputs should hold {len(made)} by now, one per input of this recorder")
    if node.op != "placeholder":
        raise Unfit("an input is made with self.graph.placeholder(name)")
    if node.target != f"arg{len(made) - 1}":
        raise Unfit(
            f"input number {len(made)} should be named arg{len(made) - 1}, and yours is "
            f"named {brief(node.target)}"
        )


def check_call(recorder, node, fn, want, before: int) -> None:
    """Raise Unfit unless a call stands in the graph as it should; `want`: its arguments."""
    _check_node("call", recorder, node, before)
    kind = "call_method" if isinstance(fn, str) else "call_function"
    named = _named(fn)
    if node.op != kind:
        raise Unfit(f"call of {named}: that is a {kind}, and yours made a {node.op}")
    if symbolic := _unwritten([node.args, node.kwargs]):
        raise Unfit(
            f"call of {named}: yours put a {symbolic} into the graph; written(value) gives the "
            "node or the constant that stands there for it"
        )
    given = node.args, node.kwargs
    if node.target != fn or tuple(map(_told, given)) != tuple(map(_told, want)):
        raise Unfit(
            f"call of {named}: yours stands in the graph with {_told(given[0])} and "
            f"{_told(given[1])}, and should with {_told(want[0])} and {_told(want[1])}"
        )


def _unwritten(value) -> str:
    """Return the kind of a symbolic value that stands somewhere among arguments, or nothing."""
    from helpers.mini.dynamo import symbolic_values

    for kind in (symbolic_values.Known, symbolic_values.Tensor, symbolic_values.Items):
        if isinstance(value, kind):
            return kind.__name__
    items = value.values() if isinstance(value, Mapping) else value
    inside = items if isinstance(value, (Mapping, list, tuple)) else ()
    return next(filter(None, map(_unwritten, inside)), "")


def _told(value) -> str:
    """Return arguments as they stand in a graph: a node by its name."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name!r}: {_told(item)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_told, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_told, value))})"
    return getattr(value, "name", None) or repr(value)
