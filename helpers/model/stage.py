"""What a stage shows beside words: instructions in a row, values with their kinds, calls as cards.

A stage with instructions, a value stack or frames is made of these; they hold words only.
"""

from dataclasses import dataclass

LANES = ("load", "store", "operate", "call", "jump")
NOWHERE = (0, 0, 0, 0)


@dataclass(frozen=True)
class Row:
    """One instruction. `span` is its place in the run's source: (line, column, end line, column).

    `lane` is one of `LANES`; `target`: the offset that it may jump to, -1 for none.
    """

    offset: int
    opname: str
    argument: str
    lane: str
    span: tuple[int, int, int, int] = NOWHERE
    target: int = -1


@dataclass(frozen=True)
class Code:
    """The instructions of one function, the names of its variables, its deepest stack."""

    function: str
    rows: tuple[Row, ...]
    names: tuple[str, ...]
    depth: int


@dataclass(frozen=True)
class Value:
    """One value: its words, its type's name, the variable that refers to the very same object.

    `key` is given when it is put on a stack, and stays its own for as long as it lies there.
    """

    words: str
    kind: str = ""
    same: str = ""
    key: int = 0


@dataclass(frozen=True)
class Card:
    """One call on its way. `number` tells it from other calls of the same function.

    `line`: where it is in the run's source; `state`: a word, such as waits; `names`: its variables
    as (name, words); `stack`: the words of what lies on its stack meanwhile, bottom first.
    """

    number: int
    function: str
    line: int
    state: str = ""
    names: tuple[tuple[str, str], ...] = ()
    stack: tuple[str, ...] = ()
