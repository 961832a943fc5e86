"""Errors with their sentences, chains and tracebacks; `with` blocks whose exits fail."""

import sys
import traceback


def del_cell():
    x = 1

    def f():
        return x

    del x
    f()


def star_errors():
    out = []
    for make in (
        lambda: [*5],
        lambda: (lambda *a: a)(*5),
        lambda: {**5},
        lambda: (lambda **k: k)(**5),
        lambda: dict(**{1: 2}),
        lambda: (lambda **k: k)(**{1: 2}),
        lambda: (lambda a: a)(1, a=2),
        lambda: (lambda **k: k)(a=1, **{"a": 2}),
        lambda: {*5},
        lambda: print(*5),
        lambda: (lambda a, /: a)(a=1),
        lambda: (lambda: 0)(1),
        lambda: (lambda a, b: 0)(),
        lambda: (lambda *, a, b: 0)(),
        lambda: int(**{"x": 1}),
        lambda: "abc".join(*[1]),
        lambda: vars().get("x")(*[]),
        lambda: len("12345")(),
    ):
        try:
            out.append(make())
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def unpack_errors():
    out = []

    def t(f):
        try:
            out.append(f())
        except Exception as e:
            out.append((type(e).__name__, str(e)))

    def a():
        x, y = 1, 2, 3

    def b():
        x, y = (1,)

    def c():
        x, *y, z = (1,)

    def d():
        x, y = 5

    def e():
        x, y = None

    def f():
        class It:
            def __iter__(self):
                return self

            def __next__(self):
                raise KeyError("in next")

        x, y = It()

    def g():
        [x, y] = {1: 2, 3: 4, 5: 6}

    def h():
        x, *y = 5

    for q in (a, b, c, d, e, f, g, h):
        t(q)
    return out


def groups():
    log = []

    def run(make):
        try:
            try:
                raise make()
            except* ValueError as g:
                log.append(("V", [str(e) for e in g.exceptions]))
            except* TypeError as g:
                log.append(("T", [str(e) for e in g.exceptions]))
                raise KeyError("x")
        except BaseException as e:
            log.append((type(e).__name__, str(e), [repr(x) for x in getattr(e, "exceptions", ())]))

    run(lambda: ExceptionGroup("g", [ValueError("a"), TypeError("b"), OSError("c")]))
    run(lambda: ValueError("bare"))
    run(lambda: OSError("other"))
    run(
        lambda: ExceptionGroup(
            "n", [ExceptionGroup("m", [ValueError(1), OSError(2)]), TypeError(3)]
        )
    )
    return log


def with_raise():
    log = []

    class C:
        def __init__(s, n, er=None, sup=False):
            s.n, s.er, s.sup = n, er, sup

        def __enter__(s):
            log.append(s.n)
            return s

        def __exit__(s, t, e, tb):
            log.append((s.n, t and t.__name__, repr(e), type(tb).__name__))
            if s.er:
                raise s.er
            return s.sup

    try:
        with C(1, KeyError("exit")), C(2, sup=False):
            raise ValueError("body")
    except KeyError as e:
        log.append((repr(e), repr(e.__context__)))
    with C(3, sup=True):
        raise ValueError
    with C(4):
        pass
    try:
        with C(5, OSError("late")):
            pass
    except OSError as e:
        log.append(repr(e.__context__))
    return log


def with_bad():
    out = []

    class A:
        pass

    class B:
        def __enter__(s):
            return 1

    for c in (A(), B(), 5, None):
        try:
            with c:
                pass
        except Exception as e:
            out.append((type(e).__name__, str(e)))
    return out


def with_exit_truth():
    class T:
        def __bool__(self):
            raise ZeroDivisionError("truth")

    class C:
        def __enter__(s):
            return s

        def __exit__(s, *a):
            return T()

    with C():
        raise ValueError("v")


def tb_lines():
    def f():
        x = 1
        raise KeyError("k")

    try:
        f()
    except KeyError as e:
        first = tb_lines.__code__.co_firstlineno
        return [(s.name, s.lineno - first) for s in traceback.extract_tb(e.__traceback__)]


def tb_format():
    try:
        1 / 0
    except ZeroDivisionError:
        return traceback.format_exc().splitlines()[-1]


def exc_chain():
    try:
        try:
            raise ValueError(1)
        except ValueError as e:
            raise KeyError(2) from e
    except KeyError as e:
        return repr(e.__cause__), repr(e.__context__), e.__suppress_context__


def notes():
    try:
        raise ValueError("v")
    except ValueError as e:
        e.add_note("n1")
        try:
            raise
        except ValueError as e2:
            return e2.__notes__, e2 is e


def name_errors():
    out = []

    def t(f):
        try:
            out.append(f())
        except Exception as e:
            out.append((type(e).__name__, str(e), getattr(e, "name", None)))

    def a():
        return zzz

    def b():
        print(y)
        y = 1

    def c():
        del y
        y = 1

    def d():
        for i in ():
            pass
        return i

    def e():
        return [].nope

    def f():
        pass

    def g():
        pass

    for q in (a, b, c, d, e, f, g):
        t(q)
    return out


def excinfo():
    try:
        raise KeyError
    except KeyError:
        t, v, tb = sys.exc_info()
        return t.__name__, type(v).__name__, type(tb).__name__ if tb else None


def finally_return():
    def f():
        try:
            raise ValueError
        finally:
            return 3

    return f()


def dict_merge_order():
    log = []

    def k(x):
        log.append(x)
        return x

    d = {k(1): k(2), **{k(3): k(4)}, k(5): k(6)}

    def f(**kw):
        return list(kw)

    return log, f(a=k(1), **{"b": k(2)}, c=k(3))


def comparisons():
    class A:
        def __eq__(s, o):
            return NotImplemented

        def __lt__(s, o):
            return NotImplemented

    out = [A() == 1, A() != 1]
    for f in (
        lambda: A() < 1,
        lambda: A() < A(),
        lambda: 1 < "a",
        lambda: A() + 1,
        lambda: -A(),
        lambda: A()[0],
        lambda: A()(),
        lambda: len(A()),
        lambda: iter(A()),
        lambda: 1 in A(),
    ):
        try:
            f()
        except TypeError as e:
            out.append(str(e))
    return out


def ctx():
    from contextlib import ExitStack, contextmanager, suppress

    log = []

    @contextmanager
    def c(n):
        log.append(n)
        try:
            yield n
        except KeyError as e:
            log.append(repr(e))
        finally:
            log.append(-n)

    with c(1) as a, ExitStack() as st:
        st.enter_context(c(2))
        raise KeyError("in")
    with suppress(ValueError):
        raise ValueError
    return log
