"""Programs on a variable of each kind -> what they saw, over many runs of one graph.

RefVariable: tensorflow/python/ops/ref_variable.py. ResourceVariable: resource_variable_ops.py
there; its kernel copies a buffer that somebody else still holds before an update.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import make_dataclass

from ...model.noise import OVERLAP
from ...model.phrase import counted, interrupted
from ...model.tables import Column, Entry, Ledger, Listing, Verdict
from ...safety import progress
from ...safety.arguments import called, printable, real_isinstance, require_int, table
from ...safety.restoring import is_interrupted, note_interrupt
from ..cpython.objects import name_of
from ..text.error import error_message
from ..text.value import short_repr

KINDS = {"RefVariable": False, "ResourceVariable": True}  # kind -> use_resource
MARKS = (("changed", "not the result with a RefVariable"),)
THREADS = 4
BAR, SEVERAL = 30, "; or "
ROUNDS = 5  # in which the runs of a race are counted, so that it shows how much they vary
MOST_RUNS, MOST_PROGRAMS, MOST_OUTCOMES, MOST_ELEMENTS = 100_000, 100, 20, 8
PROGRAMS = "name -> a program, a function of (v, one)"
POSSIBLE = "An outcome that did not come up may still be possible."
ANY_ORDER = "Ops that a graph does not order may run in any order. The counts are from this "
ANY_ORDER += f"machine and this run. {POSSIBLE}"
COUNTED = "The share of each outcome is counted in {}, too. "
OUTCOME = {"variable": "variable", "saw": "saw", "runs": "runs", "share": "share"}
OUTCOME["between"] = "in each round"
Outcome = make_dataclass("Outcome", OUTCOME, frozen=True)


class Histogram(Listing):
    """A listing of outcomes that can be asked for what one kind of variable saw."""

    def saw(self, variable: str) -> tuple[str, ...]:
        """Return the outcomes of one kind of variable, the most frequent first."""
        return tuple(row.saw for row in self.rows if row.variable == variable)


def variables_ledger(programs: Mapping[str, Callable], runs: int = 100) -> Ledger:
    """Run programs with a RefVariable and with a ResourceVariable, and compare what they saw."""
    runs = require_int(runs, "runs=", MOST_RUNS)
    entries, found = [], table(programs, "watch_variables", PROGRAMS, MOST_PROGRAMS)
    stopped = ""
    for name, program in progress.counted(f"{runs} runs of program", found):
        seen, subject = [], printable(name)
        for kind in KINDS:
            seen.append(outcomes(program, kind, runs, f"the program '{subject}'"))
            if is_interrupted():
                stopped = interrupted(len(entries), "program")
                break
        if stopped:
            break
        entries.append(_compare_outcomes(subject, *seen))
    if stopped and not entries:
        raise KeyboardInterrupt
    note = f"Each program was run {runs} times with each kind, on {THREADS} threads."
    if any(SEVERAL in verdict.word for entry in entries for verdict in entry.verdicts):
        note += f" {POSSIBLE}"
    note = f"{stopped} {note}".lstrip()
    title = "What each program saw"
    return Ledger(title, "program", tuple(KINDS), tuple(entries), note, marks=MARKS)


def _compare_outcomes(subject: str, one: Counter, other: Counter) -> Entry:
    """Return the row of a program. Equal results are no change, however often each came up."""
    tones = "plain", "plain" if one.keys() == other.keys() else "changed"
    return Entry(subject, tuple(map(Verdict, map(_tell_outcomes, (one, other)), tones)))


def _tell_outcomes(counted: Counter) -> str:
    seen = _most_frequent(counted)
    if len(seen) == 1:
        return seen[0][0]
    return SEVERAL.join(f"{saw} ({_often(times)})" for saw, times in seen)


def _often(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def race_histogram(program: Callable, runs: int = 500) -> Histogram:
    """Count what a program of `watch_variables` sees in many runs with each kind of variable."""
    runs = require_int(runs, "runs=", MOST_RUNS)
    rows, done = [], 0
    note = COUNTED.format(counted(min(ROUNDS, runs), "round"))
    note += f"{OVERLAP.format('outcomes')} {ANY_ORDER}"
    for kind in progress.counted(f"{runs} runs with variable", KINDS):
        rounds = count_rounds(program, kind, runs)
        total = sum(rounds, Counter())
        done += total.total()
        rows += _race_rows(kind, total, rounds, runs)
        if is_interrupted():
            if not done:
                raise KeyboardInterrupt
            note = f"{interrupted(done, 'run')} {note}"
            break
    columns = tuple(Column(name, words, name == "share") for name, words in OUTCOME.items())
    return Histogram(f"{name_of(program)}, {runs} runs with each kind", columns, tuple(rows), note)


def _race_rows(kind: str, total: Counter, rounds: list[Counter], runs: int) -> Iterator[Outcome]:
    """Yield a row for each outcome of one kind of variable, the most frequent first."""
    rows = _most_frequent(total)
    named = {saw for saw, _ in rows if saw in total}
    for saw, times in rows:
        shares = [_share(saw, named, counts) for counts in rounds if counts]
        bar = "█" * max(1, round(BAR * times / runs))
        yield Outcome(kind, saw, times, bar, f"{min(shares):.0f} to {max(shares):.0f} %")


def _share(saw: str, named: set[str], counts: Counter) -> float:
    """Return the share of an outcome in one round, in per cent; without a name, of the rest."""
    if saw in named:
        return 100 * counts[saw] / counts.total()
    rest = sum(times for outcome, times in counts.items() if outcome not in named)
    return 100 * rest / counts.total()


def _most_frequent(seen: Counter) -> list[tuple[str, int]]:
    first, more = seen.most_common(MOST_OUTCOMES), len(seen) - MOST_OUTCOMES
    others = seen.total() - sum(times for _, times in first)
    return first + [(f"({more} other outcomes)", others)] * (more > 0)


def outcomes(program: Callable, kind: str, runs: int, what: str = "the program") -> Counter:
    """Return what so many runs of a program gave, in words, and how often.

    After an interrupt the verb under way has noted it, and some runs are missing.
    """
    return sum(count_rounds(program, kind, runs, what), Counter())


def count_rounds(
    program: Callable, kind: str, runs: int, what: str = "the program"
) -> list[Counter]:
    """Return the same as `outcomes`, counted for each of the rounds, which follow each other."""
    called(program, what)
    rounds = [Counter() for _ in range(min(ROUNDS, runs))]
    try:
        _run_often(*_build(program, kind, what), runs, what, rounds)
    except KeyboardInterrupt as error:
        note_interrupt(error)
    return rounds


def _run_often(graph, fetches, initialiser, runs: int, what: str, rounds: list[Counter]) -> None:
    """Run a program so many times, and count in `rounds` what each run gave."""
    import tensorflow as tf

    threads = {"inter_op_parallelism_threads": THREADS, "use_per_session_threads": True}
    v1 = tf.compat.v1
    with v1.Session(graph=graph, config=v1.ConfigProto(**threads)) as session:
        for number in range(runs):
            seen = rounds[number * len(rounds) // runs]
            session.run(initialiser)
            try:
                seen[_words(session.run(fetches))] += 1
            except tf.errors.OpError as error:
                seen[error_message(error)] += 1
            except Exception as error:  # not a fetch
                needed = f"a program must return tensors or ops of its graph, and {what} does not"
                raise ValueError(f"{needed}: {error_message(error)}") from None


def _build(program, kind: str, what: str = "the program"):
    """Return (graph, fetches, initialiser); ValueError says what the program raised."""
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        v = v1.Variable(0.0, use_resource=KINDS[kind], name="v")
        one = v1.placeholder_with_default(1.0, (), name="one")
        try:
            fetches = program(v, one)
        except Exception as error:
            raise ValueError(f"{what} raised {error_message(error)}") from None
    return graph, fetches, v.initializer


def _words(found) -> str:
    """Return what a run gave in words that tell results apart: values, not only their shapes."""
    import numpy as np

    if real_isinstance(found, list, tuple):
        return ", ".join(map(_words, found))
    if real_isinstance(found, dict):
        return ", ".join(f"{name}: {_words(value)}" for name, value in found.items())
    if real_isinstance(found, np.ndarray) and found.ndim:
        return _array_words(found)
    if real_isinstance(found, np.integer):
        return str(int(found))
    if real_isinstance(found, np.floating):
        return f"{float(found):g}" if float(f"{float(found):g}") == found else str(found)
    return "done" if found is None else short_repr(found)  # None: an op gives nothing to fetch


def _array_words(array) -> str:
    if array.size <= MOST_ELEMENTS:
        return f"[{', '.join(map(_words, array))}]"
    about = f"{array.dtype} {list(array.shape)}"
    if array.dtype.kind not in "iuf":
        return about
    low, high, total = (_words(read()) for read in (array.min, array.max, array.sum))
    return f"{about} of {low}" if low == high else f"{about} from {low} to {high}, sum {total}"
