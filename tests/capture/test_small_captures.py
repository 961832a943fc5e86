"""Records, costs and environment: rows with the right words, and bad input named."""

import pytest

from helpers.capture import environment
from helpers.capture.cpython import costs
from helpers.capture.rows import records_listing


def test_records_become_rows_that_keep_their_keys_as_attributes():
    rows = {"way": "one name", "cannot see": 3}, {"way": "x", "cannot see": 4}
    listing = records_listing("t", *rows)
    assert [c.heading for c in listing.columns] == ["way", "cannot see"]
    assert listing.rows[0].way == "one name" and listing.rows[1].cannot_see == 4
    with pytest.raises(ValueError, match="every row needs the keys a, in this order; row 2 has "):
        records_listing("t", {"a": 1}, {"b": 2})


def test_costs_are_ratios_in_one_run(monkeypatch, refused):
    now = [0.0]

    def takes(seconds):
        return lambda: now.__setitem__(0, now[0] + seconds)

    monkeypatch.setattr(costs, "perf_counter", lambda: now[0])
    found = costs.costs_listing(takes(1), {"long": takes(12), "short": takes(0.5)})
    assert [(row.ratio, row.words) for row in found.rows] == [(12, "about 10"), (0.5, "about 0.5")]
    assert found.ratio("long") == 12 and "took as long." in found.note
    refused(KeyError, "shorter", found.ratio, "shorter")


def test_environment_names_what_is_missing(monkeypatch):
    monkeypatch.setattr(environment, "installed", lambda name: "")
    listing = environment.environment_listing()
    missing = [row for row in listing.rows if row.found == "missing"]
    assert len(missing) == len(environment.PACKAGES) and "torch" in listing.note
    assert all("course.py setup" in row.verdict for row in missing)


def test_every_line_of_the_environment_that_is_not_fine_says_its_cure(monkeypatch):
    monkeypatch.setattr(environment, "PYTHONS", ((2, 7),))
    monkeypatch.setattr(environment, "installed", lambda name: "" if name < "n" else "0.0.1")
    monkeypatch.setattr(environment, "GIGABYTES", 10**6)
    *rows, memory = environment.environment_listing().rows
    assert all("run `python" in row.verdict for row in rows)
    assert memory.found.startswith("less than") and memory.verdict.startswith("close other")
    assert len(environment.environment_listing().note.split(",")) == len(rows) + 1
