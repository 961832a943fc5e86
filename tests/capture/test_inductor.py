"""Inductor runs only when asked to; what it writes is shown without its includes and hashes."""

import pytest

from helpers import watch_inductor
from helpers.capture.torch import inductor_code as inductor
from helpers.view.source_views import side_by_side
from tests.model.pairs import made_up

pytestmark = pytest.mark.own_process(sharing="torch")
pytest.importorskip("torch")

MODULE = """
cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'float*'], '''
#include "/some/folder/cabc.h"
extern "C"  void  kernel(const float* in_ptr0)
{
}
''')
async_compile.wait(globals())
"""


def wave(x):
    return x + 1


def test_nothing_runs_unless_asked(monkeypatch):
    monkeypatch.setattr(inductor, "_generate_modules", lambda *args: pytest.fail("it ran"))
    shown = watch_inductor(wave, 3).model
    assert shown.note == inductor.NOT_REQUESTED
    assert [pair.left_text for pair in shown.pairs][0] == "def wave(x):"
    assert [pair.right_text for pair in shown.pairs] == [inductor.NOT_RUN, ""]
    assert not made_up(shown) and inductor.NOT_RUN in side_by_side.html(shown)


def test_without_a_compiler_it_says_so(monkeypatch):
    monkeypatch.setattr(inductor.shutil, "which", lambda name: None)
    assert watch_inductor(wave, 3, run=True).model.note == inductor.NO_COMPILER


def test_kernels_are_shown_without_includes(monkeypatch):
    monkeypatch.setattr(inductor.shutil, "which", lambda name: name)
    monkeypatch.setattr(inductor, "_generate_modules", lambda *args: [MODULE])
    shown = watch_inductor(wave, 3, run=True).model
    assert [line for line in made_up(shown) if line][0].startswith('extern "C"')
    assert "include" not in repr(shown) and shown.note.startswith("1 kernel ")
