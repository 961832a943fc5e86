"""What the hook must stand, as plain functions: run by pytest here, and bare on other Pythons."""

import contextlib
import gc
import os
import sys
import threading
import traceback
import warnings

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


def depth_is_that_of_the_callers():
    depths = []

    def note(code, arguments):
        depth, frame = 0, sys._getframe(1)
        while frame is not None:
            depth, frame = depth + 1, frame.f_back
        depths.append(depth)

    with watching(note, only=[rec]):
        rec(4)
    assert [depth - depths[0] for depth in depths] == [0, 1, 2, 3, 4]


def every_frame_without_a_filter():
    log, note = recorder()
    with watching(note):
        assert f(2) == 6
    names = [name for name, _ in log]
    assert names[0] == "f" and names.count("h") == 3 and names.count("<genexpr>") == 1
    assert "__exit__" not in names and "note" not in names


def filter_is_by_identity():
    one, two = (eval("lambda: 1") for _ in "ab")
    assert one.__code__ == two.__code__ and one.__code__ is not two.__code__
    log, note = recorder()
    with watching(note, only=[one]):
        one(), two(), two()
    assert len(log) == 1


def filter_of_many():
    made = [eval(f"lambda: {n}") for n in range(300)]
    log, note = recorder()
    with watching(note, only=made[::2]):
        assert [fn() for fn in made] == list(range(300))
    assert len(log) == 150


def every_kind_of_parameter():
    def many(a, /, b, *rest, c, d=4, **more):
        return locals()

    log, note = recorder()
    with watching(note, only=[many]):
        many(1, 2, 3, c=5, e=6)
    assert log == [("many", (1, 2, 5, 4, (3,), {"e": 6}))]


def arguments_that_live_in_cells():
    def outer(x):
        return lambda: x

    log, note = recorder()
    with watching(note, only=[outer]):
        assert outer(7)() == 7
    assert log == [("outer", (7,))]


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


def coroutines():
    class Once:
        def __await__(self):
            yield "suspended"
            return 7

    async def inner():
        return await Once()

    async def outer():
        return [await inner() for _ in range(2)] + [x async for x in numbers()]

    async def numbers():
        yield 1

    log, note = recorder()
    with watching(note, only=[outer, inner, numbers]):
        run = outer()
        assert run.send(None) == run.send(None) == "suspended"
        try:
            run.send(None)
        except StopIteration as stop:
            assert stop.value == [7, 7, 1]
    assert [name for name, _ in log] == ["outer", "inner", "inner", "numbers"]


def other_threads_are_left_alone():
    log, note = recorder()
    results = []

    def work():
        results.append(sum(h(i) for i in range(20_000)))

    with watching(note, only=[h]):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        h(1)
        for thread in threads:
            thread.join()
    assert len(results) == 4 and len(set(results)) == 1 and log == [("h", (1,))]


def every_thread_may_have_a_hook():
    seen = {}

    def work(name):
        log, note = recorder()
        with watching(note, only=[h]):
            for i in range(3000):
                h(i)
        seen[name] = len(log)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == dict.fromkeys(range(4), 3000)
    off()


def recursion_to_the_limit():
    seen = []
    with watching(lambda code, arguments: seen.append(code), only=[rec]):
        assert rec(300) == 300
        try:
            rec(10**6)
            raise AssertionError("no RecursionError")
        except RecursionError:
            pass
    assert len(seen) > 500
    off()


def recursion_with_a_limit_beyond_the_c_stack():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        with watching(nothing, only=[rec]):
            rec(10**5)
        raise AssertionError("no RecursionError")
    except RecursionError:
        pass
    finally:
        sys.setrecursionlimit(before)
    off()


def same_function_with_and_without():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    expected = [fib(n) for n in range(15)]
    with watching(nothing):
        assert [fib(n) for n in range(15)] == expected
    assert [fib(n) for n in range(15)] == expected


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
        return log

    log = []
    for donor in (f, other, gen, free, lambda a, *b: a):
        try:
            with watching(lambda code, arguments, new=donor.__code__: new, only=[add]):
                assert add(1, 2) == 3
        except ValueError as error:
            assert "cannot run in a frame of add" in str(error)
        else:
            raise AssertionError(donor)


def replaced_frames():
    def stand_in(a, b):
        t = (a, b, a, b)
        return "stand-in", len([*t, *t]), a**b

    with replaced(add, stand_in):
        assert add(2, 5) == add(2, b=5) == ("stand-in", 8, 32)
    assert add(2, 5) == 7


def replacement_may_call_what_it_replaces():
    with replaced(add, lambda a, b: add(a, b) * 10):
        assert [add(1, 2), add(3, 4)] == [30, 70]


def replaced_generator_function():
    def gen(n):
        yield n

    async def wait():
        return 1

    with replaced(gen, range), replaced(wait, lambda: "no coroutine"):
        assert list(gen(3)) == [0, 1, 2] and wait() == "no coroutine"
    assert list(gen(3)) == [3]


def replacement_in_C():
    with replaced(add, max):
        assert add(2, 5) == 5


def replacement_that_raises():
    def boom(a, b):
        raise ZeroDivisionError("from the stand-in")

    def tries():
        try:
            return add(1, 2)
        except ZeroDivisionError as error:
            return str(error)

    with replaced(add, boom):
        assert tries() == "from the stand-in"
        assert tries() == "from the stand-in"


def replacement_that_replaces_itself_for_ever():
    def one(a, b):
        return add(a, b)

    with watching(lambda code, arguments: one, only=[add, one]):
        with contextlib.suppress(RecursionError):
            add(1, 2)
    off()


def callback_that_raises():
    asked = []

    def bad(code, arguments):
        asked.append(code)
        raise RuntimeError("from the callback")

    try:
        with watching(bad, only=[add]):
            assert [add(1, 2), add(3, 4)] == [3, 7]
        raise AssertionError("not raised")
    except RuntimeError as error:
        assert str(error) == "from the callback" and len(asked) == 1
        assert error.__traceback__ is not None
    off()


def callback_and_block_that_raise():
    def bad(code, arguments):
        raise RuntimeError("from the callback")

    try:
        with watching(bad, only=[add]):
            add(1, 2)
            raise KeyError("from the block")
    except KeyError as error:
        assert "RuntimeError before that: from the callback" in error.__notes__[0]
    off()


def callback_that_is_interrupted():
    def interrupted(code, arguments):
        raise KeyboardInterrupt

    try:
        with watching(interrupted, only=[add]):
            add(1, 2)
        raise AssertionError("not raised")
    except KeyboardInterrupt:
        pass
    off()


def callback_that_gives_nonsense():
    for nonsense in (3, "add", False, [times]):
        try:
            with watching(lambda code, arguments, answer=nonsense: answer, only=[add]):
                assert add(1, 2) == 3
            raise AssertionError(nonsense)
        except TypeError as error:
            assert "must return None, a code object or something to call" in str(error)


def callback_that_calls_what_it_watches():
    seen = []

    def recursing(code, arguments):
        seen.append(add(1, 1))

    with watching(recursing, only=[add]):
        assert add(1, 2) == 3
    assert seen == [2]


def callback_that_runs_out_of_stack():
    def endless(code, arguments):
        return endless(code, arguments)

    try:
        with watching(endless, only=[add]):
            assert add(1, 2) == 3
        raise AssertionError("not raised")
    except RecursionError:
        pass
    off()


def callback_deep_in_a_recursion():
    def deep(code, arguments):
        rec_free(60)

    def rec_free(n):
        return n and rec_free(n - 1)

    try:
        with watching(deep, only=[rec]):
            with contextlib.suppress(RecursionError):
                rec(10**6)
    except RecursionError:
        pass
    off()


def callback_that_switches_it_off():
    hook = None

    def off_now(code, arguments):
        hook.__exit__(None, None, None)

    hook = watching(off_now, only=[add])
    hook.__enter__()
    assert add(1, 2) == 3
    off()
    assert add(1, 2) == 3


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


def left_in_the_wrong_order():
    one, two = watching(nothing, only=[add]), watching(nothing, only=[h])
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert h(2) == 4 and installed()[0].name == "evaluate"
    two.__exit__(None, None, None)
    off()


def entered_twice():
    hook = watching(nothing, only=[add])
    with hook:
        try:
            hook.__enter__()
            raise AssertionError("entered twice")
        except RuntimeError as error:
            assert "on already" in str(error)
    with hook:
        assert add(1, 2) == 3
    off()


def a_tracer_meanwhile():
    events = []

    def tracer(frame, event, argument):
        events.append((frame.f_code.co_name, event))
        return tracer

    log, note = recorder()
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with watching(note, only=[f, h, add]), replaced(g, lambda x: 0):
            assert f(3) == 6
    finally:
        sys.settrace(before)
    assert [name for name, _ in log] == ["f", "h"]
    assert ("f", "call") in events and ("h", "return") in events


def a_profiler_meanwhile():
    log, note = recorder()
    before, events = sys.getprofile(), []
    sys.setprofile(lambda frame, event, argument: events.append(event))
    try:
        with watching(note, only=[f, h]), replaced(g, lambda x: 0):
            assert f(3) == 6
    finally:
        sys.setprofile(before)
    assert [name for name, _ in log] == ["f", "h"] and "return" in events


def a_monitor_meanwhile():
    if not hasattr(sys, "monitoring"):
        return  # it came with 3.12
    tool, events, monitoring = 4, [], sys.monitoring
    monitoring.use_tool_id(tool, "cases")
    try:
        for event in (monitoring.events.PY_START, monitoring.events.INSTRUCTION):
            monitoring.register_callback(tool, event, lambda code, at: events.append(code.co_name))
        monitoring.set_events(tool, monitoring.events.PY_START | monitoring.events.INSTRUCTION)
        with replaced(g, lambda x: 0):
            with watching(lambda code, arguments: times.__code__, only=[add]):
                assert f(3) == 6 and add(6, 7) == 42
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert "h" in events


def a_tracer_that_switches_it_on():
    log, note = recorder()
    hook = watching(note, only=[h])

    def tracer(frame, event, argument):
        if frame.f_code is f.__code__ and event == "call":
            hook.__enter__()
        return None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert f(2) == 6
    finally:
        sys.settrace(before)
        hook.__exit__(None, None, None)
    assert len(log) == 3


def finalisers_run_unharmed():
    class Dies:
        def __del__(self):
            add(1, 1)

    def holder(x):
        raise KeyError

    log = []
    with watching(lambda code, arguments: log.append(code.co_name), only=[holder, add]):
        with contextlib.suppress(KeyError):
            holder(Dies())
        gc.collect()
    assert log == ["holder", "add"]


def no_reference_is_lost_or_kept():
    class Thing:
        pass

    def same(a, b):
        return a

    thing = Thing()
    ways = {
        "watched": lambda code, arguments: None,
        "swapped": lambda code, arguments: times.__code__,
        "replaced": lambda code, arguments: same,
    }
    for way, callback in ways.items():
        numbers = (3, 4) if way == "swapped" else (thing, 4)
        if way == "watched":
            numbers = ([], [])
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


def thread_that_ends_with_its_hook_on():
    hook, asked = None, []

    def work():
        nonlocal hook
        hook = watching(lambda code, arguments: asked.append(code), only=[h])
        hook.__enter__()

    def others():
        h(1)

    for _ in range(5):
        for run in (work, others, others):
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
    assert asked == []
    with watching(nothing, only=[h]):  # drops those of dead threads
        h(1)
    off()


def off_from_another_thread():
    log, note = recorder()
    hook = watching(note, only=[h])
    hook.__enter__()
    h(1)
    thread = threading.Thread(target=hook.__exit__, args=(None, None, None))
    thread.start()
    thread.join()
    h(2)
    assert log == [("h", (1,))]
    off()


def callback_that_exits():
    def leave(code, arguments):
        sys.exit(3)

    try:
        with watching(leave, only=[add]):
            assert add(1, 2) == 3
        raise AssertionError("not raised")
    except SystemExit as error:
        assert error.code == 3
    off()


def error_whose_words_raise():
    class Bad(Exception):
        def __str__(self):
            raise ZeroDivisionError

    def bad(code, arguments):
        raise Bad

    class Own(Exception):
        def add_note(self, note):
            raise ZeroDivisionError

    try:
        with watching(bad, only=[add]):
            add(1, 2)
            raise Own
    except Own as error:
        assert "Bad before that" in error.__notes__[0]


def code_with_constants_that_have_no_hash():
    def odd(a):
        return "a constant"

    code = odd.__code__
    odd.__code__ = code.replace(co_consts=tuple([] if c else c for c in code.co_consts))
    with replaced(odd, abs):
        assert odd(-3) == 3
    with watching(nothing, only=[odd]):
        assert odd(1) == []


def code_that_is_freed_and_made_again():
    for n in range(300):
        fn = eval(f"lambda a: a + {n}")
        with replaced(fn, lambda a: -a):
            assert fn(2) == -2
        assert fn(2) == n + 2


def few_levels_left_are_counted():
    hook, before = watching(nothing, only=[rec]), sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 60)
    try:
        with hook:
            rec(20)
    finally:
        sys.setrecursionlimit(before)
    assert hook.missed == 21
    with hook:
        rec(20)
    assert hook.missed == 0


def a_fork_meanwhile():
    if not hasattr(os, "fork"):
        return
    log, note = recorder()
    with warnings.catch_warnings(), watching(note, only=[h]):
        warnings.simplefilter("ignore")
        child = os.fork()
        if not child:
            h(1)
            os._exit(len(log))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    off()


def class_bodies_and_modules():
    source = "class Made:\n    size = 3\nmade = [Made.size for _ in 'ab']\n"
    log, note = recorder()
    space = {"__name__": "made"}
    with watching(note):
        exec(compile(source, "made", "exec"), space)
    assert space["made"] == [3, 3]
    assert [name for name, _ in log][:2] == ["<module>", "Made"]


def bad_input_is_told():
    cases = [
        (TypeError, "the callback must be callable", lambda: watching(3)),
        (TypeError, "only functions of Python", lambda: watching(nothing, only=[len])),
        (TypeError, "only must be a list", lambda: watching(nothing, only=3)),
        (TypeError, "only must be a list", lambda: watching(nothing, only=iter([add]))),
        (ValueError, "only is empty", lambda: watching(nothing, only=[])),
        (TypeError, "the replacement must be callable", lambda: replaced(add, 3)),
        (TypeError, "only functions of Python", lambda: replaced(3, add)),
    ]
    for error, words, make in cases:
        try:
            make()
        except error as raised:
            assert words in str(raised), raised
        else:
            raise AssertionError(words)
    with watching(nothing, only=add):
        assert add(1, 2) == 3


CASES = {
    name: case
    for name, case in globals().copy().items()
    if callable(case)
    and getattr(case, "__module__", None) == __name__
    and case.__code__.co_argcount == 0
    and name not in ("off", "recorder")
}


def run_all():
    """Run every case and print its name; on the first that fails, its traceback."""
    for name, case in CASES.items():
        print(name, flush=True)
        case()
        off()
