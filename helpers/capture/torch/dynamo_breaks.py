"""The event of a graph break -> a record of it, and a listing of several."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from traceback import FrameSummary

from ...internals import dynamo_codes
from ...model.code_records import build_columns
from ...model.dynamo_records import Break, BreakListing
from ...model.phrase import end_sentence, format_count, format_names
from ...model.tables import Column
from .dynamo_events import DynamoEvent
from .dynamo_messages import (
    choose_message,
    clean_message,
    find_page,
    find_sections,
    format_file_line,
    split_message,
    split_resume_name,
)
from .dynamo_places import ShownCode, qualified_name
from .dynamo_recorder import SKIPPED_RESTS, TranslationRecorder
from .dynamo_sentences import describe_error_message, describe_nothing_compiled

MOST_SKIPPED = 3  # skipped functions that a note names
BREAK_COLUMNS = build_columns(
    "code",
    place="where",
    code="code",
    cause="cause",
    explanation="what Dynamo says",
    effect="then",
)
TIMES_COLUMN = Column("count", "times")
# How torch names what a break calls: a method of a logger, or a function in C.
QUALIFIED_NAME = re.compile(r"method: <Logger (\S+) \(\w+\)>\.(\w+)|\bqualname: ([\w.]+)")


def explain_event(event: DynamoEvent) -> tuple[str, str]:
    """Return the cause and Dynamo's explanation of what happened."""
    return split_message(choose_message(event.message, event.cause))


def build_break(event: DynamoEvent, shown: ShownCode) -> Break:
    """Return the record of a graph break, with its line in the sources that are shown."""
    cause, explanation = explain_event(event)
    original_code = dynamo_codes.find_original_code(event.code)
    line = shown.find_line(event.code, event.lineno)

    place = ""
    inner = ""
    if event.lineno:
        place = _format_place(event)
        frame = event.inner or FrameSummary(event.code.co_filename, event.lineno, "")
        inner = f"{clean_message(frame.filename)}:{frame.lineno} {frame.line}"

    return Break(
        shown.name_function(event.code),
        line,
        shown.read_line(line),
        cause,
        explanation + _format_called_name(event.cause, explanation),
        given_up=event.kind == "given up",
        place=place,
        hint=" ".join(map(end_sentence, find_sections(event.cause, "Hint"))),
        page=find_page(event.cause),
        empty=event.empty,
        skipped=SKIPPED_RESTS.get(original_code, {}).get(event.lineno, ""),
        inner=inner,
        raises=event.raises,
    )


def _format_place(event: DynamoEvent) -> str:
    """Return the function, the line in it and the file where a break is, and where further in."""
    code = dynamo_codes.find_original_code(event.code)
    line_in_function = event.lineno - code.co_firstlineno + 1
    place = f"{qualified_name(code)}, line {line_in_function}"
    place += format_file_line(code.co_filename, event.lineno)

    frame = event.inner
    if frame is None or (frame.filename, frame.lineno) == (code.co_filename, event.lineno):
        return place
    return f"{place}, in {_format_inner_frame(frame)}"


def _format_inner_frame(frame: FrameSummary) -> str:
    """Return the function of a frame and its file, or its line where it is not in a file."""
    name, _ = split_resume_name(frame.name)
    file_line = format_file_line(frame.filename, frame.lineno)
    if file_line:
        return name + file_line
    line = (frame.line or "").strip()
    return f"{name} at `{line}`" if line else name


def _format_called_name(message: str, explanation: str) -> str:
    """Return a sentence on what a break calls, if the message names it and the explanation not."""
    match = QUALIFIED_NAME.search(message)
    if match is None or match[match.lastindex] in explanation:
        return ""
    return f" It calls {'.'.join(filter(None, match.groups()))}."


def list_breaks(
    title: str,
    breaks: Sequence[Break],
    recorder: TranslationRecorder,
    notes: Iterable[str] = (),
    outcome: str = "",
    in_block: bool = False,
) -> BreakListing:
    """Return a table of graph breaks with equal ones in one row.

    Parameters
    ----------
    title : str
        The title of the table.
    breaks : sequence of Break
        The breaks, in the order in which they came.
    recorder : TranslationRecorder
        What else Dynamo did in the call or in the block.
    notes : iterable of str
        Further sentences for the note.
    outcome : str
        How the call ended; "" for a block, which has many calls.
    in_block : bool
        Whether breaks at different lines with the same innermost call are equal.
    """
    rows = _merge_equal_breaks(breaks, in_block)
    is_merged = len(rows) < len(breaks)
    graph_count = len(recorder.graphs)

    sentences = [
        _describe_break_count(len(breaks), len(rows)),
        f"{format_count(graph_count, 'graph')}.",
    ]
    if recorder.skipped:
        skipped = (f"{function}: {reason}" for function, reason in recorder.skipped.items())
        sentences.append(f"Dynamo skipped {format_names(skipped, MOST_SKIPPED)}.")
    has_explanation = breaks or graph_count or recorder.skipped
    if not (has_explanation or in_block or recorder.error or recorder.turned_off):
        sentences.append(describe_nothing_compiled(recorder))

    paragraphs = [" ".join((*sentences, *notes))]
    paragraphs += _list_advice(breaks)
    paragraphs.append(describe_error_message(recorder))

    table_columns = BREAK_COLUMNS
    if is_merged:
        table_columns += (TIMES_COLUMN,)
    note = "\n".join(filter(None, paragraphs))
    return BreakListing(title, table_columns, rows, note, graph_count, outcome)


def _describe_break_count(count: int, row_count: int) -> str:
    """Return how many breaks there were, and in how many rows, if these are fewer."""
    if not count:
        return "No graph break."
    if row_count < count:
        rows = format_count(row_count, "row")
        return f"{format_count(count, 'graph break')}, each translation counted, in {rows}."
    return f"{format_count(count, 'graph break')}."


def _list_advice(breaks: Iterable[Break]) -> list[str]:
    """Return each different line of advice: a cause, torch's hint and its web page."""
    with_advice = (found for found in breaks if found.hint or found.page)
    lines = (f"{found.cause}: {found.hint} {found.page}".rstrip() for found in with_advice)
    return [*dict.fromkeys(lines)]


def _merge_equal_breaks(breaks: Iterable[Break], in_block: bool) -> tuple[Break, ...]:
    """Return one break for all that are equal, in the order in which the first of each came."""
    groups: dict[tuple, list[Break]] = {}
    for found in breaks:
        location = (found.place, found.code, found.effect)
        if in_block and found.inner:
            location = found.inner
        key = (location, found.cause, found.explanation, found.given_up)
        groups.setdefault(key, []).append(found)
    return tuple(map(_merge_group, groups.values()))


def _merge_group(group: list[Break]) -> Break:
    """Return one break for several of one line: that of the function itself, naming its callers."""
    in_function_itself = (found for found in group if ", in " not in found.place)
    first = next(in_function_itself, group[0])
    places = dict.fromkeys(found.place.partition(", in ")[0] for found in (first, *group))
    _, *other_places = places

    place = first.place
    if other_places:
        place += f", which also breaks {'; '.join(other_places)}"
    return replace(
        first,
        place=place,
        count=len(group),
        skipped=max(found.skipped for found in group),  # a reason, and not "", if one has it
        empty=all(found.empty for found in group),
    )
