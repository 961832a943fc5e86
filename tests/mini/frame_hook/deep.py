"""Programs that go deep, each in its own way: what the hook must stand without a dead kernel.

Run as `python -m tests.mini.frame_hook.deep WAY STACK ENTRY` by the tests, in a child each.
"""

import ctypes
import functools
import json
import sys
import threading
from contextlib import ExitStack

from helpers.mini.frame_hook import watching

LEVELS = 10**6


def plain(n):
    return 0 if n == 0 else 1 + plain(n - 1)


def mapped(n):
    return n and 1 + next(map(mapped, [n - 1]))


def sorted_keys(n):
    return n and 1 + len(sorted([n - 1], key=sorted_keys))


def compared(n):
    key = functools.cmp_to_key(lambda a, b: compared(n - 1))
    return n and [1, 2].sort(key=key)


def delegated(n):
    if n:
        yield from delegated(n - 1)
    yield n


def exhausted(n):
    return next(delegated(n))


def resumed(n):
    """Wind generators up one by one, so that only going on with them goes deep."""
    chain = iter([1])
    for _ in range(n):
        chain = (item for item in chain)
    return next(chain)


def thrown(n):
    """Throw from one generator into the next, of 100,000 that stand ready."""

    def step(inner):
        try:
            yield
        except ValueError:
            inner.throw(ValueError)

    chain = step(None)
    next(chain)
    for _ in range(n // 10):
        chain = step(chain)
        next(chain)
    chain.throw(ValueError)


def awaited(n):
    async def inner(n):
        return n and 1 + await inner(n - 1)

    try:
        inner(n).send(None)
    except StopIteration as stop:
        return stop.value


class Attribute:
    def __getattr__(self, name):
        return getattr(self, name + "x" if len(name) < 9 else "x")


def attributes(n):
    return Attribute().x


class Shown:
    def __init__(self, inner=None):
        self.inner = inner

    def __repr__(self):
        return repr([{"inner": self.inner or self}])


def shown(n):
    return repr(Shown())


class Dies:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        if self.n:
            Dies(self.n - 1)


def finalised(n):
    Dies(n)


CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


@CALLBACK
def from_c(n):
    return n and from_c(n - 1)


def ctypes_callbacks(n):
    return from_c(n)


class Encodes(json.JSONEncoder):
    def default(self, thing):
        return [Shown()]


def encoded(n):
    return json.dumps(Shown(), cls=Encodes, check_circular=False)


class Equal:
    def __eq__(self, other):
        return [self] == [Equal()]


def equals(n):
    return Equal() == 3


def evaluated(n):
    return n and eval("evaluated(n - 1)", globals(), {"n": n})


def caught(n):
    try:
        return caught(n + 1)
    except RecursionError:
        return repr([[[[[[n]]]]]]), f"{n:10.3f}", json.dumps([n]), sum(map(int, "123"))


def nested(n):
    """Use the stack in C alone where it is nearly used up."""
    thing = []
    for _ in range(min(n, 1000)):
        thing = [thing]

    def down(n):
        try:
            return down(n + 1)
        except RecursionError:
            return len(repr(thing))

    return down(0)


WAYS = {
    one.__name__: one
    for one in (
        plain, mapped, sorted_keys, compared, exhausted, resumed, thrown, awaited, attributes,
        shown, finalised, ctypes_callbacks, encoded, equals, evaluated, caught, nested,
    )
}  # fmt: skip


def entered(depth: int, run):
    """Call `run` under so many levels of C calls."""
    if not depth:
        return run()
    return next(map(entered, [depth - 1], [run]))


def ask(code, arguments):
    return None


def outcome(run) -> str:
    try:
        run()
        return "value"
    except Exception as error:
        return type(error).__name__


def in_thread(stack: int, run) -> None:
    before = threading.stack_size(stack)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)


def main(way: str, stack: str, entry: str, who: str) -> None:
    """Go deep: in the main thread (stack 0) or one of that size; the hook is on in `who`."""
    told, size = [], int(stack)

    def hooked():
        with watching(ask):
            WAYS[way](LEVELS)

    def bare():
        WAYS[way](LEVELS)

    def work(run=hooked):
        told.append(outcome(lambda: entered(int(entry), run)))

    sys.setrecursionlimit(10**6)
    sys.unraisablehook = lambda _: None
    with ExitStack() as stack:
        if who == "elsewhere":  # on in this thread, and the deep one never asked for it
            stack.enter_context(watching(ask, only=[plain]))
        run = bare if who == "elsewhere" else hooked
        if size or who == "elsewhere":
            in_thread(size, functools.partial(work, run))
        else:
            work(run)
    print(told)


if __name__ == "__main__":
    main(*sys.argv[1:])
