"""Programs on a variable of each kind -> what they saw, over many runs of one graph.

RefVariable: tensorflow/python/ops/ref_variable.py, kernels in core/kernels/variable_ops.cc and
assign_op.h. ResourceVariable: python/ops/resource_variable_ops.py, core/kernels/
resource_variable_ops.cc, whose update copies a buffer that somebody else still holds.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from helpers.capture.said import said
from helpers.capture.tf_graphs import tf_graph
from helpers.model.graph import Graph
from helpers.model.ledger import Entry, Ledger, Verdict
from helpers.model.listing import Column, Listing

KINDS = {"RefVariable": False, "ResourceVariable": True}  # kind -> use_resource
THREADS = 4
BAR = 30


@dataclass(frozen=True)
class Seen:
    """What so many runs saw. `share` is a bar of blocks, as long as its part of all runs."""

    variable: str
    saw: str
    runs: int
    share: str


@dataclass(frozen=True)
class Histogram(Listing):
    """A listing of outcomes that can be asked for what one kind of variable saw."""

    def saw(self, variable: str) -> tuple[str, ...]:
        """Return the outcomes of one kind of variable, the most frequent first."""
        return tuple(row.saw for row in self.rows if row.variable == variable)


def variables_ledger(programs: Mapping[str, Callable], runs: int = 100) -> Ledger:
    """Return what each program sees with each kind of variable, starting at 0 in every run.

    A program is a function of a variable of one number and of the number 1 as a tensor; it builds
    its ops and returns what is to be fetched. What differs between runs is told with its counts.
    """
    if not isinstance(programs, Mapping) or not programs:
        raise TypeError("watch_variables needs a dict: name -> a program, a function of (v, one)")
    entries = []
    for name, program in programs.items():
        words = [_told(outcomes(program, kind, runs)) for kind in KINDS]
        tones = ("plain", "changed" if words[0] != words[1] else "plain")
        entries.append(Entry(name, tuple(map(Verdict, words, tones))))
    note = f"Each program was run {runs} times with each kind, on {THREADS} threads."
    return Ledger("What each program saw", "program", tuple(KINDS), tuple(entries), note)


def race_histogram(program: Callable, runs: int = 500) -> Histogram:
    """Return how often `program` saw what, with each kind of variable."""
    rows = [
        Seen(kind, saw, count, "█" * max(1, round(BAR * count / runs)))
        for kind in KINDS
        for saw, count in outcomes(program, kind, runs).most_common()
    ]
    columns = (
        Column("variable", "variable"),
        Column("saw", "saw"),
        Column("runs", "runs"),
        Column("share", "share", True),
    )
    note = (
        "What a graph does not order may come in any order. These counts belong to this machine "
        "and this minute; an outcome that never came up is not forbidden."
    )
    title = f"{getattr(program, '__name__', 'program')}, {runs} runs with each kind"
    return Histogram(title, columns, tuple(rows), note)


def outcomes(program: Callable, kind: str, runs: int) -> Counter:
    """Return what so many runs of a program gave, in words, and how often.

    ValueError if there is no such kind of variable; TypeError if `program` cannot be called.
    """
    if not callable(program):
        raise TypeError("a program must be a function of a variable and the number 1")
    return _run(*_built(program, kind), runs)


def program_graph(program: Callable, kind: str) -> Graph:
    """Return the graph of a program, without what only initialises the variable."""
    graph, _, _ = _built(program, kind)
    return tf_graph(graph, title=f"The program with a {kind}")


def _built(program, kind: str):
    """Return (graph, fetches, initialiser), or raise what the program raises."""
    import tensorflow as tf

    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is unknown; use one of {', '.join(KINDS)}")
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v = v1.Variable(0.0, use_resource=KINDS[kind], name="v")
        fetches = program(v, v1.placeholder_with_default(1.0, (), name="one"))
    return graph, fetches, v.initializer


def _run(graph, fetches, initialiser, runs: int) -> Counter:
    import tensorflow as tf

    counted = Counter()
    config = tf.compat.v1.ConfigProto(
        inter_op_parallelism_threads=THREADS, use_per_session_threads=True
    )
    with tf.compat.v1.Session(graph=graph, config=config) as session:
        for _ in range(runs):
            session.run(initialiser)
            try:
                counted[_words(session.run(fetches))] += 1
            except tf.errors.OpError as error:
                counted[said(error)] += 1
    return counted


def _words(found) -> str:
    if isinstance(found, (list, tuple)):
        return ", ".join(map(_words, found))
    return f"{float(found):g}"


def _told(counted: Counter) -> str:
    if len(counted) == 1:
        return next(iter(counted))
    return "; or ".join(f"{saw} ({count} times)" for saw, count in counted.most_common())
