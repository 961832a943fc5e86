"""A framework at work: calls on the way to C, ops, jobs, journeys past the six seams, traces."""

from collections import Counter, namedtuple
from dataclasses import dataclass
from itertools import accumulate

from .graphs import Edge, Graph, Node
from .phrase import find_named
from .spine import SPINE
from .tables import Entry, Ledger, Listing, Verdict

ROUTES = ("fast path", "fallback", "function", "direct", "graph", "refused", "no door")


@dataclass(frozen=True)
class Call:
    """One call; `c`: it is written in C, `raised`: and left by an error; `door`: a landmark."""

    depth: int
    module: str
    name: str
    c: bool = False
    raised: bool = False
    door: bool = False

    @property
    def path(self) -> str:
        """The last part of the module and the name: enough to find it in the sources."""
        return f"{self.module.rpartition('.')[2]}.{self.name}"


@dataclass(frozen=True)
class CallTree:
    """The calls of one run, depth first; `routes`: the way of each op, out of ROUTES."""

    title: str
    calls: tuple[Call, ...]
    routes: tuple[str, ...] = ()
    outcome: str = ""
    note: str = ""

    @property
    def route(self) -> str:
        """Return the routes as words, such as `fast path` or `graph ×3, function`."""
        counted = Counter(self.routes) or {"no door": 1}
        return ", ".join(f"{r} ×{n}" if n > 1 else r for r, n in counted.items())

    def count(self, name: str) -> int:
        """Return how many calls there were of functions of this name."""
        return sum(call.name == name for call in self.calls)

    def doors(self) -> tuple[str, ...]:
        """Return the names of the landmarks that were passed, in order."""
        return tuple(call.name for call in self.calls if call.door)

    def inside(self) -> tuple[int, ...]:
        """Return for each call how many calls there were in it, itself included."""
        ends, waiting = [0] * len(self.calls), []
        for at, call in enumerate((*self.calls, Call(0, "", ""))):
            while waiting and self.calls[waiting[-1]].depth >= call.depth:
                start = waiting.pop()
                ends[start] = at - start
            waiting.append(at)
        return tuple(ends)

    def on_the_way(self) -> frozenset[int]:
        """Return the places of the landmarks and of all calls that lead to one."""
        doors = [0, *accumulate(call.door for call in self.calls)]
        return frozenset(at for at, n in enumerate(self.inside()) if doors[at + n] > doors[at])


AGAIN = "read again"  # by the backward half: what had to be kept alive


# One tensor that an op read or made: its number in this run, what it is, and its name.
Value = namedtuple("Value", "number words name", defaults=("",))


@dataclass(frozen=True)
class Op:
    """One op. `stage`: which pass asked for it.

    forward; backward; recompute (of what a checkpoint did not save, in the backward pass); after
    (reads a gradient, by no tape); update (an optimizer asked for it, or it writes a variable).

    `layer`: the path of the innermost module or Keras layer that ran it, as users write it.
    """

    number: int
    op: str
    reads: tuple[Value, ...]
    makes: tuple[Value, ...]
    stage: str = "forward"
    where: str = "eager"
    layer: str = ""

    @property
    def inputs(self) -> str:
        """Return dtype and shape of what it read, with the names that are known."""
        return ", ".join(f"{v.name}: {v.words}" if v.name else v.words for v in self.reads)

    @property
    def outputs(self) -> str:
        """Return dtype and shape of what it made."""
        return ", ".join(value.words for value in self.makes)


@dataclass(frozen=True)
class OpLog(Listing):
    """A listing of ops. `outcome` says what ended the run early, if anything did."""

    outcome: str = ""

    @property
    def kept(self) -> int:
        """Return the number of the first row that updates a variable; 0 for none."""
        return next((row.number for row in self.rows if row.stage == "update"), 0)

    @property
    def ops(self) -> tuple[str, ...]:
        """Return the names of the ops, in order."""
        return tuple(row.op for row in self.rows)

    def stage(self, name: str) -> tuple[str, ...]:
        """Return the names of the ops of one stage, in order."""
        return tuple(row.op for row in self.rows if row.stage == name)


def op_graph(log: OpLog, title: str = "") -> Graph:
    """Return a box per op and per named value from outside; arrows carry results onwards.

    What a backward op reads of the forward ones is marked `read again`.
    """
    makers, nodes, edges = {}, {}, []
    for row in log.rows:
        key = f"op {row.number}"
        for value in row.reads:
            if value.number not in makers and value.name:
                outside = f"value {value.number}"
                makers[value.number] = outside, "", "input"
                nodes[outside] = Node(outside, value.name, "input", value.words)
            if value.number in makers:
                source, label, stage = makers[value.number]
                again = (row.stage, stage) == ("backward", "forward")
                edges.append(Edge(source, key, AGAIN if again else label))
        detail = f"{row.stage} {row.outputs}".rstrip()
        nodes[key] = Node(key, f"{row.number} {row.op}", row.stage, detail, op=row.op)
        for at, value in enumerate(row.makes):
            makers[value.number] = key, f"output {at}" if at else "", row.stage
    return Graph(title or log.title, tuple(nodes.values()), tuple(edges))


def together(title: str, graphs: dict[str, Graph], note: str = "") -> Graph:
    """Return several graphs as one picture, each under a box with its name."""
    nodes, edges = [], []
    for name, graph in graphs.items():
        head = f"{name}|"
        nodes.append(Node(head, name, "group"))
        nodes += [node._replace(key=head + node.key) for node in graph.nodes]
        edges += [Edge(head + e.source, head + e.target, e.label) for e in graph.edges]
        reached = {edge.target for edge in graph.edges}
        edges += [Edge(head, head + n.key) for n in graph.nodes if n.key not in reached]
    return Graph(title, tuple(nodes), tuple(edges), note)


def apart(graph: Graph) -> dict[str, Graph]:
    """Return the graphs that `together` put into one, by name; any other graph under ""."""
    parts = {}
    for box in [node for node in graph.nodes if node.kind == "group"]:
        nodes = (n for n in graph.nodes if n.key.startswith(box.key) and n.key != box.key)
        edges = (e for e in graph.edges if e.source.startswith(box.key) and e.source != box.key)
        parts[box.label] = Graph(box.label, tuple(nodes), tuple(edges))
    return parts or {"": graph}


PASSES = ("input", "variable", "forward", "backward", "update")


class Blob(namedtuple("Blob", "name dtype shape")):
    """One array that ops hand on; its shape is known before anything runs."""

    def __str__(self):
        return f"{self.dtype}{list(self.shape)}"


# One op. `part`: one of `PASSES`. `reads`: (argument, blob name), `writes`: (argument, blob).
# `near`: the op beside which it belongs, such as the forward op or the variable. `own`: its op
# type is defined in a learner's file. `attrs`: (name, value) of those that change its numbers.
_JOB_OP = "name type part reads writes near own attrs"
JobOp = namedtuple("JobOp", _JOB_OP, defaults=((), (), "", False, ()))


@dataclass(frozen=True)
class JobGraph:
    """The ops of a job in the order in which they run, and the names of the blobs it returns."""

    title: str
    ops: tuple[JobOp, ...]
    note: str = ""
    returns: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Return how many ops each pass has; a pass without ops is left out."""
        found = {part: len(self.names(part)) for part in PASSES}
        return {part: count for part, count in found.items() if count}

    def op(self, name: str) -> JobOp:
        """Return the op of this name; KeyError names it when there is none."""
        return find_named(self.ops, name)

    def names(self, part: str) -> tuple[str, ...]:
        """Return the names of the ops of one pass, in order."""
        return tuple(op.name for op in self.ops if op.part == part)

    def blob(self, name: str) -> Blob:
        """Return the blob of this name; KeyError names it when no op writes it."""
        return find_named((blob for op in self.ops for _, blob in op.writes), name)


SHARES = ("your frames", "Python of the libraries", "C functions")


# One station in one call. `brief`: two or three words; `words`: what happened, or why not.
Stop = namedtuple("Stop", "station passed brief words")


NOT_CALLED = "It was not called again."


@dataclass(frozen=True)
class Passage:
    """One call: a stop per station of `SPINE`; its counts; what it raised and what it printed.

    `ran`: which of your lines ran, in a sentence; `instead`: who ran them, or what ran in place.
    """

    stops: tuple[Stop, ...]
    counts: tuple[tuple[str, int], ...] = ()
    ops: tuple[str, ...] = ()
    outcome: str = ""
    printed: str = ""
    ran: str = ""
    instead: str = ""

    @property
    def has_answer(self) -> bool:
        """Return whether the call was made and came to its end."""
        return not self.outcome and self.ran != NOT_CALLED

    @property
    def passed(self) -> tuple[str, ...]:
        """Return the names of the stations that this call passed, such as `name` and `frame`."""
        return tuple(SPINE[stop.station - 1].name for stop in self.stops if stop.passed)

    def stop(self, name: str) -> Stop:
        """Return the stop at a station by its name; KeyError if there is no such station."""
        return {SPINE[stop.station - 1].name: stop for stop in self.stops}[name]

    def count(self, what: str) -> int:
        """Return how many names, frames, lines, … there were; KeyError for another word."""
        return dict(self.counts)[what]


@dataclass(frozen=True)
class Journey:
    """The first call that was watched, and the same call again; `shares`: (whose, its part).

    `way`: how the function was called, such as "tf.function"; `others`: the same by other ways.
    A way that could not be taken has no stops, and says why in its note.
    """

    title: str
    first: Passage
    again: Passage
    shares: tuple[tuple[str, float], ...] = ()
    note: str = ""
    way: str = ""
    source: str = ""
    others: tuple["Journey", ...] = ()

    @property
    def ways(self) -> tuple["Journey", ...]:
        """Return this journey, and those of the other ways."""
        return self, *self.others

    def by(self, way: str) -> "Journey":
        """Return the journey of one way, such as "torch.compile"; KeyError if it is not here."""
        return find_named(self.ways, way, "way")


HEADINGS = ("arguments", "verdict")
MARKS = ("changed", "your Python ran, to be traced"), ("failed", "an error")
TONES = {"trace": "changed", "error": "failed"}


class Cause(namedtuple("Cause", "where kind before after detail", defaults=("",))):
    """One leaf in which a call differs from the nearest key: `where` it is, and how."""

    def __str__(self) -> str:
        label = "" if self.kind in ("type", "object") else f"{self.kind} "
        return f"{self.where}: {label}{self.before} → {self.after}{self.detail}"


@dataclass(frozen=True, repr=False)
class TraceEntry(Entry):
    """One call, or a run of `calls` that all hit; `traces` counts new traces, with their causes.

    `compared`: the arguments of the nearest key in the cache, from which the causes differ.
    """

    calls: int = 1
    traces: int = 0
    causes: tuple[Cause, ...] = ()
    compared: str = ""

    def __repr__(self) -> str:
        told = f"call {self.subject} with {self.arguments}: {self.verdict}"
        return f"{told} ({self.note})" if self.note else told

    @property
    def arguments(self) -> str:
        """Return the arguments, each as the type by which TensorFlow looks it up."""
        return self.verdicts[0].word

    @property
    def verdict(self) -> str:
        """Return hit, trace, error, eager where tf.function was set to run so, or empty.

        At a call that is empty, TensorFlow runs a function that does nothing and returns None.
        """
        return self.verdicts[1].word


@dataclass(frozen=True)
class TraceLedger(Ledger):
    """A ledger of calls, in the order in which they ended."""

    @property
    def traces(self) -> int:
        """How many traces these calls made."""
        return sum(entry.traces for entry in self.entries)

    @property
    def retraces(self) -> int:
        """How many rows traced though their function, or its code, had been traced before."""
        return sum(bool(entry.causes) for entry in self.entries)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Return one word per call."""
        return tuple(entry.verdict for entry in self.entries for _ in range(entry.calls))

    @property
    def counts(self) -> tuple[int, ...]:
        """Return, for each call, how many traces these calls had made after it."""
        totals = zip(self.entries, accumulate(e.traces for e in self.entries), strict=True)
        return tuple(total for entry, total in totals for _ in range(entry.calls))

    @property
    def causes(self) -> tuple[str, ...]:
        """Return the causes of all retraces, as sentences such as `n: Python value 1 → 2`."""
        return tuple(str(cause) for entry in self.entries for cause in entry.causes)


def trace_entry(subject: str, arguments: str, verdict: str, note: str = "", **more) -> TraceEntry:
    """Return an entry under the headings arguments and verdict, with the verdict's tone."""
    words = (Verdict(arguments), Verdict(verdict, TONES.get(verdict, "plain")))
    return TraceEntry(subject, words, note, **more)
