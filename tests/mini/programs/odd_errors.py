"""Errors with their sentences, chains and tracebacks; `with` blocks whose exits fail."""

import traceback


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


def tb_format():
    try:
        1 / 0
    except ZeroDivisionError:
        return traceback.format_exc().splitlines()[-1]


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
