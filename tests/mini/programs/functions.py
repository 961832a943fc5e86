"""Calls, parameters, closures, decorators, recursion, the builtins that look at their caller."""

# ruff: noqa - programs for a machine use every form, also those that nobody should write
import functools
import operator
import sys

LEVEL = 3


def positional_and_keyword():
    def f(a, b=2, *c, d, e=5, **g):
        return a, b, c, d, e, g

    return f(1, d=4), f(1, 9, 8, 7, d=6, z=5), f(d=1, a=2), f(*[1, 2, 3], **{"d": 4, "q": 5})


def positional_only():
    def f(a, b=2, /, c=3, *, d=4):
        return a, b, c, d

    def g(a, /, **rest):
        return a, rest

    return f(1), f(1, 5, c=6), g(1, a=2)


def star_calls():
    def f(*args, **kwargs):
        return args, kwargs

    return (
        f(*"ab", 1, *[2], k=1, **{"x": 2}, **{"y": 3}),
        f(*[]),
        f(**{}),
        f(1, *(), **{"a": 1}),
        f(*range(3), a=1),
    )


def defaults_are_shared():
    def f(x, seen=[]):
        seen.append(x)
        return seen

    f(1)
    return f(2), f.__defaults__


def missing_argument():
    def f(a, b, *, c):
        return a

    return f(1)


def missing_keyword_only():
    def f(a, *, c, d):
        return a

    return f(1, d=2)


def too_many_arguments():
    def f(a, b=1):
        return a

    return f(1, 2, 3)


def unexpected_keyword():
    def f(a):
        return a

    return f(1, zz=2)


def argument_given_twice():
    def f(a):
        return a

    return f(1, a=2)


def keyword_given_twice():
    def f(**k):
        return k

    return f(a=1, **{"a": 2})


def positional_only_by_keyword():
    def f(a, /):
        return a

    return f(a=1)


def star_argument_is_no_iterable():
    def f(*a):
        return a

    return f(*5)


def double_star_argument_is_no_mapping():
    def f(**k):
        return k

    return f(**[1])


def recursion():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return [fib(n) for n in range(12)]


def mutual_recursion():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return even(30), odd(7)


def deep_recursion():
    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    return down(600)


def endless_recursion():
    def down(n):
        return down(n + 1)

    down(0)


def endless_recursion_is_caught():
    def down(n):
        try:
            return down(n + 1)
        except RecursionError:
            raise ValueError("too deep") from None

    try:
        down(0)
    except ValueError as error:
        return str(error)


def closure():
    total = 0

    def add(n):
        nonlocal total
        total += n
        return total

    return [add(n) for n in range(5)], total


def closures_share_a_cell():
    def make():
        count = 0

        def up():
            nonlocal count
            count += 1

        def look():
            return count

        return up, look

    up, look = make()
    up()
    up()
    other_up, other_look = make()
    other_up()
    return look(), other_look(), up.__closure__[0] is look.__closure__[0]


def closure_over_a_parameter():
    def outer(a, *args, k=1, **kwargs):
        return lambda: (a, args, k, kwargs)

    return outer(1, 2, 3, k=4, z=5)()


def closure_three_deep():
    def one(a):
        def two(b):
            def three(c):
                nonlocal a
                a += b + c
                return a

            return three

        return two

    f = one(1)(2)
    return f(3), f(4)


def free_variable_unbound():
    def f():
        return later

    if False:
        later = 1
    return f()


def own_cell_unbound():
    def f():
        return x

    return x
    x = 1


def delete_a_cell():
    x = 1

    def f():
        return x

    before = f()
    del x
    try:
        f()
    except NameError as error:
        return before, str(error)


def unbound_local():
    if not LEVEL:
        value = 1
    return value


def global_statement():
    global LEVEL
    before = LEVEL
    LEVEL += 1
    LEVEL -= 1
    return before, LEVEL


def global_made_and_deleted():
    global made_here
    made_here = 1
    kept = made_here
    del made_here
    try:
        made_here
    except NameError as error:
        return kept, str(error)


def delete_a_missing_global():
    global never_there
    del never_there


def lambdas():
    return (
        (lambda: 5)(),
        (lambda x, y=2: x * y)(4),
        (lambda *a, **k: (a, k))(1, b=2),
        [f(3) for f in (lambda x: x + 1, abs)],
    )


def decorators():
    def twice(fn):
        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            return fn(*args, **kwargs), fn(*args, **kwargs)

        return wrapper

    def tag(name):
        def decorate(fn):
            fn.tag = name
            return fn

        return decorate

    @twice
    @tag("t")
    def f(x, *, y=1):
        "doc"
        return x + y

    return f(1, y=2), f.__name__, f.__doc__, f.__wrapped__.tag


def function_attributes():
    def f(a: int, b: "str" = "x", *, c: float = 2.0) -> list:
        """The doc."""

    return (
        f.__name__,
        f.__qualname__,
        f.__doc__,
        f.__defaults__,
        f.__kwdefaults__,
        f.__annotations__,
        f.__module__,
        f.__code__.co_varnames,
    )


def functions_are_values():
    table = {"add": operator.add, "mul": lambda a, b: a * b}
    return {name: fn(3, 4) for name, fn in table.items()}, functools.reduce(
        table["mul"], range(1, 6)
    )


def partials():
    def f(a, b, c=0):
        return a, b, c

    return functools.partial(f, 1, c=5)(2), functools.partial(f, b=1)(0)


def cached():
    calls = []

    @functools.lru_cache(maxsize=None)
    def f(n):
        calls.append(n)
        return n if n < 2 else f(n - 1) + f(n - 2)

    return f(10), calls


def bound_methods_and_functions():
    class A:
        def m(self, x=1):
            return self, x

    a = A()
    m = a.m
    return (
        m(2)[1],
        A.m(a, 3)[1],
        m.__self__ is a,
        a.m == a.m,
        "x".join(["a", "b"]),
        str.upper("a"),
        [].append(1),
    )


def globals_and_locals():
    a, b = 1, [2]

    def inner():
        return a, sorted(locals())

    c = inner()
    return locals()["b"], sorted(locals()), c, globals()["LEVEL"], sorted(vars())[:2], dir()[:2]


def eval_and_exec():
    a = 5
    space = {"a": 7}
    exec("b = a * 2\ndef f(x): return x + b", space)
    return (
        eval("a + 1"),
        eval("a + 1", {"a": 2}),
        space["b"],
        space["f"](1),
        eval("[q for q in range(a)]"),
        eval("lambda: 3")(),
        eval(" 1+1"),
    )


def exec_writes_to_a_namespace():
    names = {}
    exec(
        "x = 1\nclass C:\n    y = x if 'x' in globals() else 'no'\nfor i in range(3): pass",
        {},
        names,
    )
    return sorted(names), names["i"], names["C"].y


def exec_of_wrong_syntax():
    exec("x = = 1")


def compile_and_run():
    code = compile("r = [n * n for n in range(4)]\ndel n0", "<made>", "exec")
    space = {"n0": 1}
    exec(code, space)
    return space["r"], "n0" in space


def frames_see_their_caller():
    def who():
        frame = sys._getframe(1)
        return frame.f_code.co_name, sorted(frame.f_locals), frame.f_globals["__name__"] == __name__

    def caller(x=1):
        y = 2
        return who()

    return (
        caller(),
        sys._getframe().f_code.co_name,
        sys._getframe().f_back.f_code.co_name != "caller",
    )


def current_line():
    def here():
        return sys._getframe(1).f_lineno - sys._getframe(1).f_code.co_firstlineno

    return [here(), here()]


def module_star_import():
    space = {}
    exec(
        "from bisect import *\nfrom os.path import join as j, sep\nimport os.path as p, math", space
    )
    return (
        sorted(n for n in space if not n.startswith("__"))[:4],
        space["j"]("a", "b"),
        space["math"].floor(2.5),
    )


def imports():
    import collections.abc
    import os.path as path
    from math import floor, pi as number

    return collections.abc.Sized.__name__, path.join("a", "b"), floor(number)


def import_of_a_missing_module():
    import no_such_module_anywhere


def import_of_a_missing_name():
    from math import no_such_name


def argument_order():
    seen = []

    def see(x):
        seen.append(x)
        return x

    def f(*a, **k):
        return a, k

    f(see(1), *[see(2)], k=see(3), **{"z": see(4)})
    {see("k1"): see("v1"), see("k2"): see("v2")}
    [see(5)][see(0)]
    return seen


def many_arguments():
    def f(a, b, c, d, e, g, h, i, j, k, l, m):
        return [a, b, c, d, e, g, h, i, j, k, l, m]

    return f(1, 2, 3, 4, 5, 6, m=7, l=8, k=9, j=10, i=11, h=12)


def hanoi():
    moves = []

    def move(n, a, b, c):
        if n:
            move(n - 1, a, c, b)
            moves.append((a, c))
            move(n - 1, b, a, c)

    move(4, "A", "B", "C")
    return len(moves), moves[:4]


def permutations():
    def perms(items):
        if not items:
            return [[]]
        return [
            [x, *rest] for i, x in enumerate(items) for rest in perms(items[:i] + items[i + 1 :])
        ]

    return perms([1, 2, 3])


def ackermann():
    def a(m, n):
        if m == 0:
            return n + 1
        return a(m - 1, 1) if n == 0 else a(m - 1, a(m, n - 1))

    return a(2, 3)


def quicksort():
    def sort(xs):
        if len(xs) < 2:
            return xs
        pivot, *rest = xs
        return (
            sort([x for x in rest if x < pivot]) + [pivot] + sort([x for x in rest if x >= pivot])
        )

    return sort([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])


def memo_by_hand():
    def memo(fn, known={}):
        def ask(n):
            if n not in known:
                known[n] = fn(ask, n)
            return known[n]

        return ask

    return memo(lambda me, n: 1 if n < 2 else me(n - 1) + me(n - 2))(60)


def callable_objects():
    class Adder:
        def __init__(self, n):
            self.n = n

        def __call__(self, x, *, times=1):
            return (x + self.n) * times

    return Adder(2)(3), Adder(1)(1, times=5), list(map(Adder(1), [1, 2]))


def interpreter_exits():
    sys.exit(3)


def comprehension_over_a_free_variable_of_its_own_name():
    x = [1]

    def inner():
        found = [lambda: x for x in (x, [1, 2])[1]]
        return [read() for read in found], x

    return inner(), [x for x in x]
