"""Calls, parameters, closures, decorators, recursion, the builtins that look at their caller."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write

import sys

LEVEL = 3


def star_calls():
    def f(*args, **kwargs):
        return args, kwargs

    many = f(*"ab", 1, *[2], k=1, **{"x": 2}, **{"y": 3})
    return many, f(*[]), f(**{}), f(1, *(), **{"a": 1}), f(*range(3), a=1)


def keyword_given_twice():
    def f(**k):
        return k

    return f(a=1, **{"a": 2})


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
    told = eval("a + 1"), eval("a + 1", {"a": 2}), eval("[q for q in range(a)]"), eval(" 1+1")
    return told, eval("lambda: 3")(), space["b"], space["f"](1)


def exec_writes_to_a_namespace():
    names, made = {}, "class C:\n    y = x if 'x' in globals() else 'no'"
    exec(f"x = 1\n{made}\nfor i in range(3): pass", {}, names)
    return sorted(names), names["i"], names["C"].y


def current_line():
    def here():
        return sys._getframe(1).f_lineno - sys._getframe(1).f_code.co_firstlineno

    return [here(), here()]


def import_of_a_missing_name():
    from math import no_such_name
