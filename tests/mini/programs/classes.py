"""Classes, inheritance, metaclasses, special methods, descriptors, dataclasses, enums."""

# ruff: noqa - programs for a machine use every form, also those that nobody should write
import abc
import collections
import dataclasses
import enum
import functools
import typing


def attributes():
    class A:
        kind = "class"

        def __init__(self, x):
            self.x = x

        def double(self):
            return self.x * 2

    a = A(3)
    a.y = 5
    a.x += 1
    del a.y
    return a.double(), a.kind, A.kind, hasattr(a, "y"), sorted(vars(a)), A.__name__, A.__qualname__


def inheritance():
    class A:
        def hello(self):
            return "A"

        def both(self):
            return self.hello() + "!"

    class B(A):
        def hello(self):
            return "B" + super().hello()

    class C(B):
        pass

    return C().both(), [k.__name__ for k in C.__mro__], isinstance(C(), A), issubclass(C, B)


def diamond():
    log = []

    class A:
        def go(self):
            log.append("A")

    class B(A):
        def go(self):
            log.append("B")
            super().go()

    class C(A):
        def go(self):
            log.append("C")
            super(C, self).go()

    class D(B, C):
        def go(self):
            super().go()

    D().go()
    return log


def super_forms():
    class A:
        x = 5

        def __init__(self, v=0):
            self.v = v

        @classmethod
        def make(cls):
            return cls.__name__

    class B(A):
        def __init__(self):
            super().__init__(v=7)
            self.x2 = super().x

        @classmethod
        def make(cls):
            return "B+" + super().make()

        def later(self):
            return (lambda: __class__.__name__)(), super().__init__

    b = B()
    return b.v, b.x2, B.make(), b.later()[0]


def super_in_a_comprehension_of_self():
    class A:
        def f(self):
            return 1

    class B(A):
        def f(self):
            s = super()
            return [s.f() for _ in range(2)]

    return B().f()


def super_without_a_class():
    def f(self):
        return super().x

    f(1)


def metaclass():
    class Meta(type):
        def __new__(mcs, name, bases, names, **kwargs):
            names["tag"] = kwargs.get("tag", name.lower())
            return super().__new__(mcs, name, bases, names)

        def __init__(cls, name, bases, names, **kwargs):
            super().__init__(name, bases, names)
            cls.made = True

        def __prepare__(name, bases, **kwargs):
            return {"prepared": sorted(kwargs)}

        def __call__(cls, *args):
            obj = super().__call__(*args)
            obj.called = True
            return obj

    class A(metaclass=Meta, tag="t"):
        def __init__(self, x=1):
            self.x = x

    class B(A):
        pass

    return A.tag, B.tag, A.made, A.prepared, B.prepared, A(4).x, B().called, type(B).__name__


def metaclass_conflict():
    class M1(type):
        pass

    class M2(type):
        pass

    class A(metaclass=M1):
        pass

    class B(metaclass=M2):
        pass

    class C(A, B):
        pass


def init_subclass_and_set_name():
    class Named:
        def __set_name__(self, owner, name):
            self.name = name

    class Base:
        kinds = []

        def __init_subclass__(cls, /, kind="none", **kwargs):
            super().__init_subclass__(**kwargs)
            Base.kinds.append((cls.__name__, kind))

    class A(Base, kind="a"):
        field = Named()

    class B(A):
        pass

    return Base.kinds, A.field.name


def class_body_runs():
    log = []

    class A:
        for i in range(3):
            log.append(i)
        if log:
            x = [i * 2 for i in log]
        y = x and len(x)
        z = lambda self: self.y
        del i

    return log, A.x, A.y, A().z(), hasattr(A, "i")


def class_body_scope():
    x = "outer"

    class A:
        x = x if False else "inner"

        def f(self):
            return x

        y = [x for _ in range(1)]

    class B:
        z = x

    return A.x, A().f(), A.y, B.z


def class_body_raises():
    class A:
        x = 1
        y = missing_here


def class_decorator():
    def tag(cls):
        cls.tagged = cls.__name__
        return cls

    @tag
    class A:
        """doc"""

    return A.tagged, A.__doc__


def annotations():
    class A:
        x: int
        y: "str" = "s"
        z: list[int] = []

    return A.__annotations__, A.y


def properties():
    class Circle:
        def __init__(self, r):
            self._r = r

        @property
        def r(self):
            return self._r

        @r.setter
        def r(self, value):
            if value < 0:
                raise ValueError("negative")
            self._r = value

        @r.deleter
        def r(self):
            self._r = None

        @functools.cached_property
        def area(self):
            return 3 * self._r**2

    c = Circle(2)
    c.r = 5
    a = c.area
    del c.r
    try:
        c.r = -1
    except ValueError as error:
        return a, c.r, str(error)


def static_and_class_methods():
    class A:
        n = 0

        @staticmethod
        def s(a, b=2):
            return a + b

        @classmethod
        def c(cls, k):
            cls.n += k
            return cls.n

    return A.s(1), A().s(1, 5), A.c(3), A().c(4)


def descriptors():
    class Typed:
        def __init__(self, kind):
            self.kind = kind

        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, cls=None):
            return self if obj is None else getattr(obj, self.name, None)

        def __set__(self, obj, value):
            if not isinstance(value, self.kind):
                raise TypeError(f"{self.name[1:]} must be {self.kind.__name__}")
            setattr(obj, self.name, value)

    class P:
        x = Typed(int)

    p = P()
    p.x = 3
    try:
        p.x = "s"
    except TypeError as error:
        return p.x, str(error), P.x.kind is int


def operators():
    class V:
        def __init__(self, x, y):
            self.x, self.y = x, y

        def __repr__(self):
            return f"V({self.x}, {self.y})"

        def __add__(self, other):
            return V(self.x + other.x, self.y + other.y) if isinstance(other, V) else NotImplemented

        def __mul__(self, k):
            return V(self.x * k, self.y * k)

        __rmul__ = __mul__

        def __neg__(self):
            return self * -1

        def __eq__(self, other):
            return isinstance(other, V) and (self.x, self.y) == (other.x, other.y)

        def __bool__(self):
            return bool(self.x or self.y)

        def __iadd__(self, other):
            self.x += other.x
            return self

        def __len__(self):
            return 2

        def __getitem__(self, i):
            return (self.x, self.y)[i]

        def __contains__(self, v):
            return v in (self.x, self.y)

        def __invert__(self):
            return "inverted"

        def __pos__(self):
            return self

    a, b = V(1, 2), V(3, 4)
    c = a
    c += b
    return (
        a + b,
        3 * a,
        -a,
        a == V(4, 2),
        a != b,
        not V(0, 0),
        1 if V(0, 0) else 2,
        c is a,
        len(a),
        a[0],
        [*a],
        2 in a,
        ~a,
        +a is a,
    )


def reflected_operators():
    class N:
        def __radd__(self, other):
            return "radd", other

        def __rsub__(self, other):
            return NotImplemented

        def __rmatmul__(self, other):
            return "rmatmul"

        def __rpow__(self, other):
            return other, "rpow"

    out = [1 + N(), "s" + N(), [1] + N(), 2.5 @ N(), 2 ** N()]
    try:
        1 - N()
    except TypeError as error:
        out.append(str(error))
    return out


def subclass_goes_first():
    class A:
        def __add__(self, other):
            return "A.add"

        def __radd__(self, other):
            return "A.radd"

    class B(A):
        def __radd__(self, other):
            return "B.radd"

    class C(A):
        pass

    class I(int):
        def __radd__(self, other):
            return "I.radd"

    return A() + B(), A() + C(), B() + A(), 1 + I(2), I(2) + 1


def unsupported_operands():
    class A:
        def __add__(self, other):
            return NotImplemented

    A() + 1


def unsupported_power():
    class A:
        def __pow__(self, other):
            return NotImplemented

    A() ** 1


def comparisons():
    class N:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            return self.n < other.n

        def __le__(self, other):
            return "not a bool"

    a, b = N(1), N(2)
    out = [a < b, a > b, a <= b, a == b, a == a, a != b, a < b < N(3), sorted([b, a])[0] is a]
    try:
        a < None
    except AttributeError as error:
        out.append(str(error))
    try:
        object() < object()
    except TypeError as error:
        out.append(str(error))
    return out, 1 if a <= b else 2


def total_ordering():
    @functools.total_ordering
    class N:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n

        def __lt__(self, other):
            return self.n < other.n

    return N(1) >= N(1), N(2) > N(1), N(1) <= N(0), max(N(3), N(5)).n


def containers():
    class D:
        def __init__(self):
            self.d = {}

        def __getitem__(self, k):
            return self.d[k]

        def __setitem__(self, k, v):
            self.d[k] = v

        def __delitem__(self, k):
            del self.d[k]

        def __len__(self):
            return len(self.d)

    d = D()
    d["a"] = 1
    d["a"] += 1
    d[1:2] = "slice" if False else 5 if False else 0 if isinstance(slice(1, 2), int) else 7
    del d["a"]
    return len(d), list(map(str, d.d)), bool(D()), bool(d)


def hash_of_a_slice_key():
    class Key:
        def __hash__(self):
            return 7

        def __eq__(self, other):
            return isinstance(other, Key)

    d = {Key(): 1}
    d[Key()] = 2
    return list(d.values()), Key() in d


def bool_must_be_bool():
    class A:
        def __bool__(self):
            return 5

    if A():
        pass


def len_as_truth():
    class A:
        def __len__(self):
            return 0

    return [1 if A() else 2, not A(), A() and 1]


def getattr_hooks():
    class A:
        def __getattr__(self, name):
            if name.startswith("x"):
                return f"made {name}"
            raise AttributeError(name)

        def __setattr__(self, name, value):
            super().__setattr__(name, value * 2)

        def __delattr__(self, name):
            print("del", name)
            object.__delattr__(self, name)

    a = A()
    a.v = 4
    v = a.v
    del a.v
    out = [a.xyz, v, getattr(a, "q", "default")]
    try:
        a.v
    except AttributeError as error:
        out.append(str(error))
    return out


def new_and_init():
    class Single:
        known = None

        def __new__(cls, *args):
            if cls.known is None:
                cls.known = super().__new__(cls)
            return cls.known

        def __init__(self, n):
            self.n = n

    class Other:
        def __new__(cls):
            return 5

        def __init__(self):
            print("never")

    class T(tuple):
        def __new__(cls, *items):
            return super().__new__(cls, items)

    return Single(1) is Single(2), Single.known.n, Other(), T(1, 2), len(T())


def init_returns_something():
    class A:
        def __init__(self):
            return 5

    A()


def init_with_wrong_arguments():
    class A:
        def __init__(self, a):
            pass

    A(1, 2)


def no_init_with_arguments():
    class A:
        pass

    A(1)


def instances_of_builtins():
    class L(list):
        def append(self, x):
            super().append(x * 2)

    class D(dict):
        def __missing__(self, key):
            return f"no {key}"

    l = L([1])
    l.append(2)
    return l, D(a=1)["a"], D()["b"], l + [9], len(l)


def slots():
    class P:
        __slots__ = ("x",)

        def __init__(self):
            self.x = 1

    p = P()
    try:
        p.y = 2
    except AttributeError as error:
        return p.x, type(error).__name__


def abstract_classes():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self): ...

    class Square(Shape):
        def __init__(self, a):
            self.a = a

        def area(self):
            return self.a**2

    try:
        Shape()
    except TypeError as error:
        return Square(3).area(), str(error)


def dataclass():
    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: int = 2
        tags: list = dataclasses.field(default_factory=list, compare=False)

        @property
        def total(self):
            return self.x + self.y

    @dataclasses.dataclass(frozen=True)
    class F:
        v: int

    a = P(1)
    out = [
        repr(a),
        a == P(1, 2, ["t"]),
        P(1) < P(2),
        a.total,
        dataclasses.asdict(a),
        hash(F(1)) == hash(F(1)),
    ]
    try:
        F(1).v = 2
    except dataclasses.FrozenInstanceError as error:
        out.append(str(error))
    return out


def enumeration():
    class Colour(enum.Enum):
        RED = 1
        GREEN = 2

        def shout(self):
            return self.name + "!"

    class Bits(enum.Flag):
        A = enum.auto()
        B = enum.auto()

    return (
        [c.name for c in Colour],
        Colour(2).shout(),
        Colour["RED"].value,
        Colour.RED is Colour(1),
        (Bits.A | Bits.B).value,
        repr(Colour.RED),
    )


def named_tuple():
    P = collections.namedtuple("P", "x y", defaults=[9])

    class Q(typing.NamedTuple):
        a: int
        b: str = "s"

    return P(1), P(1, 2)._replace(x=5), Q(3), Q(3).b, P.__module__ == __name__, P._fields


def generics():
    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        def __init__(self, item: T):
            self.item = item

    class IntBox(Box[int]):
        pass

    return (
        Box[int](5).item,
        IntBox(3).item,
        IntBox.__orig_bases__ == (Box[int],),
        [b.__name__ for b in IntBox.__mro__],
    )


def callable_attribute():
    class A:
        f = len
        g = lambda self, x: (self is not None, x)

        def __init__(self):
            self.h = lambda x: x + 1

    a = A()
    return a.f([1, 2]), a.g(3), a.h(4)


def nested_classes():
    class Outer:
        class Inner:
            def hi(self):
                return type(self).__qualname__.split(".")[-2:]

        def make(self):
            return self.Inner()

    return Outer().make().hi()


def mangled_names():
    class A:
        def __init__(self):
            self.__x = 1

        def get(self):
            return self.__x

    return A().get(), sorted(vars(A()))


def linked_list():
    class Node:
        def __init__(self, value, rest=None):
            self.value, self.rest = value, rest

        def __iter__(self):
            node = self
            while node is not None:
                yield node.value
                node = node.rest

        def reversed(self):
            result = None
            for value in self:
                result = Node(value, result)
            return result

    return list(Node(1, Node(2, Node(3))).reversed())


def visitor():
    import ast

    class Names(ast.NodeVisitor):
        def __init__(self):
            self.found = []

        def visit_Name(self, node):
            self.found.append(node.id)

        def generic_visit(self, node):
            super().generic_visit(node)

    names = Names()
    names.visit(ast.parse("a + b * f(c)"))
    return names.found


def single_dispatch():
    @functools.singledispatch
    def show(x):
        return "other"

    @show.register
    def _(x: int):
        return "int"

    @show.register(list)
    def _(x):
        return "list of " + ", ".join(show(y) for y in x)

    return show(1), show("a"), show([1, "b"])


def bank():
    class Account:
        def __init__(self, balance=0):
            self.balance = balance
            self.log = []

        def withdraw(self, amount):
            if amount > self.balance:
                raise ValueError(f"only {self.balance} left")
            self.balance -= amount
            self.log.append(-amount)
            return self

    a = Account(10).withdraw(3).withdraw(4)
    try:
        a.withdraw(5)
    except ValueError as error:
        return a.balance, a.log, str(error)
