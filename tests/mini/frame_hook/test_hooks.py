"""The hook stands whatever Python can do meanwhile, on every supported Python."""

import pytest

from helpers.mini import frame_hook
from tests.mini.frame_hook import cases
from tests.pythons import run

pytestmark = pytest.mark.own_process


def test_this_machine_builds_the_extension():
    assert frame_hook.available() == "the course's C extension", frame_hook.why_not()


@pytest.mark.parametrize("name", cases.CASES)
def test_hook_stands(name):
    cases.CASES[name]()
    cases.off()


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_hook_stands_on_other_pythons(version):
    told = run(version, "from tests.mini.frame_hook import cases; cases.run_all()")
    assert told.split() == list(cases.CASES)
