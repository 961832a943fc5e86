"""Without torch -> the mini-Dynamo against plain Python, on functions of numbers; prints a JSON.

A stand-in for torch lets it be imported, so that bytecode, graph breaks and resume functions are
tried on every supported Python, whatever is installed there.
"""

import contextlib
import copy
import io
import json
import sys
import types
from pathlib import Path

NAMES = (
    *("torch", "torch.nn", "torch.nn.functional", "torch.nn.modules", "torch.nn.modules.module"),
    *("torch.fx", "torch._C", "torch._C._functorch", "torch._subclasses", "torch.compiler"),
    "torch._subclasses.fake_tensor",
)


class StandIn(types.ModuleType):
    """A module that has whatever it is asked for: a function that returns nothing."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, types.FunctionType((lambda *args, **kwargs: None).__code__, {}, name))
        return getattr(self, name)


class Graph:
    """A graph that stays empty."""

    nodes = ()


def stand_in():
    """Put the stand-in where torch is imported from."""
    for name in NAMES:
        above, _, last = name.rpartition(".")
        sys.modules[name] = StandIn(name)
        if above:
            setattr(sys.modules[above], last, sys.modules[name])
    torch = sys.modules["torch"]
    for name in ("Tensor", "Size", "dtype", "device", "layout", "memory_format"):
        setattr(torch, name, type(name, (), {}))
    for name in ("Module", "Parameter", "Sequential", "ModuleList"):
        setattr(torch.nn, name, type(name, (), {"__getattr__": lambda self, name: None}))
    torch.is_grad_enabled = lambda: True
    torch.fx.Graph = Graph
    house = types.ModuleType("helpers")
    house.__path__ = [str(Path(__file__).parents[3] / "helpers")]
    sys.modules["helpers"] = house


class Box:
    """An object with a method."""

    k = 3

    def __init__(self):
        self.v = 1

    def add(self, n):
        return self.v + n + self.k


BOX = Box()


def helper(a, b=2, *, c=3):
    return a * b + c


def told(value=4):
    print("told", value)
    return value


def prints(a, b):
    x = a + b * 2
    print("x", x)
    if x > 3:
        y = x - 1
    else:
        y = x + 1
    return x, y


def loops(n, start=0):
    total = start
    for i in range(n):
        if i == 3:
            continue
        total += i
    while total > 5:
        total -= 2
    return total


def texts(a, b):
    return helper(a) + helper(a, b) + helper(a, c=b), f"{a}-{b!r:>5}{b:03}", [a, b][0], (a, b)[-1]


def deep(a, b):
    z = [a, b, print("in", a, sep="-", end="!\n"), max(a, int(told()))]
    w = helper(a, b, c=len(z))
    return z, w


def conditions(a, b):
    return a if a is not None and b else (b or 7), not a, b is None or 0 < b < 10, a in (1, 2)


def methods(a, b):
    return BOX.add(a) + BOX.v, b


def changed(xs, a):
    out = 0
    for x in xs:
        out += x * a
    xs.append(a)
    xs[0] = out
    return xs, xs[1:], out


def checked(a, b):
    assert a > 0, "positive"
    q = told(lambda: a * b if b else told)
    return q()


def nones(a, b):
    if a is None:
        return told(b)
    c = b if b is not None else a
    print(c)
    return c


CASES = {
    **{prints: [(1, 2), (0, 0)], loops: [(5,), (9, 2), (0,)], texts: [(1, 2), (3, 4)]},
    **{deep: [(1, 2)], conditions: [(1, 2), (None, 0), (0, 3)], methods: [(1, 2)]},
    **{changed: [([1, 2, 3], 4)], checked: [(2, 3), (0, 1)]},
    nones: [(None, 2), (1, None), (1, 2)],
}


def outcome(fn, args):
    args, printed = copy.deepcopy(args), io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = fn(*args)
        except Exception as error:
            result = (type(error).__name__, str(error))
    return repr(result), repr(args), printed.getvalue()


def main():
    stand_in()
    from helpers.mini import dynamo

    report = {}
    for fn, cases in CASES.items():
        compiled = dynamo.compile(fn)
        differ = [a for a in cases * 3 if outcome(compiled, a) != outcome(fn, a)]
        report[fn.__name__] = [repr(differ), len(compiled.breaks), bool(compiled.why)]
    print(json.dumps(report))


if __name__ == "__main__":
    main()
