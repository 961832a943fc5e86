"""Classes made in odd ways, and functions of code that no `def` made."""

import sys
import types


def prepare_once():
    log = []

    class M(type):
        @classmethod
        def __prepare__(m, name, bases, *, flag):
            log.append((name, flag))
            return {}

        def __new__(m, name, bases, ns, *, flag):
            return super().__new__(m, name, bases, ns)

        def __init__(c, name, bases, ns, *, flag):
            super().__init__(name, bases, ns)

    class A(metaclass=M, flag=3):
        x = 1

    class B(A, flag=4):
        pass

    return log, A.x, B.__mro__[1].__name__


def meta_function():
    def meta(name, bases, ns, **kw):
        return name, bases, sorted(k for k in ns if not k.startswith("__")), kw

    class A(metaclass=meta, k=1):
        y = 2

    return A


def meta_function_with_prepare():
    class Meta:
        def __prepare__(self, name, bases, **kw):
            return {"pre": kw}

        def __call__(self, name, bases, ns, **kw):
            return name, ns["pre"], kw

    class A(metaclass=Meta(), k=1):
        y = 2

    return A


def derived_meta():
    class M1(type):
        pass

    class M2(M1):
        pass

    class A(metaclass=M1):
        pass

    class B(metaclass=M2):
        pass

    class C(A, B):
        pass

    return type(C).__name__


def prepare_bad():
    class M(type):
        @classmethod
        def __prepare__(m, n, b):
            return 5

    class A(metaclass=M):
        pass


def prepare_raises():
    class M(type):
        @classmethod
        def __prepare__(m, n, b):
            raise KeyError("p")

    class A(metaclass=M):
        pass


def mro_entries2():
    class P:
        def __mro_entries__(self, bases):
            return (Exception,)

    p = P()

    class A(p):
        pass

    return A.__bases__, A.__orig_bases__ == (p,)


def mro_entries_bad():
    class P:
        def __mro_entries__(self, bases):
            return 5

    class A(P()):
        pass


def set_name_error():
    class D:
        def __set_name__(self, o, n):
            raise ValueError("sn")

    try:

        class A:
            d = D()
    except Exception as e:
        return type(e).__name__, str(e), getattr(e, "__notes__", None), repr(e.__cause__)


def init_subclass():
    log = []

    class Base:
        def __init_subclass__(cls, /, tag=None, **kw):
            super().__init_subclass__(**kw)
            log.append((cls.__name__, tag))

    class A(Base, tag=1):
        pass

    class B(A):
        pass

    try:

        class C(A, wrong=1):
            pass
    except TypeError as e:
        log.append(str(e))
    return log


def module_function():
    code = compile("y = x + 1\nz = [k for k in (y, x)]\nclass Q: a = y\nresult = z", "<m>", "exec")
    space = {"x": 4}
    f = types.FunctionType(code, space)
    r = f()
    return r, space["result"], space["Q"].a


def module_function_locals():
    code = compile(
        "x = 1\nlocals()['w'] = 2\nprint(sorted(k for k in locals() if not k.startswith('__')))",
        "<m>",
        "exec",
    )
    space = {"print": print, "sorted": sorted, "locals": locals}
    types.FunctionType(code, space)()
    return "w" in space, "x" in space


def eval_function():
    code = compile("a + b", "<e>", "eval")
    return types.FunctionType(code, {"a": 1, "b": 2})()


def class_body_function():
    code = compile("class A:\n  x = 1\n  y = x", "<m>", "exec")
    body = code.co_consts[0]
    space = {"__name__": "q"}
    f = types.FunctionType(body, space)
    return f(), sorted(space)


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


def class_cell():
    class A:
        def f(self):
            return __class__

        g = lambda self: __class__.__name__

    return A().f() is A, A().g()


def locals_class():
    class A:
        x = 1
        l = sorted(locals())
        y = [k for k in (x,)]

    return [k for k in A.l if k != "__firstlineno__"]


def build_class_hook():
    import builtins

    log = []
    old = builtins.__build_class__

    def hook(f, name, *b, **k):
        log.append(name)
        return old(f, name, *b, **k)

    builtins.__build_class__ = hook
    try:

        class A:
            x = 1

        class B(A):
            pass
    finally:
        builtins.__build_class__ = old
    return log, B.x


def func_attrs():
    def f(a, b: int = 2, *, c: str = "x") -> float:
        "doc"

    return (
        f.__doc__,
        f.__annotations__,
        f.__defaults__,
        f.__kwdefaults__,
        f.__module__,
        f.__qualname__,
        f.__name__,
        f.__builtins__ is not None,
    )


def nonlocal_class():
    x = 1

    class A:
        nonlocal x
        x = 2

    return x, hasattr(A, "x")


def slots_class():
    class A:
        __slots__ = ("x", "__dict__")

        def __init__(s):
            s.x = 1
            s.y = 2

    a = A()
    return a.x, a.__dict__


def property_in():
    class A:
        @property
        def p(s):
            return sys._getframe().f_code.co_name, sys._getframe(1).f_code.co_name

    return A().p[0]


def decorators():
    def d(f):
        f.tag = 1
        return f

    @d
    class A:
        @d
        def m(self):
            return self.m.tag

    return A().m(), A.tag


def type_call():
    A = type("A", (), {"f": lambda self: 1})
    B = type(
        "B",
        (A,),
        {},
    )
    return A().f(), B().f(), int, type(A).__name__


def type3_init_subclass():
    class Base:
        def __init_subclass__(cls, **kw):
            cls.kw = kw

    return type("B", (Base,), {}, a=1).kw


def new_init():
    class A:
        def __new__(cls, *a):
            o = super().__new__(cls)
            o.a = a
            return o

        def __init__(self, *a):
            self.b = a

    x = A(1, 2)

    class C:
        def __new__(cls):
            return 5

        def __init__(self):
            raise 1

    class D:
        def __init__(self):
            return 3

    try:
        D()
    except TypeError as e:
        err = str(e)

    class E:
        def __init__(self, a):
            pass

    try:
        E()
    except TypeError as e:
        err2 = str(e)

    class F:
        pass

    try:
        F(1)
    except TypeError as e:
        err3 = str(e)
    return x.a, x.b, C(), err, err2, err3


def abstract():
    import abc

    class A(abc.ABC):
        @abc.abstractmethod
        def f(self):
            pass

        def __init__(self):
            pass

    A()


def enum_class():
    import enum

    class C(enum.Enum):
        A = 1
        B = enum.auto()

        def f(self):
            return self.name

    return list(C), C.A.f(), C(1)


def dataclass_in():
    import dataclasses

    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: int = 2

        def __post_init__(self):
            self.z = self.x + self.y

    return P(1), P(1) < P(2), P(1).z


def namedtuple_in():
    import typing

    class P(typing.NamedTuple):
        x: int
        y: int = 2

    return P(1), P(1)._asdict()


def caller_of_namedtuple():
    from collections import namedtuple

    return namedtuple("P", "x").__module__


def enum_functional():
    import enum

    return enum.Enum("E", "A B").__module__


def typevar_module():
    import typing

    T = typing.TypeVar("T")
    return T.__module__


def newtype_module():
    import typing

    return typing.NewType("N", int).__module__


def class_cell_of_two_classes():
    __class__ = 1

    class X:
        nonlocal __class__
        __class__ = 42

        def f(self):
            return __class__

    return __class__, X().f() is X
