"""Random programs as source: expressions, loops, closures, generators, exceptions.

Their variables hold small numbers and None, so that no loop can make a value grow without end, and
that many of them raise. Program n begins with the n-th kind of statement: a batch has them all.
"""

from random import Random

NAMES = ("a", "b", "c")
ATOMS = (*NAMES, *NAMES, *NAMES, *NAMES, "0", "1", "2", "3", "-1", "5", "7", "True", "None")
SIGNS = (" + ", " - ", " + ", " - ", " // ", " % ", " & ", " | ", " ^ ")
COMPARED = (" < ", " >= ", " == ", " != ", " is ", " is not ")
ERRORS = ("ZeroDivisionError", "TypeError", "ValueError", "(TypeError, KeyError)", "Exception")
RAISED = ("ValueError", "KeyError", "TypeError")
NESTED = ("if", "for", "try", "finally", "def", "generator", "with", "while", "match")
SIMPLE = ("assign", "assign", "augment", "keep", "print", "unpack", "assert", "raise")
IN_LOOP = ("break", "continue")
KINDS = (*NESTED, "augment", "keep", "unpack")


def programs(seed: int, count: int) -> list[str]:
    """Return the source of so many functions `program` without arguments."""
    return [_Writer(Random(f"{seed} {n}")).program(KINDS[n % len(KINDS)]) for n in range(count)]


class _Writer:
    """One program on its way."""

    def __init__(self, random: Random):
        self.random, self.one_of = random, random.choice

    def program(self, kind: str) -> str:
        """Return the source; its first statement is of this kind."""
        start = ", ".join(str(self.random.randint(-2, 3)) for _ in NAMES)
        body = self.of_kind(kind, 3, False, " " * 8) + self.block(3, False, " " * 8)
        head = ["from contextlib import suppress", "def program():", "    out = []"]
        head += [f"    a, b, c = {start}", "    def main():", "        nonlocal a, b, c"]
        tail = ["    try:", "        main()", "    finally:", "        print(a, b, c, out)"]
        return "\n".join([*head, *body, *tail, "    return a, b, c, out"])

    def expression(self, deeper: int = 2) -> str:
        """Return an expression of numbers, at most so deep."""
        if not deeper or self.random.random() < 0.3:
            return self.one_of(ATOMS)
        x, y, z = (self.expression(deeper - 1) for _ in range(3))
        a, b = self.one_of(NAMES), self.one_of(NAMES)
        return self.one_of(
            (
                f"({x}{self.one_of(SIGNS)}{y})",
                f"({x} * {y} % 97)",
                f"({x}{self.one_of((' and ', ' or '))}{y})",
                f"({x}{self.one_of(COMPARED)}{y})",
                f"({x} in (1, 2))",
                f"({x} if {y} else {z})",
                f"({self.one_of(('-', 'not ', '~'))}{x})",
                f"sum([q + {x} for q in range(3) if q != {y}])",
                f"len({{q: {x} for q in range(2)}} | {{{y}: 1}})",
                f"(lambda p, r=1: p + r)({x}, r={y})",
                f"len(f'{{{a}!r:>3}}{{{b}}}')",
                f"max(*({x}, {y}), key=str)",
                f"len([{x}, {y}, 3][{a}:])",
            )
        )

    def block(self, depth: int, in_loop: bool, indent: str) -> list[str]:
        """Return the lines of one or two statements."""
        kinds = SIMPLE + IN_LOOP * in_loop + (NESTED * 2 if depth else ())
        chosen = [self.one_of(kinds) for _ in range(self.random.randint(1, 2))]
        return [line for kind in chosen for line in self.of_kind(kind, depth, in_loop, indent)]

    def of_kind(self, kind: str, depth: int, in_loop: bool, indent: str) -> list[str]:
        """Return the lines of one statement of this kind."""
        name, value = self.one_of(NAMES), self.expression()
        if kind in NESTED:
            lines = getattr(self, f"_{kind}")(name, value, depth - 1, in_loop)
            return [indent + line for line in lines]
        line = {
            "assign": f"{name} = {value}",
            "augment": f"{name} {self.one_of(('+=', '-=', '+=', '//=', '|='))} {value}",
            "keep": f"out.append({value})",
            "print": f"print({value}, {name})",
            "unpack": f"{name}, *rest = [{value}, {name}]",
            "assert": f"assert {value}, {name}",
            "raise": f"raise {self.one_of(RAISED)}({name})",
        }
        return [indent + line.get(kind, kind)]

    def _if(self, name, value, depth, in_loop):
        first, second = (self.block(depth, in_loop, "    ") for _ in range(2))
        return [f"if {value}:", *first, "else:", *second]

    def _for(self, name, value, depth, in_loop):
        lines = [f"for {name} in range({self.random.randint(0, 3)}):"]
        lines += self.block(depth, True, "    ")
        return lines + self.one_of(([], ["else:", *self.block(depth, in_loop, "    ")]))

    def _while(self, name, value, depth, in_loop):
        turn = f"t{depth}"
        head = [f"{turn} = 0", f"while {turn} < 3 and {value}:", f"    {turn} += 1"]
        return head + self.block(depth, True, "    ")

    def _try(self, name, value, depth, in_loop):
        first, second = (self.block(depth, in_loop, "    ") for _ in range(2))
        handler = [f"except {self.one_of(ERRORS)} as e:", "    out.append(repr(e))"]
        return ["try:", *first, *handler, *second]

    def _finally(self, name, value, depth, in_loop):
        first = self.block(depth, in_loop, "    ")
        return ["try:", *first, "finally:", *self.block(depth, False, "    ")]

    def _with(self, name, value, depth, in_loop):
        return [f"with suppress({self.one_of(ERRORS)}):", *self.block(depth, in_loop, "    ")]

    def _match(self, name, value, depth, in_loop):
        first, second = (self.block(depth, in_loop, "        ") for _ in range(2))
        cases = ["    case 0 | None:", *first, "    case int(n) if n > 1:", *second]
        return [f"match {value}:", *cases]

    def _generator(self, name, value, depth, in_loop):
        body = [
            "def f(x=1, k=2):",
            "    nonlocal a, b, c",
            *self.block(depth, False, "    "),
            f"    yield {value}",
        ]
        return [*body, "    yield from (x, k)", f"out.extend({self._call(name, value)})"]

    def _def(self, name, value, depth, in_loop):
        head = ["def f(x=1, *, k=2):", "    nonlocal a, b, c", f"    {name} = x"]
        tail = [f"    return {value}, k", f"out.append({self._call(name, value)})"]
        return [*head, *self.block(depth, False, "    "), *tail]

    def _call(self, name, value):
        return self.one_of((f"f({value})", f"f(k={name})", f"f(*[{value}], k={name})"))
