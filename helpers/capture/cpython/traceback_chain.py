"""An exception -> the frames that it, its cause, its context and its members keep alive."""

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

MOST_CHAINED = 8
MOST_NOTES, LONGEST_NOTE = 4, 300
COUNTED = "Lines are counted from each function's first line, or its first decorator."


class ChainedError(NamedTuple):
    """An exception of a chain."""

    error: BaseException
    #: In how many exception groups it is.
    depth: int
    #: Its place in its group, such as "member 1"; "" of no group.
    member: str
    #: The exception group that it is a member of, or None.
    group: BaseException | None


def list_traceback(error: BaseException) -> Listing:
    """Return a table of the frames that an exception, and each exception behind it, keeps alive.

    Behind it are its cause, its context and the members of a group.
    """
    if not real_isinstance(error, BaseException):
        raise TypeError(f"show_traceback needs an exception, not {short_repr(error)}")
    chain = _find_chain(error)
    listed = chain[:MOST_CHAINED]
    # A number for each exception that is listed, by its id: `==` of exceptions is the program's.
    numbers = {id(entry.error): number for number, entry in enumerate(listed, 1)}

    rows = []
    sentences = [COUNTED]
    for number, entry in enumerate(listed, 1):
        bars = "| " * entry.depth
        prefix = f"exception {number}" if number > 1 else ""
        if entry.group is not None:
            membership = f"{entry.member} of exception {numbers[id(entry.group)]}"
            rows.append(FrameRow(prefix, f"{bars}{short_repr(entry.error)}", locals=membership))
        rows += _build_link_rows(entry.error, f"{prefix}, link " if prefix else "", bars)
        sentences += _describe_links(entry.error, numbers)
        sentences += _describe_notes(entry.error, number)
    if len(chain) > MOST_CHAINED:
        sentences.append(f"Only the first {MOST_CHAINED} of {len(chain):,} exceptions are listed.")

    # `state` is the third number of a frame: its line now, beside the line at which it raised.
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
    """Return an exception and all behind it; the members of a group follow the group."""
    chain = [ChainedError(error, 0, "", None)]
    visited = {id(error)}
    position = 0
    while position < len(chain):  # the chain grows meanwhile
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
                chain.append(ChainedError(earlier, 0, "", None))
                visited.add(id(earlier))
    return chain


def _build_link_rows(error: BaseException, prefix: str, bars: str) -> Iterator[FrameRow]:
    """Yield a row for each frame of a traceback.

    `prefix` stands before the number of the link, `bars` before the name of the function.
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
    """Return a line counted from a function's first line; "" where the compiler gave none."""
    return str(lineno - lines_before) if lineno else ""


def _describe_links(error: BaseException, numbers: dict[int, int]) -> Iterator[str]:
    """Yield a sentence for each exception that is the cause or the context of this one.

    `numbers` has the number of each exception that is listed, by its id.
    """
    own_number = numbers[id(error)]
    named = set()
    for attribute, other in (("__cause__", cause_of(error)), ("__context__", context_of(error))):
        number = numbers.get(id(other), 0)
        # An exception listed before was named there, and a cause is often the context too.
        if number > own_number and number not in named:
            named.add(number)
            yield (
                f"Exception {number}, {short_repr(other)}, "
                f"is the {attribute} of exception {own_number}."
            )


def _describe_notes(error: BaseException, number: int) -> Iterator[str]:
    """Yield a sentence for each of the first notes of an exception; `number` is its own."""
    notes = notes_of(error)
    for note in notes[:MOST_NOTES]:
        text = printable(format_note(note), LONGEST_NOTE)
        yield end_sentence(f"Exception {number} has the note: {text}")
    rest = len(notes) - MOST_NOTES
    if rest > 0:
        yield f"{rest:,} more notes of exception {number} are left out."
