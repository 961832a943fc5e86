"""Classes made in odd ways, and functions of code that no `def` made."""

import types


def meta_function():
    def meta(name, bases, ns, **kw):
        return name, bases, sorted(k for k in ns if not k.startswith("__")), kw

    class A(metaclass=meta, k=1):
        y = 2

    return A


def module_function_locals():
    code = compile(
        "x = 1\nlocals()['w'] = 2\nprint(sorted(k for k in locals() if not k.startswith('__')))",
        "<m>",
        "exec",
    )
    space = {"print": print, "sorted": sorted, "locals": locals}
    types.FunctionType(code, space)()
    return "w" in space, "x" in space


def super_odd():
    class A:
        def f(self):
            return "A"

    class B(A):
        def f(self):
            return [super().f() if False else (lambda s=self: super().f())()]

        def g(self):
            def h(s):
                return super().f()

            return h(self)

        def k(self):
            return [super(B, self).f() for _ in range(2)]

        def comp(self):
            try:
                return [super().f() for _ in range(2)]
            except (TypeError, RuntimeError) as e:
                return type(e).__name__, str(e)

        @staticmethod
        def s():
            try:
                super().f()
            except RuntimeError as e:
                return str(e)

        @classmethod
        def c(cls):
            return super().__name__ if hasattr(super(), "__name__") else "none"

        def d(self):
            del self
            try:
                super().f()
            except RuntimeError as e:
                return str(e)

        def wrong(self):
            self = 5
            try:
                super().f()
            except TypeError as e:
                return str(e)

    b = B()
    return b.f(), b.g(), b.k(), b.comp(), B.s(), B.c(), b.d(), b.wrong()


def dataclass_in():
    import dataclasses

    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: int = 2

        def __post_init__(self):
            self.z = self.x + self.y

    return P(1), P(1) < P(2), P(1).z


def enum_functional():
    import enum

    return enum.Enum("E", "A B").__module__
