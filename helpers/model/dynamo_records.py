"""Records of how torch's Dynamo translated a function into graphs: each step, and each graph break.

A graph break is a place where Dynamo ends a graph early, and Python runs on.
"""

from dataclasses import dataclass

from .graphs import Graph
from .stage_records import Step, Timeline
from .tables import Listing


@dataclass(frozen=True)
class DynamoStep(Step):
    """One instruction about to be translated, or what Dynamo did between two instructions.

    Attributes
    ----------
    kind : str
        What the step is: `instruction`, `again` (the function is translated once more), `start
        over`, `break`, `graph`, `code`, `given up`, `skipped` or `error`.
    function : str
        The function that Dynamo translates.
    opname : str
        The name of the instruction.
    argrepr : str
        What its argument means.
    stack : tuple of str
        The symbolic values on the stack, bottom first.
    made : tuple of str
        The lines by which the graph grew.
    guarded : tuple of str
        The guards that Dynamo took here.
    ending : str
        Why the translation ended here, if it failed.
    """

    kind: str = "instruction"
    function: str = ""
    opname: str = ""
    argrepr: str = ""
    stack: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    ending: str = ""


@dataclass(frozen=True)
class Break:
    """One place where a graph ends early.

    Attributes
    ----------
    function : str
        The function that Dynamo translated.
    line : int
        The line in the run's `source`, 0 for none.
    code : str
        The text of that line.
    cause : str
        Dynamo's name for the cause.
    explanation : str
        Dynamo's explanation.
    given_up : bool
        Whether Dynamo leaves the whole function to Python.
    place : str
        The function, and the line of its file.
    hint : str
        What Dynamo advises.
    page : str
        The address of the page on this cause, "" for none.
    empty : bool
        Whether the graph before the break is empty, so that the backend gets none.
    skipped : str
        Why Dynamo leaves the rest of the function to Python, "" if it does not.
    count : int
        How many times the break happened.
    inner : str
        File and line of the innermost call. Everything that this call breaks has the same `inner`.
    raises : bool
        Whether the call raises instead, because no break is allowed.
    """

    function: str
    line: int
    code: str
    cause: str
    explanation: str
    given_up: bool = False
    place: str = ""
    hint: str = ""
    page: str = ""
    empty: bool = False
    skipped: str = ""
    count: int = 1
    inner: str = ""
    raises: bool = False

    @property
    def effect(self) -> str:
        """Return the effect of the break, as a sentence."""
        if self.raises:
            return "Dynamo raises an error, as fullgraph or error_on_graph_break asks it to"
        if self.given_up:
            # The name of a resume function is, for example, "train, resumed after line 7".
            part = "rest of the" if ", resumed after " in self.function else "whole"
            return f"Python runs the {part} function"

        graph = "no graph: nothing to compile before it" if self.empty else "a graph ends here"
        if not self.skipped:
            return graph
        return f"{graph}; Python runs the rest of the function. Dynamo skipped it: {self.skipped}"


@dataclass(frozen=True)
class DynamoRun(Timeline):
    """The translation of a function, and its run.

    Attributes
    ----------
    breaks : tuple of Break
        The graph breaks, in order.
    graphs : tuple of Graph
        The graphs that the backend got, in order.
    resumed : tuple of str
        The resume functions that Dynamo made.
    outcome : str
        What the run raised, "" if it returned.
    printed : str
        What the run printed.
    """

    breaks: tuple[Break, ...] = ()
    graphs: tuple[Graph, ...] = ()
    resumed: tuple[str, ...] = ()
    outcome: str = ""
    printed: str = ""


@dataclass(frozen=True)
class BreakListing(Listing):
    """The graph breaks of one call. Equal breaks share a row, which is a `Break`.

    Attributes
    ----------
    graphs : int
        How many graphs the backend got.
    outcome : str
        What the call raised, "" if it returned.
    """

    graphs: int = 0
    outcome: str = ""

    @property
    def breaks(self) -> int:
        """Return how many graph breaks there were."""
        return sum(row.count for row in self.rows)
