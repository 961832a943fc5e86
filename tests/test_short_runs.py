"""Each benchmark runs to its end, once and small; what is installed is not called missing."""

import shutil

import pytest

import tools.benchmarks.__main__ as bench
from tools.benchmarks.harness import LACKING, RAN, Missing, needs
from tools.benchmarks.names import benchmarks

# No framework, so it is quick. It once ended in a traceback (false 30: most=1000000000).
EVERY_DAY = ("value_stack",)
NAMES = [
    pytest.param(name, marks=() if name in EVERY_DAY else pytest.mark.long) for name in benchmarks()
]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_to_its_end(name):
    module = f"{bench.PACKAGE}.{benchmarks()[name].module}"
    results = list(bench.in_child(name, module, short=True))
    assert results
    for result in results:
        assert result.verdict in (RAN, LACKING), result


def test_a_program_is_missing_only_where_it_cannot_be_found(monkeypatch):
    """False 30: "graphviz not installed" beside an installed dot."""
    program = shutil.which("sh") or shutil.which("cmd")
    needs("json", program=program)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Missing, match="^dot not installed$"):
        needs("json", program="dot")


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("dot"), reason="no dot here")
def test_an_installed_dot_is_used():
    module = f"{bench.PACKAGE}.{benchmarks()['diagram'].module}"
    verdicts = {one.verdict for one in bench.in_child("diagram", module, short=True)}
    assert verdicts == {RAN}
