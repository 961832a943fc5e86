"""Write the sentences that say whether the learner's lines ran in a call, or what ran instead, from
the CallRecord of the call. Code has one of three owners: `YOU` (the learner), `AUTOGRAPH` (the part
of TensorFlow that rewrites functions) and `DYNAMO` (the compiler of torch).
"""

from ...model.phrase import describe_interruption, format_count, format_names
from ..cpython.aside import (
    HOOK_NAMES_IN_SYS,
    HOOK_NAMES_OF_COLLECTOR,
    HOOK_NAMES_ON_FRAMES,
    describe_visible_hooks,
)
from ..text.source import format_place
from .call_tree import HEARD_NOTE
from .journey_record import AUTOGRAPH, DYNAMO, YOU, CallRecord, RecorderEnd
from .journey_stations import describe_no_line, list_ops_in_graph, list_ops_that_call_python

REPLACED = (
    "Your code set another {}, or none, in place of the recorder{}. Which {} there were "
    "from there on is not known."
)
STOPPED = (
    "The recorder of calls stopped after {:,} frames of other modules, because following all "
    "would take too long. Which calls there were from there on is not known."
)
OPS_HEARD = "A profiler that it set also hears the recorder of ops."
LISTED_OPS = 3


# -- whose lines ran ---------------------------------------------------------------------------


def describe_lines(record: CallRecord) -> str:
    """Return the sentence on which of the learner's lines ran.

    Without the learner's globals (`has_globals`), the called function is a library's.
    """
    if not record.has_globals:
        if record.traces:  # a library has traced a function, which may be the learner's
            return "No line was counted."
        return "There was no line of yours to run."
    if record.distinct_lines[YOU]:
        return _describe_own_lines(record)
    if record.frames[AUTOGRAPH]:
        return "A copy of your lines ran."
    return f"{describe_no_line(record).capitalize()}."


def _describe_own_lines(record: CallRecord) -> str:
    """Return the sentence on how many of the learner's lines ran, and in how many steps.

    A step is one run of a line, so a loop has more steps than lines.
    """
    distinct_lines = record.distinct_lines[YOU]
    steps = record.lines[YOU]
    sentence = f"{distinct_lines} of your lines ran"
    if steps > distinct_lines:
        sentence += f", in {format_count(steps, 'step')}"
    if record.frames[AUTOGRAPH]:
        sentence += ", and AutoGraph's copy of others"
    if record.end.is_tracer_replaced:
        sentence += ", until the recorder of lines was replaced; then not known"
    return f"{sentence}."


def describe_runner(record: CallRecord) -> str:
    """Return the sentence on who ran the learner's lines, or what ran instead of them."""
    sentence = _describe_runner_of_whole_call(record)
    if record.end.is_stopped:
        return f"Until the recorder of calls stopped: {sentence}"
    return sentence


def _describe_runner_of_whole_call(record: CallRecord) -> str:
    """Return the sentence of `describe_runner`, as if the whole call had been recorded."""
    if not record.has_globals:
        if record.traces:
            return "To count yours, make this call in a function of yours."
        return "No Python function of yours is called."
    if record.distinct_lines[YOU]:
        return _describe_runner_of_own_lines(record)
    if record.frames[AUTOGRAPH]:  # only AutoGraph's copy of the learner's code ran
        graph = f"a graph of {format_count(record.nodes, 'node')}"
        end = "."
        if any(list_ops_in_graph(op) for op in record.ops):
            end = ", which then ran."
        return f"AutoGraph wrote it. Running it made {graph}{end}"
    return _describe_what_ran_instead(record)


def _describe_runner_of_own_lines(record: CallRecord) -> str:
    """Return the sentence on who ran the learner's own lines: TensorFlow's trace, or CPython."""
    traced_frames = record.traced_frames[YOU]
    if traced_frames:  # frames that ran while TensorFlow built a graph
        frames = record.frames[YOU]
        subject = f"{traced_frames} of your {frames} frames"
        if traced_frames == frames:  # all of them
            subject = "They"
        nodes = format_count(record.nodes, "node")
        return f"{subject} ran to be traced, which built a graph of {nodes}."
    if record.frames[DYNAMO]:
        return f"Code of Dynamo's also ran, in {format_count(record.frames[DYNAMO], 'frame')}."
    return "CPython evaluated your frame, instruction by instruction."


def _describe_what_ran_instead(record: CallRecord) -> str:
    """Return the sentences on what ran if no line of the learner's did; "" if that is unknown.

    These are code that Dynamo compiled, a graph of TensorFlow, or the answer of a cache.
    """
    sentences = []
    if record.frames[DYNAMO] and record.new_dynamo_codes:
        sentences.append("Dynamo read your bytecode, and what it compiled ran instead.")
    elif record.frames[DYNAMO]:
        sentences.append("The guards held, and what Dynamo had compiled ran in your frame.")
    elif record.tf_function_calls and not record.outcome:
        sentences.append("The graph of an earlier call matched and ran instead.")
    elif record.caches.hits:
        sentences.append("The cache returned the answer of an earlier call.")
    ops = list_ops_that_call_python(record)
    if ops:
        sentences.append(
            f"Its {format_names(ops, LISTED_OPS)} may call Python in another thread, "
            "where no line is counted."
        )
    return " ".join(sentences)


# -- notes on the recorder ---------------------------------------------------------------------


def describe_interrupted_call(record: CallRecord, start: str) -> str:
    """Return the sentence on Ctrl-C, which begins "You interrupted".

    `start` replaces the first letter: "In the first call, y" gives "In the first call, you …".
    """
    return start + describe_interruption(record.event_count, "event")[1:]


def list_notes_on_recorders(
    first: CallRecord, second: CallRecord, code_of_function
) -> tuple[str, ...]:
    """Return the sentences on what the recorders of two calls missed, or changed for the program.

    A program may replace the recorders' hooks, and may find them where it looks for its own.
    `code_of_function` is the code object of the function that was called, None if it has none.
    """
    was_profiler_found = first.end.is_profiler_found or second.end.is_profiler_found
    hooks_found = HOOK_NAMES_IN_SYS[1:] if was_profiler_found else ()  # only `getprofile`
    notes = [
        *_list_notes_on_end(first.end),
        *_list_notes_on_end(second.end),
        second.end.set_aside or first.end.set_aside,
        describe_visible_hooks(
            code_of_function, HOOK_NAMES_ON_FRAMES + HOOK_NAMES_OF_COLLECTOR, hooks_found
        ),
    ]
    # A note that both calls have is returned once.
    return tuple(dict.fromkeys(notes))


def _list_notes_on_end(end: RecorderEnd) -> list[str]:
    """Return the sentences on a recorder that ended before the call did.

    The program has set its own profiler or tracer, or there were too many frames to follow.
    """
    notes = []
    if end.is_profiler_replaced:
        place = _format_place(end.profiler_replaced_at)
        notes.append(REPLACED.format("profiler", place, "calls"))
    if end.is_profiler_heard:
        notes.append(HEARD_NOTE)
    if end.is_op_recorder_heard:
        notes.append(OPS_HEARD)
    if end.is_stopped:
        notes.append(STOPPED.format(end.stopped_after))
    if end.is_tracer_replaced:
        place = _format_place(end.tracer_replaced_at)
        notes.append(REPLACED.format("tracer", place, "lines"))
    return notes


def _format_place(code_and_line: tuple | None) -> str:
    """Return file and line in brackets, such as ` (steps.py:3)`; "" where they are not known."""
    if code_and_line is None:
        return ""
    code, line = code_and_line
    return f" ({format_place(code, line)})"
