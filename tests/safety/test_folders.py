"""Nothing outside a folder of the course's own is deleted, moved or overwritten."""

import errno
import os
import shutil
import subprocess
import sys

import pytest

from helpers.safety import folders
from helpers.safety.folders import MARK, MARKER, ManagedDirectory, Refusal, require_plain_name
from helpers.study.op_folder import op_folder
from tests.interrupted import ENDED, STOPS, in_child, needs_fork, stopped_each_time

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
        assert require_plain_name(good) == good
    refused(ValueError, "plain name", require_plain_name, name, "the name")
    refused(ValueError, "plain name", op_folder, name, {})
    refused(ValueError, "plain name", op_folder, "good", {name: ""})


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
        refused(Refusal, "replaced", call, home)
    ManagedDirectory(tmp_path / "home").remove()


def test_a_temporary_home_goes_with_its_process_not_with_one_that_was_forked(tmp_path):
    code = "import os; from helpers.safety import folders\n"
    code += "home = folders.make_temporary_folder('a-').path\n"
    code += "import sys; fork = getattr(os, 'fork', lambda: 1)\n"
    code += "fork() == 0 and sys.exit(); os.name == 'posix' and os.wait(); print(home.is_dir())"
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout == "True\n" and os.listdir(tmp_path) == []


def test_a_cache_is_marked_and_found_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    assert folders.open_cache_folder("builds").path == folders.open_cache_folder("builds").path
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
    with folders.open_cache_folder("builds") as home:
        assert "who-runs-your-function" not in home.path.parts


# -- copies in somebody else's folder --------------------------------------------------------------

MARKED = "2026-03-01_093000"


def files_of(folder):
    """Return place -> bytes of all files, also of those that a killed process left half made."""
    found = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return {name: path.read_bytes() for name, path in found.items()}


def without_second_names(monkeypatch):
    """Let this be a file system without hard links."""

    def refuse(*places, **options):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)


@needs_fork
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("links_work", [True, False])
def test_a_copy_that_is_stopped_leaves_the_old_one_and_then_succeeds(
    tmp_path, monkeypatch, stop, links_work
):
    if not links_work:
        without_second_names(monkeypatch)
    place, numbers = tmp_path / "a.txt", []
    place.write_bytes(b"mine")

    def renew():
        return folders.renew_copy(b"new", place, MARKED)

    for number in stopped_each_time(renew, tmp_path, stop):
        numbers.append(number)
        there = files_of(tmp_path)
        assert b"mine" in there.values()
        if links_work:  # else there may be a moment with only the second name
            assert there["a.txt"] in (b"mine", b"new")
        if stop == "full disk":
            assert there["a.txt"] == b"mine" or there["a.txt"] == b"new" and len(there) == 2
        assert in_child(renew, tmp_path) == ENDED
        assert place.read_bytes() == b"new" and b"mine" in files_of(tmp_path).values()
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        place.write_bytes(b"mine")
    assert len(numbers) >= 4 and (place.read_bytes(), len(files_of(tmp_path))) == (b"new", 2)


@needs_fork
def test_a_file_that_cannot_be_written_whole_changes_nothing(tmp_path, refused):
    import resource

    place = tmp_path / "a.txt"
    place.write_bytes(b"mine")

    def renew():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        words = r"^a\.txt .*\(File too large\).* /.*a\.txt"
        refused(folders.NotRenewed, words, folders.renew_copy, b"new" * 99, place, MARKED)

    assert in_child(renew, tmp_path) == ENDED
    assert files_of(tmp_path) == {"a.txt": b"mine"} and os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("links_work", [True, False])
def test_what_is_kept_is_never_written_over(tmp_path, monkeypatch, links_work):
    if not links_work:
        without_second_names(monkeypatch)
    place, kept = tmp_path / "a.txt", []
    for data in (b"first", b"second", b"third"):
        before = files_of(tmp_path)
        kept.append(folders.renew_copy(data, place, MARKED))
        assert set(before.values()) <= set(files_of(tmp_path).values())
    assert kept == [None, tmp_path / f"a.{MARKED}.txt", tmp_path / f"a.{MARKED}-2.txt"]
    assert not folders.add_copy(b"other", place) and place.read_bytes() == b"third"


def test_a_file_that_comes_meanwhile_is_not_written_over(tmp_path, monkeypatch):
    place, write = tmp_path / "a.txt", folders.write_new

    def write_meanwhile(path, data):
        write(path, data)
        place.write_bytes(b"mine")

    monkeypatch.setattr(folders, "write_new", write_meanwhile)
    assert not folders.add_copy(b"new", place)
    assert files_of(tmp_path) == {"a.txt": b"mine"}


@pytest.mark.parametrize("links_work", [True, False])
def test_a_file_is_added_with_or_without_hard_links(tmp_path, monkeypatch, links_work):
    if not links_work:
        without_second_names(monkeypatch)
    assert folders.add_copy(b"new", tmp_path / "a.txt")
    assert files_of(tmp_path) == {"a.txt": b"new"} and os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").stat().st_nlink == 1


def test_where_the_last_step_fails_the_old_one_has_its_name_alone(tmp_path, monkeypatch, refused):
    place, replace = tmp_path / "a.txt", os.replace
    for links_work in (True, False):
        place.write_bytes(b"mine")
        if not links_work:
            without_second_names(monkeypatch)

        def refuse(made, where):
            if where == place:
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
            replace(made, where)

        monkeypatch.setattr(os, "replace", refuse)
        words = f"{os.strerror(errno.EACCES)}.*{place.name}"
        refused(folders.NotRenewed, words, folders.renew_copy, b"new", place, MARKED)
        assert files_of(tmp_path) == {"a.txt": b"mine"}


# -- folders of our own ----------------------------------------------------------------------------

PAGES = {"assets": {"a.css": b"1", "b.js": b"1"}, "images": {"x.svg": b"1"}, "": {"i.html": b"1"}}
LATER = {"assets": {"a.css": b"2", "c.js": b"2"}, "images": {"x.svg": b"2"}, "": {"i.html": b"2"}}


def pages_in(folder):
    """Return place -> bytes of the files that have their names."""
    return {name: data for name, data in files_of(folder).items() if not name.startswith("work-")}


@needs_fork
@pytest.mark.parametrize("stop", STOPS)
def test_each_page_is_whole_the_old_or_the_new_where_it_is_stopped(tmp_path, stop):
    home = ManagedDirectory(tmp_path)
    home.renew(PAGES)
    before, numbers = pages_in(tmp_path), []
    assert before == {
        "assets/a.css": b"1",
        "assets/b.js": b"1",
        "images/x.svg": b"1",
        "i.html": b"1",
    }
    for number in stopped_each_time(lambda: home.renew(LATER), tmp_path, stop):
        numbers.append(number)
        there = pages_in(tmp_path)
        assert {"assets/a.css", "images/x.svg", "i.html"} <= set(there)
        assert set(there.values()) <= {b"1", b"2"}
        assert in_child(lambda: home.renew(LATER), tmp_path) == ENDED
        assert set(pages_in(tmp_path).values()) == {b"2"} and len(pages_in(tmp_path)) == 4
        home.renew(PAGES)
    assert len(numbers) > 10


@links
def test_links_and_folders_at_the_place_of_a_page_give_way_and_nothing_is_followed(
    tmp_path, victim
):
    (tmp_path / "home").mkdir()
    home = ManagedDirectory(tmp_path / "home")
    os.symlink(victim, home.path / "assets")
    (home.path / "images" / "x.svg").mkdir(parents=True)
    os.symlink(victim / "thesis.txt", home.path / "i.html")
    (home.path / "images" / ".DS_Store").write_bytes(b"")
    home.renew(PAGES)
    assert set(pages_in(home.path).values()) == {b"1"} and len(pages_in(home.path)) == 4


def test_a_folder_whose_successor_cannot_come_is_there_again(tmp_path, monkeypatch):
    home, replace = ManagedDirectory(tmp_path), os.replace
    home.fill("a", {"x": b"1"})
    moves = []

    def refuse_the_second(made, place):
        moves.append(place)
        if len(moves) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(made, place)

    monkeypatch.setattr(os, "replace", refuse_the_second)
    with pytest.raises(OSError, match="No space"):
        home.fill("a", {"x": b"2"})
    assert pages_in(tmp_path) == {"a/x": b"1"}
