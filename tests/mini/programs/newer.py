"""Programs that need a newer Python: (first version, source of functions without arguments)."""
# ruff: noqa: E501 - programs as text

SOURCES = (
    (
        (3, 12),
        """
def type_parameters():
    def first[T](items: list[T], *more: T) -> T:
        return items[0]

    class Box[T, *Ts, **P]:
        def __init__(self, item: T):
            self.item = item

        def get[U](self, other: U) -> tuple[T, U]:
            return self.item, other

    return first([1, 2]), Box(3).get("x"), [str(t) for t in Box.__type_params__], first.__type_params__[0].__name__


def type_alias():
    type Pair[T] = tuple[T, T]
    type Name = str
    return str(Pair), str(Name.__value__), Pair[int].__args__, str(Pair.__value__)


def generic_class_of_a_generic():
    class A[T]:
        pass

    class B[T](A[T]):
        x: T

    return [c.__name__ for c in B.__mro__], B.__annotations__


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
def type_parameter_defaults():
    class Box[T = int, U = list[T]]:
        pass

    return [str(t.__default__) for t in Box.__type_params__]


def locals_are_snapshots():
    x = 1
    before = locals()
    x = 2
    return before["x"], locals()["x"], locals() is locals()
""",
    ),
)
