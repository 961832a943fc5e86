"""Recorded calls -> rows of a ledger, where equal calls that follow each other share a row."""

from helpers.capture.tensorflow.call_rows import CallRow, CallRows
from helpers.capture.tensorflow.call_sentences import XLA


def rows_of(*calls: CallRow) -> CallRows:
    rows = CallRows()
    for call in calls:
        rows.add(call)
    return rows


HIT = CallRow("n=1", "hit", "")
TRACE = CallRow("n=1", "trace", "", trace_count=1)


def test_equal_hits_share_a_row_and_traces_do_not():
    ledger = rows_of(TRACE, HIT, HIT, HIT, TRACE, TRACE, HIT).build_ledger("f", False)
    assert [entry.subject for entry in ledger.entries] == ["1", "2 – 4", "5", "6", "7"]
    assert [entry.calls for entry in ledger.entries] == [1, 3, 1, 1, 1]
    assert [entry.traces for entry in ledger.entries] == [1, 0, 1, 1, 0]


def test_a_hit_with_another_note_has_a_row_of_its_own():
    other = CallRow("n=1", "hit", "a note")
    ledger = rows_of(HIT, other, other, HIT).build_ledger("f", False)
    assert [entry.calls for entry in ledger.entries] == [1, 2, 1]


def test_the_note_counts_traces_and_calls():
    twice = CallRow("n=1", "trace", "", trace_count=2)
    empty = CallRow("n=1", "empty", "")
    note = rows_of(twice, HIT, HIT, empty).build_ledger("f", False).note
    assert note == "4 calls: 2 traces, 2 hits, 1 empty."
    assert rows_of(HIT).build_ledger("f", True).note.endswith(XLA)


def test_the_last_call_is_one_call():
    assert CallRows().last is None
    assert rows_of(HIT, HIT).last.calls == 1
