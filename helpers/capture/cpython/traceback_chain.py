"""List the frames that an exception, its cause, its context and its group members keep alive.
The *chain* of an exception is the exception itself and all these other exceptions. A *link* is one
traceback object: it refers to a frame, and to the next link.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ...model.code_records import build_columns
from ...model.phrase import end_sentence
from ...model.tables import Listing
from ...safety.arguments import printable, real_isinstance
from ...safety.error_parts import cause_of, context_of, members_of, notes_of, traceback_of
from ..text.error_text import format_note
from ..text.value import format_text, short_repr
from .frame_rows import FrameRow, format_locals

MOST_CHAINED = 8  # exceptions of a chain that are listed
MOST_NOTES, LONGEST_NOTE = 4, 300  # notes of an exception, characters of a note
COUNTED = "Lines are counted from each function's first line, or its first decorator."


class ChainedError(NamedTuple):
    """One exception of a chain."""

    error: BaseException
    #: In how many exception groups, one inside another, the exception is.
    depth: int
    #: Which member of its group the exception is, such as "member 1"; "" if it is in no group.
    member: str
    #: The exception group of which the exception is a member, or None.
    group: BaseException | None


def list_traceback(error: BaseException) -> Listing:
    """Return a table of the frames that an exception keeps alive by its traceback.

    The frames of its cause, its context, and the members of an exception group follow. The note
    says how these exceptions are connected.
    """
    if not real_isinstance(error, BaseException):
        raise TypeError(f"show_traceback needs an exception, not {short_repr(error)}")
    chain = _find_chain(error)
    listed = chain[:MOST_CHAINED]
    # Id of a listed exception -> its number, from 1. By id, because an exception's class may define
    # `__eq__` and `__hash__`.
    numbers = {id(entry.error): number for number, entry in enumerate(listed, 1)}

    rows = []
    sentences = [COUNTED]
    for number, entry in enumerate(listed, 1):
        bars = "| " * entry.depth  # marks the rows of a group's members, as Python's traceback does
        heading = f"exception {number}" if number > 1 else ""
        if entry.group is not None:
            # A row for the member itself, because it may have no traceback and so no other row.
            membership = f"{entry.member} of exception {numbers[id(entry.group)]}"
            rows.append(FrameRow(heading, f"{bars}{short_repr(entry.error)}", locals=membership))
        prefix = f"{heading}, link " if heading else ""
        rows += _build_link_rows(entry.error, prefix, bars)
        sentences += _describe_links(entry.error, numbers)
        sentences += _describe_notes(entry.error, number)
    if len(chain) > MOST_CHAINED:
        sentences.append(f"Only the first {MOST_CHAINED} of {len(chain):,} exceptions are listed.")

    # A `FrameRow` has no field for a second line. So `state` contains the line at which the frame
    # is now, and `line` contains the line at which the exception passed.
    shown = build_columns(
        "function locals",
        place="link",
        function="function",
        line="tb_lineno",
        lasti="tb_lasti",
        state="frame.f_lineno",
        locals="locals kept alive",
    )
    title = f"Traceback of {short_repr(error)}"
    return Listing(title, shown, tuple(rows), " ".join(sentences))


def _find_chain(error: BaseException) -> list[ChainedError]:
    """Return an exception, the members of its group, its cause, its context, and those of each.

    The members of a group follow the group directly. No exception is listed twice.
    """
    chain = [ChainedError(error, depth=0, member="", group=None)]
    visited = {id(error)}
    position = 0
    while position < len(chain):  # exceptions are added to the chain in the loop
        entry = chain[position]
        position += 1

        members = []
        for number, member in enumerate(members_of(entry.error), 1):
            if id(member) not in visited:
                members.append(
                    ChainedError(member, entry.depth + 1, f"member {number}", entry.error)
                )
                visited.add(id(member))
        chain[position:position] = members

        for earlier in (cause_of(entry.error), context_of(entry.error)):
            if earlier is not None and id(earlier) not in visited:
                chain.append(ChainedError(earlier, depth=0, member="", group=None))
                visited.add(id(earlier))
    return chain


def _build_link_rows(error: BaseException, prefix: str, bars: str) -> Iterator[FrameRow]:
    """Yield a row for each frame of an exception's traceback.

    `prefix` is put before the number of a link, and `bars` before the name of a function.
    """
    link = traceback_of(error)
    number = 0
    while link is not None:
        number += 1
        frame = link.tb_frame
        lines_before = frame.f_code.co_firstlineno - 1
        yield FrameRow(
            place=f"{prefix}{number}",
            function=f"{bars}{format_text(frame.f_code.co_name)}",
            line=_format_line(link.tb_lineno, lines_before),
            lasti=str(link.tb_lasti),
            state=_format_line(frame.f_lineno, lines_before),
            locals=format_locals(frame),
        )
        link = link.tb_next


def _format_line(lineno: int | None, lines_before: int) -> str:
    """Return a line number counted from a function's first line, as text.

    `lineno` is the number in the file, None or 0 if the compiler gave none; then "" is returned.
    `lines_before` is how many lines of the file are above the function.
    """
    return str(lineno - lines_before) if lineno else ""


def _describe_links(error: BaseException, numbers: dict[int, int]) -> Iterator[str]:
    """Yield a sentence for the cause of an exception, and one for its context.

    `numbers` maps the id of each listed exception to its number in the list.
    """
    own_number = numbers[id(error)]
    named_numbers = set()
    for attribute, other in (("__cause__", cause_of(error)), ("__context__", context_of(error))):
        number = numbers.get(id(other), 0)  # 0 for None, and for an exception that is not listed
        # `raise … from …` sets the same exception as cause and as context: it is named once.
        # An exception with a smaller number already has a sentence, at another exception.
        if number > own_number and number not in named_numbers:
            named_numbers.add(number)
            yield (
                f"Exception {number}, {short_repr(other)}, "
                f"is the {attribute} of exception {own_number}."
            )


def _describe_notes(error: BaseException, number: int) -> Iterator[str]:
    """Yield a sentence for each of the first notes of an exception, as `add_note` adds them.

    `number` is the number of the exception in the list.
    """
    notes = notes_of(error)
    for note in notes[:MOST_NOTES]:
        text = printable(format_note(note), LONGEST_NOTE)
        yield end_sentence(f"Exception {number} has the note: {text}")
    omitted_count = len(notes) - MOST_NOTES
    if omitted_count > 0:
        yield f"{omitted_count:,} more notes of exception {number} are left out."
