"""What happened while Dynamo translated: one event per instruction, and one per decision."""

from dataclasses import dataclass
from traceback import FrameSummary
from types import CodeType

from ...model.graphs import Graph

GRAPH_SO_FAR = "graph so far"  # the title of the graph at a step
RENAMED = " gets the name "  # in a line of `made`, between the old and the new name of a node


@dataclass(eq=False)
class DynamoEvent:
    """One instruction, or what Dynamo did between two.

    The recorder makes the event before the instruction runs, and completes it after that.
    """

    #: instruction, start over, break, graph, code, given up, skipped or error
    kind: str
    #: the code object that Dynamo translates
    code: CodeType
    #: the line in the file of `code`, 0 if torch does not know it
    lineno: int

    #: torch's reason, or what this course says of it
    message: str = ""
    #: the graph so far
    graph: Graph | None = None

    # Of a break.
    #: the whole message of the error that breaks the graph
    cause: str = ""
    #: the innermost frame in which it happened
    inner: FrameSummary | None = None
    #: whether the backend got no graph
    empty: bool = False
    #: whether the call raises, because no break is allowed here
    raises: bool = False

    # Of an instruction.
    #: the offset in `code`, -1 for an instruction that Dynamo added
    offset: int = -1
    #: the index in Dynamo's own list of instructions
    index: int = 0
    opname: str = ""
    #: the argument in words
    argrepr: str = ""
    #: line, end line, column, end column in the file
    positions: tuple = ()
    #: whether it restores the stack at the start of a resume function
    prologue: bool = False
    #: words for each symbolic value before the instruction, the top last
    stack: tuple[str, ...] = ()
    #: all guards so far
    guards: tuple[str, ...] = ()
    #: lines by which the graph grew
    made: tuple[str, ...] = ()
    #: guards taken here
    guarded: tuple[str, ...] = ()
    #: words for the top of the stack afterwards
    result: str = ""
    #: why Dynamo could not translate it; "" if it could
    failed: str = ""
    #: whether Dynamo translated instructions of another function before this one was done
    entered: bool = False
    #: whether the next instruction is not the one below
    jumped: bool = False
