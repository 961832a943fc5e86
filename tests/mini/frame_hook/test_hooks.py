"""The hook stands whatever Python can do meanwhile, on every supported Python."""

import pytest

from helpers.mini import frame_hook
from tests.mini.frame_hook import cases
from tests.pythons import run

pytestmark = pytest.mark.own_process


@pytest.mark.needs("c-compiler")
def test_this_machine_builds_the_extension():
    assert frame_hook.available() == "the course's C extension", frame_hook.why_not()


NEEDS = pytest.mark.needs("c-compiler")
OWN = ("swapped_code_must_fit",)  # of the course's extension alone


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[NEEDS] if name in OWN else []) for name in cases.CASES]
)
def test_hook_stands(name):
    cases.CASES[name]()
    cases.off()


@pytest.mark.needs("c-compiler")
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_hook_stands_on_other_pythons(version):
    told = run(version, "from tests.mini.frame_hook import cases; cases.run_all()")
    assert told.split() == list(cases.CASES)
