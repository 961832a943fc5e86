"""Classes, inheritance, metaclasses, special methods, descriptors, dataclasses, enums."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write

import collections


import dataclasses


import enum


import functools


import typing


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


def class_body_raises():
    class A:
        x = 1
        y = missing_here


def annotations():
    class A:
        x: int
        y: "str" = "s"
        z: list[int] = []

    return A.__annotations__, A.y


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


def bool_must_be_bool():
    class A:
        def __bool__(self):
            return 5

    if A():
        pass


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


def mangled_names():
    class A:
        def __init__(self):
            self.__x = 1

        def get(self):
            return self.__x

    return A().get(), sorted(vars(A()))


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
