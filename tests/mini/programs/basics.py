"""Expressions, names, loops, containers, strings."""
# ruff: noqa - programs for a machine use every form, also those that nobody should write


def arithmetic():
    a, b = 17, 5
    return (
        a + b,
        a - b,
        a * b,
        a / b,
        a // b,
        a % b,
        a**b,
        -a,
        +a,
        ~a,
        a << 2,
        a >> 1,
        a & b,
        a | b,
        a ^ b,
    )


def in_place():
    a = 17
    a += 3
    a -= 1
    a *= 2
    a //= 3
    a %= 9
    a **= 3
    a <<= 2
    a >>= 1
    a &= 0xFF
    a |= 0x100
    a ^= 3
    b = 7
    b /= 2
    return a, b


def in_place_on_a_list_keeps_it():
    a = b = [1]
    a += [2]
    a *= 2
    return a is b, b


def floats():
    return (
        0.1 + 0.2,
        1e300 * 1e10,
        float("nan") != float("nan"),
        7.5 // 2,
        -7 // 2,
        -7 % 3,
        divmod(-7, 3),
    )


def complex_numbers():
    return (1 + 2j) * (3 - 1j), abs(3 + 4j), (2j) ** 2


def big_numbers():
    return 2**200 % 997, (1 << 130) - 1, int("9" * 40) // 7


def comparison():
    a, b = 3, 4
    return a < b, a <= b, a == b, a != b, a > b, a >= b, a is b, a is not b, a in [3], a not in [3]


def chained_comparison():
    seen = []

    def value(n):
        seen.append(n)
        return n

    return 1 < value(2) < 3 < value(4) < 4 < value(9), value(5) == 5 == 5, seen


def boolean_operators():
    return [(x and y, x or y, not x) for x in (0, 1, "", "s", None) for y in (0, [], 5)]


def conditional_expression():
    return ["neg" if x < 0 else "zero" if x == 0 else "pos" for x in (-1, 0, 1)]


def truth_of_values():
    return [bool(x) for x in (0, 0.0, "", [], {}, set(), None, (), 1, "0", [0])], [
        1 if x else 0 for x in ([], [0], 0j)
    ]


def is_none_jumps():
    out = []
    for x in (None, 0, 1):
        if x is None:
            out.append("none")
        if x is not None:
            out.append("some")
        while x is not None:
            x = None
    return out


def while_with_else():
    n, out = 0, []
    while n < 5:
        n += 1
        if n == 3:
            continue
        out.append(n)
    else:
        out.append("else")
    while True:
        n -= 1
        if n < 2:
            break
    else:
        out.append("never")
    return out, n


def for_with_else():
    out = []
    for n in range(2, 12):
        for d in range(2, n):
            if n % d == 0:
                break
        else:
            out.append(n)
    return out


def nested_loops_with_break_and_continue():
    out = []
    for a in range(5):
        if a == 1:
            continue
        for b in range(5):
            if b == a:
                break
            if (a + b) % 2:
                continue
            out.append((a, b))
    return out


def loop_variable_stays():
    for i in range(3):
        pass
    return i


def empty_loop_leaves_the_name_unbound():
    for i in []:
        pass
    return i


def loop_over_many_kinds():
    out = []
    for thing in (
        "abc",
        [1],
        (2,),
        {3: 4},
        {5},
        range(2),
        b"xy",
        enumerate("q"),
        zip("ab", [1, 2]),
    ):
        for item in thing:
            out.append(item)
    return out


def literals():
    return (
        1,
        2.5,
        "s",
        b"b",
        None,
        True,
        ...,
        3j,
        (1, (2, 3)),
        [1, [2]],
        {1: {2: 3}},
        {1, 2, 3},
        frozenset({1}),
    )


def large_literals():
    return [1, 2, 3, 4, 5, 6, 7, 8], {"a": 1, "b": 2, "c": 3}, {1, 2, 3, 4}, (1, 2, [3])


def dicts_with_constant_keys():
    x = 3
    return {"a": x, "b": x + 1, "c": [x]}, {x: 1, "y": x}


def starred_displays():
    a, d = [1, 2], {"k": 1}
    return [*a, 3, *a], (*a, *"xy"), {*a, 5}, {**d, "z": 2, **{"k": 9}}, [*range(3)], (*a,)


def subscripts():
    a, d = list(range(10)), {}
    a[3], a[-1] = "three", "last"
    d["k"] = a[2:5]
    a[0:2] = ["x"]
    del a[1], d["k"][0]
    return a, d, a[::3], a[::-1], a[:], a[5:], a[:2], "hello"[1:3], (1, 2, 3)[-2]


def slices_with_steps():
    a = list(range(12))
    a[::4] = "abc"
    del a[1::3]
    return a, slice(1, 2, 3), a[slice(0, 3)]


def in_place_on_subscripts():
    a, d = [1, 2, 3], {"k": [1]}
    a[1] += 10
    a[0:1] *= 3
    d["k"] += [2]
    d["k"][0] -= 5
    return a, d


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


def three_names_rotate():
    a, b, c = 1, 2, 3
    a, b, c = c, a, b
    a, b, c, d = b, c, a, 4
    return a, b, c, d


def too_many_values():
    a, b = 1, 2, 3


def too_few_values():
    a, b, c = [1, 2]


def too_few_values_with_a_star():
    a, b, *c = iter([1])


def unpack_what_is_no_iterable():
    a, b = 5


def unpack_a_generator_that_never_ends():
    def forever():
        while True:
            yield 1

    a, b = forever()


def list_comprehension():
    return [x * y for x in range(4) if x % 2 for y in range(x, 4) if y > 1]


def set_and_dict_comprehensions():
    return (
        {x % 3 for x in range(10)},
        {k: v for k, v in zip("abc", range(3)) if v},
        {(x, y): x for x in "ab" for y in "c"},
    )


def comprehension_in_a_comprehension():
    return [[r * c for c in range(3)] for r in range(3)], [x for row in [[1, 2], [3]] for x in row]


def comprehension_does_not_touch_outer_names():
    x = "outer"
    squares = [x * x for x in range(3)]
    return x, squares


def comprehension_sees_outer_names():
    k, x = 10, 5
    return [x + k for x in range(2)], x, [(lambda: k + y)() for y in (1, 2)]


def comprehension_with_closure():
    makers = [lambda: i for i in range(3)]
    return [make() for make in makers], [f() for f in [lambda j=j: j for j in range(3)]]


def comprehension_that_raises_restores_names():
    x = "kept"
    try:
        [1 // x for x in (1, 0)]
    except ZeroDivisionError:
        return x


def walrus():
    data, out = [1, 5, 9], []
    while (n := len(data)) > 1:
        out.append((n, data.pop()))
    return out, n, [y := 3, y * 2], any((found := x) > 0 for x in (-1, 4)), found


def f_strings():
    name, n, pi = "Ada", 7, 3.14159
    return (
        f"{name} {n:03d} {pi:.2f} {name!r:>7} {n!s} {'é'!a} {{}} {n=} {n:{n}} {name:*^{n + 2}}",
        f"",
        f"{n}",
        f"a{n}b",
    )


def string_methods():
    s = "Hello, World"
    return (
        s.upper(),
        s.split(", "),
        s.replace("l", "L"),
        s.find("W"),
        "-".join(["a", "b"]),
        s.encode(),
        "%s=%d" % ("a", 1),
        "{:>4}|{x}".format(1, x=2),
    )


def dict_methods():
    d = {"a": 1}
    d.setdefault("b", []).append(2)
    d.update(c=3)
    d |= {"e": 5}
    return d, d.get("z", 0), d.pop("a"), list(d.items()), "b" in d, d | {"b": 0}


def sets():
    a, b = {1, 2, 3}, {2, 3, 4}
    a.add(9)
    return a & b, a | b, a - b, a ^ b, {1} <= a, a.isdisjoint({100})


def sorting_with_a_key():
    words = "the quick brown fox jumps".split()
    return (
        sorted(words, key=lambda w: (len(w), w)),
        max(words, key=len),
        sorted(words, reverse=True),
        list(map(lambda a, b: a + b, [1, 2], [3, 4])),
        list(filter(None, [0, 1])),
    )


def delete_a_name():
    x = 1
    del x
    return x


def delete_and_bind_again():
    x = [1]
    y = x
    del x
    x = 5
    del y[0]
    return x, y


def assert_holds():
    assert 1 + 1 == 2, "never said"
    return "fine"


def assert_fails():
    assert [] == [0], f"a message {1 + 1}"


def assert_fails_silently():
    assert not 1


def printing():
    print("a", 1, [2], sep="-", end="!\n")
    print()
    for i in range(3):
        print(i, end=" ")


def many_locals():
    a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = q = r = 1
    s = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r
    t, u = s, a
    return t, u, r + s


def long_jumps():
    x = 0
    for i in range(3):
        x += i
        x += 1
        x += 2
        x += 3
        x += 4
        x += 5
        x += 6
        x += 7
        x += 8
        x += 9
        x -= i
        x -= 1
        x -= 2
        x -= 3
        x -= 4
        x -= 5
        x -= 6
        x -= 7
        x -= 8
        x -= 9
        x += i
        x += 1
        x += 2
        x += 3
        x += 4
        x += 5
        x += 6
        x += 7
        x += 8
        x += 9
        x -= i
        x -= 1
        x -= 2
        x -= 3
        x -= 4
        x -= 5
        x -= 6
        x -= 7
        x -= 8
        x -= 9
        x += i
        x += 1
        x += 2
        x += 3
        x += 4
        x += 5
        x += 6
        x += 7
        x += 8
        x += 9
        x -= i
        x -= 1
        x -= 2
        x -= 3
        x -= 4
        x -= 5
        x -= 6
        x -= 7
        x -= 8
        x -= 8
    return x


def ellipsis_and_matmul():
    class M:
        def __matmul__(self, other):
            return "matmul", other

        def __getitem__(self, key):
            return key

    return M() @ 3, M()[..., 1:2], M()[1, 2], M()[:, ::2]


def sieve():
    p = [True] * 60
    for i in range(2, 60):
        if p[i]:
            for j in range(i * i, 60, i):
                p[j] = False
    return [i for i in range(2, 60) if p[i]]


def collatz():
    def steps(n):
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    return [steps(n) for n in range(1, 30)]


def word_count():
    counts = {}
    for word in "the cat. The dog, the end cat".split():
        word = word.strip(".,").lower()
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))


def zero_division():
    return 1 // 0


def wrong_operands():
    return "a" + 1


def wrong_operands_in_place():
    a = [1]
    a += 5


def wrong_comparison():
    return 1 < "a"


def index_out_of_range():
    return [1, 2][5]


def missing_key():
    return {"a": 1}["b"]


def unhashable_key():
    return {[1]: 2}


def no_such_attribute():
    return (5).nothing


def no_such_global():
    return nothing_of_this_name


def not_callable():
    five = 5
    return five(1)


def not_iterable():
    for x in 5:
        pass


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
