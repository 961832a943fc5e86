"""Chapter 4: mutants that do what the solution does, and why."""

_CODE = "code = fn.__code__"
_REST = "rest = list(values[last:])"
_NAMED = "named = dict(zip(code.co_varnames[first:last], values[first:last]))"
_SHORTEST = "zip ends with the shorter one"

SAME: dict[str, dict[str, str]] = {
    "behind_the_hook": {
        f"- {_CODE} | + {_CODE}": "the stand-in is not called before both are there",
        f"+ {_REST} | - {_REST}": "neither statement looks at what the other changes",
        "- named |= rest[0] | + named |= rest[-1]": "one is left",
        f"- {_NAMED} | + {_NAMED.replace('first:last], values', 'first:], values')}": _SHORTEST,
        f"- {_NAMED} | + {_NAMED.replace('values[first:last]', 'values[first:]')}": _SHORTEST,
    },
}
