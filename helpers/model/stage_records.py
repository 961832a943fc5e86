"""Records of a run on the stage: its steps with panels, instructions, values, calls as cards."""

from collections import namedtuple
from dataclasses import KW_ONLY, dataclass

from .graphs import Graph
from .phrase import find_named
from .tables import Ledger, Listing

LANES = ("load", "store", "operate", "call", "jump")
NOWHERE = (0, 0, 0, 0)
BETWEEN = " "  # the place of an empty line between two functions: it has no number
Span = tuple[int, int, int, int]  # line, column, end line, end column

# One instruction; `lane`: one of `LANES`; `target`: where it may jump to, -1 for nowhere.
Row = namedtuple("Row", "offset opname argument lane span target", defaults=(NOWHERE, -1))
# The instructions of one function, the names of its variables, its deepest stack.
Code = namedtuple("Code", "function rows names depth")
# A value, its type's name, the variable that refers to it; `key`: its own on a stack.
Value = namedtuple("Value", "words kind same key", defaults=("", "", 0))
# One call on its way; `state`: a word, such as waits; `names`: (name, words) of variables.
Card = namedtuple("Card", "number function line state names stack", defaults=("", (), ()))
# One titled part of a step; `content`: plain text, or a model with a view of its own.
Panel = namedtuple("Panel", "title content")


@dataclass(frozen=True)
class Step:
    """One moment. `line`: the 1-based line of the source that is about to run, 0 for none.

    `says`: what is about to happen, as a sentence; `short`: in a word or two; `lane`: the kind of
    step. `left`: the line that ran last where the run jumped here, 0 for none; `deed`: how.
    """

    label: str
    line: int
    panels: tuple[Panel, ...] = ()
    _: KW_ONLY
    span: Span = NOWHERE
    says: str = ""
    lane: str = ""
    short: str = ""
    left: int = 0
    deed: str = ""

    def panel(self, title: str) -> str | Listing | Graph | Ledger:
        """Return the content of the panel with this title; KeyError names a missing title."""
        return find_named(self.panels, title, "title").content


class Placed:
    """What has a `source`, and in `places` where each line of it is; "" of a cell's."""

    @property
    def numbers(self) -> tuple[str, ...]:
        """The number of each line of the source: in its file, or in the source itself."""
        count = self.source.count("\n") + 1
        places = [*self.places, *[""] * count][:count]
        return tuple(
            "" if place == BETWEEN else place.rpartition(":")[2] or str(number)
            for number, place in enumerate(places, 1)
        )


@dataclass(frozen=True)
class Timeline(Placed):
    """A run as steps over one source; `places`: `path.py:1207` of each line, "" of a cell's."""

    title: str
    source: str
    steps: tuple[Step, ...]
    note: str = ""
    places: tuple[str, ...] = ()

    def at_end(self, title: str) -> str | Listing | Graph | Ledger:
        """Return what the panel with this title shows after the last step."""
        return self.steps[-1].panel(title)

    def place(self, line: int) -> str:
        """Return where a line of the source is: `path.py:1207`, or `line 7` of the source."""
        return "".join(self.places[line - 1 : line]) or f"line {line}"


@dataclass(frozen=True)
class FrameStep(Step):
    """A call, return, yield or exception; `shelf`: frames off the stack; `handed`: down."""

    cards: tuple[Card, ...] = ()
    shelf: tuple[Card, ...] = ()
    handed: str = ""


@dataclass(frozen=True)
class StackStep(Step):
    """One instruction about to run.

    `stack`: words, bottom first; `real`: they were read from the interpreter, else each says which
    instruction made the value. `names`: (name, words) of the locals. `handler`: what the exception
    table does here. `left_out`: the step replaces so many instructions of a loop.

    `code`: the place of its function among the run's `codes`. `values`: those of `stack`, of which
    it takes `taken` from the top; `variables`: those of `names`. `callers`: the calls that wait,
    the first at the bottom; `shelf`: generators' frames put aside. `raised`: the offset of what
    raised the exception that is being handled, -1 for none.
    """

    function: str = ""
    call: int = 1
    offset: int = -1
    opname: str = ""
    argrepr: str = ""
    stack: tuple[str, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    real: bool = True
    handler: str = ""
    printed: str = ""
    ending: str = ""
    left_out: int = 0
    code: int = -1
    values: tuple[Value, ...] = ()
    taken: int = 0
    variables: tuple[Value, ...] = ()
    callers: tuple[Card, ...] = ()
    shelf: tuple[Card, ...] = ()
    raised: int = -1

    @property
    def instruction(self) -> str:
        """Return offset, name and argument as one phrase."""
        return f"{self.offset} {self.opname} {self.argrepr}".rstrip()


@dataclass(frozen=True)
class StackRun(Timeline):
    """The steps of a run. `outcome`: how it ended, as a sentence; `real`: every stack was read."""

    outcome: str = ""
    real: bool = True
    recorded: int = 0
    codes: tuple[Code, ...] = ()
