"""A program compiled with a learner's part -> how it parts from eager torch, in words.

The judges import this when they judge, since it imports torch.
"""

import inspect
from types import NoneType

import torch

from helpers.capture.text.error import said
from helpers.capture.text.value import brief
from helpers.mini.dynamo import eval_frame
from helpers.model.phrase import stop
from helpers.study.check import Unfit, Untried
from helpers.study.two_answers import parted, within


def first(verdicts) -> str | None:
    """Return the first verdict that says something."""
    return next((words for words in verdicts if words), None)


def parts_from(fn, calls, parts, graph: bool = True) -> str:
    """Return how `fn`, compiled with the learner's part, parts from eager torch, if it does.

    With `graph`, the calls in the graph have to be those of the finished parts, too.
    """
    try:
        words = _differs(fn, calls, parts, graph)
    except (Untried, Unfit):
        raise
    except Exception as error:
        words = f"{shown(fn, calls[0])} raised {said(error)}"
    return words and within("", words, f"{stop(words)} Here {fn.__name__} is: {body(fn)}")


def same(got, want) -> bool:
    """Return whether a tensor is another one's equal, in dtype and numbers."""
    alike = isinstance(got, torch.Tensor) and got.dtype == want.dtype
    return alike and got.shape == want.shape and torch.allclose(got, want, 0, 0, equal_nan=True)


def _differs(fn, calls, parts, graph: bool) -> str:
    compiled, finished = eval_frame.compile(fn, parts=parts), eval_frame.compile(fn)
    for args in calls:
        want, got = finished.fn(*args), compiled(*args)
        if graph or _left(compiled):
            finished(*args)
        if _left(compiled) and not _left(finished):
            return f"{shown(fn, args)} left the graph: {_left(compiled)}"
        if not same(got, want):
            gives = f"gives {told(got)}", f"gives {told(want)}"
            return parted(f"{shown(fn, args)}: ", *gives, "eager torch")
        if graph and _lines(compiled) != _lines(finished):
            holds = f"holds {_lines(compiled)}", f"holds {_lines(finished)}"
            return parted(f"the graph of {fn.__name__}: ", *holds, "the finished one")
    return ""


def _left(compiled) -> str:
    """Return why a call did not stay in the graph, if it did not."""
    return (compiled.breaks or [compiled.why])[0]


def _lines(compiled) -> str:
    nodes = [node for module in compiled.graphs for node in module.graph.nodes]
    calls = [node.format_node() for node in nodes if node.op.startswith("call")]
    return "; ".join(call.partition(" = ")[2] for call in calls) or "no call"


def body(fn) -> str:
    """Return the lines of a program, without its first one, in one line."""
    lines = "; ".join(line.strip() for line in inspect.getsource(fn).splitlines()[1:])
    return lines.replace(":;", ":")


def shown(fn, args) -> str:
    """Return a call as it would be written."""
    return f"{fn.__name__}({', '.join(map(told, args))})"


def told(value) -> str:
    """Return a tensor or a number in a few words."""
    if isinstance(value, torch.Tensor):
        kind = "" if value.dtype is torch.float32 else f", {value.dtype}"
        plain = type(value) is torch.Tensor
        name = "tensor" if plain else type(value).__name__
        grad = ", requires_grad" if value.requires_grad else ""
        return f"{name}({value.tolist()}{kind}{grad})"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(told, value))}]"
    if type(value) in (bool, int, float, str, NoneType):
        return repr(value)
    plain = isinstance(value, (int, float))
    return f"{type(value).__name__}({float(value)})" if plain else brief(value)
