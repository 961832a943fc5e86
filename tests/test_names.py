"""The words after `course.py bench`: understood by a bare Python, refused in one sentence."""

import json
import sys

import pytest

import tools.benchmarks.__main__ as bench
from tests.pythons import ROOT, finished
from tools.benchmarks.names import MEASURE, benchmarks, chosen

BARE = """
import json, sys
sys.path.insert(0, {root!r})
from tools.benchmarks.names import chosen
asked = chosen({words!r})
imported = {{name.partition(".")[0] for name in sys.modules}}
others = sorted(imported - set(sys.stdlib_module_names) - {{"tests", "__main__"}})
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
def test_an_unknown_word_is_one_sentence_that_names_what_there_is(capsys, words, wrong):
    assert bench.main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and wrong in said
    assert "--short" in said if wrong.startswith("--") else "frame_hook" in said


def test_a_list_says_what_each_is_about(capsys):
    assert bench.main(["--list", "hook"]) == 0
    assert capsys.readouterr().out == "frame_hook  What the frame hook costs, in bare calls.\n"
    assert all(benchmark.about for benchmark in benchmarks().values())


def test_every_benchmark_that_is_chosen_is_started_once_and_shortly_if_asked(monkeypatch):
    started = []

    def in_child(name, module, short=False):
        started.append((name, module, short))
        return iter(())

    monkeypatch.setattr(bench, "in_child", in_child)
    assert bench.main(["--short"]) == 0
    assert [name for name, _, _ in started] == list(benchmarks())
    assert all(short and module.startswith(bench.PACKAGE) for _, module, short in started)


def test_the_names_are_those_of_functions(tmp_path):
    (tmp_path / "some.py").write_text(f'def {MEASURE}it():\n    """Do it.\n\n    More."""\n')
    assert benchmarks(tmp_path) == {"it": ("some", "Do it.")}
