"""helpers/study/op_folder.py: an op's files stand in a folder that is named like the op."""

import os
from pathlib import Path

import pytest

from helpers.study.op_folder import op_folder


def test_the_folder_has_the_files_with_their_text():
    path = Path(op_folder("first_op", {"b.py": "x = 'é'\n", "a.txt": ""}))

    texts = {file.name: file.read_text("utf-8") for file in (path / "first_op").iterdir()}
    assert texts == {"b.py": "x = 'é'\n", "a.txt": ""}


def test_the_repr_names_the_files_in_order_and_not_the_path():
    directory = op_folder("second_op", {"b.py": "", "a.py": ""})
    assert "second_op/ (a.py, b.py)" in repr(directory)
    assert os.fspath(directory) not in repr(directory)


def test_ops_share_one_directory_and_a_later_op_of_the_name_replaces_the_files():
    first = op_folder("third_op", {"old.py": "1"})
    second = op_folder("third_op", {"new.py": "2"})
    other = op_folder("fourth_op", {"a.py": ""})

    assert os.fspath(first) == os.fspath(second) == os.fspath(other)
    assert os.listdir(Path(first) / "third_op") == ["new.py"]


@pytest.mark.parametrize(
    ("name", "files", "kind"),
    [
        ("../op", {}, ValueError),
        ("", {}, ValueError),
        ("op", {"../a.py": ""}, ValueError),
        ("op", {"a/b.py": ""}, ValueError),
        ("op", {"a.py": b"bytes"}, TypeError),
        ("op", {"a.py": None}, TypeError),
    ],
)
def test_a_name_that_is_a_path_and_a_file_without_text_are_refused(name, files, kind):
    with pytest.raises(kind):
        op_folder(name, files)
