"""Programs that look at their own frames, generators, warnings and locals."""

import inspect
import io
import sys
import traceback
import types
import warnings


def stack_names():
    def inner():
        return [f.function for f in inspect.stack()][:3]

    return inner()


def current_line():
    f = inspect.currentframe()
    return f.f_lineno - f.f_code.co_firstlineno, f.f_code.co_name, sorted(f.f_locals)


def frame_info():
    info = inspect.getframeinfo(inspect.currentframe())
    return info.function, info.lineno - inspect.currentframe().f_code.co_firstlineno


def getframe_back():
    def g():
        return sys._getframe(1).f_code.co_name, sys._getframe().f_back.f_lineno - sys._getframe(
            1
        ).f_code.co_firstlineno

    return g()


def is_frame():
    f = sys._getframe()
    return inspect.isframe(f), type(f).__name__, isinstance(f, types.FrameType)


def warn2():
    def old():
        warnings.warn("gone", DeprecationWarning, stacklevel=2)

    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        old()
        old()
    return [
        (str(w.message), w.category.__name__, w.lineno - warn2.__code__.co_firstlineno, w.filename)
        for w in got
    ]


def warn_default_registry():
    def old():
        warnings.warn("gone once", UserWarning, stacklevel=2)

    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("default")
        for _ in range(3):
            old()
    return len(got), any("gone once" in str(k) for k in globals().get("__warningregistry__", {}))


def warn3():
    def a():
        warnings.warn("three", stacklevel=3)

    def b():
        a()

    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        b()
        warnings.warn("one")
        warnings.warn("deep", stacklevel=500)
        warnings.warn("neg", stacklevel=-3)
    return [
        (str(w.message), w.lineno - warn3.__code__.co_firstlineno, w.filename)
        if str(w.message) != "deep"
        else w.filename
        for w in got
    ]


def warn_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.warn("boom", RuntimeWarning)


def warn_bad():
    out = []
    for args, kw in (
        (("a", 5), {}),
        (("a",), {"stacklevel": "x"}),
        ((), {}),
        ((Warning("w"),), {}),
    ):
        with warnings.catch_warnings(record=True) as got:
            warnings.simplefilter("always")
            try:
                warnings.warn(*args, **kw)
                out.append([type(w.message).__name__ for w in got])
            except TypeError as e:
                out.append(str(e))
    return out


def warn_class():
    class W(UserWarning):
        pass

    class Thing:
        def __init__(self):
            warnings.warn("init", W, 2)

    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        Thing()
    return [(w.category.__qualname__, w.lineno - warn_class.__code__.co_firstlineno) for w in got]


def frame_locals_live():
    x = 1
    f = sys._getframe()
    view = f.f_locals
    x = 2
    seen = view["x"]
    view["x"] = 7
    view["new"] = 8
    return seen, x, f.f_locals["x"], "new" in f.f_locals, "new" in locals(), sorted(f.f_locals)


def frame_locals_cell():
    x = 1

    def g():
        return x

    sys._getframe().f_locals["x"] = 9
    return g(), x


def gen_attrs():
    def g():
        x = 1
        yield x
        y = yield 2

    it = g()
    out = [
        it.gi_code.co_name,
        it.gi_running,
        it.gi_yieldfrom,
        it.gi_frame is not None,
        inspect.getgeneratorstate(it),
    ]
    next(it)
    out += [
        dict(it.gi_frame.f_locals),
        it.gi_frame.f_lineno - it.gi_code.co_firstlineno,
        inspect.getgeneratorstate(it),
        dict(inspect.getgeneratorlocals(it)),
    ]
    it.close()
    out += [it.gi_frame, inspect.getgeneratorstate(it)]
    return out


def gen_running():
    def g():
        yield it.gi_running
        yield it.gi_frame.f_code.co_name
        try:
            next(it)
        except ValueError as e:
            yield str(e)

    it = g()
    return list(it)


def gen_yieldfrom():
    def inner():
        yield 1
        yield 2

    def outer():
        i = inner()
        seen.append(i)
        yield 0
        yield from i

    seen = []
    it = outer()
    out = []
    for _ in range(3):
        next(it)
        out.append(it.gi_yieldfrom is seen[0])
    return out, type(it).__name__, it.gi_code.co_name


def gen_repr():
    def g():
        yield

    return repr(g()).split(" at ")[0], g().__name__, g().__qualname__


def gen_code_is():
    def g():
        yield

    return g().gi_code is g.__code__


def gen_renamed():
    def g():
        yield

    g.__name__ = "other"
    g.__qualname__ = "q.other"
    return g().__name__, g().__qualname__


def genexp():
    it = (x for x in range(3))
    return it.gi_code.co_name, it.gi_frame.f_code.co_name, next(it)


def gen_throw_close():
    log = []

    def g():
        try:
            yield 1
        except KeyError as e:
            log.append(repr(e))
            yield 2
        finally:
            log.append("fin")

    it = g()
    next(it)
    log.append(it.throw(KeyError("k")))
    it.close()
    it = g()
    try:
        it.throw(ValueError("early"))
    except ValueError as e:
        log.append(repr(e))

    def ignores():
        try:
            yield
        except GeneratorExit:
            yield

    it = ignores()
    next(it)
    try:
        it.close()
    except RuntimeError as e:
        log.append(str(e))
    return log


def gen_gc():
    log = []

    def g():
        try:
            yield 1
        finally:
            log.append("closed")

    it = g()
    next(it)
    del it
    return log


def gen_return_reuse():
    def g():
        return 5
        yield

    it = g()
    out = []
    for _ in range(3):
        try:
            next(it)
        except StopIteration as e:
            out.append(e.value)
    return out


def gen_send_first():
    def g():
        yield

    g().send(1)


def gen_stopiter():
    def g():
        yield 1
        raise StopIteration(5)

    return list(g())


def locals_comp():
    a = 1
    return [sorted(locals()) for b in range(1)], {k: sorted(locals()) for k in (1,)}


def locals_change():
    x = 1
    l = locals()
    x = 2
    m = locals()
    return l is m, l["x"], m["x"]


def exec_inside():
    x = 1
    exec("x = 2; y = 3")
    d = {}
    exec("def f(): return g()\ndef g(): return 7\nr = f()", d)
    return x, "y" in locals(), d["r"], eval("x + 1"), eval("[x for _ in range(2)]", {"x": 9})


def eval_closure():
    def out():
        z = 5

        def inner():
            return z

        return inner

    d = {}
    code = compile("a = 1", "<s>", "exec")
    return eval(code, d), sorted(d)


def settrace_under():
    log = []

    def tr(f, e, a):
        if f.f_code.co_name == "inner":
            log.append(e)
        return tr

    def inner():
        return 1

    old = sys.gettrace()
    sys.settrace(tr)
    try:
        inner()
    finally:
        sys.settrace(old)
    return len(log) >= 0


def import_hook():
    import builtins

    log = []
    old = builtins.__import__

    def hook(name, *a, **k):
        log.append((name, a[2]))
        return old(name, *a, **k)

    builtins.__import__ = hook
    try:
        import json
    finally:
        builtins.__import__ = old
    return log, json.__name__


def callbacks():
    return sorted([3, 1, 2], key=lambda x: -x), list(
        map(lambda x: inspect.currentframe().f_code.co_name, [1])
    )


def walrus_comp():
    r = [y := x for x in range(3)]
    return r, y


def lru():
    import functools

    @functools.lru_cache
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(20)


def single_dispatch():
    import functools

    @functools.singledispatch
    def f(x):
        return "o"

    @f.register
    def _(x: int):
        return "i"

    return f(1), f("")


def gen_frames_names():
    def g():
        yield [f.f_code.co_name for f in walk(sys._getframe())][:2]

    def walk(f):
        while f:
            yield f
            f = f.f_back

    return next(g())[:1]


def global_frame():
    return sys._getframe().f_globals is globals(), sys._getframe().f_builtins["len"] is len


def frame_attrs():
    f = sys._getframe()
    names = (
        "f_back",
        "f_builtins",
        "f_code",
        "f_globals",
        "f_lasti",
        "f_lineno",
        "f_locals",
        "f_trace",
        "f_trace_lines",
        "f_trace_opcodes",
        "clear",
    )
    out = [hasattr(f, n) for n in names]
    try:
        f.clear()
    except RuntimeError as e:
        out.append(str(e))
    return out, f.f_trace, f.f_trace_lines, f.f_trace_opcodes


def frame_eq():
    f = sys._getframe()
    g = sys._getframe()
    return f is g, f == g


def logging_caller():
    import logging

    s = io.StringIO()
    h = logging.StreamHandler(s)
    h.setFormatter(logging.Formatter("%(funcName)s %(message)s"))
    lg = logging.Logger("x")
    lg.addHandler(h)
    lg.warning("hello")
    return s.getvalue()


def traceback_stack():
    return traceback.extract_stack()[-1].name, [s.name for s in traceback.extract_stack(limit=1)]


def stack_code_context():
    i = inspect.stack()[0]
    return i.function, i.lineno - i.frame.f_code.co_firstlineno
