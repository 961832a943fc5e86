"""Seeded programs of one line, one list per step: depths, lengths, signs and values that vary.

Standard library only: every supported Python runs them.
"""

import opcode
import random
from types import FunctionType

SIGNS = ("+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@")
COMPARED = ("<", "<=", "==", "!=", ">", ">=")
NUMBERS = (0, 1, -3, 7, True, 0.0, -0.0, 2.5, float("nan"), float("inf"))
OTHERS = ("", "ab", (), (1, 2), b"x", frozenset((3,)), None)


def made(source: str, names: str = "a, b") -> FunctionType:
    """Return the function of these names with this body, which its attribute `source` tells."""
    space = {"__name__": __name__, "collected": collected}
    exec(f"def f({names}):\n    {source}", space)
    space["f"].source = source
    return space["f"]


def collected(*args, **rest):
    """Return all that it is given."""
    return args, rest


def with_instruction(opname: str, argument: int, size: int) -> FunctionType:
    """Return a function of `size` arguments that has them all on its stack when this runs.

    It stands in the place of a `~`; no compiler makes such depths of so short a text.
    """
    names = [f"a{n}" for n in range(size)]
    more = opname == "COPY"  # one value more for the tuple
    fn = made(f"return ({', '.join(names[:-1])}, ~{names[-1]})", ", ".join(names))
    code = bytearray(fn.__code__.co_code)
    at = code[::2].index(opcode.opmap["UNARY_INVERT"]) * 2
    code[at : at + 2] = opcode.opmap[opname], argument
    code[at + 3] += more  # of the BUILD_TUPLE that follows
    depth = fn.__code__.co_stacksize + more
    fn.__code__ = fn.__code__.replace(co_code=bytes(code), co_stacksize=depth)
    fn.source = f"{opname}({argument}), its arguments on the stack"
    return fn


DRAW = random.Random(13)


def _operands(count: int) -> list[tuple]:
    pairs = [(DRAW.choice(NUMBERS), DRAW.choice(NUMBERS)) for _ in range(count)]
    return [*pairs, (DRAW.choice(OTHERS), DRAW.choice(NUMBERS + OTHERS))]


def _cases(sources, count: int) -> list[tuple]:
    return [(made(source), pair) for source in sources for pair in _operands(count)]


NAMES = [(with_instruction("SWAP", n, 5), (10, 20, 30, 40, 50)) for n in (2, 3, 4, 5)]
NAMES += [(with_instruction("COPY", n, 4), ("p", "q", "r", "s")) for n in (1, 2, 3, 4)]
NAMES += [(with_instruction(opname, 11, 12), tuple(range(12))) for opname in ("SWAP", "COPY")]

OPERATORS = [(made(f"return a {sign} b"), pair) for sign in SIGNS for pair in ((7, 2), (-7, 3))]
OPERATORS += _cases([f"return a {sign} b" for sign in (*COMPARED, "in", "not in")], 1)
OPERATORS += _cases([f"a {sign}= b; return a" for sign in SIGNS], 1)


def _call(count: int, named: int) -> FunctionType:
    names = [f"k{n}" for n in range(named)]
    DRAW.shuffle(names)
    values = [DRAW.choice("ab") if DRAW.random() < 0.5 else str(n) for n in range(count + named)]
    given = [*values[:count], *(f"{k}={v}" for k, v in zip(names, values[count:], strict=True))]
    return made(f"return collected({', '.join(given)})")


CALLS = [(_call(count, named), ("x", "y")) for count, named in ((1, 0), (0, 2), (2, 3), (4, 1))]
CALLS += [(made(f"return [a, [{'b, ' * n}], (b, {'a, ' * n})]"), (1, 2)) for n in (0, 1, 3)]
