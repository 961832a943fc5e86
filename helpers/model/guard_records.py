"""Records of the guards of a function that torch.compile made: as trees, a table, or Python code.

A guard is a condition on a call, such as "L['x'] is a float tensor". Dynamo stores guards with each
cache entry, which is the code that it compiled for an earlier call. Dynamo uses an entry only if
all guards of the entry hold.
"""

from dataclasses import dataclass

from .graphs import Graph
from .tables import Column, Listing

COLUMNS = (
    Column("source", "what it checks", code=True),
    Column("checks", "passes if"),
    Column("line", "added at", code=True),
    Column("kind", "guard"),
    Column("entry", "entry"),
)
FOLDED_COLUMNS = ("line", "entry")  # not shown if all rows have the same value there
LINE_COLUMNS = (
    Column("python", "condition", code=True),
    Column("kind", "guard"),
    Column("written", "written in"),
    Column("asked", "this call"),
)


@dataclass(frozen=True)
class Guard:
    """One guard of a cache entry.

    Attributes
    ----------
    entry : int
        The number of the cache entry, from 1, in the order in which entries were compiled.
    source : str
        What the guard looks at, such as `L['x']`.
    kind : str
        torch's name for this kind of guard.
    checks : str
        What must hold, in words.
    line : str
        The line of the program for which Dynamo took the guard, "" if torch does not know it.
    """

    entry: int
    source: str
    kind: str
    checks: str
    line: str = ""

    @property
    def name(self) -> str:
        """Return source and kind, which tell the guards of one entry apart."""
        return f"{self.source} {self.kind}"


@dataclass(frozen=True)
class GuardGraph(Graph):
    """The guard trees of a function's cache entries.

    Attributes
    ----------
    guards : tuple of Guard
        The leaves of the trees.
    """

    guards: tuple[Guard, ...] = ()


def build_guard_listing(graph: GuardGraph, find: str = "") -> Listing:
    """Return the guards of a graph as a table.

    With `find`, the table has only the guards with this text in their name, check or line. Upper
    and lower case are the same. LookupError if no guard has the text.
    """
    wanted = find.casefold()
    rows = []
    for guard in graph.guards:
        if wanted in f"{guard.name} {guard.checks} {guard.line}".casefold():
            rows.append(guard)
    if not rows:
        raise LookupError(f"none of the {len(graph.guards)} guards has {find!r} in its words")

    note = graph.note
    hidden_count = len(graph.guards) - len(rows)
    if hidden_count:
        note += f" Listed: the {len(rows)} with {find!r} in their words."
        note += f" Not listed: {hidden_count}; without find= all are."

    columns = []
    for column in COLUMNS:
        values = {getattr(guard, column.field) for guard in rows}
        all_rows_agree = len(rows) > 1 and len(values) == 1
        # A sentence in the note replaces a column with one value. An empty value needs the column.
        if column.field in FOLDED_COLUMNS and all_rows_agree and any(values):
            note += f" In every row, {column.heading} is `{values.pop()}`."
        else:
            columns.append(column)
    return Listing(graph.title, tuple(columns), tuple(rows), note.strip())


@dataclass(frozen=True, slots=True)
class GuardLine:
    """One guard as Python, with the answer that a call gets from it.

    Attributes
    ----------
    python : str
        An expression that is true where the guard holds.
    kind : str
        torch's name for this kind of guard.
    written : str
        The language in which the guard is written, `Python` or `C++`.
    asked : str
        What the guard does with the call: it `holds`, it `refuses`, or was not asked.
    """

    python: str
    kind: str
    written: str
    asked: str


@dataclass(frozen=True)
class GuardProgram(Listing):
    """The guards of one cache entry as one Python function, one `GuardLine` in a row.

    Attributes
    ----------
    source : str
        The function.
    accepts : bool
        Whether the function accepts the call.
    torch_accepts : bool
        Whether torch's own guards accept the call.
    """

    source: str = ""
    accepts: bool = False
    torch_accepts: bool = False

    @property
    def kept(self) -> int:
        """Return the number of the row that refuses the call; 0 for none.

        A page never folds the rows up to this one.
        """
        for number, row in enumerate(self.rows, 1):
            if row.asked == "refuses":
                return number
        return 0
