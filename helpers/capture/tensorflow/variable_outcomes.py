"""Programs on a variable of each kind -> a ledger and a histogram of what their runs returned.
TensorFlow has two kinds of variables, RefVariable and ResourceVariable. A program builds a graph
whose ops read and update one variable, on several threads. So each run may return something else.
What a run returned, as text, is an *outcome*, and a Counter maps each outcome to its number of
runs.
"""

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
    """Run programs with a RefVariable and with a ResourceVariable, and compare the outcomes.

    `programs` maps a name to a program, a function of (v, one) that returns tensors. Each is run
    `runs` times with each kind. After Ctrl-C, the ledger has the programs that were finished.
    """
    runs = require_int(runs, "runs=", MOST_RUNS)
    checked_programs = require_dict(programs, "watch_variables", PROGRAMS, MOST_PROGRAMS)
    entries = []
    interruption = ""
    for name, program in progress.report_each(f"{runs} runs of program", checked_programs):
        entry = _run_program(printable(name), program, runs)
        if entry is None:  # Ctrl-C
            if not entries:  # there is nothing to show
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
    """Return whether any program had more than one outcome with one kind of variable."""
    return any(SEVERAL in verdict.word for entry in entries for verdict in entry.verdicts)


def build_program_entry(name: str, ref_outcomes: Counter, resource_outcomes: Counter) -> Entry:
    """Return the row of a program: the outcomes with a RefVariable and with a ResourceVariable.

    The second verdict is marked if an outcome came up with only one kind. How often an outcome came
    up does not matter.
    """
    is_same = ref_outcomes.keys() == resource_outcomes.keys()
    first = Verdict(_describe_outcomes(ref_outcomes))
    second = Verdict(_describe_outcomes(resource_outcomes), "plain" if is_same else "changed")
    return Entry(name, (first, second))


def _describe_outcomes(outcomes: Counter) -> str:
    """Return the outcomes as text: "3", or "3 (98 times); or 2 (2 times)" if there are several."""
    rows = _list_most_frequent(outcomes)
    if len(rows) == 1:
        [(only_outcome, _)] = rows
        return only_outcome
    return SEVERAL.join(f"{outcome} ({_format_times(times)})" for outcome, times in rows)


def _format_times(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def build_race_histogram(program: Callable, runs: int = 500) -> Histogram:
    """Count what a program of `watch_variables` returns in many runs with each kind of variable.

    The runs are divided into rounds, so that a reader sees how much the shares vary. After Ctrl-C,
    the histogram has the runs that were finished.
    """
    runs = require_int(runs, "runs=", MOST_RUNS)
    round_count = format_count(min(ROUNDS, runs), "round")
    note = COUNTED.format(round_count) + f"{OVERLAP.format('outcomes')} {ANY_ORDER}"
    rows = []
    finished_runs = 0
    for kind in progress.report_each(f"{runs} runs with variable", KINDS):
        rounds = count_rounds(program, kind, runs)
        total = sum(rounds, Counter())  # each round is a Counter of outcomes
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

    `rounds` count the outcomes of each round, and `total` those of all rounds. `runs` is the number
    of runs that were wanted, for which a bar has its full length.
    """
    rows = _list_most_frequent(total)
    # The last row may stand for all outcomes that have no row of their own. Its text is no outcome.
    named_outcomes = {outcome for outcome, _ in rows if outcome in total}
    for outcome, times in rows:
        # After Ctrl-C, a round may have no runs.
        shares = [_find_share(outcome, named_outcomes, counts) for counts in rounds if counts]
        bar = "█" * max(1, round(LONGEST_BAR * times / runs))
        between = f"{min(shares):.0f} to {max(shares):.0f} %"
        yield VariableOutcome(kind, outcome, times, bar, between)


def _find_share(outcome: str, named_outcomes: set[str], counts: Counter) -> float:
    """Return the share of an outcome in one round, in per cent.

    `counts` are those of the round. If `outcome` is not one of the `named_outcomes`, it is the text
    of the row for all other outcomes, and the result is their share together.
    """
    times = counts[outcome]
    if outcome not in named_outcomes:
        times = sum(count for other, count in counts.items() if other not in named_outcomes)
    return 100 * times / counts.total()


def _list_most_frequent(outcomes: Counter) -> list[tuple[str, int]]:
    """Return (outcome, number of runs) of the most frequent outcomes, and one pair for the others.

    The last pair is, for example, ("(3 other outcomes)", 7) if there are more than MOST_OUTCOMES.
    """
    rows = outcomes.most_common(MOST_OUTCOMES)
    left_out = len(outcomes) - MOST_OUTCOMES
    if left_out > 0:
        other_times = outcomes.total() - sum(times for _, times in rows)
        rows.append((f"({left_out} other outcomes)", other_times))
    return rows
