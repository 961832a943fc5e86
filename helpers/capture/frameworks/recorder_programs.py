"""Small programs that mean the same to every recorder: plain Python operators on `x`.

Each is called twice; between the two calls one thing changes, or something is left behind.
"""

from dataclasses import dataclass

RATE = 2.0
seen = []


def number_if(x, n):
    """Branch on a Python number."""
    return x * 2 if n > 0 else x + 1


def tensor_if(x):
    """Branch on a number inside the tensor."""
    return x * 2 if x[0] > 0 else x + 1


def loop(x, n):
    """Loop as often as a Python number says."""
    for _ in range(n):
        x = x * 2
    return x


def tensor_loop(x):
    """Loop as often as the tensor says."""
    while x[0] < 10:
        x = x * 2
    return x


def global_number(x):
    """Read a global."""
    return x * RATE


def side_effect(x):
    """Append to a list that is not the function's own."""
    seen.append("called")
    return x * 2


def shape(x):
    """Read the tensor's length."""
    return x * len(x)


@dataclass(frozen=True)
class Program:
    """`fn`, and the arguments of two calls (a list stands for a tensor); `rate` from the second."""

    words: str
    fn: object
    first: tuple
    second: tuple
    rate: float = 2.0


PROGRAMS = (
    Program("if on a number", number_if, ([1.0, 2.0], 1), ([1.0, 2.0], -1)),
    Program("if on a tensor", tensor_if, ([1.0, 2.0],), ([-1.0, 2.0],)),
    Program("loop of n rounds", loop, ([1.0, 2.0], 1), ([1.0, 2.0], 3)),
    Program("loop until a tensor says", tensor_loop, ([6.0, 2.0],), ([1.0, 2.0],)),
    Program("a global changes", global_number, ([1.0, 2.0],), ([1.0, 2.0],), 5.0),
    Program("append to a list", side_effect, ([1.0, 2.0],), ([1.0, 2.0],)),
    Program("len(x), and x grows", shape, ([1.0, 2.0],), ([1.0, 2.0, 3.0],)),
)
