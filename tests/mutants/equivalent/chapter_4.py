"""Chapter 4: mutants that do what the solution does, and why."""

import ast

from tests.study.folded import EXERCISES


def _changed(name: str, *pairs: tuple[str, str]) -> dict[str, str]:
    """Return (old piece, new piece, reason) triples as change -> reason, within one long line."""
    lines = ast.unparse(ast.parse(EXERCISES[name].solution)).splitlines()
    found = {}
    for old, new, reason in pairs:
        (line,) = (line.strip() for line in lines if old in line)
        assert line.count(old) == 1, (name, old)
        other = line.replace(old, new)
        for change in (f"- {line} | + {other}", f"+ {other} | - {line}"):
            found[change] = reason
    return found


EVERY_ONE = "all guards have to hold, in whatever order they are asked; what raises does not hold"
APART = "no value is of both kinds, so it does not matter which is asked first"
FLOATS = "the tensors are of floats: an int becomes the same float"
TYPES = "types and dtypes are one object each, and equal to no other"
SMALL = "an int this small is one object in CPython"
EQUAL = "the float equals the int, and nothing else is asked of it"
OTHER = "another change of the same one thing, which fails the same guard alone"
SOURCE_CHECK = "if value is None or isinstance(value, bool):"
EMPTY = "a function that comes to its end returns None"
TENSOR_GUARDS = (
    "f'type({source}) is torch.Tensor'",
    "f'{source}.dtype is {value.dtype}'",
    "f'{source}.shape == {tuple(value.shape)}'",
    "f'{source}.requires_grad is {value.requires_grad}'",
)


def _exchanged(texts):
    """Return each pair of neighbours, in order and exchanged."""
    for one, two in zip(texts, texts[1:], strict=False):
        yield f"{one}, {two}", f"{two}, {one}", EVERY_ONE


def _moved(test: str, result: str) -> str:
    return f"+ {test} | + {result} | - {test} | - {result}"


_CODE = "code = fn.__code__"
_REST = "rest = list(values[last:])"
_NAMED = "named = dict(zip(code.co_varnames[first:last], values[first:last]))"
_SHORTEST = "zip ends with the shorter one"

SAME: dict[str, dict[str, str]] = {
    "dynamo_recorder": {
        "+ nodes = tuple((written(value) for value in args)) | "
        "- nodes = tuple((written(value) for value in args))": "neither line needs the other",
    },
    "dynamo_guards": {
        _moved(
            "if isinstance(value, float):",
            "return [f'type({source}) is float', f'{source}.hex() == {value.hex()!r}']",
        ): APART,
        _moved(SOURCE_CHECK, "return [f'{source} is {value}']"): APART,
        **_changed(
            "dynamo_guards",
            *_exchanged(TENSOR_GUARDS),
            *_exchanged(("f'type({source}) is float'", "f'{source}.hex() == {value.hex()!r}'")),
            *_exchanged(
                ("f'type({source}) is {type(value).__name__}'", "f'{source} == {value!r}'")
            ),
            (
                "{tuple(value.shape)}",
                "{value.shape}",
                "it is written torch.Size([3]), which a guard can read, and which equals (3,)",
            ),
            (
                SOURCE_CHECK,
                "if value is None:",
                "a bool is then guarded by its type and its value, which is as exact",
            ),
            (
                SOURCE_CHECK,
                "if value is None or isinstance(source, bool):",
                "a source is a text, and a bool guarded by type and value is as exact",
            ),
            (
                "value is None or",
                "value == None or",
                "no tensor gets there, and no number or text equals None",
            ),
        ),
    },
    "dynamo_lookup": _changed(
        "dynamo_lookup", ("failing is None", "failing == None", "no guard equals None")
    ),
    "dynamo_receives": _changed(
        "dynamo_receives",
        (
            "in code.steps:",
            "in list(code.steps)[1:]:",
            "no way through n steps that visits none twice is longer than n - 1",
        ),
        (
            "in reversed(range(len(live))):",
            "in range(len(live)):",
            "each of the n rounds goes one step further back at least, and that is far enough",
        ),
    ),
    "evicting_cache": {"- return None | + pass": EMPTY, "- return None | + return": EMPTY},
    "break_surgery": _changed(
        "break_surgery",
        ("x * 2", "x * 2.0", FLOATS),
        ("= 1 /", "= 1.0 /", FLOATS),
        ("(1 +", "(1.0 +", FLOATS),
        ("y.sum() > 0", "y.sum() > 0.0", FLOATS),
        ("where(y > 0, y", "where(y > 0.0, y", FLOATS),
        ("y, 0)", "y, 0.0)", FLOATS),
        ("where(y > 0, y", "where(y >= 0, y", "a 0 adds nothing; at 0 any slope will do"),
    ),
    "guard_set": _changed(
        "guard_set",
        ("type(x) is torch", "type(x) == torch", TYPES),
        ("x.dtype == torch", "x.dtype is torch", TYPES),
        ("type(n) is int", "type(n) == int", TYPES),
        ("type(names) is list", "type(names) == list", TYPES),
        ("(n == 2)", "(n is 2)", SMALL),
        ("len(names) == 2", "len(names) is 2", SMALL),
        ("(n == 2)", "(n == 2.0)", EQUAL),
        ("len(names) == 2", "len(names) == 2.0", EQUAL),
        ("x.shape == (3,)", "x.shape == (3.0,)", EQUAL),
        ("x.stride() == (1,)", "x.stride() == (1.0,)", EQUAL),
    ),
    "guard_breaker": _changed(
        "guard_breaker",
        *(("{'n': 3}", f"{{'n': {number}}}", OTHER) for number in ("4", "3.0")),
        *(("{'RATE': 2.5}", f"{{'RATE': {number}}}", OTHER) for number in ("3.0", "-2.5")),
        ("{'names': ['a']}", "{'names': ['a_x']}", OTHER),
        *(
            ("{'names': ('a', 'b')}", f"{{'names': {pair}}}", OTHER)
            for pair in map(repr, (("b", "a"), ("a_x", "b"), ("b", "b"), ("a", "b_x"), ("a", "a")))
        ),
        ("torch.ones(4)", "torch.ones(5)", OTHER),
        ("{'x': torch.ones(4)}", "{'x': 4}", "no tensor fails a guard on a tensor, too"),
        ("{'x': torch.ones(4)}", "{'x': torch}", "no tensor fails a guard on a tensor, too"),
    ),
    "behind_the_hook": {
        f"- {_CODE} | + {_CODE}": "the stand-in is not called before both are there",
        f"+ {_REST} | - {_REST}": "neither statement looks at what the other changes",
        "- named |= rest[0] | + named |= rest[-1]": "one is left",
        f"- {_NAMED} | + {_NAMED.replace('first:last], values', 'first:], values')}": _SHORTEST,
        f"- {_NAMED} | + {_NAMED.replace('values[first:last]', 'values[first:]')}": _SHORTEST,
    },
}
