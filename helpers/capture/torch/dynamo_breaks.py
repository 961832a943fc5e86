"""Events of graph breaks -> records, and a table in which equal breaks share a row.

At a graph break Dynamo ends its graph, because it cannot translate an instruction. Python runs that
instruction, and Dynamo begins a new graph behind it.
"""

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
    """Return the cause of a break or another decision, and Dynamo's explanation of it."""
    return split_message(choose_message(event.message, event.cause))


def build_break(event: DynamoEvent, shown: ShownCode) -> Break:
    """Return the record of a graph break, with its line in the sources that are shown."""
    cause, explanation = explain_event(event)
    # The code object of a resume function leads to that of the user's function.
    original_code = dynamo_codes.find_original_code(event.code)
    line = shown.find_line(event.code, event.lineno)

    place = ""
    innermost_line = ""  # by which breaks in a block are compared, such as `lib.py:7 print(x)`
    if event.lineno:
        place = _format_place(event)
        frame = event.inner_frame or FrameSummary(event.code.co_filename, event.lineno, "")
        innermost_line = f"{clean_message(frame.filename)}:{frame.lineno} {frame.line}"

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
        empty=event.is_graph_empty,
        skipped=SKIPPED_RESTS.get(original_code, {}).get(event.lineno, ""),
        inner=innermost_line,
        raises=event.call_raises,
    )


def _format_place(event: DynamoEvent) -> str:
    """Return where a break is, such as `step, line 3 (train.py:14), in helper (lib.py:7)`.

    The part after `, in` is there only if the break happened in a function that `step` called.
    """
    code = dynamo_codes.find_original_code(event.code)
    line_in_function = event.lineno - code.co_firstlineno + 1
    place = f"{qualified_name(code)}, line {line_in_function}"
    place += format_file_line(code.co_filename, event.lineno)

    frame = event.inner_frame
    if frame is None or (frame.filename, frame.lineno) == (code.co_filename, event.lineno):
        return place
    return f"{place}, in {_format_inner_frame(frame)}"


def _format_inner_frame(frame: FrameSummary) -> str:
    """Return `helper (lib.py:7)` for a frame; of code without a file, "helper at `print(x)`"."""
    name, _ = split_resume_name(frame.name)
    file_line = format_file_line(frame.filename, frame.lineno)
    if file_line:
        return name + file_line
    line = (frame.line or "").strip()
    return f"{name} at `{line}`" if line else name


def _format_called_name(message: str, explanation: str) -> str:
    """Return ` It calls logging.info.`, or "".

    The sentence names what the user's code calls at the break. It is "" if the message of the error
    does not name it, or if the explanation names it already.
    """
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
        Whether the table is about a block. Then breaks at different lines of the program count as
        equal if they happen in the same innermost call.
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

    # Without any result, the reader must be told why. For a block, an error or a setting that turns
    # Dynamo off, `notes` and `outcome` say it.
    has_result = breaks or graph_count or recorder.skipped
    is_explained = in_block or recorder.error or recorder.disabling_setting
    if not (has_result or is_explained):
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
    """Return a sentence on the number of breaks, and on the number of rows if it is smaller."""
    if not count:
        return "No graph break."
    if row_count < count:
        rows = format_count(row_count, "row")
        return f"{format_count(count, 'graph break')}, each translation counted, in {rows}."
    return f"{format_count(count, 'graph break')}."


def _list_advice(breaks: Iterable[Break]) -> list[str]:
    """Return a line of advice for each cause: torch's hint and its web page, where it has one."""
    lines = {}  # the keys are the lines; a dict drops repeated ones and keeps the order
    for graph_break in breaks:
        if graph_break.hint or graph_break.page:
            advice = f"{graph_break.cause}: {graph_break.hint} {graph_break.page}"
            lines[advice.rstrip()] = None
    return [*lines]


def _merge_equal_breaks(breaks: Iterable[Break], in_block: bool) -> tuple[Break, ...]:
    """Return one break for each group of equal ones, in the order of their first breaks.

    With `in_block`, breaks in the same innermost call are equal wherever the program called it.
    """
    groups: dict[tuple, list[Break]] = {}  # what equal breaks have in common -> these breaks
    for graph_break in breaks:
        location = (graph_break.place, graph_break.code, graph_break.effect)
        if in_block and graph_break.inner:
            location = graph_break.inner
        key = (location, graph_break.cause, graph_break.explanation, graph_break.given_up)
        groups.setdefault(key, []).append(graph_break)
    return tuple(map(_merge_group, groups.values()))


def _merge_group(group: list[Break]) -> Break:
    """Return one break for several equal ones, which names the places of all of them.

    A place is `helper, line 2 (lib.py:7)` if Dynamo translated the function by itself, and
    `step, line 3 (train.py:14), in helper (lib.py:7)` if it came there by a call. The first kind is
    preferred for the merged break.
    """
    in_function_itself = (found for found in group if ", in " not in found.place)
    first = next(in_function_itself, group[0])
    # without the part after `, in`, and each place once
    places = dict.fromkeys(found.place.partition(", in ")[0] for found in (first, *group))
    _, *other_places = places

    place = first.place
    if other_places:
        place += f", which also breaks {'; '.join(other_places)}"
    return replace(
        first,
        place=place,
        count=len(group),
        skipped=max(found.skipped for found in group),  # any text is greater than ""
        empty=all(found.empty for found in group),
    )
