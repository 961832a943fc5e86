"""Programs that put every kind of thing on the stack; plain Python, for 3.11, 3.12 and 3.13."""

import contextlib
import functools


class Vector:
    unit = 1

    def __init__(self, *xs):
        self.xs = xs

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.xs, other.xs)))

    def __eq__(self, other):
        return self.xs == other.xs

    @property
    def size(self):
        return len(self.xs)

    def twice(self):
        return super().__eq__(self), self + self


class Guard:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return self.swallow


def arithmetic(a, b):
    return (a + b) * (a - b) // (b or 1) % 7, -a, not a, a < b <= 10, a if a > b else b


def unpacking(items):
    first, *middle, last = items
    first, last = last, first
    (a, b), c = (first, last), middle
    del middle
    return a, b, c


def loops(n):
    found = []
    for i in range(n):
        if i == 1:
            continue
        j = 0
        while j < i:
            j += 1
            if j > 3:
                break
        else:
            found.append(("whole", i))
        found.append(i * j)
    else:
        found.append("end")
    return found


def comprehensions(n):
    return (
        [i * j for i in range(n) for j in range(i) if j % 2],
        {k: v for k, v in zip("abc", range(n))},
        sorted({x % 3 for x in range(n)}),
        sum(x * x for x in range(n)),
    )


def closures(n):
    total = 0

    def add(m, *rest, scale=1, **more):
        nonlocal total
        total += (n + m + sum(rest) + sum(more.values())) * scale
        return total

    return add(1), add(1, 2, 3, scale=2, extra=4), (lambda: total)(), functools.partial(add, 5)()


def caught(x):
    try:
        try:
            return 1 // x
        finally:
            y = "finally"
    except ZeroDivisionError as error:
        return str(error), y
    else:
        return None


def raised_from(x):
    try:
        [][x]
    except IndexError as error:
        try:
            raise ValueError(x) from error
        except (KeyError, ValueError) as inner:
            return type(inner.__cause__).__name__


def grouped():
    found = []
    try:
        raise ExceptionGroup("two", [ValueError(1), KeyError(2)])
    except* ValueError as group:
        found.append(len(group.exceptions))
    except* KeyError:
        found.append("key")
    return found


def withs():
    with Guard(True) as a, contextlib.suppress(KeyError):
        {}["no"]
    with Guard(True):
        raise ValueError
    return a.swallow


def counted(n):
    got = yield n
    try:
        yield from (got, n)
    finally:
        n = 0
    return "done"


def delegating():
    answer = yield from counted(2)
    yield answer


def generators():
    it = counted(1)
    first = [next(it), it.send(5), *it]
    other = counted(3)
    next(other), next(other)
    other.close()
    third = counted(4)
    next(third), third.send(0)
    try:
        third.throw(KeyError("thrown"))
    except KeyError as error:
        return first, list(delegating()), error.args


def methods():
    v = Vector(1, 2)
    return v.size, (v + v).xs, v.twice()[1].xs, Vector.unit, "%s" % (v.size,), f"{v.size!r:>4}|"


def matching(thing):
    match thing:
        case {"k": [a, *rest], **others}:
            return a, rest, others
        case (x, y) if x:
            return x + y
        case Vector(size=2) as v:
            return v.xs
        case str() | bytes():
            return "text"
        case _:
            return None


def calls():
    args, options = (3, 1, 2), {"reverse": True}
    return sorted(args, **options), max(*args, key=lambda x: -x), print, dict(a=1, **{"b": 2})


def async_driven():
    class Ready:
        def __await__(self):
            yield 1
            return 2

    async def inner():
        async with Holder():
            return await Ready()

    class Holder:
        async def __aenter__(self):
            return self

        async def __aexit__(self, *found):
            return False

    running = inner()
    running.send(None)
    try:
        running.send(None)
    except StopIteration as stop:
        return stop.value


def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


def uncaught():
    held = [1, 2, 3]
    return [held, held[10]]


MATCHED = {"k": [1, 2, 3], "z": 0}, (1, 2), Vector(1, 2), "text"
PROGRAMS = [
    *((arithmetic, (3, 4)), (arithmetic, (9, 2)), (unpacking, ((1, 2, 3, 4),)), (loops, (6,))),
    *((comprehensions, (5,)), (closures, (1,)), (caught, (0,)), (caught, (2,))),
    *((raised_from, (3,)), (grouped, ()), (withs, ()), (generators, ()), (methods, ())),
    *[(matching, (thing,)) for thing in MATCHED],
    *((calls, ()), (async_driven, ()), (recursion, (6,)), (uncaught, ())),
]
