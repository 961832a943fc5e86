"""Each recorder is judged by what its second call gives; no verdict is typed in."""

import pytest

from helpers import show_recording, watch_recorders
from helpers.capture.frameworks import program_recorders as recorders
from helpers.capture.frameworks.program_recorders import PROGRAMS
from helpers.safety.children import ask

pytestmark = pytest.mark.own_process(sharing="tensorflow")
pytest.importorskip("torch")
pytest.importorskip("tensorflow")


@pytest.fixture(scope="module")
def model():
    return watch_recorders().model


def test_python_is_always_right(model):
    assert set(model.subjects("right", "Python")) == {program.words for program in PROGRAMS}


def test_dynamo_is_never_wrong(model):
    assert all(model.word(p.words, "Dynamo").startswith("right") for p in PROGRAMS)


def test_what_nobody_guards_goes_wrong(model):
    for recorder in ("tf.function", "fx.symbolic_trace"):
        assert model.word("a global changes", recorder) == "wrong"


def test_a_branch_on_a_tensor_is_one_graph_or_several_or_refused(model):
    rows = show_recording("if on a tensor").model.rows
    assert [row.graphs for row in rows] == [0, 1, 3, 0]
    assert model.word("if on a tensor", "fx.symbolic_trace").startswith("refused")


def test_a_recording_lists_every_recorder(model):
    rows = show_recording("loop of n rounds").model.rows
    names = ["Python", "tf.function", "Dynamo", "fx.symbolic_trace"]
    assert [row.recorder for row in rows] == names
    assert rows[2].ops.count("mul") == 4
    with pytest.raises(KeyError, match="the programs are"):
        show_recording("no such program")


@pytest.mark.parametrize("source", ["raise ValueError('not today')", "import os; os._exit(3)"])
def test_a_child_that_tells_nothing_is_one_sentence(monkeypatch, source):
    told = ask({"source": source}, 30)
    monkeypatch.setattr(recorders, "ask", lambda request, seconds: told)
    with pytest.raises(RuntimeError, match="told nothing: (ValueError: not|it ended with 3)"):
        recorders._record_in_child()
