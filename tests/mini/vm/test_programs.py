"""helpers/mini/vm does what CPython does, on each supported Python: that is the specification."""

import json
import re

import pytest

from tests.mini import comparing
from tests.pythons import VERSIONS, run

CODE = """
import json
from tests.mini import comparing
print(json.dumps(comparing.report()))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_programs_do_what_they_do_in_cpython_and_run_every_handler(version):
    found = json.loads(run(version, CODE))
    assert {name: told for name, told in found["differences"].items() if told} == {}
    assert found["programs"] >= 150 and found["never run"] == []
    assert found["modules"] >= 6 and found["broken modules"] == []
    # Only async functions of the library need more handlers.
    assert found["unknown"]
    assert [name for name in found["unknown"] if not re.search("ASYNC|AWAIT", name)] == []


PAIRS = {"value": lambda: 1, "exception": lambda: 1 // 0, "output": lambda: print("x")}


@pytest.mark.parametrize("what", PAIRS)
def test_a_difference_is_seen(what, monkeypatch):
    """The comparison must fail where the two part; else all of the above says nothing."""
    monkeypatch.setattr(comparing.Noting, "run", lambda self, fn: "another")
    assert comparing.difference(PAIRS[what])
