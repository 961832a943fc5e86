"""Random programs as source: expressions, loops, closures, generators, exceptions.

Their variables hold small numbers and None, so that no loop can make a value grow without end, and
that about one program in three raises.
"""

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c"])
ATOMS = st.one_of(NAMES, st.sampled_from(["0", "1", "2", "-1", "7", "True", "None"]))
ERRORS = ("ZeroDivisionError", "TypeError", "ValueError", "(TypeError, KeyError)", "Exception")


def _joined(parts):
    return st.tuples(*parts).map("".join)


def _larger(inner):
    sign = st.sampled_from([" + ", " - ", " // ", " % ", " & ", " | ", " ^ "])
    compared = st.sampled_from([" < ", " >= ", " == ", " != ", " is ", " is not ", " in (1, 2), "])
    logical = st.sampled_from([" and ", " or "])
    return st.one_of(
        _joined([st.just("("), inner, sign, inner, st.just(")")]),
        _joined([st.just("("), inner, st.just(" * "), inner, st.just(" % 97)")]),
        _joined([st.just("("), inner, logical, inner, st.just(")")]),
        _joined([st.just("("), inner, compared, inner, st.just(")")]).map(
            lambda text: f"{text}[0]" if ", " in text and " in " in text else text
        ),
        _joined(
            [st.just("("), inner, st.just(" if "), inner, st.just(" else "), inner, st.just(")")]
        ),
        _joined([st.sampled_from(["-", "not ", "~"]), inner]).map(lambda text: f"({text})"),
        _joined(
            [
                st.just("sum([q + "),
                inner,
                st.just(" for q in range(3) if q != "),
                inner,
                st.just("])"),
            ]
        ),
        _joined([st.just("(lambda p, r=1: p + r)("), inner, st.just(", r="), inner, st.just(")")]),
        _joined([st.just("len(f'{"), NAMES, st.just("!r:>3}{"), NAMES, st.just("}')")]),
        _joined([st.just("max(*("), inner, st.just(", "), inner, st.just("), key=str)")]),
    )


EXPRESSIONS = st.recursive(ATOMS, _larger, max_leaves=6)


@st.composite
def blocks(draw, depth: int, in_loop: bool, indent: str):
    """Return the lines of one to three statements."""
    count = draw(st.integers(1, 3))
    return [line for _ in range(count) for line in draw(statements(depth, in_loop, indent))]


@st.composite
def statements(draw, depth: int, in_loop: bool, indent: str):
    """Return the lines of one statement."""
    simple = ["assign", "assign", "augment", "keep", "print", "unpack", "assert"]
    nested = ["if", "for", "try", "finally", "def", "generator", "with", "while", "match"]
    kinds = simple + (["break", "continue"] if in_loop else []) + ["raise"]
    kind = draw(st.sampled_from(kinds if depth == 0 else kinds + nested + nested))
    return draw(_of_kind(kind, depth, in_loop, indent))


@st.composite
def _of_kind(draw, kind, depth, in_loop, indent):
    name, value = draw(NAMES), draw(EXPRESSIONS)

    def inner(loop=in_loop):
        return draw(blocks(depth - 1, loop, indent + "    "))

    one_line = {
        "assign": f"{name} = {value}",
        "augment": f"{name} {draw(st.sampled_from(['+=', '-=', '//=', '%=', '|=']))} {value}",
        "keep": f"out.append({value})",
        "print": f"print({value}, {name})",
        "unpack": f"{name}, *rest = [{value}, {name}]",
        "assert": f"assert {value}, {name}",
        "raise": f"raise {draw(st.sampled_from(['ValueError', 'KeyError', 'TypeError']))}({name})",
        "break": "break",
        "continue": "continue",
    }
    if kind in one_line:
        return [indent + one_line[kind]]
    if kind == "if":
        return [f"{indent}if {value}:", *inner(), f"{indent}else:", *inner()]
    if kind == "for":
        lines = [f"{indent}for {name} in range({draw(st.integers(0, 3))}):", *inner(True)]
        return lines + ([f"{indent}else:", *inner()] if draw(st.booleans()) else [])
    if kind == "while":
        turn = f"t{depth}"
        head = [f"{indent}{turn} = 0", f"{indent}while {turn} < 3 and {value}:"]
        return [*head, f"{indent}    {turn} += 1", *inner(True)]
    if kind == "try":
        error = draw(st.sampled_from(ERRORS))
        lines = [f"{indent}try:", *inner(), f"{indent}except {error} as e:"]
        return [*lines, f"{indent}    out.append(repr(e))", *inner()]
    if kind == "finally":
        return [f"{indent}try:", *inner(), f"{indent}finally:", *inner(False)]
    if kind == "with":
        return [f"{indent}with suppress({draw(st.sampled_from(ERRORS))}):", *inner()]
    if kind == "match":
        cases = [
            f"{indent}    case 0 | None:",
            *_deeper(inner()),
            f"{indent}    case int(n) if n > 1:",
        ]
        return [f"{indent}match {value}:", *cases, *_deeper(inner())]
    call = draw(st.sampled_from([f"f({value})", f"f(k={name})", f"f(*[{value}], k={name})"]))
    if kind == "generator":
        body = [f"{indent}def f(x=1, k=2):", *inner(False), f"{indent}    yield {value}"]
        return [*body, f"{indent}    yield from (x, k)", f"{indent}out.extend({call})"]
    head = [
        f"{indent}def f(x=1, *, k=2):",
        f"{indent}    nonlocal {name}",
        f"{indent}    {name} = x",
    ]
    tail = [f"{indent}    return {value}, k", f"{indent}out.append({call})"]
    return [*head, *inner(False), *tail]


def _deeper(lines):
    return [f"    {line}" for line in lines]


@st.composite
def programs(draw):
    """Return the source of a function `program` without arguments."""
    start = [draw(st.integers(-2, 3)) for _ in range(3)]
    body = draw(blocks(3, False, "        "))
    return "\n".join(
        [
            "from contextlib import suppress",
            "def program():",
            "    out = []",
            "    a, b, c = " + ", ".join(map(str, start)),
            "    def main():",
            "        nonlocal a, b, c",
            *body,
            "    try:",
            "        main()",
            "    finally:",
            "        print(a, b, c, out)",
            "    return a, b, c, out",
        ]
    )
