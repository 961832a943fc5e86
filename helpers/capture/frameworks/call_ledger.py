"""Run several cases, and make a table of the *landmarks* that each call passes on its way to C. A
case is a function with its arguments. A landmark is a function of TensorFlow that many ops pass,
such as `quick_execute`. A *route* says how the ops reach C: "fast path", "fallback", "graph" etc.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...model.call_records import CallTree
from ...model.phrase import format_names
from ...model.tables import Entry, Ledger, Verdict
from ...safety import progress
from ...safety.arguments import printable, require_dict, require_function, split_case
from ...safety.restoring import is_interrupted
from ..cpython.following import RecordingLimits
from ..cpython.settrace import INTERRUPTED, run_to_end
from .call_recorder import LANDMARKS, CallRecorder
from .call_tree import (
    HEARD_NOTE,
    MOST_CALLS,
    MOST_LISTED,
    describe_effects_on_profilers,
    has_uncounted_calls,
    run_under_recorder,
)
from .runnable import require_runnable

MOST_CASES = 200
NOTHING = "–"
TITLE = "The landmarks that each call reaches"
CASES_NEEDED = "name -> function, or (function, *arguments)"
MARKS = (("changed", "differs from the first column"),)
TWICE_NOTE = "Each case was called twice, and this is the second call."
ENDED_NOTE = "In the case '{}' the recorder {}, and nothing is known from there on."
LIMITED_NOTE = "Only some calls of {} are counted (depth=, only=, most=)."
STOPPED_NOTE = "You interrupted it in the case '{}'."


@dataclass(frozen=True)
class RecordedCase:
    """The second call of one case."""

    #: The name of the case, which heads its column.
    name: str
    #: The calls that were recorded.
    tree: CallTree
    #: The recorder, which knows what the tree does not show.
    recorder: CallRecorder


def build_calls_ledger(
    cases: Mapping[str, object], depth=None, only=None, most=MOST_CALLS
) -> Ledger:
    """Run every case twice, and return a table of the landmarks that each second call passes.

    `cases` maps the name of a case to a function, or to a tuple (function, *arguments). `depth`,
    `only` and `most` limit which calls are recorded (helpers/capture/cpython/following.py).
    """
    pairs = require_dict(cases, "watch_calls", CASES_NEEDED, MOST_CASES)
    calls_by_name = {printable(name): split_case(case) for name, case in pairs}
    for name, (fn, *_) in calls_by_name.items():
        require_function(fn, f"the case '{name}'")

    recorded: list[RecordedCase] = []
    stopped_note = ""
    for name, call in progress.report_each("watching call", calls_by_name.items()):
        try:
            recorded.append(_record_case(name, call, depth, only, most))
        except KeyboardInterrupt:
            # The cases that ended before Ctrl-C are shown. Without any, the interrupt is raised.
            if not (recorded and is_interrupted()):
                raise
        # Ctrl-C in the second call of a case raises nothing here, because `run_to_end` notes it.
        if is_interrupted():
            stopped_note = STOPPED_NOTE.format(name)
            break

    notes = [stopped_note, TWICE_NOTE, *_list_ledger_notes(recorded)]
    return Ledger(
        title=TITLE,
        subject="landmark",
        headings=tuple(case.name for case in recorded),
        entries=tuple(_list_entries(recorded)),
        note=" ".join(filter(None, notes)),
        marks=MARKS,
    )


def _record_case(name: str, call: tuple, depth, only, most) -> RecordedCase:
    """Call a function twice, and return what happened in the second call.

    `call` is (function, *arguments). The limits are those of `build_calls_ledger`. Ctrl-C in the
    first call raises KeyboardInterrupt.
    """
    fn, *args = call
    # The first call is not recorded: it may trace a tf.function or fill caches.
    if run_to_end(lambda: fn(*args)) == INTERRUPTED:
        raise KeyboardInterrupt
    function = require_runnable(fn, "watch_call")
    recorder = CallRecorder(function, RecordingLimits("watch_call", depth, only, most))
    tree = run_under_recorder(recorder, fn, args, {})
    return RecordedCase(name, tree, recorder)


def _list_entries(recorded: list[RecordedCase]) -> list[Entry]:
    """Return the rows of the table, each with a cell for each case.

    The rows are the route, what the calls raised, two counts of calls, and each landmark that at
    least one call passes.
    """
    routes = []
    for case in recorded:
        # `end_reason` says why the recorder ended before the call did.
        routes.append("not known" if case.recorder.end_reason else case.tree.route)
    entries = [_build_entry("route", routes)]

    # `outcome` is the error in words, "" if the call returned. The route "refused" already says
    # that an op raised, so such an error alone needs no row.
    if any(case.tree.outcome and case.tree.route != "refused" for case in recorded):
        errors = [case.tree.outcome.partition(":")[0] or NOTHING for case in recorded]
        entries.append(_build_entry("raised", errors))

    call_counts = []
    c_call_counts = []
    for case in recorded:
        call_counts.append(str(len(case.tree.calls)))
        c_call_counts.append(str(sum(call.c for call in case.tree.calls)))
    entries.append(_build_counting_entry("all calls", call_counts, recorded))
    entries.append(_build_counting_entry("calls of C functions", c_call_counts, recorded))

    for landmark in LANDMARKS:
        cells = [_format_landmark(case.tree, landmark) for case in recorded]
        if any(cell != NOTHING for cell in cells):
            entries.append(_build_counting_entry(landmark, cells, recorded))
    return entries


def _format_landmark(tree: CallTree, landmark: str) -> str:
    """Return how often a tree passes a landmark, such as "×2" or "×2, raised"; NOTHING for never.

    "raised" says that all calls of the landmark raised.
    """
    calls = [call for call in tree.calls if call.name == landmark]
    if not calls:
        return NOTHING
    if all(call.raised for call in calls):
        return f"×{len(calls)}, raised"
    return f"×{len(calls)}"


def _build_counting_entry(subject: str, cells: list[str], recorded: list[RecordedCase]) -> Entry:
    """Return a row of counts. A count of a recorder that ended early says so in its cell."""
    limited_cells = []
    for cell, case in zip(cells, recorded, strict=True):
        if case.recorder.end_reason:
            cell = f"{cell} until the recorder was lost"
        limited_cells.append(cell)
    return _build_entry(subject, limited_cells)


def _build_entry(subject: str, cells: list[str]) -> Entry:
    """Return a row, in which cells that differ from the first cell have the tone "changed"."""
    verdicts = []
    for cell in cells:
        tone = "plain" if cell == cells[0] else "changed"
        verdicts.append(Verdict(cell, tone))
    return Entry(subject, tuple(verdicts))


def _list_ledger_notes(recorded: list[RecordedCase]) -> Iterable[str]:
    """Yield the sentences on what the table does not show."""
    limited_cases = [
        case.name
        for case in recorded
        if has_uncounted_calls(case.recorder) and not case.recorder.end_reason
    ]
    if limited_cases:
        yield LIMITED_NOTE.format(format_names(limited_cases, MOST_LISTED))
    for case in recorded:
        if case.recorder.end_reason:
            yield ENDED_NOTE.format(case.name, case.recorder.end_reason)
    if any(case.recorder.profilers.is_heard for case in recorded):
        yield HEARD_NOTE
    # On how recording affects profilers of the program. Equal sentences are returned once.
    yield from dict.fromkeys(describe_effects_on_profilers(case.recorder) for case in recorded)
