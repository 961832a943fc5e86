"""A line of a learner is added whole, a broken one costs only itself; a shared file is theirs."""

import json
import os
import re

import pytest

from helpers.safety import learner_record, progress, shared_progress
from helpers.safety.folders import COURSE, Refusal
from helpers.safety.learner_record import NAME, LearnerRecord, add_event, read_record
from helpers.safety.shared_progress import (
    read_shared_folder,
    remove_shared_file,
    write_shared_file,
)

PASSED = {"check": "tangle", "is": "passed"}
SAID = {"predict": "\ud800\n\u2028…", "said": "old", "was": "new", "chapter": 1}
BROKEN = (b"no JSON", b"\xff\xfe\x00", b'{"check": ["tangle"], "is": "passed"}', b"[" * 100_000)


@pytest.fixture
def path(tmp_path):
    return tmp_path / NAME


def test_what_was_added_is_read(path):
    assert read_record(path) == LearnerRecord()
    assert add_event(path, PASSED) == add_event(path, SAID) == ""
    assert add_event(path, {**SAID, "predict": "x" * 10_000}) == learner_record.TOO_LONG
    assert read_record(path) == LearnerRecord((PASSED, SAID))


@pytest.mark.parametrize("line", BROKEN, ids=range(len(BROKEN)))
def test_a_line_that_cannot_be_read_costs_nothing_but_itself(path, line):
    add_event(path, PASSED)
    path.write_bytes(path.read_bytes() + line)  # cut off, as on a full disk
    add_event(path, SAID)
    record = read_record(path)
    assert record.events == (PASSED, SAID)
    assert re.findall(r"\d+", record.trouble) == ["1", "3"] and NAME in record.trouble


def test_a_folder_of_its_name_is_left_alone_with_a_sentence(path):
    path.mkdir()
    for words in (add_event(path, PASSED), read_record(path).trouble):
        assert f"work/{NAME}" in words and words.endswith(".") and "\n" not in words


def test_what_would_never_end_or_fill_the_memory_is_not_read(path, snapshot):
    os.mkfifo(path)
    troubles = {"a pipe": read_record(path).trouble}
    path.unlink()
    path.symlink_to("/dev/zero")
    troubles["a device"] = read_record(path).trouble
    path.unlink()
    path.touch()
    os.truncate(path, learner_record.LARGEST + 1)
    troubles["too large"] = read_record(path).trouble
    assert troubles == snapshot


def test_where_no_line_can_be_read_none_is_said_to_count(path, snapshot):
    path.write_bytes(b"\xff")
    assert read_record(path).trouble == snapshot


# -- what is shared

STATES = {"tangle": "passed", "finder": "tried"}


@pytest.fixture
def places(tmp_path):
    """A learner's `work`, a shared folder, and another one."""
    made = [tmp_path / name for name in ("work", "shared", "next")]
    for one in made:
        one.mkdir()
    return made


def put(folder, number, text):
    data = text if type(text) is bytes else text.encode()
    (folder / f"progress-{number:032x}.json").write_bytes(data)


def told(**more):
    return json.dumps({"course": COURSE, "exercises": STATES, **more})


def test_sharing_writes_one_file_and_stopping_leaves_none(places):
    work, folder, other = places
    file = write_shared_file(str(folder), {}, "", work)
    assert json.loads((folder / file).read_text()) == {"course": COURSE, "exercises": {}}
    put(folder, 1, told(name="another"))
    assert write_shared_file(
        str(folder), STATES, "Ada", work
    ) == file and shared_progress.find_shared_file(work)
    names = {one.name: dict(one.states) for one in read_shared_folder(str(folder)).files}
    assert names == {"Ada": STATES, "another": STATES}
    assert os.listdir(other) == [] and write_shared_file(
        str(other), STATES, "", work
    ) in os.listdir(other)
    assert len(os.listdir(folder)) == 1 and remove_shared_file(work) == str(other.resolve())
    assert remove_shared_file(work) == "" and os.listdir(work) == os.listdir(other) == []


def test_a_note_that_was_changed_deletes_nothing_and_what_is_no_folder_is_refused(places, refused):
    work, folder, _ = places
    (work / shared_progress.STATE).write_text('{"folder": "/tmp", "file": "../precious.json"}')
    assert remove_shared_file(work) == ""
    note = re.escape(shared_progress.STATE)
    refused(Refusal, note, write_shared_file, str(folder), STATES, "", work)
    assert (work / shared_progress.STATE).exists() and not list(folder.iterdir())
    for given in ("", "no such folder", "\0", "x" * 9000):
        for call in (lambda given: write_shared_file(given, {}, "", work), read_shared_folder):
            refused(Refusal, "no folder", call, given)


def test_files_that_cannot_be_read_are_counted_and_nothing_more(places):
    _, folder, _ = places
    bad = [b"", b"\xff\xfe", "[]", "[" * 60_000, told(name=["x"]), told(course="x")]
    for number, text in enumerate(bad):
        put(folder, number, text)
    (folder / f"progress-{91:032x}.json").mkdir()
    (folder / "notes.txt").write_text("not looked at")
    put(folder, 93, told(name="<b>", exercises={"a": 1, "b": "won"}))
    found = read_shared_folder(str(folder))
    assert (
        found.files == (shared_progress.SharedFile((("b", "won"),), "<b>"),)
        and found.unread == len(bad) + 1
    )


# -- what is being done, in words


def test_what_is_being_done_is_said_while_it_lasts_and_no_longer():
    progress.set_activity("before")
    with pytest.raises(ValueError), progress.report_activity("this"):
        heard = [
            (item, progress.read_activity()) for item in progress.report_each("call", iter("ab"))
        ]
        assert heard == [("a", "call 1 of 2"), ("b", "call 2 of 2")]
        assert progress.read_activity() == "this"
        raise ValueError
    assert progress.read_activity() == "before"
    progress.set_activity("")
