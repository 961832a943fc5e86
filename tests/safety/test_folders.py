"""Nothing outside a folder of the course's own is deleted, moved or overwritten; tried on a victim.

Every trial runs in a child whose HOME, TMPDIR and working folder stand inside the test's own place;
a victim beside them is looked at afterwards.
"""

import os
import subprocess
import sys
import textwrap

import pytest

from helpers.safety.folders import MARK, MARKER, Home, Refusal, plain_name, plain_names
from tests.pythons import BARE

links = pytest.mark.skipif(os.name == "nt", reason="making a link needs rights on Windows")
BAD = [
    *("..", ".", "", "a/b", "a\\b", "/abs", "../x", "..\\x", "C:x", "C:", "C:\\x", "\\\\host\\x"),
    *("CON", "con", "NUL", "nul.txt", "COM1", "lpt9.py", "a.", "a ", " a", ".hidden", "-rf", "~"),
    *("a\0", "a\n", "\ud800", "a\u202eb", "a:b", "a*", "a?", 'a"', "a|b", "x" * 300, "é" * 60),
]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(ValueError, match="must be a plain name") as caught:
        plain_name(name, "the name")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


@pytest.mark.parametrize("name", ["user_relu", "a b", "größe.py", "x-1.2", "CONSOLE", "nullable"])
def test_a_plain_name_comes_back(name):
    assert plain_name(name) == name


def test_names_that_some_systems_hold_for_one_are_refused():
    with pytest.raises(ValueError, match="must differ from 'a.py' in more than case"):
        plain_names(["a.py", "b.py", "A.py"])


# -- in a child, beside a victim -------------------------------------------------------------------


@pytest.fixture
def place(tmp_path):
    """A place with a home, a folder for temporary files and a victim."""
    for name in ("home", "tmp", "here", "victim/inside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "victim" / "thesis.txt").write_text("three years")
    (tmp_path / "victim" / "inside" / "data").write_text("data")
    (tmp_path / "tmp" / "somebody else's").write_text("theirs")
    return tmp_path


def run(place, code, **changed):
    """Run code in the place; see that the victim is whole, and return what was printed."""
    given = {"TMPDIR": str(place / "tmp"), "HOME": str(place / "home"), "XDG_CACHE_HOME": None}
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **given, **changed}
    done = subprocess.run(
        [sys.executable, "-c", BARE + PRELUDE + textwrap.dedent(code)],
        env={name: value for name, value in env.items() if value is not None},
        cwd=place / "here",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert (place / "victim" / "thesis.txt").read_text() == "three years"
    assert (place / "victim" / "inside" / "data").read_text() == "data"
    assert sorted(os.listdir(place / "victim")) == ["inside", "thesis.txt"]
    if (place / "tmp").is_dir():
        assert (place / "tmp" / "somebody else's").read_text() == "theirs"
        assert os.listdir(place / "tmp") == ["somebody else's"], "something was left behind"
    return done.stdout.strip()


PRELUDE = """
import os, shutil, sys
from pathlib import Path
from helpers.safety import folders
from helpers.safety.folders import Refusal, cache, temporary
from helpers.study.op_folder import op_folder
victim = Path("..", "victim").resolve()
def says(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
    else:
        print("done")
"""


def test_op_folder_deletes_nothing_by_a_bad_name(place):
    code = f"""
    for name in {BAD!r}:
        op_folder("good", {{"a.py": "1"}})
        for call in (lambda: op_folder(name, {{}}), lambda: op_folder("good", {{name: ""}})):
            try: call()
            except ValueError: pass
            else: print("taken:", ascii(name))
    print(op_folder("good", {{"a.py": "1"}}))
    """
    assert run(place, code) == "a temporary directory with good/ (a.py)"


@links
def test_a_link_inside_is_removed_and_not_followed(place):
    code = """
    here = op_folder("a", {"x": "1"})
    os.symlink(victim, Path(here, "a", "out"))
    os.symlink(victim / "thesis.txt", Path(here, "a", "file"))
    Path(here, "a", "deep").mkdir()
    os.symlink(victim, Path(here, "a", "deep", "out"))
    print(op_folder("a", {"x": "2"}))
    shutil.rmtree(Path(here, "a"))
    os.symlink(victim, Path(here, "a"))
    print(op_folder("a", {"thesis.txt": "overwritten?"}))
    """
    told = run(place, code).splitlines()
    assert told == [f"a temporary directory with a/ ({name})" for name in ("x", "thesis.txt")]


@links
@pytest.mark.parametrize("what", ["os.symlink(victim, home)", "shutil.copytree(victim, home)", ""])
def test_a_home_that_was_replaced_or_deleted_is_nobodys(place, what):
    code = f"""
    made = temporary("a-")
    home = Path(made.path)
    old = op_folder("inside", {{"x": "1"}})
    for home in (home, Path(old)):
        shutil.rmtree(home)
        {what or "pass"}
    says(lambda: made.discard("inside"))
    says(lambda: made.fill("inside", {{"data": b"overwritten?"}}))
    print(made.remove(), old, op_folder("inside", {{"data": "2"}}))
    for home in (made.path, Path(old)):
        if home.is_symlink(): home.unlink()
        elif home.exists(): shutil.rmtree(home)
    """
    one, two, three = run(place, code).splitlines()
    assert one == two and one.startswith("Refusal the course's own folder was moved, replaced or")
    assert three.startswith("False ") and three.endswith("with inside/ (data)")


def test_a_process_that_was_forked_removes_nothing_of_its_parent(place):
    if not hasattr(os, "fork"):
        pytest.skip("nothing forks here")
    code = """
    here = op_folder("a", {"x": "1"})
    if os.fork() == 0:
        op_folder("a", {"x": "2"})
        sys.exit()
    os.wait()
    print(Path(here, "a", "x").read_text())
    """
    assert run(place, code) == "1"


# -- the cache -------------------------------------------------------------------------------------

CACHE = "home = cache('builds'); print(home.path.relative_to(Path('..').resolve()).parts[0])"


def test_a_cache_is_marked_and_found_again(place):
    assert run(place, CACHE) == run(place, CACHE) == "home"
    folder = place / "home" / ".cache" / "who-runs-your-function" / "builds"
    assert (folder / MARKER).read_bytes() == MARK
    assert sorted(os.listdir(folder)) == [MARKER, "builds"] and not os.listdir(folder / "builds")


@pytest.mark.parametrize("base", ["/", "relative", "{victim}/thesis.txt", "/proc", "\udcff"])
def test_a_cache_that_cannot_be_ours_is_a_temporary_one(place, base):
    named = base.format(victim=place / "victim")
    where = {"relative": "home", "\udcff": "home"}.get(base, "tmp")
    assert run(place, CACHE, XDG_CACHE_HOME=named) == where
    assert not os.path.exists("/who-runs-your-function")


@links
@pytest.mark.parametrize("at", ["who-runs-your-function", "who-runs-your-function/builds"])
def test_somebody_elses_folder_is_no_cache(place, at):
    theirs = place / "home" / ".cache" / at
    theirs.parent.mkdir(parents=True)
    os.symlink(place / "victim", theirs)
    assert run(place, CACHE) == "tmp"
    theirs.unlink()
    theirs.mkdir()
    (theirs / "builds").mkdir(exist_ok=True)
    (theirs / "builds" / "a file").write_text("theirs")
    (theirs / "a file").write_text("theirs")
    assert run(place, CACHE) == "tmp"
    assert (theirs / "builds" / "a file").read_text() == (theirs / "a file").read_text() == "theirs"


def test_only_what_was_made_inside_is_moved_inside(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "mine").write_text("mine")
    home = Home(tmp_path / "home")
    with home.work() as work:
        for path in (tmp_path / "mine", work / ".." / ".." / "mine", work):
            with pytest.raises((Refusal, OSError)):
                home.put(path, "taken")
        if os.name != "nt":
            os.symlink(tmp_path / "mine", work / "link")
            with pytest.raises(Refusal, match="only what was made"):
                home.put(work / "link", "taken")
    assert (tmp_path / "mine").read_text() == "mine" and os.listdir(home.path) == []
