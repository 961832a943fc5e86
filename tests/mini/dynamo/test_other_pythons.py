"""Graph breaks and resume functions on every supported Python that is on this machine."""

import json
import sys
from pathlib import Path

import pytest

from tests.pythons import OTHERS, finished, found

FILE = Path(__file__).with_name("without_torch.py")


def report(interpreter):
    child = finished([interpreter, "-B", str(FILE)], timeout=120)
    assert child.returncode == 0, child.stderr[-2000:]
    return json.loads(child.stdout)


@pytest.fixture(scope="module")
def here():
    return report(sys.executable)


def test_no_function_differs_here(here):
    assert {name: differ for name, (differ, _, _) in here.items() if differ != "[]"} == {}
    assert sum(breaks for _, breaks, _ in here.values()) > 7
    assert sum(plain for *_, plain in here.values()) <= 4


@pytest.mark.parametrize("version", OTHERS)
def test_other_pythons_break_at_the_same_places(version, here):
    interpreter = found(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this machine")
    assert report(interpreter) == here
