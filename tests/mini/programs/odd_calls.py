"""Calls, operators, names, patterns and classes in the ways that nobody should write."""

import contextlib
import functools
import inspect
import io
import sys
import traceback
import types
import warnings


def unpack_kw():
    def f(*a, k=1, **kw):
        return a, k, kw

    class M:
        def keys(self):
            return ["p", "q"]

        def __getitem__(self, k):
            return k * 2

    return f(*"ab", **M()), f(*(), **{}), f(1, *[2], 3, k=4, **{"z": 5}), {**M(), "r": 1}


def unpack_kw_bad():
    out = []

    class M:
        def keys(self):
            return ["p"]

        def __getitem__(self, k):
            raise ValueError("item")

    class N:
        def keys(self):
            raise ValueError("keys")

    class It:
        def __iter__(self):
            raise ValueError("iter")

    def f(*a, **k):
        return a, k

    for c in (
        lambda: f(**M()),
        lambda: f(**N()),
        lambda: f(*It()),
        lambda: {**M()},
        lambda: [*It()],
        lambda: {*It()},
        lambda: (*It(),),
        lambda: {**N()},
    ):
        try:
            out.append(c())
        except Exception as e:
            out.append((type(e).__name__, str(e), repr(e.__cause__), repr(e.__context__)))
    return out


def arg_errors():
    out = []

    def f(a, b, /, c, d=4, *, e, g=7):
        return 1

    class A:
        def m(self, x):
            return x

    for c in (
        lambda: f(),
        lambda: f(1),
        lambda: f(1, 2),
        lambda: f(1, 2, 3),
        lambda: f(1, 2, 3, 4, 5, e=1),
        lambda: f(1, b=2, c=3, e=4),
        lambda: f(1, 2, 3, e=1, z=1),
        lambda: f(1, 2, 3, c=3, e=5),
        lambda: A().m(),
        lambda: A().m(1, 2),
        lambda: A.m(),
        lambda: A(1),
        lambda: (lambda x: x)(y=1),
        lambda: f(1, 2, 3, E=1),
    ):
        try:
            out.append(c())
        except TypeError as e:
            out.append(str(e))
    return out


def del_errors():
    out = []

    class A:
        pass

    def a():
        x = 1
        del x
        del x

    def b():
        del A().q

    def c():
        del {}["k"]

    def d():
        del [][0]

    def e():
        del nosuchglobal

    def f():
        global zz
        del zz

    for q in (a, b, c, d, e, f):
        try:
            q()
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def cell_errors():
    out = []

    def a():
        def g():
            return later

        try:
            return g()
        finally:
            later = 1

    def b():
        def g():
            nonlocal x
            del x

        x = 1
        g()
        g()

    for q in (a, b):
        try:
            q()
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def cell_contents():
    x = 1

    def f():
        return x

    f.__closure__[0].cell_contents = 9
    return x, f(), f.__closure__[0].cell_contents


def code_replace():
    def f():
        return 1

    f.__code__ = f.__code__.replace(co_consts=(None, 42))
    return f()


def func_from_code():
    def f(a, b=2):
        return a + b

    g = types.FunctionType(f.__code__, globals(), "g", (5, 6))
    return g(), g.__name__, g(1)


def default_change():
    def f(a=1):
        return a

    f.__defaults__ = (7,)

    def k(*, b=2):
        return b

    k.__kwdefaults__ = {"b": 8}
    return f(), k()


def class_getattr():
    class M(type):
        def __getattr__(cls, n):
            return n.upper()

        def __call__(cls, *a):
            return ("made", a)

        def __len__(cls):
            return 3

        def __iter__(cls):
            return iter("ab")

        def __contains__(cls, x):
            return x == 1

        def __getitem__(cls, k):
            return k

        def __instancecheck__(cls, o):
            return True

    class A(metaclass=M):
        pass

    return A.foo, A(1), len(A), list(A), 1 in A, A[5], isinstance(3, A)


def class_getitem():
    class A:
        def __class_getitem__(cls, k):
            return (cls.__name__, k)

    return A[1]


def descriptors():
    log = []

    class D:
        def __get__(self, o, t):
            log.append(("get", o is None, t.__name__))
            return 5

        def __set__(self, o, v):
            log.append(("set", v))

        def __delete__(self, o):
            log.append("del")

        def __set_name__(self, o, n):
            log.append((o.__name__, n))

    class A:
        d = D()

    a = A()
    a.d = 1
    x = a.d, A.d
    del a.d
    return x, log


def getattribute():
    class A:
        def __getattribute__(self, n):
            if n == "z":
                return 1
            return super().__getattribute__(n)

        def __getattr__(self, n):
            return "ga " + n

        y = 2

    a = A()
    return a.z, a.y, a.q


def setattr_hook():
    log = []

    class A:
        def __setattr__(self, n, v):
            log.append((n, v))
            object.__setattr__(self, n, v)

        def __delattr__(self, n):
            log.append(n)
            object.__delattr__(self, n)

    a = A()
    a.x = 1
    del a.x
    return log


def inplace_ops():
    class A:
        def __init__(self):
            self.l = []

        def __iadd__(self, o):
            self.l.append(o)
            return self

        def __imul__(self, o):
            return NotImplemented

        def __mul__(self, o):
            return "mul"

    a = b = A()
    a += 1
    c = A()
    c *= 2
    t = ([],)
    try:
        t[0] += [1]
    except TypeError as e:
        err = str(e)
    return a is b, a.l, c, t, err


def reflected():
    class A:
        def __radd__(self, o):
            return ("radd", o)

        def __rpow__(self, o, m=None):
            return ("rpow", o)

    class B(A):
        def __radd__(self, o):
            return "B"

        def __add__(self, o):
            return "Badd"

    return 1 + A(), 2 ** A(), A() + B() if False else B() + A(), [1] + A() if False else None


def matmul_etc():
    class A:
        def __matmul__(self, o):
            return "mm"

        def __floordiv__(self, o):
            return "fd"

        def __divmod__(self, o):
            return "dm"

        def __lshift__(self, o):
            return "ls"

        def __invert__(self):
            return "inv"

        def __index__(self):
            return 2

        def __format__(self, s):
            return "fmt" + s

        def __str__(self):
            return "str"

        def __len__(self):
            return 4

        def __hash__(self):
            return 3

        def __getitem__(self, k):
            return k

        def __missing__(self, k):
            return 0

    a = A()
    return (
        a @ 1,
        a // 1,
        divmod(a, 1),
        a << 1,
        ~a,
        [0, 1, 2][a],
        f"{a:>3} {a!s} {a}",
        len(a),
        hash(a),
        a[1:2, ::3],
        a[...],
        "x" * a,
    )


def bool_errors():
    out = []

    class A:
        def __bool__(self):
            return 1

    class B:
        def __len__(self):
            return -1

    class C:
        def __iter__(self):
            return 5

    class D:
        def __index__(self):
            return "x"

    class E:
        def __hash__(self):
            return "h"

    class F:
        def __contains__(self, x):
            return []

    for c in (
        lambda: not A(),
        lambda: not B(),
        lambda: [*C()],
        lambda: [1][D()],
        lambda: {E()},
        lambda: 1 in F(),
        lambda: [x for x in C()],
        lambda: 5 in 5,
        lambda: [][float(1)],
        lambda: {}[[]],
        lambda: [1, 2]["a":1],
    ):
        try:
            out.append(c())
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def match_odd():
    class P:
        __match_args__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    def m(v):
        match v:
            case P(1, y=z):
                return ("P1", z)
            case P(x, P(a, b)):
                return ("PP", x, a, b)
            case {"k": [1, *r], **rest}:
                return r, rest
            case [a, b, *_] if a == b:
                return "eq"
            case str() | bytes() as s:
                return s
            case int(n) if n > 3:
                return n
            case None | True:
                return "nt"
            case (1 | 2) as q, _:
                return q
            case _:
                return "other"

    return [
        m(v)
        for v in (
            P(1, 2),
            P(2, P(3, 4)),
            {"k": [1, 2, 3], "z": 0},
            [5, 5, 6],
            "s",
            b"b",
            7,
            None,
            True,
            (2, 9),
            2.5,
            P(3, 3),
        )
    ]


def match_errors():
    out = []

    class A:
        __match_args__ = ["x"]

    class B:
        __match_args__ = (1,)

    class C:
        pass

    def a():
        match A():
            case A(1):
                pass

    def b():
        match B():
            case B(1):
                pass

    def c():
        match C():
            case C(1):
                pass

    def d():
        match 1:
            case int(1, 2):
                pass

    def e():
        q = 5
        match 1:
            case types.nope():
                pass

    def f():
        class X:
            def __getattr__(s, n):
                raise ValueError("attr")

        match X():
            case X(foo=1):
                pass

    for q in (a, b, c, d, e, f):
        try:
            q()
            out.append("ok")
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def fstrings():
    x, w = 3.14159, 10

    class F:
        def __format__(self, s):
            raise KeyError("f")

    out = [f"{x:.2f}|{x!r:>{w}}|{'a':^5}|{x=}|{w:#x}|{{}}"]
    try:
        f"{F()}"
    except KeyError as e:
        out.append(str(e))
    try:
        f"{object():d}"
    except TypeError as e:
        out.append(str(e))
    return out


def chained():
    log = []

    def v(x):
        log.append(x)
        return x

    r = v(1) < v(2) < v(0) < v(5)
    return r, log, 1 < 2 in [2]


def global_stmt():
    global zzz_made
    zzz_made = 5
    exec("zzz_made += 1", globals())
    try:
        return zzz_made
    finally:
        del zzz_made


def exec_scopes():
    g, l = {"a": 1}, {}
    exec("b = a\ndef f(): return a\nc = f()\nclass Q: d = b", g, l)
    try:
        exec("def f(): return b2\nb2 = 1\nf()", {}, {})
    except NameError as e:
        err = str(e)
    return sorted(l), l["c"], l["Q"].d, err


def eval_modes():
    x = 4
    out = [eval("x * 2"), eval(compile("x", "<c>", "eval")), eval("  x"), eval(b"x")]
    for bad in ("x +", "import os", 5, "\0"):
        try:
            eval(bad)
        except Exception as e:
            out.append(type(e).__name__)
    return out


def exec_closure():
    def outer():
        y = 3

        def inner():
            return y

        return inner

    f = outer()
    try:
        exec(f.__code__)
    except TypeError as e:
        a = str(e)
    return a, exec(f.__code__, {}, closure=f.__closure__)


def comp_closure():
    fs = [lambda: i for i in range(3)]
    gs = [lambda i=i: i for i in range(3)]
    return (
        [f() for f in fs],
        [g() for g in gs],
        {i: j for i in range(2) for j in range(i)},
        {i % 2 for i in range(5)},
    )


def comp_class():
    class A:
        n = 3
        l = [n for _ in range(1)] if False else [x for x in range(n)]

        def f(self):
            return [self.n for _ in range(2)]

    return A.l, A().f()


def comp_error():
    try:
        [1 / x for x in (1, 0)]
    except ZeroDivisionError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)]


def inner_names():
    def f():
        def g():
            return g.__qualname__, g.__module__

        class H:
            def k(self):
                return H.__qualname__, self.k.__qualname__

        return g(), H().k()

    return f(), (lambda: 0).__qualname__


def annotations():
    class A:
        x: int = 1
        y: "str"

    def f(a: int, *b: str, c: float = 1, **d) -> None:
        z: int = 3
        return z

    return A.__annotations__, f.__annotations__, f(1)


def docs():
    class A:
        "doc of A"

        def f(self):
            "doc of f"

    return A.__doc__, A.f.__doc__


def type_hints_eval():
    import typing

    def f(a: "int") -> "list[str]": ...

    return typing.get_type_hints(f)


def pickle_round():
    import pickle

    return pickle.loads(pickle.dumps({"a": [1, (2,)]}))


def weakrefs():
    import weakref

    class A:
        pass

    a = A()
    r = weakref.ref(a)
    b = r() is a
    del a
    return b, r() is None


def del_methods():
    log = []

    class A:
        def __del__(self):
            log.append("del")

    def f():
        a = A()
        log.append("in")

    f()
    log.append("after")
    a = A()
    a = None
    log.append("end")
    return log


def assert_stmt():
    out = []
    for c in (lambda: (_ for _ in ()).throw(AssertionError("x")),):
        try:
            next(c())
        except AssertionError as e:
            out.append(str(e))
    try:
        assert 1 == 2, ("a", 1)
    except AssertionError as e:
        out.append(e.args)
    try:
        assert not 1
    except AssertionError as e:
        out.append(e.args)
    return out


def thread_run():
    import threading

    out = []

    def work(n):
        out.append(sum(range(n)))

    t = threading.Thread(target=work, args=(5,))
    t.start()
    t.join()
    return out


def contextvar():
    import contextvars

    v = contextvars.ContextVar("v", default=1)
    ctx = contextvars.copy_context()
    ctx.run(v.set, 5)
    return v.get(), ctx[v]


def partials():
    f = functools.partial(lambda a, b, c=3: (a, b, c), 1, c=9)

    class A:
        def m(self, x):
            return x

        p = functools.partialmethod(m, 4)

        @functools.cached_property
        def cp(self):
            return object()

    a = A()
    return f(2), a.p(), a.cp is a.cp


def wraps():
    def d(f):
        @functools.wraps(f)
        def w(*a, **k):
            return f(*a, **k)

        return w

    @d
    def orig(x):
        "doc"
        return x

    return (
        orig(1),
        orig.__name__,
        orig.__doc__,
        orig.__wrapped__.__name__,
        str(inspect.signature(orig)),
    )


def builtins_override():
    def len(x):
        return "mine"

    print = lambda *a: a
    return len([]), print(1)


def sort_key_error():
    try:
        [3, "a"].sort()
    except TypeError as e:
        return str(e)


def iter_callable():
    n = iter([1, 2, 0, 5])
    return (
        list(iter(lambda: next(n), 0)),
        list(zip(range(3), "ab")),
        list(filter(None, [0, 1])),
        max([1, 3], key=lambda x: -x),
        sum([[1]], []),
    )


def vars_dir():
    class A:
        def __init__(self):
            self.x = 1

        def __dir__(self):
            return ["b", "a"]

    x = 1
    return vars(A()), dir(A()), sorted(vars()), dir()[:2]


class Maker:
    def adder(self, n, *more):
        return lambda *a, **k: (n, more, a, k)

    @classmethod
    def __class_getitem__(cls, n):
        return cls


MAKER = Maker()


def call_what_a_global_s_method_gives():
    return (
        MAKER.adder(1)([1, 2]),
        0,
        MAKER.adder(1, *"ab")(2, k=3),
        MAKER[0].adder(MAKER, 4)(MAKER.adder(5)(6))[2:],
        [MAKER.adder(n)(n) for n in range(2)],
        MAKER.adder(7)(*"cd", **{"e": 8}),
    )


def fail_under_what_a_global_s_method_gives():
    try:
        return 0, MAKER.adder(1)(MAKER.missing(2)(3))
    except AttributeError as error:
        return str(error)
