"""Nothing outside a folder of the course's own is deleted, moved or overwritten."""

import os
import subprocess
import sys

import pytest

from helpers.safety import folders
from helpers.safety.folders import MARK, MARKER, ManagedDirectory, Refusal, plain_name
from helpers.study.op_folder import op_folder

links = pytest.mark.skipif(os.name == "nt", reason="making a link needs rights on Windows")
BAD = [
    *("..", ".", "", "a/b", "a\\b", "/abs", "../x", "C:x", "C:", "C:\\x", "\\\\host\\x", "~"),
    *("a.", "a ", " a", ".hidden", "-rf", "é" * 60),
    *("a\0", "a\n", "\ud800", "a\u202eb", "a:b", "a*", "a?", 'a"', "a|b", "x" * 300),
]


@pytest.fixture
def victim(tmp_path):
    """Somebody's folder, which is whole after the test."""
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "thesis.txt").write_text("three years")
    yield tmp_path / "victim"
    assert os.listdir(tmp_path / "victim") == ["thesis.txt"]
    assert (tmp_path / "victim" / "thesis.txt").read_text() == "three years"


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_leads_elsewhere_is_refused(name, refused):
    for good in ("user_relu", "a b", "größe.py"):
        assert plain_name(good) == good
    refused(ValueError, "must be a plain name", plain_name, name, "the name")
    refused(ValueError, "must be a plain name", op_folder, name, {})
    refused(ValueError, "must be a plain name", op_folder, "good", {name: ""})


@links
def test_a_link_is_removed_and_not_followed(tmp_path, victim, refused):
    home = ManagedDirectory(tmp_path)
    (home.fill("a", {"x": b"1"}) / "deep").mkdir()
    for name in ("out", "deep/out"):
        os.symlink(victim, tmp_path / "a" / name)
    assert sorted(os.listdir(home.fill("a", {"x": b"2"}))) == ["x"]
    home.discard("a")
    os.symlink(victim, tmp_path / "a")
    home.discard("a")
    assert not os.path.lexists(tmp_path / "a")
    os.symlink(victim, tmp_path / "home")
    for call in (lambda home: home.discard("thesis.txt"), lambda home: home.fill("x", {})):
        home = ManagedDirectory(tmp_path / "home")
        refused(Refusal, "moved, replaced or deleted meanwhile", call, home)
    ManagedDirectory(tmp_path / "home").remove()


def test_a_temporary_home_goes_with_its_process_not_with_one_that_was_forked(tmp_path):
    code = "import os; from helpers.safety.folders import temporary; home = temporary('a-').path\n"
    code += "import sys; fork = getattr(os, 'fork', lambda: 1)\n"
    code += "fork() == 0 and sys.exit(); os.name == 'posix' and os.wait(); print(home.is_dir())"
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "True\n" and os.listdir(tmp_path) == []


def test_a_cache_is_marked_and_found_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    assert folders.cache("builds").path == folders.cache("builds").path
    folder = tmp_path / "here" / "who-runs-your-function" / "builds"
    assert (folder / MARKER).read_bytes() == MARK
    assert sorted(os.listdir(folder)) == [MARKER, "builds"] and not os.listdir(folder / "builds")


@links
@pytest.mark.parametrize("base", ["victim/thesis.txt", "/proc", "link", "other"])
def test_a_cache_that_cannot_be_ours_is_a_temporary_one(tmp_path, monkeypatch, victim, base):
    named = tmp_path / base
    if base in ("link", "other"):
        own = named / "who-runs-your-function" / "builds"
        own.parent.mkdir(parents=True)
        os.symlink(victim, own) if base == "link" else own.mkdir()
        (own / "thesis.txt").write_text("three years")
    monkeypatch.setenv("XDG_CACHE_HOME", str(named))
    with folders.cache("builds") as home:
        assert "who-runs-your-function" not in home.path.parts
