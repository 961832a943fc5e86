"""helpers/mini/vm does what CPython does, on each supported Python: that is the specification."""

import json
from functools import cache

import pytest

from tests.mini import comparing
from tests.pythons import VERSIONS, run

CODE = """
import json
from tests.mini import comparing
print(json.dumps(comparing.report()))
"""


@cache
def report(version: str) -> dict:
    """Return what one child of this version has found, of every program."""
    return json.loads(run(version, CODE))


@pytest.mark.parametrize("version", VERSIONS)
def test_programs_do_what_they_do_in_cpython(version):
    found = report(version)
    assert {name: told for name, told in found["differences"].items() if told} == {}
    assert found["programs"] >= 150


@pytest.mark.parametrize("version", VERSIONS)
def test_modules_of_the_library_are_run_to_their_end(version):
    assert report(version)["modules"] >= 6 and report(version)["broken modules"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_every_handler_is_run_by_some_program(version):
    assert report(version)["never run"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_only_async_functions_of_the_library_need_more_handlers(version):
    unknown = report(version)["unknown"]
    assert unknown and all("ASYNC" in name or "AWAIT" in name for name in unknown)


PAIRS = {"value": lambda: 1, "exception": lambda: 1 // 0, "output": lambda: print("x")}


@pytest.mark.parametrize("what", PAIRS)
def test_a_difference_is_seen(what, monkeypatch):
    """The comparison must fail where the two part; else all of the above says nothing."""
    monkeypatch.setattr(comparing.Noting, "run", lambda self, fn: "another")
    assert comparing.difference(PAIRS[what])
