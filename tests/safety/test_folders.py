"""Nothing outside a folder of the course's own is deleted, moved or overwritten; tried on a victim.

Every trial runs in a child whose HOME, TMPDIR and working folder stand inside the test's own place;
a victim beside them is looked at afterwards.
"""

import os
import subprocess
import sys
import textwrap

import pytest

from helpers.safety.file_names import plain_name, plain_names
from helpers.safety.folders import MARK, MARKER, Home, Refusal
from tests.pythons import BARE

links = pytest.mark.skipif(os.name == "nt", reason="making a link needs rights on Windows")
BAD = [
    *("..", ".", "", "a/b", "a\\b", "/abs", "../x", "..\\x", "C:x", "C:", "C:\\x", "\\\\host\\x"),
    *("CON", "con", "NUL", "nul.txt", "COM1", "lpt9.py", "a.", "a ", " a", ".hidden", "-rf", "~"),
    *("a\0", "a\n", "\ud800", "a\u202eb", "a:b", "a*", "a?", 'a"', "a|b", "x" * 300, "é" * 60),
]


class Lying(str):
    """A text whose every method says that it is harmless."""

    def _harmless(self, *args):
        return "harmless"

    __str__ = __repr__ = __format__ = encode = replace = partition = _harmless
    __eq__ = __contains__ = startswith = endswith = isidentifier = lambda self, *args: True
    __hash__ = str.__hash__


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_leads_elsewhere_is_refused(name):
    with pytest.raises(ValueError, match="must be a plain name") as caught:
        plain_name(name, "the name")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250
    with pytest.raises(ValueError, match="must be a plain name"):
        plain_name(Lying(name), "the name")


@pytest.mark.parametrize("name", ["user_relu", "a b", "größe.py", "x-1.2", "CONSOLE", "nullable"])
def test_a_plain_name_comes_back_as_an_exact_str(name):
    assert plain_name(name) == name and type(plain_name(Lying(name))) is str


@pytest.mark.parametrize("value", [None, 3, b"a", ["a"], object, pytest])
def test_what_is_no_text_is_no_name(value):
    with pytest.raises(TypeError, match="must be text, not"):
        plain_name(value)


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


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("op_folder('a', 5)", "TypeError the files must be a dict of name -> text, not int"),
        ("op_folder('a', [('x', 'y')])", "TypeError the files must be a dict"),
        ("op_folder('a', {3: ''})", "TypeError the name of a file must be text, not int"),
        ("op_folder('a', {'x': b''})", "TypeError the file 'x' must be text, not bytes"),
        ("op_folder('a', {'x': '\\ud800'})", "ValueError the file 'x' must hold what UTF-8 can"),
        ("op_folder('a', {'x': '', 'X': ''})", "ValueError the name of a file, 'X', must differ"),
        ("op_folder(5, {})", "TypeError the name of the op must be text, not int"),
    ],
)
def test_what_is_wrong_with_the_files_is_one_sentence(place, call, says):
    told = run(place, f"op_folder('a', {{'x': 'old'}})\nsays(lambda: {call})")
    assert told.startswith(says) and "\n" not in told


def test_a_name_that_is_no_text_is_not_asked_for_its_hash(place):
    code = """
    asked = []
    class Name:
        def __hash__(self): return asked.append(1) or 1
    files = {Name(): ""}
    says(lambda: op_folder("a", files))
    print(len(asked))
    """
    assert run(place, code).endswith("must be text, not Name\n1")


def test_a_refused_op_folder_leaves_what_was_there(place):
    code = """
    here = op_folder("a", {"x": "old"})
    says(lambda: op_folder("a", {"x": "new", "y": None}))
    print(Path(here, "a", "x").read_text(), here)
    """
    assert run(place, code).endswith("old a temporary directory with a/ (x)")


def test_a_full_disk_is_told_and_leaves_what_was_there(place):
    pytest.importorskip("resource")
    code = """
    import resource
    here = op_folder("a", {"x": "old"})
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most))
    says(lambda: op_folder("a", {"x": "new", "y": "y" * 9999}))
    print(Path(here, "a", "x").read_text(), here)
    """
    told, left = run(place, code).splitlines()
    assert told.startswith("Refusal the folder a could not be written (")
    assert left == "old a temporary directory with a/ (x)"


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


@pytest.mark.parametrize(
    "folder", ["", "/no/such/place", "relative", "{victim}/thesis.txt", "{tmp}/link", "\udcff"]
)
def test_a_hostile_tmpdir_harms_nobody(place, folder):
    if os.name != "nt":
        os.symlink(place / "other", place / "tmp" / "link")
    (place / "other").mkdir()
    (place / "here" / "relative").mkdir()
    named = folder.format(victim=place / "victim", tmp=place / "tmp")
    code = """
    os.remove(Path("..", "tmp", "link")) if "link" not in os.environ["TMPDIR"] else None
    says(lambda: op_folder("..", {}))
    print(op_folder("a", {"x": "1"}))
    import atexit
    atexit.register(lambda: [os.remove(p) for p in [Path("..", "tmp", "link")] if p.is_symlink()])
    """
    assert run(place, code, TMPDIR=named).endswith("with a/ (x)")
    assert os.listdir(place / "other") == os.listdir(place / "here" / "relative") == []


def test_where_no_temporary_file_can_be_made_it_is_one_sentence(place):
    code = """
    import tempfile
    tempfile._candidate_tempdir_list = lambda: ["/no/such/place"]
    says(lambda: op_folder("a", {}))
    tempfile.tempdir = 5
    says(lambda: op_folder("a", {}))
    """
    told = run(place, code).splitlines()
    assert len(told) == 2 and all("set TMPDIR to one" in line for line in told)


def test_a_deep_tree_and_one_without_rights_go_too(place):
    code = """
    home = temporary("a-")
    at = home.path
    for _ in range(300):
        at = at / ("d" * 10)
        at.mkdir()
    for _ in range(4):  # paths beyond what the system takes in one piece
        os.rename(home.path / ("d" * 10), home.path / "moved")
        (home.path / ("d" * 10)).mkdir()
        os.rename(home.path / "moved", home.path / ("d" * 10) / "more")
    (home.path / "shut").mkdir()
    (home.path / "shut" / "file").write_text("")
    os.chmod(home.path / "shut", 0)
    if os.geteuid() == 0:
        os.chown(home.path / "shut", 65534, 65534)
    print(home.remove(), home.path.exists())
    """
    assert run(place, code) == "True False"


@links
def test_what_is_mounted_inside_keeps_its_files(place):
    code = """
    import ctypes
    home = temporary("a-")
    for name in ("m", "deep"):
        (home.path / name).mkdir()
    (home.path / "deep" / "m").mkdir()
    libc = ctypes.CDLL(None)
    if libc.unshare(0x20000) or libc.mount(None, b"/", None, 0x44000, None):
        print("False True")
    else:
        for at in (home.path / "m", home.path / "deep" / "m"):
            assert not libc.mount(bytes(victim), bytes(at), None, 0x1000, None)
        print(home.remove(), (home.path / "m" / "thesis.txt").exists())
        for at in home.path.rglob("m"):
            libc.umount2(bytes(at), 2)
        shutil.rmtree(home.path)
    """
    if sys.platform != "linux":
        pytest.skip("mounts are tried on Linux")
    assert run(place, code) == "False True"


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


@pytest.mark.parametrize("home", ["", "/", "relative", "{place}/no/such/place"])
def test_a_home_folder_that_is_none_is_no_obstacle(place, home):
    before = os.listdir("/")
    assert run(place, CACHE, HOME=home.format(place=place)) == "tmp"
    assert os.listdir("/") == before and not (place / "no").exists()


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


@links
def test_a_cache_that_others_can_write_is_not_used(place):
    run(place, CACHE)
    folder = place / "home" / ".cache" / "who-runs-your-function" / "builds"
    folder.chmod(0o777)
    assert run(place, CACHE) == "tmp"


def test_two_kernels_may_make_the_cache_at_once(place):
    code = "from threading import Thread\nfound = []\ndef one(): found.append(cache('a').path)\n"
    code += "threads = [Thread(target=one) for _ in range(8)]\n[t.start() for t in threads]\n"
    code += "[t.join() for t in threads]\nprint(len(found), len(set(found)))"
    assert run(place, code) == "8 1"


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
