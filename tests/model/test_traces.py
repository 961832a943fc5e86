"""A trace ledger counts calls, not rows."""

from helpers.model.trace_records import HEADINGS, Cause, TraceLedger, build_trace_entry


def ledger():
    cause = Cause("x", "shape", "(2, 2)", "(2, 3)", ", dimension 1")
    entries = (
        build_trace_entry("1", "x=1", "trace", traces=1),
        build_trace_entry("2 – 4", "x=1", "hit", calls=3),
        build_trace_entry("5", "x=2", "trace", str(cause), traces=2, causes=(cause,)),
        build_trace_entry("6", "x=?", "error"),
    )
    return TraceLedger("title", "call", HEADINGS, entries)


def test_verdicts_and_counts_are_per_call():
    assert ledger().verdicts == ("trace", "hit", "hit", "hit", "trace", "error")
    assert ledger().counts == (1, 1, 1, 1, 3, 3) and ledger().traces == 3


def test_causes_are_sentences():
    assert ledger().causes == ("x: shape (2, 2) → (2, 3), dimension 1",)
    assert str(Cause("x", "type", "list", "tuple")) == "x: list → tuple"
