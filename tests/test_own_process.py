"""A child's tests pass, fail and skip as they would here, and its death fails only its own."""

import os
import sys

from tests.own_process import BARE
from tests.pythons import ROOT, finished

SAMPLE = """
import os, sys
import pytest

pytestmark = pytest.mark.own_process

def test_passes(): assert "COURSE_CHILD_REPORTS" in os.environ
def test_fails(): assert 1 == 2
@pytest.mark.skip(reason="asked")
def test_is_skipped(): ...
def test_dies(): os.abort()
def test_after_the_death(): assert "COURSE_CHILD_REPORTS" in os.environ
"""
GROUPED = """
import os
import pytest

pytestmark = pytest.mark.own_process(by="letter")

@pytest.mark.parametrize("letter", "ab")
def test_grouped(letter):
    assert letter == "a" or os._exit(3)
"""
HERE = """
import os

def test_here(): assert "COURSE_CHILD_REPORTS" not in os.environ
"""


def test_reports_of_the_child_are_replayed(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.own_process"]\n')
    samples = {"test_sample": SAMPLE, "test_grouped": GROUPED, "test_here": HERE}
    for name, source in samples.items():
        (tmp_path / f"{name}.py").write_text(source)
    env = {name: v for name, v in os.environ.items() if name != "COURSE_CHILD_REPORTS"}
    # Two workers: what shares a child is all given to one.
    command = [sys.executable, "-m", "pytest", "-rA", *BARE]
    command += ["-p", "xdist.plugin", "-n", "2", "--dist=loadfile"]
    told = finished(command, cwd=tmp_path, env={**env, "PYTHONPATH": str(ROOT)}).stdout
    for words in (
        "PASSED test_sample.py::test_passes",
        "FAILED test_sample.py::test_fails",
        "SKIPPED [1] test_sample.py",
        "FAILED test_sample.py::test_dies",
        "PASSED test_sample.py::test_after_the_death",
        "PASSED test_grouped.py::test_grouped[a]",
        "FAILED test_grouped.py::test_grouped[b]",
        "PASSED test_here.py::test_here",
        "assert 1 == 2",
        "not finished: the child interpreter ended with -6",
        "not finished: the child interpreter ended with 3",
    ):
        assert words in told, told
