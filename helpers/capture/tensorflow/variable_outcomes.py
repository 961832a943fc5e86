"""Programs on a variable of each kind -> a ledger and a histogram of what their runs returned."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from ...model.noise import OVERLAP
from ...model.outcome_records import Histogram, VariableOutcome
from ...model.phrase import describe_interruption, format_count
from ...model.tables import Column, Entry, Ledger, Verdict
from ...safety import progress
from ...safety.arguments import printable, require_dict, require_int
from ...safety.restoring import is_interrupted
from ..cpython.objects import read_title_name
from .variable_runs import KINDS, ROUNDS, THREADS, count_outcomes, count_rounds

MARKS = (("changed", "not the result with a RefVariable"),)
LONGEST_BAR = 30  # characters, for an outcome of all runs
SEVERAL = "; or "  # stands between several outcomes
MOST_RUNS = 100_000
MOST_PROGRAMS = 100
MOST_OUTCOMES = 20  # of one program that have a row of their own
PROGRAMS = "name -> a program, a function of (v, one)"
POSSIBLE = "An outcome that did not come up may still be possible."
ANY_ORDER = (
    "Ops that a graph does not order may run in any order. The counts are from this "
    f"machine and this run. {POSSIBLE}"
)
COUNTED = "The share of each outcome is counted in {}, too. "
COLUMNS = (
    Column("variable", "variable"),
    Column("saw", "saw"),
    Column("runs", "runs"),
    Column("share", "share", code=True),
    Column("between", "in each round"),
)


def build_variables_ledger(programs: Mapping[str, Callable], runs: int = 100) -> Ledger:
    """Run programs with a RefVariable and with a ResourceVariable, and compare the outcomes."""
    runs = require_int(runs, "runs=", MOST_RUNS)
    checked_programs = require_dict(programs, "watch_variables", PROGRAMS, MOST_PROGRAMS)
    entries = []
    interruption = ""
    for name, program in progress.counted(f"{runs} runs of program", checked_programs):
        entry = _run_program(printable(name), program, runs)
        if entry is None:
            if not entries:
                raise KeyboardInterrupt
            interruption = describe_interruption(len(entries), "program")
            break
        entries.append(entry)

    note = f"Each program was run {runs} times with each kind, on {THREADS} threads."
    if _has_several_outcomes(entries):
        note += f" {POSSIBLE}"
    if interruption:
        note = f"{interruption} {note}"
    title = "What each program saw"
    return Ledger(title, "program", tuple(KINDS), tuple(entries), note, marks=MARKS)


def _run_program(name: str, program: Callable, runs: int) -> Entry | None:
    """Return the row of one program; None if Ctrl-C has interrupted the runs."""
    outcomes_by_kind = []
    for kind in KINDS:
        outcomes = count_outcomes(program, kind, runs, subject=f"the program '{name}'")
        if is_interrupted():
            return None
        outcomes_by_kind.append(outcomes)
    return build_program_entry(name, *outcomes_by_kind)


def _has_several_outcomes(entries: list[Entry]) -> bool:
    """Return whether a program has returned something else in another run."""
    return any(SEVERAL in verdict.word for entry in entries for verdict in entry.verdicts)


def build_program_entry(name: str, ref_outcomes: Counter, resource_outcomes: Counter) -> Entry:
    """Return the row of a program: the outcomes with a RefVariable and with a ResourceVariable.

    The second verdict is marked if an outcome came up with only one of them. How often it came up
    is no difference.
    """
    is_same = ref_outcomes.keys() == resource_outcomes.keys()
    first = Verdict(_describe_outcomes(ref_outcomes))
    second = Verdict(_describe_outcomes(resource_outcomes), "plain" if is_same else "changed")
    return Entry(name, (first, second))


def _describe_outcomes(outcomes: Counter) -> str:
    """Return the only outcome, or several with how often each came up."""
    rows = _list_most_frequent(outcomes)
    if len(rows) == 1:
        [(only_outcome, _)] = rows
        return only_outcome
    return SEVERAL.join(f"{outcome} ({_format_times(times)})" for outcome, times in rows)


def _format_times(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def build_race_histogram(program: Callable, runs: int = 500) -> Histogram:
    """Count what a program of `watch_variables` sees in many runs with each kind of variable."""
    runs = require_int(runs, "runs=", MOST_RUNS)
    round_count = format_count(min(ROUNDS, runs), "round")
    note = COUNTED.format(round_count) + f"{OVERLAP.format('outcomes')} {ANY_ORDER}"
    rows = []
    finished_runs = 0
    for kind in progress.counted(f"{runs} runs with variable", KINDS):
        rounds = count_rounds(program, kind, runs)
        total = sum(rounds, Counter())
        finished_runs += total.total()
        rows += build_race_rows(kind, total, rounds, runs)
        if is_interrupted():
            if not finished_runs:
                raise KeyboardInterrupt
            note = f"{describe_interruption(finished_runs, 'run')} {note}"
            break
    title = f"{read_title_name(program)}, {runs} runs with each kind"
    return Histogram(title, COLUMNS, tuple(rows), note)


def build_race_rows(
    kind: str, total: Counter, rounds: list[Counter], runs: int
) -> Iterator[VariableOutcome]:
    """Yield a row for each outcome of one kind of variable, the most frequent first.

    `total` counts the outcomes of all rounds, and `runs` is the number of runs that were wanted.
    """
    rows = _list_most_frequent(total)
    # The last row may stand for all other outcomes; its text is no outcome.
    named_outcomes = {outcome for outcome, _ in rows if outcome in total}
    for outcome, times in rows:
        shares = [_find_share(outcome, named_outcomes, counts) for counts in rounds if counts]
        bar = "█" * max(1, round(LONGEST_BAR * times / runs))
        between = f"{min(shares):.0f} to {max(shares):.0f} %"
        yield VariableOutcome(kind, outcome, times, bar, between)


def _find_share(outcome: str, named_outcomes: set[str], counts: Counter) -> float:
    """Return the share of an outcome in one round, in per cent.

    An outcome that is not among the named ones stands for all the others together.
    """
    times = counts[outcome]
    if outcome not in named_outcomes:
        times = sum(count for other, count in counts.items() if other not in named_outcomes)
    return 100 * times / counts.total()


def _list_most_frequent(outcomes: Counter) -> list[tuple[str, int]]:
    """Return the most frequent outcomes with their counts, and one row for all the others."""
    rows = outcomes.most_common(MOST_OUTCOMES)
    left_out = len(outcomes) - MOST_OUTCOMES
    if left_out > 0:
        other_times = outcomes.total() - sum(times for _, times in rows)
        rows.append((f"({left_out} other outcomes)", other_times))
    return rows
