"""Programs that tell what they feel of a tracer: each appends to a list what it finds."""

import asyncio
import contextlib
import contextvars
import dataclasses
import gc
import inspect
import sys
import threading
import traceback
import warnings
import weakref

LEVEL = contextvars.ContextVar("LEVEL", default=0)


class Plain:
    """What can be referred to weakly."""


def writes_f_locals(felt):
    a = 1
    d = sys._getframe().f_locals
    d["a"] = 2
    felt.append(d["a"])
    b = a  # noqa: F841
    felt.append(dict(d, felt=0, d=0))


def writes_locals(felt):
    a = 1
    d = locals()
    d["a"] = 5
    d["new"] = 6
    felt.append((d["a"], d.get("new"), a))


def writes_vars_in_a_callee(felt):
    secret = [1]

    def meddle():
        names = sys._getframe(1).f_locals
        names["secret"] = "other"
        return names["secret"]

    felt.append(meddle())
    felt.append(secret)


def runs_exec(felt):
    exec("b = 2")
    felt.append(locals().get("b"))
    try:
        felt.append(b)  # noqa: F821
    except NameError as error:
        felt.append(str(error))


def evaluates(felt):
    a = 3
    felt.append(eval("a + 1"))
    d = {"a": 10}
    exec("a = a + 1", {}, d)
    felt.append((a, d["a"]))


def lets_go_in_one_line(felt):
    thing = Plain()
    known = weakref.ref(thing)
    del thing
    felt.append(known() is None)  # noqa: E702


def lets_go_by_rebinding(felt):
    thing = Plain()
    known = weakref.ref(thing)
    thing = None
    felt.append(known() is None)  # noqa: E702


def counts_references(felt):
    thing = Plain()
    felt.append(sys.getrefcount(thing))
    same = thing
    felt.append(sys.getrefcount(same))


def has_a_finalizer(felt):
    class Tells:
        def __init__(self, name):
            self.name = name

        def __del__(self):
            felt.append(self.name)

    first, second = Tells("first"), Tells("second")
    del first
    felt.append("between")
    second = None  # noqa: F841
    felt.append("after")
    Tells("passing")
    felt.append("end")


def has_a_weak_callback(felt):
    thing = Plain()
    known = weakref.ref(thing, lambda _: felt.append("gone"))
    felt.append("before")
    del thing
    felt.append(known() is None)


def asks_for_the_tracer(felt):
    felt.append((sys.gettrace(), sys.getprofile(), threading.gettrace()))
    felt.append((sys._getframe().f_trace, sys._getframe().f_trace_lines))


def sets_its_own_tracer(felt):
    def inner():
        x = 1
        return x

    def mine(frame, event, argument):
        if frame.f_code is inner.__code__:
            felt.append((event, frame.f_lineno - inner.__code__.co_firstlineno))
            return mine
        return None

    before = sys.gettrace()
    sys.settrace(mine)
    inner()
    sys.settrace(before)
    felt.append(inner())


def sets_its_own_profiler(felt):
    def inner():
        return len([1])

    def mine(frame, event, argument):
        if frame.f_code is inner.__code__:
            felt.append(event)

    sys.setprofile(mine)
    inner()
    sys.setprofile(None)


def takes_the_tracer_away(felt):
    sys.settrace(None)
    felt.append(sys.gettrace())


def leaves_a_generator(felt):
    def numbers():
        try:
            total = 0
            for n in range(3):
                total += yield n
            return total
        finally:
            felt.append("closed")

    running = numbers()
    felt.append(next(running))
    felt.append(running.send(4))
    felt.append(sorted(running.gi_frame.f_locals))
    felt.append((running.gi_frame.f_trace, running.gi_frame.f_trace_lines))
    running.close()


def throws_into_a_generator(felt):
    def careful():
        while True:
            try:
                yield 1
            except KeyError as error:
                felt.append(repr(error))

    running = careful()
    next(running)
    felt.append(running.throw(KeyError("k")))


def starts_a_thread(felt):
    def work(items):
        items.append((sys.gettrace(), sum(range(5))))

    thread = threading.Thread(target=work, args=(felt,))
    thread.start()
    thread.join()


@contextlib.contextmanager
def small_stack():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 200)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def recurses_to_the_limit(felt):
    def deeper(n):
        return deeper(n + 1)

    with small_stack():
        try:
            deeper(0)
        except RecursionError as error:
            felt.append(type(error).__name__)
    felt.append(sys.getrecursionlimit())


def recurses_near_the_limit(felt):
    def reach(n):
        try:
            return reach(n + 1)
        except RecursionError:
            return n

    def deeper(n):
        return deeper(n - 1) if n else "bottom"

    with small_stack():
        felt.append(deeper(reach(0) - 40))


def warns(felt):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    felt.append([(one.category, one.lineno, one.filename) for one in caught])


def runs_a_coroutine(felt):
    async def wait(n):
        await asyncio.sleep(0)
        return n

    async def both():
        found = await asyncio.gather(wait(1), wait(2))
        async for one in counted():
            found.append(one)
        return found

    async def counted():
        yield 3

    felt.append(asyncio.run(both()))


def keeps_a_traceback(felt):
    def fails():
        inside = [1]
        raise ValueError(inside)

    try:
        fails()
    except ValueError as error:
        trace = error.__traceback__.tb_next
        felt.append([entry.name for entry in traceback.extract_tb(error.__traceback__)])
        felt.append(dict(trace.tb_frame.f_locals))
        trace.tb_frame.clear()
        felt.append(dict(trace.tb_frame.f_locals))
        felt.append(sys.exc_info()[1] is error)
    felt.append(sys.exc_info())


def makes_classes(felt):
    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 2
        names = tuple(sorted(n for n in locals() if n[0] != "_"))

    class Child(Point):
        def total(self):
            return super().__eq__(self), self.x + self.y

    felt.append((Point(1).y, Child(3).total(), Point.names))


def loops_and_matches(felt):
    found = [x * y for x in range(3) for y in {1: 2}]
    match found:
        case [first, *_]:
            felt.append(first)
    with warnings.catch_warnings():
        felt.append({k: v + 1 for k, v in zip("ab", found, strict=False)})
    try:
        try:
            raise KeyError(1)
        finally:
            felt.append("finally")
    except KeyError as error:
        felt.append(error.args)
    felt.append("error" in locals())


def calls_another(felt):
    felt.append(answer())


def answer():
    return 42


def changes_a_context(felt):
    token = LEVEL.set(LEVEL.get() + 1)
    felt.append(LEVEL.get())
    LEVEL.reset(token)
    felt.append(LEVEL.get())


def closes_over(felt):
    count = 0

    def step():
        nonlocal count
        count += 1
        return locals()

    felt.append(step())
    felt.append(step())
    felt.append(step.__closure__[0].cell_contents)


def asks_the_collector(felt):
    felt.append((gc.isenabled(), gc.get_threshold(), gc.callbacks == [], gc.get_freeze_count()))
    ring = []
    ring.append(ring)
    known = weakref.ref(Plain())
    felt.append(known() is None)


PROGRAMS = [
    value
    for value in list(globals().values())
    if inspect.isfunction(value)
    and value.__module__ == __name__
    and value not in (small_stack, answer)
]
