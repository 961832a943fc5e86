"""What the hook must stand, as plain functions: run by pytest here, and bare on other Pythons."""

import contextlib
import gc
import sys
import traceback

from helpers.mini.frame_hook import installed, replaced, watching

DEFAULT = "_PyEval_EvalFrameDefault"


def h(x):
    return x * 2


def g(x):
    return sum(h(i) for i in range(x))


def f(x):
    return g(x) + h(x)


def add(a, b):
    return a + b


def times(a, b):
    return a * b


def rec(n):
    return 0 if n == 0 else 1 + rec(n - 1)


def nothing(code, arguments):
    return None


def raised(error, call, *args):
    """Return what is said by an error that a call must raise."""
    try:
        call(*args)
    except error as told:
        return str(told)
    raise AssertionError(call)


def off():
    assert [one.name for one in installed()] == [DEFAULT], installed()


def recorder():
    log = []
    return log, lambda code, arguments: log.append((code.co_name, arguments))


def order_and_count():
    log, note = recorder()
    with watching(note, only=[f, g, h]):
        assert f(3) == 12
    assert log == [("f", (3,)), ("g", (3,)), *[("h", (i,)) for i in range(4)]]


def every_frame_without_a_filter():
    log, note = recorder()
    with watching(note):
        assert f(2) == 6
    names = [name for name, _ in log]
    assert names[0] == "f" and names.count("h") == 3 and names.count("<genexpr>") == 1
    assert "__exit__" not in names and "note" not in names


def every_kind_of_parameter():
    def many(a, /, b, *rest, c, d=4, **more):
        return locals()

    log, note = recorder()
    with watching(note, only=[many]):
        many(1, 2, 3, c=5, e=6)
    assert log == [("many", (1, 2, 5, 4, (3,), {"e": 6}))]


def exceptions_and_tracebacks():
    def bad():
        raise KeyError("x")

    def tries():
        try:
            bad()
        except KeyError as error:
            return [frame.name for frame in traceback.extract_tb(error.__traceback__)]

    bare = tries()
    with watching(nothing):
        assert tries() == bare == ["tries", "bad"]
    try:
        with watching(nothing):
            bad()
    except KeyError as error:
        assert not hasattr(error, "__notes__")
    off()


def generators():
    def gen(n):
        try:
            got = yield n
            yield got
        except ValueError:
            yield "caught"

    log, note = recorder()
    with watching(note, only=[gen]):
        it = gen(3)
        assert [next(it), it.send("sent"), it.throw(ValueError), *it] == [3, "sent", "caught"]
        fresh = gen(4)
        with contextlib.suppress(KeyError):
            fresh.throw(KeyError)
        gen(5).close()
    assert log == [("gen", (3,)), ("gen", (4,)), ("gen", (5,))]


def recursion_to_the_limit():
    seen = []
    with watching(lambda code, arguments: seen.append(code), only=[rec]):
        assert rec(300) == 300
        raised(RecursionError, rec, 10**6)
    assert len(seen) > 500
    off()


def swapped_code():
    with watching(lambda code, arguments: times.__code__, only=[add]):
        assert [add(6, 7), add(2, 5)] == [42, 10]
    assert add(6, 7) == 13


def swapped_code_must_fit():
    def other(a, b):
        c = a
        return c + b

    def gen(a, b):
        yield a

    def free(a, b):
        return adds

    def adds(donor):
        with watching(lambda code, arguments: donor.__code__, only=[add]):
            assert add(1, 2) == 3

    for donor in (f, other, gen, free, lambda a, *b: a):
        message = raised(ValueError, adds, donor)
        assert donor.__name__ in message and "add" in message


def replaced_frames():
    def stand_in(a, b):
        t = (a, b, a, b)
        return "stand-in", len([*t, *t]), a**b

    with replaced(add, stand_in):
        assert add(2, 5) == add(2, b=5) == ("stand-in", 8, 32)
    assert add(2, 5) == 7


def callback_that_raises():
    asked = []

    def bad(code, arguments):
        asked.append(code)
        raise RuntimeError("from the callback")

    def adds():
        with watching(bad, only=[add]):
            assert [add(1, 2), add(3, 4)] == [3, 7]

    assert raised(RuntimeError, adds) == "from the callback" and len(asked) == 1
    off()


def a_hook_in_a_hook():
    outer, note_outer = recorder()
    inner, note_inner = recorder()
    with watching(note_outer, only=[add]):
        with watching(note_inner, only=[add, h]):
            add(h(1), 2)
        with replaced(add, times):
            assert add(3, 4) == 12
        assert add(3, 4) == 7
    assert [name for name, _ in inner] == ["h", "add"]
    assert [values for _, values in outer] == [(2, 2), (3, 4)]
    off()


def no_reference_is_lost_or_kept():
    class Thing:
        pass

    def same(a, b):
        return a

    thing = Thing()
    ways = {
        "watched": (nothing, ([], [])),
        "swapped": (lambda code, arguments: times.__code__, (3, 4)),
        "replaced": (lambda code, arguments: same, (thing, 4)),
    }
    for way, (callback, numbers) in ways.items():
        held = (thing, callback, same, times, add.__code__, times.__code__, None, numbers[0])

        def run(count, numbers=numbers, callback=callback):
            with watching(callback, only=[add]):
                for _ in range(count):
                    add(*numbers)

        run(10)
        gc.collect()
        before = [sys.getrefcount(one) for one in held]
        run(3000)
        gc.collect()
        drift = [sys.getrefcount(one) - was for one, was in zip(held, before, strict=True)]
        assert all(abs(d) < 50 for d in drift), (way, drift)


def bad_input_is_told():
    cases = [
        (TypeError, "callback", lambda: watching(3)),
        (TypeError, "builtin_function_or_method", lambda: watching(nothing, only=[len])),
        (ValueError, "only", lambda: watching(nothing, only=[])),
        (TypeError, "replacement", lambda: replaced(add, 3)),
    ]
    for error, words, make in cases:
        assert words in raised(error, make), words


OWN = [fn for fn in [*globals().values()] if getattr(fn, "__module__", None) == __name__]
CASES = {fn.__name__: fn for fn in OWN if not fn.__code__.co_argcount and fn not in (off, recorder)}


def run_all():
    """Run every case and print its name; on the first that fails, its traceback."""
    for name, case in CASES.items():
        print(name, flush=True)
        case()
        off()
