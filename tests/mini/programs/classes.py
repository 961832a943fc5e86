"""Classes, inheritance, metaclasses, special methods, descriptors, dataclasses, enums."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write

import collections
import functools
import typing


def super_without_a_class():
    def f(self):
        return super().x

    f(1)


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


def annotations():
    class A:
        x: int
        y: "str" = "s"
        z: list[int] = []

    return A.__annotations__, A.y


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

    bases = IntBox.__orig_bases__ == (Box[int],), [b.__name__ for b in IntBox.__mro__]
    return Box[int](5).item, IntBox(3).item, bases


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


def super_in_a_comprehension_of_self():
    class A:
        def f(self):
            return 1

    class B(A):
        def f(self):
            s = super()
            return super().f(), [s.f() for _ in range(2)]

    return B().f()
