"""One translation by Dynamo, step by step -> a timeline that can be asked about it."""

from dataclasses import dataclass

from helpers.model.graph import Graph
from helpers.model.listing import Listing
from helpers.model.timeline import Step, Timeline

KINDS = (
    "instruction",
    "again",
    "start over",
    "break",
    "graph",
    "code",
    "given up",
    "skipped",
    "error",
)


@dataclass(frozen=True)
class DynamoStep(Step):
    """One instruction about to be translated, or what Dynamo did between two (see `KINDS`).

    `stack`: the words of the symbolic values on it, bottom first. `made`: the lines that the
    graph grew by here; `guarded`: the guards taken here; `ending`: what came of it, if it failed.
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
    """One place where a graph ends early: Dynamo's name for the cause, and its explanation.

    `line` is that of the run's `source` (0 for none) with its text in `code`; `place` tells it by
    the function that was written there, its own line, and file and line where there is a file.
    `given_up` says that the whole function is left to Python; `hint` and `page`, an address, are
    Dynamo's. At an `empty` one the backend got no graph: `torch._dynamo.explain` leaves it out.
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


@dataclass(frozen=True)
class DynamoRun(Timeline):
    """A translation and its run. `graphs`: what the backend got, in order; `outcome`: a sentence.

    `resumed` names the functions that Dynamo made to go on after a break, as far as they ran.
    """

    breaks: tuple[Break, ...] = ()
    graphs: tuple[Graph, ...] = ()
    resumed: tuple[str, ...] = ()
    outcome: str = ""
    printed: str = ""

    def of_kind(self, kind: str) -> tuple[DynamoStep, ...]:
        """Return the steps of one kind, in order; KeyError names the kinds there are."""
        if kind not in KINDS:
            raise KeyError(f"{kind} (the kinds are {', '.join(KINDS)})")
        return tuple(step for step in self.steps if step.kind == kind)

    def on_line(self, line: int) -> tuple[DynamoStep, ...]:
        """Return the steps of a line of `source`, in order."""
        return tuple(step for step in self.steps if step.line == line)


@dataclass(frozen=True)
class BreakListing(Listing):
    """The graph breaks of one call. `graphs`: how many graphs the backend got."""

    graphs: int = 0
    outcome: str = ""
