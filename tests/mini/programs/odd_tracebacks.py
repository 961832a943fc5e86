"""Tracebacks, contexts, generators thrown into, warnings: what a program learns of its own past."""

import contextlib
import functools
import inspect
import io
import sys
import traceback
import types
import warnings


def tb_nested():
    def a():
        b()

    def b():
        try:
            {}["k"]
        finally:
            x = 1

    try:
        a()
    except KeyError as e:
        f = tb_nested.__code__.co_firstlineno
        return [
            (s.name, s.lineno - f, s.colno, s.end_colno)
            for s in traceback.extract_tb(e.__traceback__)
        ]


def tb_reraise():
    def a():
        try:
            raise ValueError("v")
        except ValueError:
            raise

    def b():
        try:
            a()
        except ValueError as e:
            raise e

    try:
        b()
    except ValueError as e:
        f = tb_reraise.__code__.co_firstlineno
        return [(s.name, s.lineno - f) for s in traceback.extract_tb(e.__traceback__)]


def tb_generator():
    def g():
        yield 1
        raise ValueError("in g")

    try:
        for _ in g():
            pass
    except ValueError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)]


def tb_throw():
    def g():
        yield 1

    it = g()
    next(it)
    try:
        it.throw(KeyError("t"))
    except KeyError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)]


def tb_with():
    @contextlib.contextmanager
    def c():
        try:
            yield
        except KeyError as e:
            raise ValueError("from c") from e

    try:
        with c():
            raise KeyError("body")
    except ValueError as e:
        f = tb_with.__code__.co_firstlineno
        return [s.name for s in traceback.extract_tb(e.__traceback__)], [
            (s.name, s.lineno - f) for s in traceback.extract_tb(e.__cause__.__traceback__)
        ][:1]


def tb_with_exit():
    seen = []

    class C:
        def __enter__(self):
            return self

        def __exit__(self, t, e, tb):
            seen.append([(s.name, s.lineno - F) for s in traceback.extract_tb(tb)])
            return True

    F = tb_with_exit.__code__.co_firstlineno

    def deep():
        raise KeyError

    with C():
        deep()
    with C():
        1 / 0
    return seen


def tb_native_callback():
    def key(x):
        raise ValueError(x)

    try:
        sorted([1, 2], key=key)
    except ValueError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)]


def tb_init():
    class A:
        def __init__(self):
            self.x = 1 / 0

    try:
        A()
    except ZeroDivisionError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)]


def tb_operator():
    class A:
        def __add__(self, o):
            raise KeyError("add")

        def __bool__(self):
            raise KeyError("bool")

        def __getitem__(self, k):
            raise KeyError("item")

        def __iter__(self):
            raise KeyError("iter")

        def __contains__(self, k):
            raise KeyError("contains")

        def __eq__(self, k):
            raise KeyError("eq")

        def __neg__(self):
            raise KeyError("neg")

    out = []
    a = A()
    for f in (
        lambda: a + 1,
        lambda: not a,
        lambda: a[0],
        lambda: [*a],
        lambda: 1 in a,
        lambda: a == 1,
        lambda: -a,
        lambda: [x for x in a],
    ):
        try:
            f()
        except KeyError as e:
            out.append((str(e), [s.name for s in traceback.extract_tb(e.__traceback__)]))
    return out


def tb_class_body():
    try:

        class A:
            x = 1
            y = 1 / 0
    except ZeroDivisionError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)]


def tb_exec():
    try:
        exec("def f():\n  1/0\nf()", {})
    except ZeroDivisionError as e:
        return [(s.name, s.lineno, s.filename) for s in traceback.extract_tb(e.__traceback__)][1:]


def tb_import():
    try:
        import nosuchmodule_x
    except ImportError as e:
        return [s.name for s in traceback.extract_tb(e.__traceback__)][:1]


def tb_format_full():
    def f():
        raise ValueError("full")

    try:
        f()
    except ValueError:
        return [l for l in traceback.format_exc().splitlines() if "line" not in l and "^" not in l]


def tb_frame():
    x = 5
    try:
        1 / 0
    except ZeroDivisionError as e:
        t = e.__traceback__
        return (
            t.tb_frame.f_code.co_name,
            t.tb_next,
            t.tb_lineno - tb_frame.__code__.co_firstlineno,
            t.tb_frame.f_globals is globals(),
        )


def tb_frames_stand_at_their_lines():
    def inner(x):
        for one in x:
            one += 1
            one / 0

    def outer():
        with contextlib.suppress(KeyError):
            inner([1, 2])

    try:
        outer()
    except ZeroDivisionError as e:
        walked = list(traceback.walk_tb(e.__traceback__))[1:]
        return [(frame.f_code.co_name, line, inspect.getlineno(frame)) for frame, line in walked]


def tb_walk():
    def f():
        raise KeyError

    try:
        f()
    except KeyError as e:
        return (
            [fr.f_code.co_name for fr, n in traceback.walk_tb(e.__traceback__)],
            inspect.trace()[-1].function,
            len(inspect.getinnerframes(e.__traceback__)),
        )


def tb_group():
    try:
        raise ExceptionGroup("g", [ValueError(1)])
    except* ValueError as g:
        return_ = [s.name for s in traceback.extract_tb(g.__traceback__)]
    return return_


def with_traceback():
    e = ValueError("w")
    try:
        raise e.with_traceback(None)
    except ValueError as x:
        n1 = len(traceback.extract_tb(x.__traceback__))
    try:
        raise e
    except ValueError as x:
        n2 = len(traceback.extract_tb(x.__traceback__))
    return n1, n2


def exc_info_levels():
    out = []
    try:
        raise KeyError(1)
    except KeyError:
        try:
            raise ValueError(2)
        except ValueError:
            out.append(repr(sys.exc_info()[1]))
        out.append(repr(sys.exc_info()[1]))

        def g():
            out.append(repr(sys.exc_info()[1]))
            yield
            out.append(repr(sys.exc_info()[1]))

        it = g()
        next(it)
    list(it)
    out.append(sys.exc_info()[1])
    return out


def deep_handled():
    def f(n):
        try:
            if n:
                f(n - 1)
            else:
                raise ValueError("bottom")
        except ValueError as e:
            raise KeyError(n) from e

    try:
        f(3)
    except KeyError as e:
        out = []
        while e:
            out.append(repr(e))
            e = e.__cause__
        return out


def finally_flow():
    log = []

    def f():
        for i in range(3):
            try:
                if i == 1:
                    continue
                if i == 2:
                    break
                log.append(i)
            finally:
                log.append(-i)
        else:
            log.append("else")
        try:
            return "r"
        finally:
            log.append("fin")

    return f(), log


def recursion_many():
    def f(n):
        return f(n + 1)

    def g():
        try:
            f(0)
        except RecursionError as e:
            return type(e).__name__, str(e)[:32]

    return g(), g()


def recursion_method():
    class A:
        def __add__(self, o):
            return self + o

        def __getattr__(self, n):
            return getattr(self, n + "x")

        def __repr__(self):
            return repr(self)

        def __eq__(self, o):
            return self == o

        def __call__(self):
            return self()

        def __iter__(self):
            return iter(self)

        def __bool__(self):
            return not self

        def __init__(self, n=0):
            if n:
                A(n)

    out = []
    for f in (
        lambda: A() + 1,
        lambda: repr(A()),
        lambda: A() == 1,
        lambda: A()(),
        lambda: [*A()],
        lambda: bool(A()),
        lambda: A(1),
    ):
        try:
            f()
        except RecursionError as e:
            out.append(type(e).__name__)
    return out


def recursion_generator():
    def g(n):
        yield from g(n + 1)

    try:
        list(g(0))
    except RecursionError as e:
        return type(e).__name__


def recursion_new_class():
    def f(n):
        class A:
            x = f(n + 1)

    try:
        f(0)
    except RecursionError as e:
        return type(e).__name__


def gen_delegate():
    log = []

    class It:
        def __iter__(self):
            return self

        def __next__(self):
            log.append("next")
            return 1

        def send(self, v):
            log.append(("send", v))
            return 2

        def throw(self, *a):
            log.append(("throw", [type(x).__name__ for x in a]))
            return 3

        def close(self):
            log.append("close")

    def g():
        r = yield from It()

    it = g()
    log.append(next(it))
    log.append(it.send("s"))
    log.append(it.throw(KeyError("k")))
    it.close()
    return log


def gen_delegate_return():
    def inner():
        x = yield 1
        return x

    def outer():
        r = yield from inner()
        yield ("got", r)
        r2 = yield from [7, 8]
        yield r2

    it = outer()
    return next(it), it.send(5), list(it)


def gen_delegate_error():
    def inner():
        try:
            yield 1
        except KeyError:
            return "handled"

    def outer():
        yield (yield from inner())

    it = outer()
    next(it)
    return it.throw(KeyError)


def gen_throw_types():
    out = []

    def g():
        while True:
            try:
                yield
            except Exception as e:
                out.append(repr(e))

    it = g()
    next(it)
    it.throw(ValueError, "a")
    it.throw(ValueError)
    it.throw(ValueError("b"))
    try:
        it.throw(5)
    except TypeError as e:
        out.append(str(e))
    return out


def gen_close_value():
    def g():
        try:
            yield
        except GeneratorExit:
            return 5

    it = g()
    next(it)
    return it.close()


def gen_close_raises():
    def g():
        try:
            yield
        finally:
            raise KeyError("closing")

    it = g()
    next(it)
    it.close()


def gen_context():
    def g():
        try:
            yield
        except KeyError:
            raise ValueError("g")

    it = g()
    next(it)
    try:
        it.throw(KeyError("k"))
    except ValueError as e:
        return repr(e.__context__), e.__cause__


def gen_in_handler():
    def g():
        try:
            raise KeyError("inside")
        except KeyError:
            yield 1
            raise

    it = g()
    next(it)
    try:
        try:
            raise ValueError("outside")
        except ValueError:
            next(it)
    except KeyError as e:
        return repr(e), repr(e.__context__)


def gen_handled_elsewhere():
    seen = []

    def g():
        try:
            raise KeyError("inside")
        except KeyError:
            seen.append(repr(sys.exc_info()[1]))
            yield
        seen.append(repr(sys.exc_info()[1]))
        yield
        seen.append(repr(sys.exc_info()[1]))

    it = g()
    try:
        raise ValueError("outside")
    except ValueError:
        next(it)
    next(it)
    try:
        raise TypeError("later")
    except TypeError:
        list(it)
    return seen


def gen_attr_errors():
    def g():
        yield

    it = g()
    out = []
    for n in ("nope", "gi_nope"):
        try:
            getattr(it, n)
        except AttributeError as e:
            out.append(str(e))
    try:
        it.gi_code = 1
    except AttributeError as e:
        out.append(str(e))
    return out, hasattr(it, "gi_code"), getattr(it, "gi_yieldfrom", 3)


def gen_code_fields():
    def g(a, b=2):
        yield a

    it = g(1)
    return (
        it.gi_code.co_varnames,
        it.gi_code is g.__code__,
        inspect.isgenerator(it),
        it.gi_frame.f_code is g.__code__,
        it.gi_frame.f_lasti,
        (next(it), it.gi_frame.f_lasti),
    )


def genexp_scope():
    class A:
        x = 1

        def f():
            return 5

        y = list(z for z in range(f()))

    return A.y


def gen_suspended():
    def g():
        yield it.gi_suspended

    it = g()
    a = it.gi_suspended
    b = next(it)
    return a, b, it.gi_suspended


def star_assign():
    a, *b = range(4)
    *c, d = "xyz"
    (e, *f), g = [1, 2, 3], 4
    for h, *i in [(1, 2, 3), (4,)]:
        pass
    return a, b, c, d, e, f, g, h, i


def exc_del_name():
    try:
        raise KeyError
    except KeyError as e:
        pass
    try:
        e
    except UnboundLocalError as x:
        return str(x)


def raise_odd():
    out = []

    class Bad:
        def __new__(cls):
            return 5

    class E(Exception):
        def __init__(self, a):
            self.a = a

    def a():
        raise 5

    def b():
        raise Bad

    def c():
        raise E

    def d():
        raise KeyError from 5

    def e():
        raise KeyError from None

    def f():
        raise KeyError from ValueError

    def g():
        raise

    def h():
        raise None

    def i():
        raise type("X", (BaseException,), {})("x")

    for q in (a, b, c, d, e, f, g, h, i):
        try:
            q()
        except BaseException as e:
            out.append((type(e).__name__, str(e), repr(e.__cause__), e.__suppress_context__))
    return out


def except_odd():
    out = []

    def a():
        try:
            raise KeyError(1)
        except 5:
            pass

    def b():
        try:
            raise KeyError(1)
        except (ValueError, "x"):
            pass

    def c():
        try:
            raise KeyError(1)
        except (ValueError, (KeyError,)):
            pass

    def d():
        def t():
            raise ZeroDivisionError("in except")

        try:
            raise KeyError(1)
        except t():
            pass

    def e():
        try:
            raise KeyError(1)
        except* KeyError:
            raise ValueError(2)

    def f():
        try:
            raise KeyError(1)
        except* ExceptionGroup:
            pass

    def g():
        try:
            pass
        except* 5:
            pass
        return "fine"

    for q in (a, b, c, d, e, f, g):
        try:
            out.append(q())
        except BaseException as e:
            out.append((type(e).__name__, str(e), repr(e.__context__)))
    return out


def star_group():
    log = []
    try:
        raise ExceptionGroup(
            "top", [ValueError("a"), ExceptionGroup("in", [TypeError("b"), ValueError("c")])]
        )
    except* ValueError as g:
        log.append((g.message, repr(g.exceptions)))
        raise OSError("new")
    except* TypeError as g:
        log.append(repr(g.exceptions))


def star_reraise():
    try:
        try:
            raise ExceptionGroup("t", [ValueError(1), TypeError(2)])
        except* ValueError:
            raise
    except ExceptionGroup as g:
        return repr(g), repr(g.__context__)


def group_notes():
    g = ExceptionGroup("t", [ValueError(1), TypeError(2)])
    g.add_note("n")
    try:
        try:
            raise g
        except* ValueError as e:
            log = e.__notes__
    except ExceptionGroup as r:
        return log, r.__notes__, repr(r)


def stop_iteration_leak():
    def g():
        yield next(iter([]))

    try:
        list(g())
    except RuntimeError as e:
        return str(e), repr(e.__cause__)


def with_async():
    out = []

    class A:
        def __aenter__(self):
            pass

        def __aexit__(self, *a):
            pass

    try:
        with A():
            pass
    except TypeError as e:
        out.append(str(e))
    return out


def multi_with():
    log = []

    class C:
        def __init__(self, n, bad=False):
            self.n, self.bad = n, bad

        def __enter__(self):
            log.append(("in", self.n))
            if self.bad:
                raise KeyError(self.n)
            return self.n

        def __exit__(self, *a):
            log.append(("out", self.n, a[0] and a[0].__name__))

    try:
        with C(1) as a, C(2) as b, C(3, True) as c:
            log.append("body")
    except KeyError as e:
        log.append(repr(e))
    with C(4) as d, C(5):
        log.append(d)
    return log


def with_return():
    log = []

    class C:
        def __enter__(self):
            return self

        def __exit__(self, *a):
            log.append(a[0])

    def f():
        for i in range(3):
            with C():
                if i == 1:
                    return i

    return f(), log


def warn_explicit_in_class():
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")

        class A:
            warnings.warn("in class")

        exec("import warnings\nwarnings.warn('in exec')", {"__name__": "ex"})
        [warnings.warn("in comp") for _ in range(1)]
        (lambda: warnings.warn("kw", category=DeprecationWarning, stacklevel=2))()
    F = warn_explicit_in_class.__code__.co_firstlineno
    return [
        (
            str(w.message),
            w.category.__name__,
            w.filename,
            w.lineno - F if w.filename != "<string>" else w.lineno,
        )
        for w in got
    ]


def warn_module():
    out = []
    old = warnings.showwarning

    def show(message, category, filename, lineno, file=None, line=None):
        out.append((str(message), filename))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        warnings.warn("shown")
        warnings.warn_explicit("ex", UserWarning, "file.py", 3)
    return out


def warn_filter_module():
    with warnings.catch_warnings(record=True) as got:
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", module="odd")
        warnings.warn("hidden")
        warnings.filterwarnings("always", module="odd")
        warnings.warn("seen")
    return [str(w.message) for w in got]


def inspect_more():
    def outer():
        def inner():
            fr = inspect.currentframe()
            return [f.function for f in inspect.getouterframes(fr)][:3], inspect.getargvalues(
                fr.f_back
            ).locals.keys() >= {"inner"}

        return inner()

    return outer()


def stack_locals():
    secret = 42

    def peek():
        return inspect.stack()[1].frame.f_locals["secret"]

    return peek()


def frame_back_chain():
    def a():
        return b()

    def b():
        f = sys._getframe()
        names = []
        for _ in range(3):
            names.append(f.f_code.co_name)
            f = f.f_back
        return names

    return a()


def getframe_errors():
    out = []
    for a in ((10**6,), ("x",), (1, 2)):
        try:
            sys._getframe(*a)
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def frame_dead():
    def f():
        x = 5
        return sys._getframe()

    fr = f()
    a = dict(fr.f_locals).get("x")
    fr.clear()
    return a, dict(fr.f_locals), fr.f_code.co_name, fr.f_lineno is not None
