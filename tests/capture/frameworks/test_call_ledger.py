"""The ledger of calls has a cell for each case, and marks what differs from the first."""

import pytest

from helpers.capture.frameworks import call_ledger
from helpers.capture.frameworks.call_ledger import (
    LIMITED_NOTE,
    MARKS,
    NOTHING,
    TITLE,
    TWICE_NOTE,
    build_calls_ledger,
)
from helpers.capture.frameworks.call_recorder import LANDMARKS
from helpers.model.call_records import Call, CallTree
from helpers.model.tables import Entry, Verdict

DOOR, OTHER_DOOR = list(LANDMARKS)[:2]


def do_nothing(*args): ...


def make_tree(*calls, routes=(), outcome=""):
    return CallTree("t", tuple(calls), routes, outcome)


def call(name=DOOR, c=False, raised=False):
    return Call(0, "pkg.mod", name, c=c, raised=raised)


@pytest.fixture
def build(monkeypatch):
    """Return a function: the ledger of cases that were recorded as these trees."""

    def build_of_trees(trees, end_reasons=None):
        waiting = list(trees.items())

        def run(recorder, fn, args, kwargs):
            name, tree = waiting.pop(0)
            recorder.end_reason = (end_reasons or {}).get(name, "")
            return tree

        monkeypatch.setattr(call_ledger, "run_under_recorder", run)
        return build_calls_ledger(dict.fromkeys(trees, do_nothing))

    return build_of_trees


def list_rows(ledger):
    return {
        entry.subject: [(verdict.word, verdict.tone) for verdict in entry.verdicts]
        for entry in ledger.entries
    }


def test_a_ledger_has_its_cases_as_columns(build):
    ledger = build({"a": make_tree(), "b": make_tree()})
    assert (ledger.title, ledger.subject, ledger.headings) == (TITLE, "landmark", ("a", "b"))
    assert ledger.marks == MARKS
    assert TWICE_NOTE in ledger.note


def test_a_cell_that_differs_from_the_first_is_marked(build):
    trees = {
        "a": make_tree(call(), call("f"), routes=("fast path",)),
        "b": make_tree(call(), call(c=True), routes=("graph",)),
        "c": make_tree(call(), call("f"), routes=("fast path",)),
    }
    assert list_rows(build(trees)) == {
        "route": [("fast path", "plain"), ("graph", "changed"), ("fast path", "plain")],
        "all calls": [("2", "plain")] * 3,
        "calls of C functions": [("0", "plain"), ("1", "changed"), ("0", "plain")],
        DOOR: [("×1", "plain"), ("×2", "changed"), ("×1", "plain")],
    }


def test_landmarks_come_in_their_order_and_only_if_a_call_passes_them(build):
    trees = {"a": make_tree(call(OTHER_DOOR)), "b": make_tree(call(DOOR))}
    rows = list_rows(build(trees))
    assert list(rows)[-2:] == [DOOR, OTHER_DOOR]
    assert rows[DOOR] == [(NOTHING, "plain"), ("×1", "changed")]
    assert rows[OTHER_DOOR] == [("×1", "plain"), (NOTHING, "changed")]


def test_a_landmark_raised_if_all_its_calls_raised(build):
    trees = {
        "all": make_tree(call(raised=True), call(raised=True)),
        "some": make_tree(call(raised=True), call()),
    }
    assert [word for word, _ in list_rows(build(trees))[DOOR]] == ["×2, raised", "×2"]


def test_an_error_has_a_row_unless_the_route_says_it(build):
    refused = make_tree(routes=("refused",), outcome="ValueError: no")
    fine = make_tree(routes=("fast path",))
    failed = make_tree(routes=("graph",), outcome="KeyError: gone: for ever")
    assert "raised" not in list_rows(build({"a": fine, "b": refused}))
    assert list_rows(build({"a": fine, "b": refused, "c": failed}))["raised"] == [
        (NOTHING, "plain"),
        ("ValueError", "changed"),
        ("KeyError", "changed"),
    ]


def test_a_recorder_that_ended_early_says_so_in_each_count(build):
    trees = {"a": make_tree(call(), routes=("graph",)), "b": make_tree(call(), routes=("graph",))}
    ledger = build(trees, {"b": "was lost"})
    rows = list_rows(ledger)
    assert rows["route"] == [("graph", "plain"), ("not known", "changed")]
    for subject in ("all calls", "calls of C functions", DOOR):
        first, second = rows[subject]
        assert second[0].startswith(f"{first[0]} until")
        assert second[1] == "changed"
    assert "'b'" in ledger.note and "was lost" in ledger.note


def test_an_entry_keeps_its_subject_and_its_verdicts(build):
    ledger = build({"a": make_tree(routes=("graph",))})
    assert ledger.entries[0] == Entry("route", (Verdict("graph", "plain"),))


def test_a_case_is_called_twice_with_its_arguments():
    calls = []
    ledger = build_calls_ledger({"a": (calls.append, 5)})
    assert calls == [5, 5]
    assert ledger.headings == ("a",)


def test_cases_of_which_only_some_calls_are_counted_are_named(build, monkeypatch):
    monkeypatch.setattr(call_ledger, "has_uncounted_calls", lambda recorder: True)
    trees = {"a": make_tree(), "b": make_tree(), "c": make_tree()}
    assert LIMITED_NOTE.format("a, c") in build(trees, {"b": "was lost"}).note
    monkeypatch.setattr(call_ledger, "has_uncounted_calls", lambda recorder: False)
    assert LIMITED_NOTE.format("a, c") not in build(trees, {"b": "was lost"}).note


@pytest.mark.parametrize("cases", [3, {}, {"a": 3}, {3: do_nothing}, [do_nothing]])
def test_cases_are_functions_by_names(cases):
    with pytest.raises((TypeError, ValueError)):
        build_calls_ledger(cases)
