"""hub/values.yaml against the schema of the chart, whose folder COURSE_CHART names."""

import copy
import os
from pathlib import Path

import pytest

from hub.trial import chart


@pytest.fixture
def folder() -> Path:
    named = os.environ.get("COURSE_CHART")
    if not named:
        pytest.skip("COURSE_CHART does not name the folder of the chart (hub/README.md has how)")
    return Path(named)


def test_the_values_fit_the_schema_of_the_chart(folder):
    assert chart.faults(folder) == []


def test_a_value_that_the_chart_does_not_know_would_be_found(folder):
    values = copy.deepcopy(chart.read(chart.VALUES))
    values["singleuser"]["memory"]["garantee"] = "1G"
    values["hub"]["concurrentSpawnLimit"] = "many"
    found = " ".join(chart.faults(folder, values))
    assert "garantee" in found and "hub.concurrentSpawnLimit" in found


def test_values_are_joined_as_helm_does():
    assert chart.laid_over({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 3}, "d": [2]}) == {
        "a": {"b": 3, "c": 2},
        "d": [2],
    }
