"""A file that is written anew after its import is no source of what was made from it."""

import ast
import importlib
import re
import sys

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from helpers import watch_names
from helpers.capture.processes.child import call_in_child
from helpers.capture.processes.portable_source import build_portable_source
from helpers.capture.text.source import find_source

OLD = "def f(x):\n    y = x + 1\n    return y\n"
OTHERS = {
    "a line changed": "def f(x):\n    y = x * 9\n    return y\n",
    "lines came": f"import os\n\n{OLD}",
    "the function gone": "def g():\n    pass\n",
    "no program now": "def f(x:\n    y = x + 1\n",
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    file = tmp_path / "written_anew.py"
    file.write_text(OLD)
    importlib.invalidate_caches()
    yield file, importlib.import_module(file.stem)
    sys.modules.pop(file.stem)


def test_an_untouched_file_is_the_source(written, capsys):
    assert find_source(written[1].f.__code__).text == OLD.rstrip()
    assert call_in_child(written[1].f, 1) == 2
    assert not capsys.readouterr().err


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_a_changed_file_is_not_and_that_is_said(written, text, capsys, refused):
    file, module = written
    file.write_text(text)
    shown = str(watch_names(module.f, 1))
    assert "y ──▶ 2 (int)" in shown and "line 2:" not in shown
    assert re.search(rf"{file.name} .* f;", capsys.readouterr().err)
    refused(TypeError, rf"{file.name} .* f;", call_in_child, module.f, 1)
    refused(ValueError, rf"{file.name} .* f;", build_portable_source, module.f)


def test_a_reloaded_module_has_its_lines_again(written):
    file, module = written
    file.write_text(OTHERS["lines came"])
    importlib.reload(module)
    assert find_source(module.f.__code__).text == OLD.rstrip()


def test_asserts_that_pytest_rewrote_are_shown_as_they_were_written(tmp_path, capsys):
    text = "def f(x):\n    y = x + 1\n    assert y == 2\n    return y\n"
    file, tree, space = tmp_path / "test_mine.py", ast.parse(text), {}
    file.write_text(text)
    rewrite_asserts(tree, text.encode())
    exec(compile(tree, str(file), "exec"), space)
    run = watch_names(space["f"], 1).model
    assert run.source == text.rstrip() and "@py" not in str(run) and not capsys.readouterr().err
    file.write_text(f"import os\n\n{text}")
    assert not find_source(space["f"].__code__).text
