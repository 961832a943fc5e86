"""What the calls of one way changed -> the verdict of that way, and the sentences of the row."""

from ...model.phrase import format_names
from ...model.tables import Verdict
from ...safety.arguments import real_type_name
from . import reachable_state
from .mutation_runs import WayRun
from .state_kinds import can_change

UNCHANGED = "caller's unchanged"
NOT_KNOWN = "not known what changed"
AT_BOTH = "changed at every call"
AT_SECOND = "changed at the second call only"
AT_FIRST = "changed at the first call, not at the second"
AT_TRACE = "changed at the trace, not at the hit"
AT_SOME_CALLS = (AT_FIRST, AT_TRACE, AT_SECOND)
MODIFIED = "parameter(s) were modified:"  # TensorFlow's words before the names
SEEDED = "TensorFlow cannot put back what a random op with a seed has drawn"
MOST_NAMED = 10  # paths in a sentence


def describe_run(run: WayRun) -> tuple[Verdict, list[str]]:
    """Return the verdict of one way, and the sentences that say what it leaves out."""
    unseen_types = _list_unseen_types(run)
    reachable = run.reachable
    is_known = not unseen_types and not reachable.ways_around_names and not reachable.is_cut
    changes = _describe_changes(run)
    outcome = changes or (UNCHANGED if is_known else NOT_KNOWN)
    sentences = _describe_limits(run, unseen_types)

    leaked = ""
    if run.leaked_paths:
        leaked = f"; a graph tensor stays in {format_names(run.leaked_paths, MOST_NAMED)}"
    if not run.error:
        return Verdict(f"no error; {outcome}{leaked}", _find_tone(run, outcome)), sentences

    error_type, _, _ = run.error.partition(":")
    is_of_tensorflow = MODIFIED in run.error
    first = run.error
    if is_of_tensorflow:
        _, _, names = run.error.partition(MODIFIED)
        first = f"the error names {names.strip()}"
    # TensorFlow has refused the change, unless some of it was made all the same.
    is_refused = is_of_tensorflow and not changes
    verdict = Verdict(f"{error_type}; {outcome}{leaked}", "refused" if is_refused else "failed")
    return verdict, [first, *sentences]


def _find_tone(run: WayRun, outcome: str) -> str:
    """Return the tone of a verdict without an error."""
    if run.leaked_paths:
        return "failed"
    if any(moment in outcome for moment in AT_SOME_CALLS):
        return "changed"
    return "plain"


def _list_unseen_types(run: WayRun) -> str:
    """Return the types of the objects that can be changed, and that are not compared."""
    reachable = run.reachable
    unseen = [
        leaf for leaf in reachable.leaves if can_change(leaf) or reachable.sets_attribute_of(leaf)
    ]
    return ", ".join(dict.fromkeys(real_type_name(leaf) for leaf in unseen))


def _describe_limits(run: WayRun, unseen_types: str) -> list[str]:
    """Return sentences on what was not compared or restored, and on threads that raised."""
    sentences = []
    if unseen_types:
        sentences.append(f"neither copied nor compared: {unseen_types}")
    if run.draws_with_seed:
        sentences.append(SEEDED)
    if run.reachable.is_cut:
        limit = f"{reachable_state.MOST_OBJECTS:,} objects"
        sentences.append(f"not compared: what it reaches beyond {limit}")
    if run.reachable.ways_around_names:
        ways = format_names(sorted(run.reachable.ways_around_names), MOST_NAMED)
        sentences.append(f"not compared: what it reaches by {ways} and does not name")
    for message in run.thread_errors:
        sentences.append(f"a thread that it starts raised {message}")
    return sentences


def _describe_changes(run: WayRun) -> str:
    """Return which paths changed, grouped by the calls that changed them; "" for no change."""
    paths = {}  # as a set with an order
    for call in run.calls:
        paths |= dict.fromkeys(call.changes)
    paths_by_moment: dict[str, list[str]] = {}
    for path in paths:
        paths_by_moment.setdefault(_name_moment(run, path), []).append(path)
    groups = paths_by_moment.items()
    return "; ".join(f"{moment}: {format_names(found, MOST_NAMED)}" for moment, found in groups)


def _name_moment(run: WayRun, path: str) -> str:
    """Return at which of the two calls a path changed."""
    if run.error:
        return "changed"
    first, second = run.calls
    if path in first.changes and path in second.changes:
        return AT_BOTH
    if path in second.changes:
        return AT_SECOND
    is_traced_once = first.trace_count > 0 and second.trace_count == 0
    return AT_TRACE if is_traced_once else AT_FIRST
