"""A seed -> a program with all that it looks at, and calls of it with a change before each.

The program reads arguments, globals, attributes, closures, defaults, a class, a torch module; the
changes replace them by what `==`, a name or a code object does not tell apart.
"""

import random
import re

WORLD = """
import collections, functools, math
import torch
from torch import nn

class IntSub(int): pass
class FloatSub(float): pass
class StrSub(str): pass
Pair = collections.namedtuple("Pair", "a b")

class Base:
    ok = True
    def shifted(self, x): return x + self.k
class Box(Base):
    k = 2
    def __init__(self): self.t, self.own = torch.arange(3.0) - 1, 0.5
    def add(self, x, by=1): return x * self.k + by
class Other(Base):
    k = 7
    def add(self, x, by=2): return x - by

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.drop, self.k = nn.Linear(3, 3), nn.Dropout(0.5), 2
        self.register_buffer("w", torch.ones(3))
        self.stack = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    def forward(self, x, by=1): return self.drop(self.layer(x)) * self.k + by
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.part, self.k = Model(), 1

def make(n):
    def inner(x, by=1): return x * n + by
    return inner
def make_method(n):
    def add(self, x, by=1): return x * n - by
    return add
def make_forward(n):
    def forward(self, x, by=1): return x * n + by
    return forward
def helper(x, shift=1, *, times=2): return (x + shift) * times

torch.manual_seed(3)
BOX, OTHER, M, WHOLE = Box(), Other(), Model(), Whole()
M.eval()
K, T, D, FLAG, inner = 3, torch.tensor([1.0, -2.0, 0.5]), {"a": 1, "b": 2.0}, True, make(4)
"""


def _words(text: str) -> list[str]:
    return text.split()


SCALARS = _words(
    """
    0 1 2 -1 True False 1.0 2.0 0.0 -0.0 0.5 3 math.nan -math.nan math.inf -math.inf None 2**40 -3
    1e308 complex(1,2) complex(0,0.0) complex(0,-0.0) complex(-0.0,0) complex(0,math.inf)
    complex(1,0) 'a' "it's" '\\ud800' '' b'a' IntSub(1) FloatSub(1.0) StrSub('a') torch.float32
    torch.float64 2**70 torch.device('cpu') (1,2) (1.0,2) (True,2) Pair(1,2) torch.Size([1,2]) ...
    [1] 1j 10**20
    """
)
RANGES = _words(
    """
    range(3) range(0,4,2) range(0,3,2) range(2,0,-1) range(0) range(0,0) slice(0,2) slice(0,2,1)
    slice(None) slice(0.0,2) (0,1) (0,True) (0,1.0) [0,1] [0,1.0] torch.Size([0,1]) Pair(0,1)
    (0.0,-0.0) (-0.0,0.0) ((0,),1) ((0.0,),1) () [] 'ab' StrSub('ab') {0:1,1:2} {1:2,0:1}
    bytearray(b'ab') b'ab' frozenset({0,1})
    """
)
TENSORS = _words(
    """
    torch.tensor([1.0,-2.0,0.5]) torch.tensor([1.0,-2.0,0.5]).double() torch.tensor([1,2,3])
    torch.tensor([-0.0,math.nan,math.inf]) torch.arange(6.0).reshape(2,3)
    torch.arange(6.0).reshape(3,2).t() torch.arange(6.0)[::2]
    torch.tensor([1.0,2.0,3.0]).requires_grad_() nn.Parameter(torch.ones(3)) torch.tensor(2.0)
    torch.tensor([True,False,True]) torch.empty(0) torch.ones(3,1) T x0
    torch.tensor([1.0,2.0,3.0]).bfloat16() torch.tensor([1+2j,0,1j])
    torch.ones(3).requires_grad_()*2 torch.ones(1,3) torch.tensor([1.0,2.0,3.0])
    """
)
LISTS = _words(
    """
    [1] [1,2] [2,1] [1.0] [] [torch.ones(3)] [torch.ones(3),torch.zeros(3)] [torch.ones(3),1]
    (torch.ones(3),) [True] [[1],[2]] [None]
    """
)
_CHANGES = """
K=3; K=3.0; K=True; K=0.0; K=-0.0; K=math.nan; del K; K=torch.ones(3); K=None; K=IntSub(3)
T=torch.ones(3); T=torch.ones(3).double(); T.requires_grad_(); T.add_(1); T=2; D["a"]=5
D={"a":1,"b":2.0}; D["a"]=1.0; del D["a"]; FLAG=False; FLAG=1; inner=make(5); inner=make(4.0)
inner.__defaults__=(2,); inner.__defaults__=(1.0,); inner.__code__=helper.__code__
inner.__closure__[0].cell_contents=9; inner.__closure__[0].cell_contents=-0.0; inner=helper
helper.__kwdefaults__={"times":3}; helper.__kwdefaults__["times"]=2.0
helper.__defaults__=(4,); helper.__defaults__=None; helper=inner
helper=functools.partial(inner,by=3); Box.k=5; Box.k=2.0; BOX.k=2; BOX.k=-0.0
BOX.__dict__["k"]=8; Box.k=property(lambda self: 6); del Box.k; Box.add=make_method(3)
Box.add=make_method(4); BOX.add=lambda x: x-9; Box.add.__defaults__=(6,)
Box.__bool__=lambda self: False; Box.__len__=lambda self: 0; Base.__bool__=lambda self: False
Box.__getattr__=lambda self, name: 4; Box.__getattribute__=lambda self, name: 3
Box.__eq__=lambda self, other: True; Box.__bases__=(Other,); BOX.__class__=Other; BOX=OTHER
BOX=Box(); Base.shifted=make_method(2); Base.ok=0; BOX.ok=False; BOX.t=torch.ones(3).double()
BOX.t=3; BOX.own=0.5; BOX.own=-0.0; Box.own=property(lambda self: 1); BOX.shifted=None
Box.add=helper; Box.add=staticmethod(inner); M.k=3; M.k=2.0; M.train()
M.layer=nn.Linear(3,3); M.__dict__["layer"]=nn.ReLU(); M.__dict__["w"]=torch.zeros(3)
M._parameters["layer"]=None; M._buffers["layer"]=None; M.w=torch.zeros(3).double()
M.layer.bias=None; M.layer.weight=nn.Parameter(torch.zeros(3,3)); M.layer.weight.data.mul_(2)
M.forward=make(6); Model.forward=make_forward(2); Model.forward=make_forward(3)
Model.forward.__defaults__=(9,); M.register_forward_hook(lambda m, a, o: o*10)
M.layer.register_forward_pre_hook(lambda m, a: (a[0]+1,))
M.__class__=type("Sub",(Model,),{"forward": make_forward(5)}); M.stack.append(nn.ReLU())
M.stack[0]=nn.ReLU(); M.stack.__class__=nn.ModuleList; M.drop.p=0.9; M.eval()
M.__dict__["k"]=torch.ones(3); Model.k=5; Model.__call__=lambda self, x: x
Model._call_impl=lambda self, *a: a[0]; M.requires_grad_(False); M=Model()
Model.__getattr__=lambda self, name: 3; M.layer.weight.register_hook(lambda g: g*2)
M.double(); WHOLE.k=2; WHOLE.k=1.0; WHOLE.forward=lambda *a: 5
WHOLE.register_forward_hook(lambda m, a, o: (o, 1)); Whole.forward=make_forward(2)
WHOLE.eval(); WHOLE.__dict__["part"]=nn.ReLU(); len=lambda v: 2; abs=lambda v: v
math=functools; torch=torch; range=lambda n: [0]; isinstance=lambda a, b: True
program.__defaults__=(1,); Box.run=make_method(2); OTHER.k=1; nn=math; print=repr; str=repr
"""
CHANGES = [text.strip() for text in _CHANGES.replace("\n", ";").split(";") if text.strip()]
STATES = [*[""] * 16, *["no_grad"] * 3, *["float64"] * 2, "inference", "autocast", "vmap"]

SIGNS = _words(
    """
    + - * / // % ** < == @
    """
)
UNARY = _words(
    """
    sin relu abs neg exp sigmoid floor isnan sum numel
    """
)
METHODS = _words(
    """
    sum() mean() exp() clone() t() abs() double() max(0).values item() contiguous() view(-1) dim()
    size(0) tolist() detach() unsqueeze(0) to(torch.float64) flatten() cumsum(0) size() softmax(0)
    numel()
    """
)


class Maker:
    """Draws one program; `names` are the local names that are bound where it stands."""

    def __init__(self, rng: random.Random):
        self.rng, self.names, self.extra = rng, ["x", "y"], 0

    def pick(self, *choices):
        return self.rng.choice(choices)

    def tensor(self, deep=2) -> str:
        """Return an expression that gives a tensor, if all goes well."""
        leaves = [*self.names, *self.names, "T", "BOX.t", "M.w"]
        if deep <= 0 or self.rng.random() < 0.2:
            return self.rng.choice(leaves)
        inner = self.tensor(deep - 1)
        forms = [
            lambda: f"({inner} {self.pick(*SIGNS[:3])} {self.tensor(deep - 1)})",
            lambda: f"({inner} {self.pick(*SIGNS)} {self.scalar(deep - 1)})",
            lambda: f"({self.scalar(deep - 1)} {self.pick(*SIGNS[:4])} {inner})",
            lambda: f"torch.{self.pick(*UNARY)}({inner})",
            lambda: f"{inner}.{self.pick(*METHODS)}",
            lambda: f"{inner}[{self.pick('0', ':2', '-1', 'None', 'r', 'k', '...', '9', '::2')}]",
            lambda: (
                f"{self.pick('helper', 'inner', 'BOX.add', 'BOX.shifted', 'M', 'M.stack')}({inner})"
            ),
            lambda: f"helper({inner}, {self.scalar(0)}, times={self.scalar(0)})",
            lambda: f"({inner} if {self.condition(deep - 1)} else {self.tensor(deep - 1)})",
            lambda: f"torch.{self.pick('stack', 'cat')}([{inner}, {self.tensor(deep - 1)}])",
            lambda: f"torch.where({inner} > {self.scalar(0)}, {inner}, {self.tensor(deep - 1)})",
            lambda: f"torch.full_like({inner}, {self.scalar(0)})",
        ]
        return self.rng.choice(forms)()

    def scalar(self, deep=1) -> str:
        """Return an expression that gives a number, a string, or something else that is known."""
        leaves = [
            *(
                "k",
                "k",
                "K",
                "BOX.k",
                "BOX.own",
                "M.k",
                "x.shape[0]",
                "len(xs)",
                "D['a']",
                "x.dim()",
            ),
            *(
                "r.stop",
                "len(r)",
                "x.dtype",
                "x.shape",
                "str(k)",
                "WHOLE.k",
                "k.real",
                "r[0]",
                "xs[0]",
            ),
            *(
                "2",
                "0.5",
                "-1",
                "0.0",
                "-0.0",
                "True",
                "'s'",
                "math.pi",
                "1j",
                "(k, 1)",
                "x.item()",
            ),
        ]
        if deep <= 0 or self.rng.random() < 0.4:
            return self.rng.choice(leaves)
        inner = self.scalar(deep - 1)
        forms = [
            lambda: f"({inner} {self.pick(*SIGNS[:5], *SIGNS[7:9])} {self.scalar(deep - 1)})",
            lambda: f"{self.pick('abs', 'int', 'float', 'str', 'bool', 'repr', 'hash')}({inner})",
            lambda: f"math.copysign(1, {inner})",
            lambda: f"max({inner}, {self.scalar(deep - 1)})",
            lambda: f"({inner} if {self.condition(deep - 1)} else {self.scalar(deep - 1)})",
            lambda: f"(-{inner})",
            lambda: f"f'{{{inner}}}'" if "'" not in inner else inner,
            lambda: f"isinstance({inner}, {self.pick('int', 'float', 'str', 'bool', 'tuple')})",
            lambda: f"[{inner}, 1][{self.scalar(0)}]",
        ]
        return self.rng.choice(forms)()

    def condition(self, deep=1) -> str:
        """Return an expression that is used for its truth."""
        plain = [
            *(
                "k",
                "K",
                "BOX",
                "not BOX",
                "FLAG",
                "xs",
                "r",
                "BOX.ok",
                "M.training",
                "y is x",
                "x is not T",
            ),
            *(
                "x.dtype is torch.float32",
                "x.requires_grad",
                "k is None",
                "k in (1, 2.0, None)",
                "D",
            ),
            *(
                "x.sum() > 0",
                "len(xs) > 1",
                "k == 1",
                "k == r",
                "x.dim() > 1",
                "isinstance(k, int)",
            ),
        ]
        if deep > 0 and self.rng.random() < 0.3:
            return f"({self.condition(0)} {self.pick('and', 'or')} {self.condition(0)})"
        return self.rng.choice(plain)

    def block(self, deep: int, indent: str) -> list[str]:
        return [
            line for _ in range(self.rng.randint(1, 3)) for line in self.statement(deep, indent)
        ]

    def statement(self, deep: int, indent: str) -> list[str]:
        """Return the lines of a statement."""
        name = self.pick("x", "y", "z", "w")
        kinds = [*["="] * 8, "+=", "print", "unpack", "effect", "s", "s"]
        kind = self.rng.choice(kinds + ["if", "if", "for"] * (deep > 0))
        if kind == "=":
            line = f"{name} = {self.tensor()}"
            self.names = [*self.names, name] if indent == "    " else self.names
            return [indent + line]
        if kind == "s":
            return [f"{indent}k = {self.scalar(2)}"]
        if kind == "+=":
            return [
                f"{indent}{self.pick(*self.names)} {self.pick('+=', '*=', '-=')} {self.tensor(1)}"
            ]
        if kind == "print":
            return [f"{indent}print({self.pick(self.scalar(), self.tensor(1))})"]
        if kind == "unpack":
            return [f"{indent}k, {self.pick(*self.names)} = {self.scalar()}, {self.tensor(1)}"]
        if kind == "effect":
            one = self.pick(*self.names)
            lines = [
                *(
                    f"{one}.add_({self.scalar(0)})",
                    f"{one}[0] = {self.scalar(0)}",
                    f"xs.append({one})",
                ),
                *(f"BOX.k = {self.scalar()}", f"BOX.t = {one}", f"D['a'] = {self.scalar()}"),
                *(
                    f"M.k = {self.scalar(0)}",
                    f"assert {self.condition()}, k",
                    f"xs[0] = {self.scalar(0)}",
                ),
                *(f"K = {self.scalar(0)}", f"return {one}", f"WHOLE.k = {self.scalar(0)}"),
            ]
            return [indent + self.rng.choice(lines)]
        inside = f"{indent}    "
        if kind == "if":
            lines = [f"{indent}if {self.condition()}:", *self.block(deep - 1, inside)]
            return lines + (
                [f"{indent}else:", *self.block(deep - 1, inside)] if self.pick(0, 1) else []
            )
        over = self.pick(
            "range(2)", "xs", "r", "range(len(xs))", "(1, 2.0)", "enumerate(xs)", "M.stack"
        )
        return [f"{indent}for k in {over}:", *self.block(deep - 1, inside)]

    def program(self) -> str:
        """Return the source of `program`."""
        body = self.block(2, "    ") + self.block(1, "    ")
        if any("in xs:" in line or "in enumerate(xs):" in line for line in body):
            body = [line.replace("xs.append(", "xs.index(") for line in body]  # or it never ends
        end = self.pick(
            "return x, y, k, xs",
            f"return {self.tensor()}",
            f"return {self.tensor()}, {self.scalar(2)}, [x, y, x], r",
            f"return [{self.scalar()}, {self.tensor(1)}], x is y",
        )
        head = ["def program(x, y, k, r, xs):"] + ["    global K"] * any(
            line.strip().startswith("K =") for line in body
        )
        return "\n".join([*head, *body, f"    {end}"]) + "\n"


def _as_method(source: str, owner: str, name: str) -> str:
    """Return the same lines as a method of a class."""
    return f"{source.replace('def program(', f'def {name}(self, ')}{owner}.{name} = {name}\n"


TARGETS = {
    "function": "program",
    "method": "BOX.run",
    "partial": "functools.partial(program)",
    "module": "WHOLE",
}


def made(seed: int, number: int):
    """Return (source of the program, target, door, calls): each call is (change, state, arguments).

    The same seed and number give the same program on every machine.
    """
    rng = random.Random(f"{seed}:{number}")
    source = Maker(rng).program()
    target = rng.choice(["function"] * 5 + ["method", "partial", "module"])
    if target == "method":
        source += _as_method(source, "Box", "run")
    if target == "module":
        source += _as_method(source, "Whole", "forward")
    door = rng.choice(["decorator"] * 3 + ["hook"])
    first = _arguments(rng)
    calls = [("", "", first), ("", "", first)]
    changes = _of_what_it_uses(source) or CHANGES
    for _ in range(rng.randint(4, 7)):
        change = rng.choice(changes) if rng.random() < 0.7 else ""
        other = first if rng.random() < 0.5 else _changed(rng, first)
        calls.append((change, rng.choice(STATES), other))
    return source, target, door, [*calls, ("", "", first)]


# What a change begins with -> the words by which a program uses it.
USES = {
    **{"Box": "BOX", "Base": "BOX", "OTHER": "BOX", "Other": "BOX"},
    **{"Model": "M", "Whole": "WHOLE", "str": "str", "program": "def"},
}


def _of_what_it_uses(source: str) -> list[str]:
    """Return the changes of what a program looks at: the others cannot make it go wrong."""
    words = set(re.findall(r"\w+", source))
    heads = [(re.findall(r"\w+", change), change) for change in CHANGES]
    return [
        change
        for found, change in heads
        if USES.get(found[found[0] == "del"], found[found[0] == "del"]) in words
    ]


def _arguments(rng) -> tuple:
    return tuple(_one(rng, at) for at in range(5))


def _changed(rng, arguments: tuple) -> tuple:
    at = rng.choice((0, 1, 2, 2, 2, 3, 3, 4))
    twins = [t for group in TWINS if arguments[at] in group for t in group if t != arguments[at]]
    other = rng.choice(twins) if twins and rng.random() < 0.6 else _one(rng, at, usual=0.4)
    return (*arguments[:at], other, *arguments[at + 1 :])


def _one(rng, at: int, usual: float = 0.8) -> str:
    """Return an argument for a place: mostly one that programs can do something with."""
    often, any_ = (TENSORS[:3], TENSORS[:3], SCALARS[:12], RANGES[:4], LISTS[:8])[at], POOLS[at]
    return rng.choice(often if rng.random() < usual else any_)


# Values that `==`, a hash or a name does not tell apart.
TWINS = [
    _words(group)
    for group in (
        "0 False 0.0 -0.0 complex(0,0.0) complex(0,-0.0) complex(-0.0,0)",
        "1 True 1.0 complex(1,0) IntSub(1) FloatSub(1.0)",
        "2 2.0",
        "math.nan -math.nan",
        "'a' StrSub('a') b'a'",
        "(1,2) (1.0,2) (True,2) Pair(1,2) torch.Size([1,2])",
        "range(0,4,2) range(0,3,2)",
        "range(0) range(0,0) () []",
        "(0,1) (0,True) (0,1.0) [0,1] [0,1.0] torch.Size([0,1]) Pair(0,1)",
        "(0.0,-0.0) (-0.0,0.0)",
        "((0,),1) ((0.0,),1)",
        "slice(0,2) slice(0,2,1) slice(0.0,2)",
        "'ab' StrSub('ab') b'ab' bytearray(b'ab')",
        "{0:1,1:2} {1:2,0:1}",
        "[1] [True] [1.0]",
    )
]
POOLS = (TENSORS, TENSORS, SCALARS, RANGES, LISTS)
