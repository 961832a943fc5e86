"""What changes behind an equal value, an equal name or an equal code object is seen."""

import collections
import math
import sys
import types

import pytest

pytestmark = pytest.mark.own_process(sharing="torch")

torch = pytest.importorskip("torch")

from helpers.mini import dynamo  # noqa: E402
from helpers.mini.dynamo import classes  # noqa: E402
from tests.mini.dynamo.generated import described  # noqa: E402

X = torch.arange(6.0).reshape(2, 3)
Pair = collections.namedtuple("Pair", "a b")


class Whole(int):
    """An int that says it is 7 wherever it is asked."""

    def __str__(self):
        return "seven"

    def __add__(self, other):
        return 7


class Part(float):
    def __repr__(self):
        return "part"


class Text(str):
    def __len__(self):
        return 7


def about(x, v):
    return x + 1, v, v == 1, bool(v)


def signs(x, v):
    return math.copysign(1, v.real), math.copysign(1, v.imag), x * v


def ends(x, v):
    return x * v.stop, v.start, v.step


def shown(x, v):
    return x, f"{v}", str(v), v + 1


def items(x, v):
    return [x + a for a in v], v[0], len(v)


def picked(x, v):
    return x[v]


@pytest.mark.parametrize(
    ("fn", "values"),
    [
        (about, [1, 1.0, True, Whole(1), Part(1.0), 1 + 0j, complex(1, -0.0)]),
        (signs, [0.0, -0.0, 0, False, complex(0, 0.0), complex(0, -0.0), complex(-0.0, 0)]),
        (signs, [math.nan, -math.nan, math.inf, complex(0, math.inf), complex(math.nan, 1)]),
        (ends, [range(0, 4, 2), range(0, 3, 2), range(0), range(0, 0, 5), slice(0, 2, 1)]),
        (ends, [slice(0, 2), slice(0, 2, True), slice(0.0, 2), slice(-0.0, 2), slice(False, 2)]),
        (shown, [1, 1.0, Whole(1), Part(1.0), -0.0, math.inf, 10**30, -(10**30), 10**5000]),
        (items, [(1, 2), (1.0, 2), (True, 2), [1, 2], Pair(1, 2), torch.Size([1, 2])]),
        (items, [(0.0, -0.0), (-0.0, 0.0), ((0,), 1), ((0.0,), 1), range(3), {0: 1}, {0: 2}]),
        (items, ["ab", Text("ab"), b"ab", bytearray(b"ab"), frozenset({0, 1}), "it's", "\ud800'"]),
        (picked, [..., None, 0, True, slice(0, 1), (0, 1), (0, True), (0, slice(None)), (..., 0)]),
        (about, [torch.float32, torch.float64, torch.device("cpu"), torch.device("cpu", 0)]),
        (about, [torch.strided, torch.channels_last, int, len, about, torch.nn, Ellipsis]),
    ],
)
def test_values_that_are_equal_are_told_apart(fn, values):
    compiled = dynamo.compile(fn)
    for _ in range(2):
        for value in values:
            assert answer(compiled, X, value) == answer(fn, X, value), value


def answer(fn, *args):
    try:
        result = fn(*args)
    except Exception as error:
        result = error
    return described(result, {})


CONSTANTS = """
complex(0, math.inf)
complex(0, -0.0)
complex(-0.0, 0)
complex(0, -2)
complex(math.nan, 1)
-math.nan
-0.0
2**70
10**5000
(1, (-0.0, 2**70))
'\\ud800\\'\\n'
b'\\x00'
...
None
""".strip().splitlines()


@pytest.mark.parametrize("text", CONSTANTS)
def test_a_constant_is_written_as_it_is(text):
    constant = eval(text)

    def uses(x):
        return constant, x + 1, [constant, (constant,)]

    def operates(x):
        return x + constant, torch.full_like(x, constant)

    for fn in (uses, operates):
        compiled = dynamo.compile(fn)
        for _ in range(2):
            assert answer(compiled, X) == answer(fn, X)
    assert "mini-Dynamo failed" not in compiled.why


def make(k):
    def add(self, x, by=1):
        return x * k + by

    return add


class Meta(type):
    """A metaclass that gains attributes."""


def world():
    """Return an object with everything that an attribute may come from, and its classes."""

    class Base:
        ok = 1
        add = make(2)

    class Box(Base, metaclass=Meta):
        k = 3

        def __init__(self):
            self.own = 4

        def scaled(self, x, *, by=2):
            return self.add(x) * self.k * self.own * by

    return types.SimpleNamespace(Base=Base, Box=Box, box=Box(), make=make)


CHANGES = """
Box.add = make(5)
Base.add = make(5)
Base.add.__defaults__ = (9,)
Base.add.__code__ = (lambda k: lambda self, x, by=1: x + k)(1).__code__
Base.add.__closure__[0].cell_contents = -0.0
box.add = lambda x: x - 1
box.__dict__['add'] = lambda x: x - 2
box.__dict__['k'] = 9
box.k = 3.0
box.own = True
del box.own
del Box.k
Box.k = property(lambda self: 8)
Box.own = property(lambda self: 8)
Box.scaled.__kwdefaults__ = {'by': 3}
Box.scaled.__kwdefaults__['by'] = 2.0
Box.scaled.__kwdefaults__ = None
Box.__bool__ = lambda self: False
Base.__len__ = lambda self: 0
Box.__getattr__ = lambda self, name: 6
Box.__getattribute__ = lambda self, name: 6
Base.__getattribute__ = lambda self, name: 5
Box.__bases__ = (type('Fresh', (), {'add': make(6)}),)
box.__class__ = type('Sub', (Box,), {'k': 5})
box.__class__ = type('Sub', (Box,), {'__bool__': lambda self: False})
box.__dict__ = {'own': 2, 'k': 1}
Box.scaled = make(7)
Box.scaled = staticmethod(lambda x: x)
Base.ok = type('Descriptor', (), {'__get__': lambda self, owner, kind: 5})()
Meta.k = 100
Meta.__bool__ = lambda cls: False
""".strip().splitlines()


@pytest.mark.parametrize("change", CHANGES)
def test_an_object_may_change_in_any_way(change):
    """Each change is tried after a call that was compiled; some are harmless, none is missed."""
    here = world()

    def run(x, box):
        return box.scaled(x) + (box.ok if box else -box.ok)

    compiled = dynamo.compile(run)
    for _ in range(2):
        assert answer(compiled, X, here.box) == answer(run, X, here.box)
    assert compiled.graphs and compiled.entries[0].hits == 2
    exec(change, {"Meta": Meta, **vars(here)})
    for _ in range(2):
        assert answer(compiled, X, here.box) == answer(run, X, here.box)
    for name in ("k", "__bool__"):
        if name in vars(Meta):
            delattr(Meta, name)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.k = torch.nn.Linear(3, 3), 2
        self.register_buffer("w", torch.ones(3))

    def forward(self, x):
        return self.layer(x) * self.w * self.k


MODULES = """
m.__dict__['layer'] = torch.nn.ReLU()
m._parameters['layer'] = None
m._buffers['layer'] = torch.zeros(3)
m.__dict__['w'] = torch.zeros(3)
m.layer.__dict__['weight'] = torch.zeros(3, 3)
m._buffers['w'] = torch.zeros(3)
m._modules['layer'] = torch.nn.ReLU()
del m._modules['layer']
m._call_impl = lambda *a: a[0]
m.forward = make(3).__get__(m)
kind.forward = make(3)
kind.__call__ = lambda self, x: x - 1
kind._call_impl = lambda self, x: x - 1
kind.__getattr__ = lambda self, name: (lambda *a: a[0])
kind.w = 5
m.layer.forward = lambda x: x
m.layer.register_forward_pre_hook(lambda m, a: (a[0] + 1,))
m.layer.weight.data = torch.zeros(3, 3)
m.layer.weight.requires_grad_(False)
m.double()
m.__class__ = type('Sub', (kind,), {'forward': lambda self, x: x})
torch.nn.modules.module.register_module_forward_hook(lambda m, a, o: o * 3)
""".strip().splitlines()


@pytest.mark.parametrize("change", MODULES)
@pytest.mark.parametrize("through", ["a global", "compiled", "its forward"])
def test_a_module_may_change_in_any_way(change, through):
    kind = type("Model", (Model,), {"forward": Model.forward})
    m = kind()

    def calls(x):
        return m(x)

    fn = {"a global": calls, "compiled": m, "its forward": m.forward}[through]
    compiled = dynamo.compile(fn)
    for _ in range(2):
        assert answer(compiled, X) == answer(fn, X)
    assert compiled.graphs
    handle = eval_or_exec(change, {"m": m, "kind": kind, "make": make, "torch": torch})
    try:
        for _ in range(2):
            assert answer(compiled, X) == answer(fn, X)
    finally:
        if handle is not None and "register" in change:
            handle.remove()


def eval_or_exec(change, space):
    if "=" in change.replace("lambda m, a, o: o * 3", "") and " = " in change:
        return exec(change, space)
    return exec(change, space) if change.startswith("del ") else eval(change, space)


def test_functions_from_the_same_lines_are_told_apart():
    def calls(x, f):
        return f(None, x)

    compiled = dynamo.compile(calls)
    for k in (2, 3, 2.0, -0.0):
        assert answer(compiled, X, make(k)) == answer(calls, X, make(k))


def test_a_module_of_python_that_makes_its_names_is_not_asked_by_a_guard():
    asked = []
    made = types.ModuleType("made")
    made.k, made.__getattr__ = 3, lambda name: asked.append(name) or 5

    def uses(x):
        return x * made.k

    compiled = dynamo.compile(uses)
    assert torch.equal(compiled(X), X * 3)
    del made.k
    assert torch.equal(compiled(X), X * 5) and asked == ["k"]
    made.k = 4
    made.__class__ = type("Odd", (types.ModuleType,), {"k": property(lambda self: 6)})
    assert torch.equal(compiled(X), X * 6)


def test_guards_use_the_builtins_that_were(monkeypatch):
    def sized(x, xs):
        return x * len(xs)

    compiled = dynamo.compile(sized)
    compiled(X, [1, 2])
    import builtins

    monkeypatch.setattr(builtins, "len", lambda v: 2)
    monkeypatch.setattr(builtins, "type", lambda v: list)
    got = compiled(X, [1, 2, 3]), compiled(X, (1,))
    want = sized(X, [1, 2, 3]), sized(X, (1,))
    monkeypatch.undo()
    assert all(map(torch.equal, got, want))


def test_a_method_of_torch_tensors_may_be_replaced(monkeypatch):
    def summed(x):
        return x.sum() * x.sum().dim()

    compiled = dynamo.compile(summed)
    compiled(X)
    monkeypatch.setattr(torch.Tensor, "sum", lambda self: self)
    assert torch.equal(compiled(X), X * 2) and "changed torch.Tensor" in compiled.why


def test_a_loop_that_is_too_long_to_unroll_is_not_unrolled():
    def counts(x):
        for _ in range(10**12):
            return x
        return x + 1

    compiled = dynamo.compile(counts)
    assert compiled(X) is X and "too long" in compiled.why

    def repeats(x):
        return "ab" * 10**7, x + 1

    compiled = dynamo.compile(repeats)
    assert answer(compiled, X) == answer(repeats, X)
    assert "more than is kept" in compiled.breaks[0]


class Hostile:
    """Whatever is asked of it raises, but for what Python does to any object."""

    __class__ = property(lambda self: 1 / 0)

    def __getattr__(self, name):
        raise SystemExit(name)

    __eq__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __getattr__


class Proxy:
    """It takes part in calls of torch."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__


def endless():
    xs = [1]
    xs.append(xs)
    return xs


@pytest.mark.parametrize("make_one", [Hostile, Proxy, endless, object, lambda: [Hostile()]])
def test_odd_arguments_are_handed_on_and_not_asked(make_one):
    def passes(x, v):
        return x + 1, v

    def checks(x, v):
        return x + 1 if v is None else x - 1

    def calls(x, v):
        return torch.add(x, v)

    for fn in (passes, checks, calls):
        one, compiled = make_one(), dynamo.compile(fn)
        for _ in range(2):
            if fn is calls:
                assert answer(compiled, X, one) == answer(fn, X, one)
            elif fn is passes:
                got = compiled(X, one)
                assert torch.equal(got[0], X + 1) and got[1] is one
            else:
                assert torch.equal(compiled(X, one), fn(X, one))


def test_a_class_whose_metaclass_raises_may_be_an_argument():
    class Loud(type):
        def __eq__(cls, other):
            raise AssertionError

        __hash__ = __getattribute__ = __eq__

    class Of(metaclass=Loud):
        pass

    one = object.__new__(Of)

    def passes(x, v, kind):
        return x + 1, v, kind

    got = dynamo.compile(passes)(X, one, Of)
    assert got[1] is one and got[2] is Of


def test_a_number_of_a_class_changes_with_it():
    class Above:
        pass

    class Below(Above):
        pass

    seen = {classes.version(Below).value}
    for change in range(5):
        Above.x = change
        seen.add(classes.version(Below).value)
    assert len(seen) == 6 and 0 not in seen
    assert classes.is_fixed(int) and not classes.is_fixed(Above)


def test_where_classes_have_no_number_their_attributes_are_read_by_python(monkeypatch):
    monkeypatch.setattr(classes, "_NUMBERED", False)
    here = world()

    def run(x, box):
        return box.scaled(x)

    compiled = dynamo.compile(run)
    assert torch.equal(compiled(X, here.box), run(X, here.box))
    assert "nobody can tell whether the class Box changes" in compiled.why


def test_threads_leave_nothing_behind():
    import logging
    import threading

    def program(x, k):
        return torch.sin(x) * k if x.sum() > 0 else x.missing

    found = []

    def work():
        compiled = dynamo.compile(program)
        for k in range(6):
            if not torch.equal(compiled(X, k), torch.sin(X) * k):
                found.append(k)

    before = logging.getLogger("torch._subclasses.fake_tensor").disabled
    every = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(every)
    assert not found and logging.getLogger("torch._subclasses.fake_tensor").disabled is before


def test_an_attribute_that_is_not_there_raises_even_if_nothing_uses_it():
    def asks(x, r):
        k = r.stop  # noqa: F841 - only asked for
        return x + 1

    compiled = dynamo.compile(asks)
    for value in (range(3), [0, 1], (0, 1), torch.Size([1]), X, "ab"):
        assert answer(compiled, X, value) == answer(asks, X, value), value


def test_an_entry_of_a_class_that_has_changed_is_dropped():
    here = world()

    def run(x, box):
        return x * box.k

    compiled = dynamo.compile(run)
    for k in range(12):
        here.Box.k = k
        assert torch.equal(compiled(X, here.box), X * k)
        assert len(compiled.entries) == 1
    assert "8 entries are the limit" in compiled.why
