"""A learner's file in a shared folder is theirs alone; whatever else lies there is borne."""

import json
import os
from pathlib import Path

import pytest

from helpers.safety.folders import Refusal
from helpers.safety.shared_progress import (
    COURSE,
    LARGEST,
    MOST,
    STATE,
    Shared,
    is_shared,
    read,
    share,
    stop,
)

STATES = {"tangle": "passed", "finder": "tried"}
NASTY = "<script>alert(1)</script>"


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


def put(folder, number, text):
    path = folder / f"progress-{number:032x}.json"
    path.write_bytes(text if type(text) is bytes else text.encode())
    return path


def told(**more):
    return json.dumps({"course": COURSE, "exercises": STATES, **more})


def test_what_is_shared_is_states_alone_and_can_be_read_by_others(folder, work):
    file = share(str(folder), STATES, "", work)
    assert json.loads((folder / file).read_text()) == {"course": COURSE, "exercises": STATES}
    assert os.listdir(folder) == [file] and Path(folder, file).stat().st_mode & 0o044 == 0o044
    assert read(str(folder)).files == (Shared(tuple(STATES.items())),)


def test_sharing_again_overwrites_the_own_file_and_no_other(folder, work):
    put(folder, 1, told(name="another"))
    first = share(str(folder), {}, "", work)
    assert share(str(folder), STATES, "Ada", work) == first
    names = {one.name: dict(one.states) for one in read(str(folder)).files}
    assert names == {"Ada": STATES, "another": STATES}


def test_two_learners_have_two_files_whose_names_tell_nothing(folder, tmp_path):
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files.append(share(str(folder), STATES, "", tmp_path / name))
    assert files[0] != files[1] and all(len(file) == len("progress-.json") + 32 for file in files)


def test_another_folder_takes_the_file_out_of_the_first(folder, work, tmp_path):
    share(str(folder), STATES, "", work)
    (tmp_path / "next").mkdir()
    file = share(str(tmp_path / "next"), STATES, "", work)
    assert os.listdir(folder) == [] and os.listdir(tmp_path / "next") == [file]


def test_after_stopping_nothing_is_left(folder, work):
    other = put(folder, 1, told())
    share(str(folder), STATES, "", work)
    assert stop(work) == str(folder.resolve()) and list(folder.iterdir()) == [other]
    assert stop(work) == "" and os.listdir(work) == []


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"[]",
        json.dumps({"folder": "/tmp", "file": "../precious.json"}).encode(),
        json.dumps({"folder": 1, "file": f"progress-{1:032x}.json"}).encode(),
    ],
)
def test_a_note_that_was_changed_deletes_nothing(folder, work, state):
    (work / STATE).write_bytes(state)
    assert stop(work) == ""
    with pytest.raises(Refusal, match="delete it and share again"):
        share(str(folder), STATES, "", work)
    assert (work / STATE).read_bytes() == state and not list(folder.iterdir())


def test_a_link_in_place_of_the_file_is_not_followed(folder, work, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    own = folder / share(str(folder), STATES, "", work)
    for again in (lambda: share(str(folder), STATES, "", work), lambda: stop(work)):
        own.unlink()
        own.symlink_to(precious)
        again()
        assert precious.read_text() == "mine" and not own.is_symlink()


@pytest.mark.parametrize("given", ["", "no such folder", "\0", "x" * 9000, "\ud800"])
def test_a_folder_that_is_none_is_refused_in_a_sentence(work, given):
    for call in (lambda: share(given, {}, "", work), lambda: read(given)):
        with pytest.raises(Refusal, match="there is no folder"):
            call()
    assert os.listdir(work) == []


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(folder, work):
    nobodys = Path("/proc") if Path("/proc/self").exists() else folder  # not even root's
    folder.chmod(0o500)
    with pytest.raises(Refusal, match="nothing new is shared: .* cannot be used"):
        share(str(nobodys), STATES, "", work)
    folder.chmod(0o700)
    assert not is_shared(work)
    share(str(folder), STATES, "", work)
    assert is_shared(work)


def test_hostile_files_are_counted_and_nothing_more(folder, tmp_path):
    bad = [b"", b"\xff\xfe", "[]", "{}", "[" * 60_000, told(name=["x"]), "9" * 50_000]
    bad += [told(exercises=[1]), told(course="x"), " " * LARGEST + told()]
    for number, text in enumerate(bad):
        put(folder, number, text)
    (tmp_path / "told").write_text(told(name="through a link"))
    (folder / f"progress-{90:032x}.json").symlink_to(tmp_path / "told")
    (folder / f"progress-{91:032x}.json").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / f"progress-{92:032x}.json")
    (folder / "notes.txt").write_text("not looked at")
    put(folder, 93, told(name=NASTY, exercises={NASTY: "passed", "a": 1, "b": "won"}))
    found = read(str(folder))
    assert found.files == (Shared(((NASTY, "passed"), ("b", "won")), NASTY),)
    assert found.unread == len(bad) + 2 + hasattr(os, "mkfifo")


def test_of_very_many_files_some_are_left_out_and_it_is_told(folder):
    for number in range(MOST + 3):
        put(folder, number, told())
    found = read(str(folder))
    assert len(found.files) == MOST and found.more


def test_folder_that_takes_no_file_costs_what_is_shared_elsewhere_nothing(folder, work, tmp_path):
    file = share(str(folder), STATES, "", work)
    before = (folder / file).read_bytes(), (work / STATE).read_bytes()
    full = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else str(tmp_path / "none")
    with pytest.raises(Refusal):
        share(full, {}, "", work)
    assert ((folder / file).read_bytes(), (work / STATE).read_bytes()) == before
    (tmp_path / "other").mkdir()
    moved = share(str(tmp_path / "other"), STATES, "", work)
    assert os.listdir(folder) == [] and os.listdir(tmp_path / "other") == [moved]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are counted in /proc")
def test_folder_in_the_place_of_a_file_leaves_nothing_open(folder):
    (folder / f"progress-{1:032x}.json").mkdir()
    before = len(os.listdir("/proc/self/fd"))
    assert read(str(folder)).unread == 1
    assert len(os.listdir("/proc/self/fd")) == before
