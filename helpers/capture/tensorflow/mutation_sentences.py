"""What the calls of one way changed -> the verdict of that way, and the sentences of the row. A
*way* is how a function is run: as plain Python, as a tf.function, by torch.compile. A verdict is
the text of one cell, as in "no error; changed at every call: self.items".
"""

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
    """Return the verdict of one way, and sentences on the error and on what was not compared.

    The verdict begins with the type of the error, or "no error". Then it says what changed, and
    which graph tensors have leaked into the program.
    """
    uncompared_types = _list_uncompared_types(run)
    reachable = run.reachable
    changes = _describe_changes(run)
    outcome = changes
    if not changes:
        # "Unchanged" is true only if all that the function can reach was compared.
        is_incomplete = uncompared_types or reachable.ways_around_names or reachable.is_cut
        outcome = NOT_KNOWN if is_incomplete else UNCHANGED
    sentences = _describe_limits(run, uncompared_types)

    leaked = ""
    if run.leaked_paths:
        leaked = f"; a graph tensor stays in {format_names(run.leaked_paths, MOST_NAMED)}"
    if not run.error:
        return Verdict(f"no error; {outcome}{leaked}", _find_tone(run, outcome)), sentences

    error_type, _, _ = run.error.partition(":")
    # TensorFlow raises an error with this text if a traced function changes its arguments.
    is_check_of_tensorflow = MODIFIED in run.error
    error_sentence = run.error
    if is_check_of_tensorflow:
        _, _, names = run.error.partition(MODIFIED)
        error_sentence = f"the error names {names.strip()}"
    # If the error came too late and something did change, TensorFlow has not refused the change.
    is_refused = is_check_of_tensorflow and not changes
    verdict = Verdict(f"{error_type}; {outcome}{leaked}", "refused" if is_refused else "failed")
    return verdict, [error_sentence, *sentences]


def _find_tone(run: WayRun, outcome: str) -> str:
    """Return the tone in which a verdict without an error is drawn.

    A leak is a failure. A change that only one of the two calls makes is marked, because a function
    that TensorFlow or Dynamo has compiled does not repeat the change. `outcome` is the text of the
    verdict.
    """
    if run.leaked_paths:
        return "failed"
    if any(moment in outcome for moment in AT_SOME_CALLS):
        return "changed"
    return "plain"


def _list_uncompared_types(run: WayRun) -> str:
    """Return the types of the objects that may have changed without being compared, or "".

    A *leaf* is an object that the search reached and did not look into, such as an array.
    """
    reachable = run.reachable
    names = {}  # as a set with an order
    for leaf in reachable.leaves:
        if can_change(leaf) or reachable.sets_attribute_of(leaf):
            names[real_type_name(leaf)] = None
    return ", ".join(names)


def _describe_limits(run: WayRun, uncompared_types: str) -> list[str]:
    """Return sentences on what was not compared or restored, and on threads that raised."""
    sentences = []
    if uncompared_types:
        sentences.append(f"neither copied nor compared: {uncompared_types}")
    if run.draws_with_seed:
        sentences.append(SEEDED)
    if run.reachable.is_cut:
        limit = f"{reachable_state.MOST_OBJECTS:,} objects"
        sentences.append(f"not compared: what it reaches beyond {limit}")
    if run.reachable.ways_around_names:  # such as `exec`, by which code reaches any object
        ways = format_names(sorted(run.reachable.ways_around_names), MOST_NAMED)
        sentences.append(f"not compared: what it reaches by {ways} and does not name")
    for message in run.thread_errors:
        sentences.append(f"a thread that it starts raised {message}")
    return sentences


def _describe_changes(run: WayRun) -> str:
    """Return which paths changed, grouped by the calls that changed them; "" for no change.

    For example "changed at every call: a, b; changed at the second call only: c".
    """
    paths = {}  # as a set with an order
    for call in run.calls:
        paths |= dict.fromkeys(call.changes)
    paths_by_moment: dict[str, list[str]] = {}
    for path in paths:
        paths_by_moment.setdefault(_name_moment(run, path), []).append(path)
    groups = [
        f"{moment}: {format_names(changed_paths, MOST_NAMED)}"
        for moment, changed_paths in paths_by_moment.items()
    ]
    return "; ".join(groups)


def _name_moment(run: WayRun, path: str) -> str:
    """Return the phrase for the calls at which a path changed, as in "changed at every call"."""
    if run.error:  # then there may be no second call
        return "changed"
    first, second = run.calls
    if path in first.changes and path in second.changes:
        return AT_BOTH
    if path in second.changes:
        return AT_SECOND
    # A tf.function runs the Python code only while it is traced.
    is_traced_once = first.trace_count > 0 and second.trace_count == 0
    return AT_TRACE if is_traced_once else AT_FIRST
