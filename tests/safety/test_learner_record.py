"""helpers/safety/learner_record.py: lines are added whole, and a broken one costs only itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.safety import learner_record
from helpers.safety.learner_record import NAME, Record, add, read

ROOT = Path(__file__).parents[2]
PASSED = {"check": "tangle", "is": "passed"}
SAID = {"predict": "What?", "said": "old", "was": "new", "chapter": 1}
MANY = 500
WRITER = f"""
import sys
from pathlib import Path
from helpers.safety.learner_record import add
sys.stdin.readline()
for n in range({MANY}):
    assert add(Path(sys.argv[1]), {{"check": f"{{sys.argv[2]}}{{n}}", "is": "failed"}}) == ""
"""
FULL = """
import resource, sys
from pathlib import Path
from helpers.safety.learner_record import add
path = Path(sys.argv[1])
most = path.stat().st_size + 10
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
print(add(path, {"check": "tangle", "is": "failed"}))
"""
needs_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files and limits")


def python(code, *words, **how):
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, **how)


@pytest.fixture
def path(tmp_path):
    return tmp_path / NAME


def test_what_was_added_is_read(path):
    assert read(path) == Record()
    assert add(path, PASSED) == add(path, SAID) == ""
    assert read(path) == Record((PASSED, SAID))


def test_a_line_has_the_time_and_can_be_read_by_anyone(path):
    add(path, PASSED)
    [line] = path.read_text("ascii").splitlines()
    assert json.loads(line) == {**PASSED, "at": json.loads(line)["at"]}
    assert json.loads(line)["at"].endswith("Z")


def test_two_processes_write_at_once_and_no_line_is_lost_or_torn(path):
    writers = [python(WRITER, path, name, stdin=subprocess.PIPE) for name in "ab"]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.wait(60) for writer in writers] == [0, 0]
    record = read(path)
    names = [event["check"] for event in record.events]
    lines = [line for line in path.read_bytes().split(b"\n") if line]  # an empty one means nothing
    assert record.trouble == "" and len(names) == len(lines) == 2 * MANY
    for name in "ab":  # and in its own order
        assert [one for one in names if one[0] == name] == [f"{name}{n}" for n in range(MANY)]


BROKEN = (
    b"no JSON",
    b"\xff\xfe\x00",
    b'{"check": "tangle"',
    b'{"check": "tangle", "is": "unheard of"}',
    b'{"check": ["tangle"], "is": "passed"}',
    b'{"check": "tangle", "is": ["passed"]}',
    b'{"predict": "What?", "said": 3, "was": "new"}',
    b"[1]",
    b"[" * 100_000,
)


@pytest.mark.parametrize("line", BROKEN, ids=range(len(BROKEN)))
def test_a_line_that_cannot_be_read_costs_nothing_but_itself(path, line):
    add(path, PASSED)
    path.write_bytes(path.read_bytes() + line + b"\n")
    add(path, SAID)
    before = path.read_bytes()
    record = read(path)
    assert record.events == (PASSED, SAID) and path.read_bytes() == before
    assert record.trouble == f"1 of 3 lines in work/{NAME} cannot be read; the others count."


@pytest.mark.parametrize("line", BROKEN, ids=range(len(BROKEN)))
def test_a_file_without_a_line_that_can_be_read_is_set_aside(path, line):
    path.write_bytes(line)
    record = read(path)
    [kept] = path.parent.iterdir()
    assert kept != path and kept.read_bytes() == line
    assert record.events == () and kept.name in record.trouble
    assert add(path, PASSED) == "" and read(path) == Record((PASSED,))


def test_nothing_that_was_set_aside_before_is_overwritten(path):
    for line in BROKEN[:3]:
        path.write_bytes(line)
        read(path)
    assert {one.read_bytes() for one in path.parent.iterdir()} == set(BROKEN[:3])


@needs_posix
def test_on_a_full_disk_the_line_that_was_cut_off_is_the_only_loss(path):
    add(path, PASSED)
    said, _ = python(FULL, path).communicate(timeout=60)
    assert said.startswith("Your progress is not recorded: work/") and len(said.splitlines()) == 1
    assert not path.read_bytes().endswith(b"\n")  # it was cut off
    assert add(path, SAID) == ""
    assert read(path).events == (PASSED, SAID)


def _link(path):
    path.with_name("other").write_text("mine")
    path.symlink_to("other")


@needs_posix
def test_hard_link_is_not_written_through(path):
    other = path.with_name("diary.txt")
    other.write_text("mine")
    os.link(other, path)
    words = add(path, PASSED)
    assert f"work/{NAME}" in words and "hard link" in words and words.endswith(".")
    assert other.read_text() == "mine" and os.path.samefile(other, path)
    other.unlink()
    assert add(path, PASSED) == ""


@needs_posix
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, _link], ids=["folder", "pipe", "link"])
def test_what_is_no_file_is_left_alone_with_a_sentence(path, make):
    make(path)
    before = sorted((one.name, one.lstat().st_mtime_ns) for one in path.parent.iterdir())
    for words in (add(path, PASSED), read(path).trouble):
        assert f"work/{NAME}" in words and words.endswith(".") and "\n" not in words
    assert before == sorted((one.name, one.lstat().st_mtime_ns) for one in path.parent.iterdir())


def test_a_file_that_may_not_be_opened_is_told(path, monkeypatch):
    def refused(*words):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(learner_record.os, "open", refused)
    assert "(Permission denied)." in add(path, PASSED)
    assert "(Permission denied)." in read(path).trouble


def test_of_a_very_long_file_the_end_counts(path, monkeypatch):
    for n in range(50):
        add(path, {"check": f"e{n}", "is": "failed"})
    monkeypatch.setattr(learner_record, "MOST", 500)
    record = read(path)
    assert 0 < len(record.events) < 50 and record.events[-1]["check"] == "e49"
    assert record.trouble == ""


def test_what_is_very_long_is_not_recorded(path):
    assert add(path, {**SAID, "predict": "x" * 10_000}) == ""
    assert not path.exists()


def test_lone_surrogates_and_newlines_go_in_and_out(path):
    odd = {**SAID, "predict": "\ud800\n\u2028…"}
    add(path, odd)
    assert read(path).events == (odd,)
