"""Small programs, and how one, compiled with other parts, parts from eager torch.

The judges import this when they judge, since it imports torch.
"""

import inspect

import torch
from torch import fx

from helpers.mini.dynamo import eval_frame

# ruff: noqa: D103 - the programs say what they are by their names


def toy(a, b):
    return a / (torch.abs(a) + 1) * b


def minus(x, y):
    return x - y * 2


def folded(x, n):
    return x + (n - 1) * 2


def under(x, n):
    return n / x


def keywords(x, y):
    return x.sum(dim=0, keepdim=True) + y


def joined(x, y):
    return torch.stack([x, y, x]) * 2


def by_dtype(x):
    return x * 2 if x.dtype is torch.float32 else x + 2


def by_shape(x):
    return x * x.shape[0]


def by_gradient(x):
    return x if x.requires_grad else x + 1


def by_number(x, k):
    return x * k if k else x - 1


def by_none(x, k):
    return x * 2 if k is None else x * 3


def divided(x, k):
    return x / k


def scaled(x, k):
    return x * k


def branch(a, b):
    x = a + 1
    y = a * 2  # noqa: F841 - it is dead, which the rest of the function must not receive
    if b.sum() < 0:
        b = b * -1
    return x * b


def stored_again(a, b):
    x = a + b
    y = x.sum().item()
    x = a * y
    return x + b


def looped(a, b):
    total = a.sum().item()
    step = 2
    while total > b:
        total = total - step
        step = step + 1
    return total


def one_way(a, b, c):
    if a.sum() > 0:
        return b
    b = c
    return b


def numbers():
    """Return two float tensors of three numbers."""
    return torch.tensor([1.0, -2.0, 4.0]), torch.tensor([3.0, 0.5, -1.0])


def changes():
    """Return (program, calls): between the calls something changes that the program looks at."""
    x, _ = numbers()
    gradient, whole = x.clone().requires_grad_(), x.long()
    return (
        (by_dtype, [(x,), (x.double(),)]),
        (by_shape, [(x,), (x[:2],)]),
        (by_gradient, [(x,), (gradient,), (x,)]),
        (by_number, [(x, 2), (x, 3), (x, 0)]),
        (by_none, [(x, None), (x, 1)]),
        (by_number, [(whole, 1), (whole, 1.0), (whole, 2)]),
        (divided, [(x, 0.0), (x, -0.0)]),
        (divided, [(x, 1.5), (x, 2.5)]),
    )


def same(got, want) -> bool:
    """Return whether a tensor is another one's equal, in dtype and numbers."""
    alike = isinstance(got, torch.Tensor) and got.dtype == want.dtype
    return alike and torch.equal(got, want)


def differs(fn, calls, parts, graph: bool = True) -> str:
    """Return how `fn`, compiled with these parts, parts from eager torch; nothing if it does not.

    With `graph`, the calls in the graph have to be those of the finished parts, too. What the
    parts raise goes through.
    """
    compiled, finished = eval_frame.compile(fn, parts=parts), eval_frame.compile(fn)
    for args in calls:
        want = finished.fn(*args)
        finished(*args)
        got = compiled(*args)
        if compiled.breaks or compiled.why:
            return f"{shown(fn, args)} left the graph: {(compiled.breaks or [compiled.why])[0]}"
        if not same(got, want):
            return f"{shown(fn, args)} gave {told(got)}, and eager torch gives {told(want)}"
        mine, real = _lines(compiled), _lines(finished)
        if graph and mine != real:
            return f"the graph of {fn.__name__} should hold {real}, and yours holds {mine}"
    return ""


def _lines(compiled) -> str:
    nodes = [node for module in compiled.graphs for node in _renamed(module.graph).nodes]
    calls = [node.format_node() for node in nodes if node.op.startswith("call")]
    return "; ".join(call.partition(" = ")[2] for call in calls) or "no call"


def _renamed(graph: fx.Graph) -> fx.Graph:
    """Return a copy whose inputs are arg0, arg1, …: how they are named is the recorder's choice."""
    copy, made = fx.Graph(), {}
    for node in graph.nodes:
        args, kwargs = fx.map_arg((node.args, node.kwargs), made.__getitem__)
        inputs = sum(other.op == "placeholder" for other in made)
        target = f"arg{inputs}" if node.op == "placeholder" else node.target
        made[node] = copy.create_node(node.op, target, args, kwargs)
    return copy


def body(fn) -> str:
    """Return the lines of a program, without its first one, in one line."""
    return "; ".join(line.strip() for line in inspect.getsource(fn).splitlines()[1:])


def shown(fn, args) -> str:
    """Return a call as it would be written."""
    return f"{fn.__name__}({', '.join(map(told, args))})"


def told(value) -> str:
    """Return a tensor or a number in a few words."""
    if isinstance(value, torch.Tensor):
        kind = "" if value.dtype is torch.float32 else f", {value.dtype}"
        grad = ", requires_grad" if value.requires_grad else ""
        return f"tensor({value.tolist()}{kind}{grad})"
    return repr(value) if isinstance(value, (int, float, str, tuple)) else str(value)[:40]
