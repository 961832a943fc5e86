"""Handouts and slides: where one is stopped, the file that stood there is still there."""

import re
from pathlib import Path

import pytest

from helpers.course import handout, terminal
from helpers.safety import folders
from tests.interrupted import ENDED, STOPS, in_child, needs_fork, stopped_each_time


@needs_fork
@pytest.mark.parametrize("stop", STOPS)
def test_old_handouts_are_there_wherever_it_is_stopped(course, tmp_path, stop):
    made, folder, numbers = tmp_path / "made", tmp_path / "given", []
    made.mkdir()
    files = {Path(name): made / name for name in ("a.ipynb", "b.html")}
    for name, source in files.items():
        source.write_bytes(f"new {name}".encode())

    def give():
        handout.copy_to_user_folder(files, folder)

    def prepare():
        folder.mkdir(exist_ok=True)
        for path in folder.rglob("*"):
            if path.is_file():
                path.unlink()
        for name in files:
            (folder / name).write_bytes(b"old")

    prepare()
    for number in stopped_each_time(give, folder, stop):
        numbers.append(number)
        for again in (False, True):
            if again:
                assert in_child(give, folder) == ENDED
            for name in files:
                whole = {f"new {name}".encode()} | (set() if again else {b"old"})
                assert (folder / name).read_bytes() in whole
            olds = [path for path in folder.rglob("*") if path.is_file()]
            assert [path.read_bytes() for path in olds].count(b"old") >= 2
        prepare()
    assert len(numbers) > 8


def test_an_error_says_where_the_old_one_is(course, tmp_path, monkeypatch, refused):
    (tmp_path / "new").write_text("new")
    (tmp_path / "a").write_text("old")
    full = OSError(28, "No space left on device")

    def write(path, data):
        raise full

    monkeypatch.setattr(folders, "write_new", write)
    words = rf"^a .*\(No space.*\).*{re.escape(str(tmp_path / 'a'))}"
    refused(
        terminal.CommandRefused,
        words,
        handout.copy_to_user_folder,
        {Path("a"): tmp_path / "new"},
        tmp_path,
    )
    assert (tmp_path / "a").read_text() == "old"
