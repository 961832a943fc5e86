"""Expressions, names, loops, containers, strings."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write


def arithmetic():
    a, b = 17, 5
    of_two = a + b, a - b, a * b, a / b, a // b, a % b, a**b, a << 2, a >> 1, a & b, a | b, a ^ b
    return of_two, -a, +a, ~a


def in_place_on_a_list_keeps_it():
    a = b = [1]
    a += [2]
    a *= 2
    return a is b, b


def boolean_operators():
    return [(x and y, x or y, not x) for x in (0, 1, "", "s", None) for y in (0, [], 5)]


def conditional_expression():
    return ["neg" if x < 0 else "zero" if x == 0 else "pos" for x in (-1, 0, 1)]


def empty_loop_leaves_the_name_unbound():
    for i in []:
        pass
    return i


def literals():
    plain = 1, 2.5, "s", b"b", None, True, ..., 3j, (1, (2, 3))
    return plain, [1, [2]], {1: {2: 3}}, {1, 2, 3}, frozenset({1})


def large_literals():
    return [1, 2, 3, 4, 5, 6, 7, 8], {"a": 1, "b": 2, "c": 3}, {1, 2, 3, 4}, (1, 2, [3])


def starred_displays():
    a, d = [1, 2], {"k": 1}
    return [*a, 3, *a], (*a, *"xy"), {*a, 5}, {**d, "z": 2, **{"k": 9}}, [*range(3)], (*a,)


def slices_with_steps():
    a = list(range(12))
    a[::4] = "abc"
    del a[1::3]
    return a, slice(1, 2, 3), a[slice(0, 3)]


def unpacking():
    a, b = 1, 2
    a, b = b, a
    (c, d), [e, f] = (3, 4), "ef"
    g, *h = range(4)
    *i, j = "xyz"
    k, *l, m = [1, 2]
    return a, b, c, d, e, f, g, h, i, j, k, l, m


def unpacking_nested_and_in_loops():
    out = []
    for i, (a, *b) in enumerate(["abc", (1,), [2, 3]]):
        out.append((i, a, b))
    [x] = {9}
    (y,) = {"k": 1}
    return out, x, y


def too_many_values():
    a, b = 1, 2, 3


def too_few_values():
    a, b, c = [1, 2]


def too_few_values_with_a_star():
    a, b, *c = iter([1])


def unpack_what_is_no_iterable():
    a, b = 5


def set_and_dict_comprehensions():
    found = {x % 3 for x in range(10)}, {k: v for k, v in zip("abc", range(3)) if v}
    return found, {(x, y): x for x in "ab" for y in "c"}


def comprehension_in_a_comprehension():
    return [[r * c for c in range(3)] for r in range(3)], [x for row in [[1, 2], [3]] for x in row]


def sets():
    a, b = {1, 2, 3}, {2, 3, 4}
    a.add(9)
    return a & b, a | b, a - b, a ^ b, {1} <= a, a.isdisjoint({100})


def delete_and_bind_again():
    x = [1]
    y = x
    del x
    x = 5
    del y[0]
    return x, y


def assert_fails():
    assert [] == [0], f"a message {1 + 1}"


def assert_fails_silently():
    assert not 1


def star_of_no_iterable():
    return [1, *5]


def double_star_of_no_mapping():
    return {**5}


def prompt():
    exec(compile("2 + 3; None; 'x'", "<prompt>", "single"), {})


class Words(str):
    """What it is compared with becomes text, not a bool."""

    def __eq__(self, other):
        return f"{self} and {other}"

    __hash__ = str.__hash__


def truth_asked_for_twice():
    n, words = 2, Words("a")
    told = [not (not n), not (not 0), not not (words == "b"), not not (n == 2), not not [] or n]
    return told, [not not (n and 3)], {k: not not k for k in (0, 5)}


def big_numbers():
    return 2**200 % 997, (1 << 130) - 1, int("9" * 40) // 7


def complex_numbers():
    return (1 + 2j) * (3 - 1j), abs(3 + 4j), (2j) ** 2


def index_out_of_range():
    return [1, 2][5]


def list_comprehension():
    return [x * y for x in range(4) if x % 2 for y in range(x, 4) if y > 1]


def missing_key():
    return {"a": 1}["b"]


def no_such_attribute():
    return (5).nothing


def no_such_global():
    return nothing_of_this_name


def unhashable_key():
    return {[1]: 2}


def f_strings():
    name, n, pi = "Ada", 7, 3.14159
    many = f"{name} {n:03d} {pi:.2f} {name!r:>7} {n!s} {'é'!a} {{}} {n=} {n:{n}} {name:*^{n + 2}}"
    return many, f"", f"{n}", f"a{n}b"


def slices_are_read_and_written():
    row = list(range(8))
    row[2:4] = "ab"
    del row[-1:]
    return row, row[::-2], row[1:6:2]
