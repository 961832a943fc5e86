"""What happened while Dynamo translated a function: one event an instruction, one a decision.

A decision is, for example, to break the graph or to leave the function to Python.
"""

from dataclasses import dataclass
from traceback import FrameSummary
from types import CodeType

from ...model.graphs import Graph

GRAPH_SO_FAR = "graph so far"  # the title of the graph at a step
RENAMED = " gets the name "  # in a graph line, between the old and the new name of a node


@dataclass(eq=False)
class DynamoEvent:
    """One instruction, or one decision of Dynamo's between two instructions.

    The recorder makes the event of an instruction before Dynamo translates it, and completes the
    event after that.
    """

    #: instruction, start over, break, graph, code, given up, skipped or error
    kind: str
    #: the code object that Dynamo translates
    code: CodeType
    #: the line in the file of `code`, 0 if torch does not know it
    lineno: int

    #: torch's reason for the decision, or a description in our words
    message: str = ""
    #: the graph so far; for a break or a "graph", the graph that ends here
    graph: Graph | None = None

    # The next four are set only for a break, and where Dynamo gives the function up.
    #: the whole message of the error that breaks the graph
    cause: str = ""
    #: the innermost of the user's frames in which the error happened
    inner_frame: FrameSummary | None = None
    #: whether the graph was empty, so that the backend got none
    is_graph_empty: bool = False
    #: whether the call raises, because no break is allowed here
    call_raises: bool = False

    # The rest is set only for an instruction.
    #: the offset in `code`, -1 for an instruction that Dynamo added
    offset: int = -1
    #: the index in Dynamo's own list of instructions
    index: int = 0
    opname: str = ""
    #: what the argument means, such as the name of a variable
    argrepr: str = ""
    #: line, end line, column, end column in the file
    positions: tuple = ()
    #: whether it restores the stack at the start of a resume function
    is_prologue: bool = False
    #: a text for each symbolic value before the instruction, the top of the stack last
    stack: tuple[str, ...] = ()
    #: all guards before the instruction, such as `x: TENSOR_MATCH`
    guards: tuple[str, ...] = ()
    #: a line for each graph node that the instruction added or renamed
    node_lines: tuple[str, ...] = ()
    #: the guards that the instruction added
    new_guards: tuple[str, ...] = ()
    #: a text for the symbolic value on top of the stack after the instruction
    result: str = ""
    #: why Dynamo could not translate it; "" if it could
    failure: str = ""
    #: whether Dynamo translated instructions of a called function before this one was done
    entered_function: bool = False
    #: whether the instruction jumped, so that Dynamo does not continue with the next one
    has_jumped: bool = False
