"""Calls, operators, names, patterns and classes in the ways that nobody should write."""


def exec_scopes():
    g, l = {"a": 1}, {}
    exec("b = a\ndef f(): return a\nc = f()\nclass Q: d = b", g, l)
    try:
        exec("def f(): return b2\nb2 = 1\nf()", {}, {})
    except NameError as e:
        err = str(e)
    return sorted(l), l["c"], l["Q"].d, err


def eval_modes():
    x = 4
    out = [eval("x * 2"), eval(compile("x", "<c>", "eval")), eval("  x"), eval(b"x")]
    for bad in ("x +", "import os", 5, "\0"):
        try:
            eval(bad)
        except Exception as e:
            out.append(type(e).__name__)
    return out


def exec_closure():
    def outer():
        y = 3

        def inner():
            return y

        return inner

    f = outer()
    try:
        exec(f.__code__)
    except TypeError as e:
        a = str(e)
    return a, exec(f.__code__, {}, closure=f.__closure__)


def type_hints_eval():
    import typing

    def f(a: "int") -> "list[str]": ...

    return typing.get_type_hints(f)


def thread_run():
    import threading

    out = []

    def work(n):
        out.append(sum(range(n)))

    t = threading.Thread(target=work, args=(5,))
    t.start()
    t.join()
    return out
