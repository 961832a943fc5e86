"""Programs that need a newer Python: (first version, source of functions without arguments)."""
# ruff: noqa: E501 - programs as text

SOURCES = (
    (
        (3, 12),
        """
def nested_quotes_in_f_strings():
    names = {"a": [1, 2]}
    return f"{names["a"][0]} {f"{names["a"][1]:>{3}}"} {", ".join(str(n) for n in names["a"])}"


def comprehension_names_are_its_own():
    x = "kept"
    y = [x for x in range(3) if (lambda: x)() > 0]
    z = {x: [x for x in range(x)] for x in range(3)}
    return x, y, z, sorted(locals())


def comprehension_in_a_class():
    class A:
        n = 3
        xs = [i for i in range(3)]
        ys = [[j for j in range(i)] for i in range(3)]

    return A.xs, A.ys, hasattr(A, "i")
""",
    ),
    (
        (3, 13),
        """
def locals_are_snapshots():
    x = 1
    before = locals()
    x = 2
    return before["x"], locals()["x"], locals() is locals()
""",
    ),
)
