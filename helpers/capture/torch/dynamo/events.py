"""What Dynamo did during one call, as it was written down: instructions, and what lay between."""

from dataclasses import dataclass, field
from traceback import FrameSummary
from types import CodeType

from helpers.capture.cpython.settrace import Printed
from helpers.model.graph import Graph

SO_FAR = "graph so far"


@dataclass
class Instruction:
    """One instruction, with what was known before it and what it added."""

    code: CodeType
    offset: int
    opname: str
    argrepr: str
    positions: tuple  # line, end line, column, end column: Dynamo's own, which may be None
    lineno: int
    prologue: bool
    stack: tuple[str, ...]
    graph: Graph
    guards: list[str]
    guard_count: int  # of the list, which grows; it is the same one in all steps
    made: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    failed: str = ""


@dataclass
class Happened:
    """What Dynamo did between two instructions: `kind` as in `helpers.model.dynamo.KINDS`.

    Of a break: `cause`, the whole message; `inner`, the innermost frame outside torch; `empty`,
    whether the backend got no graph.
    """

    kind: str
    code: CodeType | None
    words: str
    lineno: int = 0
    graph: Graph | None = None
    names: tuple[str, ...] = ()
    sizes: tuple[int, int] = (0, 0)
    cause: str = ""
    inner: FrameSummary | None = None
    empty: bool = False


@dataclass
class Record:
    """All events of one call, the graphs the backend got, what it printed and how it ended."""

    events: list = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    printed: Printed = field(default_factory=Printed)
    value: object = None
    error: BaseException | None = None
    cut_off: bool = False
    missed_breaks: int = 0
    elsewhere: int = 0
    lost: str = ""
