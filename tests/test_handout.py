"""A handout is the notebook less its solutions; what stood in its folder is kept."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from helpers.course import checkout, handout, terminal
from helpers.course.handout import copy_to_user_folder, remove_solutions
from helpers.model.study_records import find_exercise_cells

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("0*.ipynb"))
FOLDED = re.compile(r"<details><summary>Solution.*?</details>", re.DOTALL)


def read(path):
    return json.loads(path.read_text("utf-8"))["cells"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_only_the_solutions_are_gone(path):
    before = read(path)
    text = handout.without_solutions(path)
    after = json.loads(text)["cells"]
    nbformat.validate(nbformat.reads(text.decode(), as_version=4))
    code = [[one for one in cells if one["cell_type"] == "code"] for cells in (before, after)]
    assert code[0] == code[1]  # sources, stored outputs, ids
    prose = ["".join(FOLDED.sub("", "".join(one["source"])).split()) for one in before]
    assert "".join(prose) == "".join("".join("".join(one["source"]).split()) for one in after)
    exercises = [list(find_exercise_cells(cells)) for cells in (before, after)]
    assert [one.name for one in exercises[0]] == [one.name for one in exercises[1]]
    assert not any(one.solution for one in exercises[1])
    for one in exercises[0]:  # not a longer part of it is left, wherever it stood
        assert len(one.solution) < 60 or one.solution.strip() not in text.decode()


def test_a_solution_goes_and_what_stands_around_it_stays():
    fold = "<details><summary>Solution (two ways)</summary>\n\nx\n\n</details>"
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}}
    both = remove_solutions([{**cell, "source": f"one\n\n{fold}\n\ntwo"}, {**cell, "source": fold}])
    assert both == [{**cell, "source": "one\n\ntwo"}]


@pytest.fixture
def unsigned(monkeypatch):
    monkeypatch.setattr(handout, "trust", lambda files: None)


def test_the_folder_holds_the_notebook_and_its_pictures(tmp_path, unsigned, capsys):
    assert handout.handout(["3", "--to", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {NOTEBOOKS[3].name, "images"}
    shown = re.findall(r'src=\\"(images/[^"\\]+)', (tmp_path / NOTEBOOKS[3].name).read_text())
    assert shown and all((tmp_path / name).is_file() for name in shown)
    assert NOTEBOOKS[3].name in capsys.readouterr().out


def test_a_page_to_be_printed_fetches_nothing_and_has_no_solution(tmp_path, unsigned):
    assert handout.handout(["1", "--html", "--to", str(tmp_path)]) == 0
    page = (tmp_path / f"{NOTEBOOKS[1].stem}.html").read_text()
    fetched = r"<link|<script |<img[^>]* src=(?!.data:)[^>]*|Solution</summary>"
    assert re.findall(fetched, page) == []
    assert "check.tangle(" in re.sub(r"<[^<>]*>", "", page) and page.count("<img") > 3


def test_what_stood_there_is_kept_beside_unless_it_is_the_same(tmp_path, capsys):
    source, folder = tmp_path / "new", tmp_path / "folder"
    source.write_text("new")
    place = Path("in") / "a.txt"
    copy_to_user_folder({place: source}, folder)
    copy_to_user_folder({place: source}, folder)
    assert [path.name for path in (folder / "in").iterdir()] == ["a.txt"]
    (folder / place).write_text("mine")
    copy_to_user_folder({place: source}, folder)
    assert (folder / place).read_text() == "new"
    (kept,) = (folder / "in").glob("a.2*.txt")
    assert kept.read_text() == "mine" and f"kept as {kept.name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", [".", "notebooks/new", ".git"])
def test_the_course_itself_is_not_written_into(name, refused):
    refused(
        terminal.CommandRefused,
        "of the course itself",
        copy_to_user_folder,
        {},
        checkout.ROOT / name,
    )
