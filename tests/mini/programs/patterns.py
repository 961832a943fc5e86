"""match: literals, captures, sequences, mappings, classes, guards, alternatives."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write


def sequences():
    def f(x):
        match x:
            case []:
                return "empty"
            case [a]:
                return "one", a
            case [1, *rest]:
                return "one and", rest
            case (a, [b, c], *_):
                return "nested", a, b, c
            case [*_, last]:
                return "last", last
        return "none"

    return [f(x) for x in ([], [5], [1, 2, 3], (2, [3, 4], 5), (2, 3, 4), "ab", {1}, range(3))]


def mappings():
    def f(x):
        match x:
            case {"kind": "a", "v": v}:
                return "a", v
            case {"kind": str(k), **rest}:
                return k, rest
            case {1: _, 2: two}:
                return two
            case {}:
                return "a mapping"
        return "none"

    kinds = {"kind": "a", "v": 1}, {"kind": "b", "w": 2}
    return [f(x) for x in (*kinds, {1: 1, 2: 3}, {"z": 1}, [], {})]


def too_many_positional():
    class P:
        __match_args__ = ("x",)

    match P():
        case P(1, 2):
            pass


def match_args_is_a_list():
    class P:
        __match_args__ = ["x"]

    match P():
        case P(1):
            pass


def not_a_class():
    kind = 5
    match 1:
        case kind():
            pass


def calculator():
    def run(node):
        match node:
            case ("+", a, b):
                return run(a) + run(b)
            case ("*", a, b):
                return run(a) * run(b)
            case ("neg", a):
                return -run(a)
            case int() | float():
                return node
            case [op, *_]:
                raise ValueError(f"unknown {op}")

    try:
        run(("?", 1))
    except ValueError as error:
        return run(("+", 1, ("*", 2, ("neg", 3)))), str(error)
