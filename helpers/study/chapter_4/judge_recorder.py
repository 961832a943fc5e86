"""Step 2 of the mini-Dynamo: the recorder's graph holds the calls that the finished one's holds.

Each input and each call is looked at when it is made, and so is what the whole graph gives.
"""

import operator
from collections.abc import Mapping
from dataclasses import replace

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.study.chapter_4.forms import method_of
from helpers.study.check import Unfit, Untried, tried


def judge_recorder(answer):
    """Judge step 2 call by call, then on programs."""
    from helpers.mini.dynamo import PARTS
    from helpers.study.chapter_4 import programs, trial

    if not isinstance(answer, type):
        return "give the class itself: check.dynamo_recorder(Recorder)"
    method_of(answer, "input", "source")
    method_of(answer, "call", "fn, args, kwargs")
    looked_at = _looked_at(answer)
    if because := _two(looked_at):
        return because
    x, y = programs.numbers()
    fns = (programs.minus, programs.toy, programs.keywords, programs.joined, programs.shaped)
    parts = replace(PARTS, recorder=looked_at)
    return trial.first(trial.parts_from(fn, [(x, y)], parts) for fn in fns)


def _looked_at(answer: type) -> type:
    """Return the learner's class, which then looks at each node that it gives."""
    from helpers.mini.dynamo import written

    class Tried(answer):
        def input(self, source):
            before = _size(self)
            node = tried(_run("input", super().input, source), "input")
            _check_input(self, node, source, before)
            return node

        def call(self, fn, args, kwargs):
            before = _size(self)
            node = tried(_run("call", super().call, fn, args, kwargs), "call")
            want = tuple(map(written, args)), {k: written(v) for k, v in kwargs.items()}
            _check_call(self, node, fn, want, before)
            return node

    return Tried


def _run(method: str, fn, *args):
    try:
        return fn(*args)
    except Untried:
        raise
    except AssertionError:  # fx says no more
        words = "the graph takes fn, a tuple and a dict, and was given something else"
        raise Unfit(f"{method}: {words}") from None
    except Exception as error:
        if args and isinstance(args[0], str) and method == "call" and "Node [" in str(error):
            raise Unfit(
                f"call of {args[0]!r}: a text names a method; that is a call_method"
            ) from None
        raise Unfit(f"{method} raised {said(error)}") from None


def _size(recorder) -> int:
    from torch import fx

    graph = getattr(recorder, "graph", None)
    if not isinstance(graph, fx.Graph):
        raise Unfit(f"a recorder needs a graph: self.graph = fx.Graph(), not {brief(graph)}")
    return len(graph.nodes)


def _check_node(method: str, recorder, node, before: int) -> None:
    from torch import fx

    if not isinstance(node, fx.Node):
        raise Unfit(f"{method} must return the node that it made, not {brief(node)}")
    if node.graph is not recorder.graph or node is not next(reversed(recorder.graph.nodes)):
        raise Unfit(f"{method} must add its node at the end of self.graph, and return that one")
    if (added := _size(recorder) - before) != 1:
        raise Unfit(f"{method} must add one node each time, and yours added {added}")


def _check_input(recorder, node, source: str, before: int) -> None:
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


def _check_call(recorder, node, fn, want, before: int) -> None:
    _check_node("call", recorder, node, before)
    kind = "call_method" if isinstance(fn, str) else "call_function"
    named = repr(fn) if isinstance(fn, str) else getattr(fn, "__name__", "a function")
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


def _two(kind: type) -> str | None:
    """Use two recorders in turn; return what they share, if anything."""
    from helpers.mini.dynamo import Known, Tensor

    first, second = (_run("Recorder()", kind) for _ in range(2))
    tensors = [Tensor(first.input(source), None, source) for source in ("a", "b[0]", "G['c']")]
    if list(first.inputs) != ["a", "b[0]", "G['c']"]:
        return f"self.inputs should hold the sources in order, and holds {brief(first.inputs)}"
    first.call(operator.sub, tuple(tensors[:2]), {})
    first.call("sum", (tensors[2],), {"dim": Known(0), "keepdim": Known(True)})
    first.call(print, (), {})
    if _size(second) or second.inputs:
        return "two recorders share what they hold: make the graph and the dict in __init__"
    second.input("a")
    return None
