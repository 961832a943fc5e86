"""Costs and environment: rows with the right facts, and bad input named."""

import re
import sys

import pytest

from helpers.capture import environment
from helpers.capture.cpython import costs
from helpers.safety import missing_parts, progress
from helpers.safety.package_trial import Trial


def test_costs_are_ratios_in_one_run(monkeypatch, refused):
    now = [0.0]

    def takes(seconds):
        return lambda: now.__setitem__(0, now[0] + seconds)

    monkeypatch.setattr(costs, "perf_counter", lambda: now[0])
    monkeypatch.setattr(costs, "seconds_waited", lambda: 0.0)
    found = costs.measure_costs(takes(1), {"long": takes(12), "short": takes(0.5)})
    assert [(row.ratio, row.words) for row in found.rows] == [(12, "about 12"), (0.5, "about 0.5")]
    assert found.ratio("long") == 12 and found.rows[0].between == "12 and 12"
    refused(KeyError, "shorter", found.ratio, "shorter")


def test_environment_names_what_is_missing(monkeypatch):
    monkeypatch.setattr(
        environment, "find_installed_version", lambda name: ""
    )  # so nothing is tried
    listing = environment.list_environment()
    missing = [row for row in listing.rows if row.found == "missing"]
    assert len(missing) == len(environment.PACKAGES) and "torch" in listing.note
    assert all("course.py setup" in row.verdict for row in missing)


def verdicts(monkeypatch, faults, consequences=()):
    trial = Trial(faults, dict(consequences), {})
    monkeypatch.setattr(environment, "try_packages", lambda *names, **how: trial)
    listing = environment.list_environment()
    return {row.name: row.verdict for row in listing.rows if row.verdict != "fine"}, listing.note


def test_environment_names_what_is_there_and_broken(monkeypatch):
    """Case 9: it once said that this machine has all that the course needs."""
    faults = {"torch": "its file torch/functional.py is missing", "tensorflow-cpu": "hangs"}
    faults = {**faults, "sympy": "is not for this table"}
    found, note = verdicts(monkeypatch, faults, {"ipywidgets": "traitlets"})
    assert found.keys() == {"ipywidgets", "tensorflow", "torch"}
    assert "traitlets" in found["ipywidgets"]
    assert found["tensorflow"].startswith(faults["tensorflow-cpu"])
    assert found["torch"].startswith(faults["torch"])
    assert all("`python course.py setup`" in verdict for verdict in found.values())
    assert note.endswith("ipywidgets, tensorflow, torch.")


def test_environment_of_the_wheel_has_pips_cure_for_what_is_broken(monkeypatch):
    for module in (environment, missing_parts):
        monkeypatch.setattr(module, "HAS_COURSE", False)
    (verdict,) = verdicts(monkeypatch, {"torch": "hangs"})[0].values()
    assert '`pip install --force-reinstall "torch' in verdict


@pytest.mark.own_process
def test_environment_imports_each_package_elsewhere_and_says_how_far_it_is(monkeypatch):
    said = []
    monkeypatch.setattr(progress, "set_activity", said.append)
    listing = environment.list_environment()
    assert {row.verdict for row in listing.rows if row.name in environment.PACKAGES} == {"fine"}
    assert not {"torch", "tensorflow", "jupyterlab"} & sys.modules.keys()
    total = len(environment.PACKAGES)
    first, *counted, last = said
    assert first and not last
    assert [re.findall(r"\d+", line) for line in counted] == [
        [str(number), str(total)] for number in range(1, total + 1)
    ]


def test_every_line_of_the_environment_that_is_not_fine_says_its_cure(monkeypatch):
    monkeypatch.setattr(environment, "PYTHONS", ((2, 7),))
    monkeypatch.setattr(
        environment, "find_installed_version", lambda name: "" if name < "n" else "0.0.1"
    )
    monkeypatch.setattr(environment, "try_packages", lambda *names, **how: Trial({}, {}, {}))
    monkeypatch.setattr(environment, "GIGABYTES", 10**6)
    *rows, memory = environment.list_environment().rows
    assert all("run `python" in row.verdict for row in rows)
    assert str(environment.GIGABYTES) in memory.found and memory.verdict != environment.FINE
    assert len(environment.list_environment().note.split(",")) == len(rows) + 1
