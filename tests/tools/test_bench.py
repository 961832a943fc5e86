"""`course.py bench`: words that a bare Python understands or refuses, and a run to the end."""

import json
import sys

import pytest

import tools.benchmarks.__main__ as bench
from tests.pythons import ROOT, finished
from tools.benchmarks.harness import RAN
from tools.benchmarks.names import benchmarks, chosen

BARE = """
import json, sys
sys.path.insert(0, {root!r})
from tools.benchmarks.names import chosen
asked = chosen({words!r})
imported = {{name.partition(".")[0] for name in sys.modules}}
others = sorted(imported - set(sys.stdlib_module_names) - {{"tools", "__main__"}})
print(json.dumps([list(asked.benchmarks), asked.short, others]))
"""


def test_a_python_without_any_package_reads_the_words():
    source = BARE.format(root=str(ROOT), words=["hook", "--short"])
    done = finished([sys.executable, "-I", "-S", "-c", source])
    assert done.stderr == "" and json.loads(done.stdout) == [["frame_hook"], True, []]


def test_words_choose_by_name():
    assert list(chosen(["trace"]).benchmarks) == ["traces", "tracers"]
    assert chosen([]).benchmarks == benchmarks() and "frame_hook" in benchmarks()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [(["nothing"], "'nothing'"), (["hook", "hok"], "'hok'"), (["--shrt"], "--shrt")],
)
def test_an_unknown_word_is_refused_in_one_sentence(capsys, words, wrong):
    assert bench.main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and wrong in said


def test_a_benchmark_runs_to_its_end():
    """The one that needs no framework; `course.py bench --short` in CI runs all of them."""
    module = f"{bench.PACKAGE}.{benchmarks()['value_stack'].module}"
    verdicts = [result.verdict for result in bench.in_child("value_stack", module, short=True)]
    assert verdicts and {*verdicts} == {RAN}
