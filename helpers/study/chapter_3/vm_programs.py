"""Small programs, one list per step, that a learner's handlers must run as CPython does.

They use no comprehension and no method call, because on some versions those need opcodes of their
own. They use only the standard library, so every supported Python runs them.
"""

# ruff: noqa - each line is there for the bytecode that it becomes

FACTOR, NAN = 3, float("nan")
Names = "the module's own"


class Odd:
    """A class with its own `<`, `==`, `in`, bool and `[]`."""

    def __eq__(self, other):
        return True

    def __lt__(self, other):
        return "less", other

    def __contains__(self, item):
        return [item]

    def __bool__(self):
        print("bool is asked")
        return True

    def __getitem__(self, key):
        return "item", key


def swapped(a, b):
    a, b = b, a
    return a


def stored(a, b, c):
    a, b, c = c, a, b
    items = [a, b, c]
    items[1] += 7
    return b, items


def deleted(a):
    b = a
    del b
    del b


NAMES = [
    (swapped, (1, None)),
    (lambda a, b, c: a < b < c, (1, 2, 3)),
    (lambda: (FACTOR, Names, len), ()),
    (lambda: nothing_has_this_name, ()),
    *((stored, (1, 2, 3)), (deleted, (1,))),
]


def added(a, b):
    c = a = a + b
    c += b
    return a, c, a is c


OPERATORS = [
    (lambda a, b: a - b, (7, 2)),
    (lambda a, b: a - b, ("a", 1)),
    (added, ([1], [2])),
    (lambda a, b: a < b, (1, 2)),
    (lambda a: Odd() < a, (3,)),
    (lambda a, b: (a is b, a is not b), (NAN, NAN)),
    (lambda a, b: (a is b, a is not b), (1, True)),
    (lambda a, b: (a in b, a not in b), (1, (1, 2))),
    (lambda a, b: (a in b, a not in b), (NAN, (NAN,))),
    (lambda a: (a in Odd(), a not in Odd()), (3,)),
    *((lambda a: not a, (a,)) for a in (0, "x")),
    *((lambda a: -a, (a,)) for a in (0.0, 2, "a")),
]


class Failing:
    """An iterator that returns two items and then raises something other than StopIteration."""

    def __init__(self, error):
        self.left, self.error = 2, error

    def __iter__(self):
        return self

    def __next__(self):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.left


def joined(a, b):
    while a < b:
        a += 1
        for n in (1, 2, 3):
            if n == a:
                continue
            if n > b:
                break
        else:
            a += 1
    return a or b and None


def counted(items):
    count = 0
    for item in items:
        for _ in (1, 2):
            count += 1
    return count, "and on"


JUMPS = [
    (lambda a: "negative" if a < 0 else "positive", (-3,)),
    (lambda a: "negative" if a < 0 else "positive", (3,)),
    (lambda a: (1 if not a else 2, 3 if a else 4), (0,)),
    (lambda a: (1 if not a else 2, 3 if a else 4), (Odd(),)),
    *((lambda a: "none" if a is None else "some", (a,)) for a in (None, 0, Odd())),
    *((lambda a: "some" if a is not None else "none", (a,)) for a in (None, 0, Odd())),
    *((joined, (1, 4)), (counted, ((None, 0, ()),))),
    *((counted, (Failing(kind("x")),)) for kind in (ValueError, IndexError, StopAsyncIteration)),
]


def collected(*args, **rest):
    return args, rest


def sub(a, b=1):
    return a - b


CALLS = [
    (lambda a: sub(sub(a, 2), b=sub(3)), (9,)),
    (lambda a, b: collected(0, a, k2=2, k1=b, k0="b"), (1, 2)),
    (lambda a: (collected(), [a, collected(a)]), (1,)),
    (lambda a: print("a is", a, sep=" … "), (1,)),
    (lambda a, b: [[a, b, (b, a)][2][0], [], ()], (1, 2)),
    (lambda a: (a.real, a.nothing), (1,)),
    (lambda a: (Odd()[True], Odd()[a]), (-1.0,)),
]


def counter(n):
    count = 0

    def up(by=2):
        nonlocal count
        count += by
        return count

    for _ in range(n):
        up()
    return up(10), count


def too_early(a):
    def inner():
        return later

    found = inner()
    later = a
    return found


def own_gone(a):
    def inner():
        return a

    del a
    return a


def looked_at(a):
    def inner(x: int, y=a, z=2, *, u=3, v=a) -> str:
        return a, x, y, z, u, v

    parts = inner.__defaults__, inner.__kwdefaults__, inner.__annotations__
    return inner(0), inner(0, 1), inner(0, v=1), inner.__closure__[0].cell_contents, parts


CLOSURES = [(counter, (3,)), (too_early, (1,)), (own_gone, (1,)), (looked_at, (5,))]
CLOSURES += [(lambda a: (lambda b: lambda c: (a, b, c))(2)(3), (1,))]


def which(a):
    out = []
    try:
        out = out + [10 // a]
    except (TypeError, KeyError) as error:
        out = out + [str(error)]
    except ZeroDivisionError:
        out = out + ["zero"]
    finally:
        out = out + ["finally"]
    return out


def caused(a):
    try:
        a[0]
    except TypeError as error:
        raise ValueError("v") from error


def outer_again(a):
    try:
        raise KeyError(a)
    except KeyError:
        try:
            raise ValueError(a)
        except ValueError:
            pass
        raise


def from_none(a):
    try:
        raise KeyError
    except KeyError:
        raise ValueError(a) from None


def raised_again(a):
    given = ValueError(a)
    try:
        raise given
    except ValueError:
        try:
            raise KeyError(a)
        finally:
            raise given


def raised_with_a_cause(a):
    given, cause = ValueError(a), TypeError(a)
    try:
        raise given
    except ValueError:
        try:
            raise KeyError(a)
        except KeyError:
            raise given from cause


def nothing_to_reraise():
    raise


EXCEPTIONS = [(which, (0,)), (which, ("a",)), (caused, (5,)), (outer_again, (1,))]
EXCEPTIONS += [(from_none, (1,)), (nothing_to_reraise, ())]
EXCEPTIONS += [(raised_again, (1,)), (raised_with_a_cause, (1,))]
