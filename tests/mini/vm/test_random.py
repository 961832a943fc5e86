"""helpers/mini/vm on random programs, here and on the other supported Pythons."""

import warnings
from functools import cache

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.mini import comparing, made, pythons

FREE = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@settings(max_examples=200, **FREE)
@given(made.programs())
def test_random_program_does_what_it_does_in_cpython(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = comparing.from_source(source)
    assert comparing.difference(program) is None


@cache
def batch() -> list[str]:
    """Return 120 programs, the same in every run: a list strategy of that size overruns."""
    made_here = []

    @settings(max_examples=120, derandomize=True, phases=[Phase.generate], **FREE)
    @given(made.programs())
    def collect(source):
        made_here.append(source)

    collect()
    return made_here


@pytest.mark.parametrize("version", pythons.OTHERS)
def test_random_programs_on_another_python(version):
    interpreter = pythons.python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this machine")

    told = pythons.compared(interpreter, "--sources", sources=batch())
    assert told["differences"] == {} and told["programs"] >= 100


@pytest.mark.parametrize("version", pythons.OTHERS)
def test_every_program_and_module_on_another_python(version):
    interpreter = pythons.python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this machine")
    told = pythons.compared(interpreter)
    assert told["differences"] == {}
    assert told["programs"] >= 150 and told["modules"] >= 6
    assert told["coverage"] >= 0.95
    assert all("ASYNC" in name or "AWAIT" in name for name in told["unknown"])
