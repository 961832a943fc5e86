"""Records of torch.compile: Dynamo's steps and breaks, guards, ledgers of compiles."""

import re
from collections import namedtuple
from dataclasses import dataclass

from .graphs import Graph
from .stage_records import Step, Timeline
from .tables import Column, Entry, Ledger, Listing


@dataclass(frozen=True)
class DynamoStep(Step):
    """One instruction about to be translated, or what Dynamo did between two.

    `kind`: instruction, again, start over, break, graph, code, given up, skipped or error.
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

    `line` is that of the run's `source` (0 for none) with its text in `code`; `place` tells where.
    `given_up`: the whole function is left to Python. At an `empty` one the backend got no graph.
    `raises`: the call raises instead, as no break is allowed.
    `skipped`: why Dynamo leaves the rest of the function to Python, if it does. `count`: how often
    it happened. `inner`: file and line of the innermost call, the same in all that it breaks.
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
        """Return the effect of the break."""
        if self.raises:
            return "Dynamo raises an error, as fullgraph or error_on_graph_break asks it to"
        if self.given_up:
            part = "rest of the" if ", resumed after " in self.function else "whole"
            return f"Python runs the {part} function"
        graph = "no graph: nothing to compile before it" if self.empty else "a graph ends here"
        rest = f"; Python runs the rest of the function. Dynamo skipped it: {self.skipped}"
        return graph + rest * bool(self.skipped)


@dataclass(frozen=True)
class DynamoRun(Timeline):
    """A translation and its run. `graphs`: what the backend got, in order."""

    breaks: tuple[Break, ...] = ()
    graphs: tuple[Graph, ...] = ()
    resumed: tuple[str, ...] = ()
    outcome: str = ""
    printed: str = ""


@dataclass(frozen=True)
class BreakListing(Listing):
    """The graph breaks of one call, equal ones in one row. `graphs`: what the backend got."""

    graphs: int = 0
    outcome: str = ""

    @property
    def breaks(self) -> int:
        """Return how many graph breaks there were."""
        return sum(row.count for row in self.rows)


MOST_FAILURES = 8  # lines
OF_MODULE = re.compile(r".*\._modules\['[^']*'\]")
HEADINGS = ("arguments", "verdict")
MARKS = ("changed", "compiled for this call"), ("failed", "plain Python ran, or an error")
TONES = {"compile": "changed", "recompile": "changed", "eager": "failed", "error": "failed"}
COLUMNS = (
    Column("source", "what it checks", code=True),
    Column("checks", "passes if"),
    Column("line", "added at", code=True),
    Column("kind", "guard"),
    Column("entry", "entry"),
)


@dataclass(frozen=True)
class Guard:
    """One guard of cache entry number `entry` (from 1, in the order in which they were compiled).

    `kind`: torch's name; `checks`: what must hold, in words; `line`: what it was taken for.
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
    """The guard trees of a function's cache entries; `guards` holds the leaves as records."""

    guards: tuple[Guard, ...] = ()


def guard_listing(graph: GuardGraph, find: str = "") -> Listing:
    """Return the guards of a graph as a table, of those only that have `find` in their words."""
    asked = find.casefold()
    rows = tuple(g for g in graph.guards if asked in f"{g.name} {g.checks} {g.line}".casefold())
    if not rows:
        raise LookupError(f"none of the {len(graph.guards)} guards has {find!r} in its words")
    note, others = graph.note, len(graph.guards) - len(rows)
    if others:
        note += f" Listed: the {len(rows)} with {find!r} in their words."
        note += f" Not listed: {others}; without find= all are."
    found = {column: {getattr(row, column.field) for row in rows} for column in COLUMNS[2::2]}
    same = {c: words for c, (words, *more) in found.items() if words and not more and rows[1:]}
    note += "".join(f" In every row, {c.heading} is `{words}`." for c, words in same.items())
    columns = tuple(column for column in COLUMNS if column not in same)
    return Listing(graph.title, columns, rows, note.strip())


@dataclass(frozen=True)
class Failure(Guard):
    """A guard that a call failed, and the `value`: `3`, `of type float`, `of length 1`.

    `place`: the file and line of `line`, such as `train.py:45`.
    """

    value: str = ""
    place: str = ""

    def __str__(self) -> str:
        return explain_failures([(self,)])[0]


def explain_failures(failures) -> tuple[str, ...]:
    """Return in lines why each cache entry refuses a call; `failures`: a tuple per entry.

    An entry has a line, or several that see the same share one; first is what torch found first.
    Inner modules share one too. Behind a guard is the line that it was taken for, where torch knows
    one and the guard before does not say it.
    """
    alike, told, said = {}, {}, ""
    first = (found[0] for found in failures if found)  # an entry that accepts has none
    for one in (*first, *(failure for found in failures for failure in found[1:])):
        name = OF_MODULE.sub("", one.source)
        is_of_one = one.value and name  # else the value is that of a check between several
        alike.setdefault((name, one.value, "" if is_of_one else one.checks), []).append(one)
    for same in sorted(alike.values(), key=lambda same: min(one.entry for one in same)):
        lines, source, others = {}, same[0].source, len({one.source for one in same}) - 1
        for one in (one for one in same if one.source == source):
            place = f", added at `{one.line}`{f' ({one.place})' * bool(one.place)}"
            of_entry = lines.setdefault(place * bool(one.line), {}).setdefault(one.entry, {})
            of_entry[one.checks] = None
        checks = "; ".join(f"{_either(c)}{p * (p != said)}" for p, c in lines.items())
        said = next(reversed(lines)) or said
        them = [*dict.fromkeys(sorted(f.entry for f in same))]
        entries = ", ".join(map(str, them))
        if len(them) > 2 and them[-1] - them[0] == len(them) - 1:
            entries = f"{them[0]} to {them[-1]}"
        words = f"{source} is {same[0].value} (guard: {checks})" * bool(same[0].value)
        words = (words or f"{source}: {checks}").removeprefix(" is ").removeprefix(": ")
        words += f"; alike in {others} more inner module{'s' * (others > 1)}" * bool(others)
        which = f"{'entries' if len(them) > 1 else 'entry'} {entries}: "
        told.setdefault(which if len(failures) > 1 else len(told), []).append(words)
    lines = [f"{'' if type(w) is int else w}{'; '.join(found)}" for w, found in told.items()]
    rest = [f"and {len(lines) - MOST_FAILURES:,} more"] * (len(lines) > MOST_FAILURES)
    return (*lines[:MOST_FAILURES], *rest)


def _either(checks: dict[int, dict]) -> str:
    """Return checks by entry, of which each has all: `it equals 0 or 1`, `it equals 0 to 7`."""
    each = [*dict.fromkeys(" and ".join(of_entry) for of_entry in checks.values())]
    if not all(words.startswith("it equals ") and " and " not in words for words in each):
        return " or ".join(each)
    numbers = [words.removeprefix("it equals ") for words in each]
    first = int(numbers[0]) if numbers[0].isdecimal() else 0
    run = [str(first + n) for n in range(len(numbers))]
    is_run = run == numbers and run[2:]
    return f"it equals {first} to {run[-1]}" if is_run else f"it equals {' or '.join(numbers)}"


@dataclass(frozen=True)
class CompileEntry(Entry):
    """One call of a compiled function."""

    @property
    def verdict(self) -> str:
        """Return compile (the first), recompile, hit, eager (plain Python), error or unknown."""
        return self.verdicts[1].word


@dataclass(frozen=True)
class CompileLedger(Ledger):
    """A ledger of calls of a compiled function, or of what was compiled in a block, in order.

    `calls`: how many calls of compiled functions there were; `compiled_calls`: those in which
    compiled code ran, None if unknown; `plain`: those in which plain Python ran, if not by rows;
    `unknown`: those of which nobody says whether plain Python ran a part.
    """

    calls: int = 0
    compiled_calls: int | None = None
    plain: int | None = None
    unknown: int = 0

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return one word per call."""
        return tuple(entry.verdict for entry in self.entries)

    @property
    def compiles(self) -> int:
        """Return how many of the rows compiled, recompiles included."""
        return self.verdicts.count("compile") + self.recompiles

    @property
    def recompiles(self) -> int:
        """Return how many of the rows compiled because a guard had failed."""
        return self.verdicts.count("recompile")

    @property
    def eager(self) -> int | None:
        """Return in how many calls plain Python ran all or a part; None if that is unknown."""
        if self.unknown:
            return None
        return self.verdicts.count("eager") if self.plain is None else self.plain


LINE_COLUMNS = (
    Column("python", "condition", code=True),
    Column("kind", "guard"),
    Column("written", "written in"),
    Column("asked", "this call"),
)


# One guard as Python, an expression that is true where it holds, and the answer to a call.
GuardLine = namedtuple("GuardLine", "python kind written asked")


@dataclass(frozen=True)
class GuardProgram(Listing):
    """The guards of one cache entry as one Python function, `source`; what it and torch say."""

    source: str = ""
    accepts: bool = False
    torch_accepts: bool = False

    @property
    def kept(self) -> int:
        """Return the number of the row that refuses the call; 0 for none."""
        return next((n for n, row in enumerate(self.rows, 1) if row.asked == "refuses"), 0)
