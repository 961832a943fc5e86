"""Small programs, one list per step: what a learner's handlers must run as CPython does.

They use no comprehension and no method call: on some versions those need opcodes of their own.
"""

# ruff: noqa - each line is there for the bytecode that it becomes

FACTOR = 3


def last_of_two(a, b):
    c = b
    return c


def chained(a):
    x = y = a
    x, y = y, x
    return x


def rotated(a, b, c):
    a, b, c = c, a, b
    return b


def between(a, b, c):
    return a < b < c


def from_module():
    return FACTOR


def builtin():
    return len


def unbound(a):
    if False:
        b = a
    return b


def deleted(a):
    if False:
        b = a
    del b


def no_such_name():
    return nothing_has_this_name


NAMES = [(last_of_two, (1, 2)), (chained, (5,)), (rotated, (1, 2, 3)), (from_module, ())]
NAMES += [
    (between, (1, 2, 3)),
    (between, (3, 2, 1)),
    (between, (1, 3, 2)),
    (builtin, ()),
    (unbound, (1,)),
    (deleted, (1,)),
    (no_such_name, ()),
]


def difference(a, b):
    return a - b


def formula(a, b):
    return (a + b) * (a - b) // 2 - -a


def grown(a):
    a += 1
    a **= 2
    return a


def smaller(a, b):
    return a < b


def same(a, b):
    return a is b


def other(a, b):
    return a is not b


def inside(a, b):
    return a in b


def outside(a, b):
    return a not in b


def opposite(a):
    return not a


def quotient(a, b):
    return a / b


OPERATORS = [(difference, (7, 2)), (formula, (9, 4)), (grown, (3,)), (smaller, (1, 2))]
OPERATORS += [(smaller, (2, 1)), (same, (None, None)), (other, (None, None)), (inside, (1, (1, 2)))]
OPERATORS += [(outside, (1, (1, 2))), (opposite, (0,)), (opposite, ("x",)), (quotient, (1, 0))]
OPERATORS += [(difference, ("a", 1))]


def sign(n):
    if n < 0:
        return "negative"
    return "zero" if n == 0 else "positive"


def either(a, b):
    return a or b


def both(a, b):
    return a and b


def given(a):
    if a is None:
        return "none"
    return "some"


def absent(a):
    if a is not None:
        return "some"
    return "none"


def countdown(n):
    steps = 0
    while n > 0:
        n -= 1
        if n == 2:
            continue
        steps += 1
    return steps


def total(items):
    result = 0
    for item in items:
        if item > 9:
            break
        result += item
    else:
        result = -result
    return result


def pairs(a, b):
    count = 0
    for x in a:
        for y in b:
            if x != y and y is not None:
                count += x * y
    return count


JUMPS = [(sign, (-3,)), (sign, (0,)), (sign, (3,)), (either, (0, 5)), (either, (4, 5))]
JUMPS += [
    (both, (0, 5)),
    (both, (4, 5)),
    (given, (None,)),
    (given, (0,)),
    (absent, (0,)),
    (absent, (None,)),
    (countdown, (5,)),
]
JUMPS += [(total, ((1, 2, 3),)), (total, ((1, 20, 3),)), (total, ((),)), (total, (5,))]
JUMPS += [(pairs, ((1, 2), (2, 3, None)))]


def power(a, b):
    return pow(a, b)


def with_keyword(a):
    return int(a, base=16)


def sub(a, b=1):
    return a - b


def nested_calls(a):
    return sub(sub(a, 2), b=sub(3))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def told(a):
    print("a is", a, sep=" … ")
    print(a)


def containers(a, b):
    items = [a, b, (b, a)]
    return items[2][0], items


def empty_containers(a):
    return [a, [], ()]


def attribute(a):
    return a.real, a.imag


def wrong_call(a):
    return sub(a, 1, 2)


def missing_key(a):
    return a["k"]


CALLS = [(power, (2, 5)), (with_keyword, ("ff",)), (nested_calls, (9,)), (fib, (6,)), (told, (1,))]
CALLS += [(containers, (1, 2)), (attribute, (3,)), (wrong_call, (1,)), (missing_key, ({},))]
CALLS += [(power, (2, "x")), (empty_containers, (1,))]


def counter(n):
    count = 0

    def up(by=2):
        nonlocal count
        count += by
        return count

    for _ in range(n):
        up()
    return up(10), count


def adder(a):
    def add(b):
        return a - b

    return add(1)


def two_levels(a):
    def outer(b):
        return lambda c: (a, b, c)

    return outer(2)(3)


def default_and_cell(a):
    def f(x, y=7):
        return a, x, y

    return f(1), f(1, 2)


def annotated():
    def f(a: int = 4) -> str:
        return a

    return f()


CLOSURES = [(counter, (3,)), (adder, (9,)), (two_levels, (1,)), (default_and_cell, (5,))]
CLOSURES += [(annotated, ())]


def safe(a, b):
    try:
        return a // b
    except ZeroDivisionError:
        return "no"


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


def reraised(a):
    try:
        try:
            raise KeyError(a)
        except KeyError:
            raise
    except LookupError as error:
        return repr(error)


def caused(a):
    try:
        try:
            a[0]
        except TypeError as error:
            raise ValueError("v") from error
    except ValueError as error:
        return repr(error.__cause__)


def uncaught(a):
    try:
        raise ValueError(a)
    except KeyError:
        return "caught"


def last_word(a):
    try:
        return 1 // a
    finally:
        print("left")


def in_a_loop(items):
    bad = 0
    for item in items:
        try:
            1 // item
        except ZeroDivisionError:
            bad += 1
            continue
    return bad


def nothing_to_reraise():
    raise


EXCEPTIONS = [(safe, (6, 3)), (safe, (6, 0)), (which, (5,)), (which, (0,)), (which, ("a",))]
EXCEPTIONS += [(reraised, (1,)), (caused, (5,)), (uncaught, ("x",)), (last_word, (0,))]
EXCEPTIONS += [
    (nothing_to_reraise, ()),
    (last_word, (1,)),
    (in_a_loop, ((1, 0, 2, 0),)),
    (safe, ("a", 1)),
]
