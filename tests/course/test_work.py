"""work/ over months: what nobody edited follows the course, and nothing of a learner's is lost."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.course import (
    chapter_notebooks,
    deliveries,
    filling,
    fresh,
    history,
    terminal,
    work,
    work_copies,
)
from tests.course import learners
from tests.course.conftest import course_in
from tests.course.learners import HELD, cell, cells_of, notebook, ran, said, with_cells
from tests.interrupted import ENDED, STOPS, in_child, needs_fork, stopped_each_time

ONE, TWO, PICTURE = "01_one.ipynb", "02_two.ipynb", "images/a.png"


def publish(course, name, data):
    """Let the course have this file, in a new version of it."""
    (course.ROOT / "notebooks" / name).write_bytes(data)
    learners.commit(course.ROOT)


def own(course, name=ONE):
    return course.WORK / name


def every_file(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != deliveries.NAME
    }


# -- the property ----------------------------------------------------------------------------------

DO_WITH_A_COPY = ("run", "change", "add", "remove", "swap", "turn", "attach", "break", "delete")
LOSE = ("no note", "broken note", "NUL", "long note", "folder", "other JSON")
names = st.sampled_from([ONE, TWO, PICTURE])
steps = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), names),
        st.tuples(st.just("withdraw"), names),
        st.tuples(st.just("start"), st.none()),
        st.tuples(st.just("reset"), st.sampled_from(["1", "2"])),
        st.tuples(st.sampled_from(LOSE), st.none()),
        st.tuples(st.sampled_from(DO_WITH_A_COPY), names),
        st.tuples(st.just("run"), names),
    ),
    min_size=3,
    max_size=14,
)


class History:
    """A course and a learner, with what the learner did to each file since it was delivered."""

    def __init__(self, course):
        self.course = course
        self.number = 0
        self.delivered = {}  # name -> the copy that is in work/, as it came

    def version(self, name):
        """Return a new version of a file of the course."""
        self.number += 1
        if name == PICTURE:
            return b"\x89PNG %d" % self.number
        held = [HELD] if self.number % 2 else []
        return notebook(
            cell(f"# A title\n\n## Section {self.number}\n", "markdown"),
            cell([f"x = {self.number}\n", "x"], tags=held),
            cell('Read *this* "first".\n', "markdown", tags=held),
            cell("y = 'ü\\n'"),
        )

    def do(self, step, about):
        """Do one step; after a start, assert what must be true."""
        if step == "publish":
            publish(self.course, about, self.version(about))
        elif step == "withdraw":
            (self.course.ROOT / "notebooks" / about).unlink(missing_ok=True)
            learners.commit(self.course.ROOT)
        elif step == "start":
            self.start()
        elif step == "reset":
            self.reset(about)
        elif step in LOSE:
            lose(self.course.WORK / deliveries.NAME, step)
        elif (place := own(self.course, about)).is_file():
            self.learn(step, place)

    def learn(self, step, place):
        data = place.read_bytes()
        if step == "delete":
            place.unlink()
        elif step == "break" or place.suffix != ".ipynb":
            place.write_bytes(data if step == "run" else b"mine {" + data[:9])
        else:
            with suppress(ValueError):  # it is broken already
                place.write_bytes(self.edited(step, data))

    def edited(self, step, data):
        self.number += 1
        mine = f"mine = {self.number}"

        def change(cells):
            last = len(cells) - 1
            if step == "change":
                at = self.number % len(cells)
                cells[at]["source"] = ["".join(cells[at]["source"]), f"\n{mine}"]
            elif step == "add":
                cells.insert(self.number % len(cells), cell(mine))
            elif step == "remove":
                del cells[self.number % last :]
            elif step == "swap":
                cells[0], cells[last] = cells[last], cells[0]
            elif step == "turn":
                cells[0]["cell_type"] = "raw"
            elif step == "attach":
                cells[0]["attachments"] = {"mine.png": {"image/png": mine}}

        if step != "run" and len(cells_of(data)) < 2:
            return with_cells(data, lambda cells: cells.append(cell(mine)))
        return ran(data, mine) if step == "run" else with_cells(data, change)

    def is_edited(self, name, data):
        """Return whether a learner wrote something in it, which the course did not deliver."""
        if data == self.delivered.get(name):
            return False
        if not name.endswith(".ipynb") or name not in self.delivered:
            return True
        try:
            return said(data) != said(self.delivered[name])
        except (ValueError, KeyError):
            return True

    def start(self):
        before = every_file(self.course.WORK) if self.course.WORK.exists() else {}
        filling.update_work_folder()
        after = every_file(self.course.WORK)
        for name in (ONE, TWO, PICTURE):
            source = self.course.ROOT / "notebooks" / name
            newest = None
            if source.exists():
                newest = fresh.make_fresh_copy(source.read_bytes())
            if name not in before:
                assert after.get(name) == newest
                self.came(name, newest)
            elif self.is_edited(name, before[name]):
                assert after[name] == before[name]  # it stays, under its name
            elif before[name] == self.delivered[name]:
                assert after[name] == (newest or before[name])
                self.came(name, after[name])
            else:  # only run
                assert before[name] in after.values()
                assert said(after[name]) == said(newest or before[name])
                self.came(name, newest or self.delivered[name])
        for name, data in before.items():
            assert after.get(name) == data or name in self.delivered

    def reset(self, number):
        name = {"1": ONE, "2": TWO}[number]
        if (self.course.ROOT / "notebooks" / name).exists():
            before = every_file(self.course.WORK) if self.course.WORK.exists() else {}
            work.reset([number])
            after = every_file(self.course.WORK)
            assert set(before.values()) <= set(after.values())
            self.came(name, after[name])

    def came(self, name, data):
        self.delivered.pop(name, None)
        if data is not None:
            self.delivered[name] = data


def lose(note, how):
    """Spoil the note of what was delivered."""
    if note.is_dir():
        note.rmdir()
    note.unlink(missing_ok=True)
    if not note.parent.is_dir() or how == "no note":
        return
    if how == "folder":
        note.mkdir()
    else:
        spoiled = {"broken note": b'{"01', "NUL": b"\0" * 99, "long note": b"[" * 2_000_000}
        note.write_bytes(spoiled.get(how, b'{"01_one.ipynb": [1], "x": {"course": 3}, "y": null}'))


@settings(max_examples=40)
@given(steps)
def test_nothing_a_learner_wrote_is_lost_and_the_rest_is_the_newest(steps):
    with TemporaryDirectory() as folder, course_in(Path(folder).resolve() / "course") as course:
        told = History(course)
        for name in (ONE, TWO, PICTURE):
            told.do("publish", name)
        for step, about in [("start", None), *steps, ("start", None), ("start", None)]:
            told.do(step, about)


# -- named cases -----------------------------------------------------------------------------------

OLD = notebook(cell("# One\n\n## 1 · First\n", "markdown"), cell("x = 1"))
NEW = notebook(
    cell("# One\n\n## 1 · First\n", "markdown"),
    cell("x = 2"),
    cell("## 2 · Second\n", "markdown"),
    cell("answer = ..."),
    cell("check.tangle(answer)"),
)


@pytest.fixture
def pulled(course):
    """Return a function: the old course was started, the learner did this, the new one came."""

    def pull(change=lambda data: data, old=OLD, new=NEW):
        publish(course, ONE, old)
        filling.update_work_folder()
        place = own(course)
        place.write_bytes(change(place.read_bytes()))
        publish(course, ONE, new)
        return course

    return pull


def test_a_copy_that_nobody_edited_is_renewed_and_a_line_says_so(pulled, capsys):
    course = pulled()
    capsys.readouterr()
    filling.update_work_folder()
    assert own(course).read_bytes() == NEW
    assert capsys.readouterr().out.splitlines() == [
        f"Renewed in work/, because you had not edited them: {ONE}"
    ]
    filling.update_work_folder()
    assert capsys.readouterr().out == "" and len(every_file(course.WORK)) == 1


def test_a_copy_that_was_run_is_renewed_and_kept_beside(pulled, capsys):
    course = pulled(ran)
    before = own(course).read_bytes()
    capsys.readouterr()
    filling.update_work_folder()
    [line] = capsys.readouterr().out.splitlines()
    kept = course.ROOT / re.search(r"kept as (work/\S+)$", line)[1]
    assert (own(course).read_bytes(), kept.read_bytes()) == (NEW, before)


def test_an_edited_copy_stays_and_what_it_lacks_is_said(pulled, capsys):
    course = pulled(lambda data: data.replace(b"x = 1", b"x = 'mine'"))
    before = own(course).read_bytes()
    capsys.readouterr()
    filling.update_work_folder()
    [line] = capsys.readouterr().out.splitlines()
    for words in ("1 section (Second)", "1 exercise (tangle)", "`course.py reset 01`", "edited it"):
        assert words in line
    filling.update_work_folder()
    [short_line] = capsys.readouterr().out.splitlines()
    assert ONE in short_line and "`course.py reset 01`" in short_line
    assert len(short_line) < len(line)
    assert every_file(course.WORK) == {ONE: before}
    work.reset(["1"])
    assert sorted(every_file(course.WORK).values()) == sorted([before, NEW])
    capsys.readouterr()
    filling.update_work_folder()
    assert capsys.readouterr().out == ""


KINDS = {
    "source": lambda cells: cells[0]["source"].append("\n# mine"),
    "kind": lambda cells: cells[1].update(cell_type="raw"),
    "order": lambda cells: cells.reverse(),
    "attachments": lambda cells: cells[0].update(attachments={"a.png": {"image/png": "mine"}}),
    "one more": lambda cells: cells.append(cell("mine")),
    "one more, empty, between": lambda cells: cells.insert(1, cell([])),
    "one less": lambda cells: cells.pop(0),
    "none": lambda cells: cells.clear(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("note", [True, False])
def test_each_kind_of_edit_stays(pulled, kind, note):
    course = pulled(lambda data: with_cells(ran(data), KINDS[kind]))
    if not note:
        lose(course.WORK / deliveries.NAME, "no note")
    before = every_file(course.WORK)
    filling.update_work_folder()
    assert every_file(course.WORK) == before


BROKEN = [b"", b"\0" * 99, b"{", b"[]", b'{"cells": 3}', b'{"cells": [3]}', b"\xff", b"[" * 99_999]


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_notebook_of_the_learners_stays(pulled, data):
    course = pulled(lambda old: data)
    for how in ("no note", ""):
        if how:
            lose(course.WORK / deliveries.NAME, how)
        filling.update_work_folder()
        assert every_file(course.WORK) == {ONE: data}


def test_an_edit_that_was_undone_is_none(pulled):
    course = pulled(lambda data: data.replace(b"x = 1", b"x = 'mine'"))
    filling.update_work_folder()
    own(course).write_bytes(OLD)
    filling.update_work_folder()
    assert own(course).read_bytes() == NEW


def test_outputs_of_the_course_alone_make_nothing_newer(pulled, capsys):
    course = pulled(
        lambda data: data.replace(b"x = 1", b"x = 'mine'"),
        new=OLD.replace(b"by the course", b"by a newer torch"),
    )
    capsys.readouterr()
    filling.update_work_folder()
    assert capsys.readouterr().out == "" and b"mine" in own(course).read_bytes()


def test_the_fold_of_a_held_answer_is_no_edit(pulled):
    held = cell("The answer is 4.", "markdown", tags=[HELD])
    course = pulled(
        lambda data: data.replace(fresh.SUMMARY.encode(), fresh.FORMER_SUMMARIES[0].encode()),
        old=notebook(cell("x = 1"), held),
        new=notebook(cell("x = 2"), held),
    )
    lose(course.WORK / deliveries.NAME, "no note")
    filling.update_work_folder()
    assert own(course).read_bytes() == fresh.make_fresh_copy(notebook(cell("x = 2"), held))
    assert len(every_file(course.WORK)) == 1


@pytest.mark.parametrize("change", [lambda data: data, ran], ids=["as it came", "run"])
def test_where_no_note_is_git_is_asked(pulled, change):
    course = pulled(change)
    lose(course.WORK / deliveries.NAME, "no note")
    filling.update_work_folder()
    assert own(course).read_bytes() == NEW


@pytest.mark.parametrize("fault", ["no git", "no .git", "slow", "broken"])
def test_where_git_knows_nothing_the_copy_stays(pulled, fault, monkeypatch, capsys):
    course = pulled()
    lose(course.WORK / deliveries.NAME, "no note")
    if fault == "no .git":
        (course.ROOT / ".git").rename(course.ROOT / "git")
    elif fault == "no git":
        monkeypatch.setenv("PATH", "")
    elif fault == "slow":
        monkeypatch.setattr(history, "PATIENCE_SECONDS", 0)
    else:
        (course.ROOT / ".git" / "HEAD").write_text("x")
    capsys.readouterr()
    filling.update_work_folder()
    assert own(course).read_bytes() == OLD
    assert "`course.py reset 01`" in capsys.readouterr().out


def test_a_shallow_clone_knows_its_own_versions(course):
    publish(course, ONE, OLD)
    publish(course, TWO, NEW)
    publish(course, "03_the_same.ipynb", OLD)
    shallow = course.ROOT.with_name("shallow")
    address = course.ROOT.as_uri()
    learners.git(course.ROOT, "clone", "-q", "--depth", "1", address, str(shallow))
    assert history.past_versions(shallow, "notebooks", {ONE: OLD, TWO: ran(NEW)}) == {
        ONE: history.SAME,
        TWO: history.RAN,
    }


def test_a_picture_that_was_painted_over_stays_and_another_is_renewed(course, capsys):
    for number in (1, 2):
        for name in (PICTURE, "images/b.png"):
            publish(course, name, b"version %d" % number)
        if number == 1:
            filling.update_work_folder()
            own(course, PICTURE).write_bytes(b"mine")
    capsys.readouterr()
    filling.update_work_folder()
    assert every_file(course.WORK) == {PICTURE: b"mine", "images/b.png": b"version 2"}
    assert f"work/{PICTURE}" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="making a link needs rights on Windows")
def test_what_is_behind_a_link_is_not_renewed(course, tmp_path):
    publish(course, ONE, OLD)
    publish(course, PICTURE, b"version 1")
    filling.update_work_folder()
    for name in (ONE, "images"):
        own(course, name).rename(tmp_path / name)
        own(course, name).symlink_to(tmp_path / name)
    publish(course, ONE, NEW)
    publish(course, PICTURE, b"version 2")
    filling.update_work_folder()
    assert (tmp_path / ONE).read_bytes() == OLD and own(course, ONE).is_symlink()
    assert own(course, PICTURE).read_bytes() == b"version 1"


def test_what_was_done_before_an_error_is_said(pulled, monkeypatch, capsys, refused):
    course = pulled(ran)
    publish(course, TWO, OLD)
    add = filling.folders.add_copy

    def fail(data, place):
        raise filling.folders.NotRenewed("a sentence on 02_two.ipynb")

    monkeypatch.setattr(filling.folders, "add_copy", fail)
    capsys.readouterr()
    refused(terminal.CommandRefused, "a sentence on 02_two.ipynb", filling.update_work_folder)
    assert "work/01_one." in capsys.readouterr().out
    monkeypatch.setattr(filling.folders, "add_copy", add)
    filling.update_work_folder()
    assert own(course, TWO).read_bytes() == OLD and len(every_file(course.WORK)) == 3


def test_an_exercise_that_was_solved_for_the_learner_is_not_unsolved_again(course):
    solution = "<details><summary>Solution</summary>\n\n```python\nx = 3\n```\n\n</details>"
    stub = [cell("x = ..."), cell("check.tangle(x)"), cell(solution, "markdown")]
    publish(course, ONE, notebook(*stub))
    work.reset(["1"], solved_to=1)
    solved = own(course).read_bytes()
    assert cells_of(solved)[0]["source"] == ["x = 3"]
    publish(course, ONE, notebook(*stub, cell("new = 1")))
    filling.update_work_folder()
    assert own(course).read_bytes() == solved


def test_a_copy_that_is_saved_meanwhile_stays(pulled, monkeypatch):
    course = pulled()

    def save_meanwhile(place):
        own(course).write_bytes(ran(OLD.replace(b"x = 1", b"x = 'mine'")))
        return place

    monkeypatch.setattr(filling, "ready", save_meanwhile)
    filling.update_work_folder()
    assert b"mine" in own(course).read_bytes()


def test_a_start_with_nothing_new_reads_no_notebook_of_the_learners(pulled, monkeypatch):
    course = pulled()
    filling.update_work_folder()
    own(course).unlink()
    own(course).write_bytes(b"mine")
    monkeypatch.setattr(filling, "_read", lambda place: pytest.fail("it was read"))
    monkeypatch.setattr(
        work_copies.fresh_copies, "make_fresh_copy", lambda data: pytest.fail("it was copied")
    )
    filling.update_work_folder()


def test_every_notebook_of_the_course_is_recognised_after_a_run():
    for path in chapter_notebooks.notebooks_folder().glob("*.ipynb"):
        data = path.read_bytes()
        copy = fresh.make_fresh_copy(data)
        written = {filling.authorship.written(one, path.name) for one in (data, copy, ran(copy))}
        assert len(written) == 1
        assert all(probe in data for probe in filling.authorship.probes(ran(copy)))


# -- a start or a reset that is stopped ------------------------------------------------------------


@needs_fork
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("act", ["reset", "fill"])
def test_where_it_is_stopped_nothing_is_lost_and_again_it_succeeds(pulled, stop, act):
    mine = act == "reset"
    course = pulled(lambda data: data.replace(b"x = 1", b"x = 'mine'") if mine else ran(data))
    before, note = every_file(course.WORK), (course.WORK / deliveries.NAME).read_bytes()
    call = (lambda: work.reset(["1"])) if mine else filling.update_work_folder
    numbers = []
    for number in stopped_each_time(call, course.WORK, stop):
        numbers.append(number)
        after = every_file(course.WORK)
        assert before[ONE] in after.values()
        assert after[ONE] in (before[ONE], NEW)
        assert in_child(call, course.WORK) == ENDED
        after = every_file(course.WORK)
        assert after[ONE] == NEW and before[ONE] in after.values()
        for name in after:
            own(course, name).unlink()
        own(course).write_bytes(before[ONE])
        (course.WORK / deliveries.NAME).write_bytes(note)
    assert len(numbers) > 5


@needs_fork
def test_a_full_disk_is_said_with_where_the_notebook_is(pulled, monkeypatch, refused):
    course = pulled(lambda data: data.replace(b"x = 1", b"x = 'mine'"))
    full = OSError(28, "No space left on device")

    def write(path, data):
        raise full

    monkeypatch.setattr(filling.folders, "write_new", write)
    words = r"^01_one\.ipynb .*\(No space .*\).*work"
    refused(terminal.CommandRefused, words, work.reset, ["1"])
    assert b"mine" in own(course).read_bytes()


def test_note_of_another_shape_is_read_as_far_as_it_goes(tmp_path):
    entry = {"course": "a", "whole": "b", "written": "c"}
    note = {"a": entry, "b": [entry], "c": {**entry, "whole": 3}, "d": None}
    (tmp_path / deliveries.NAME).write_text(json.dumps(note))
    assert deliveries.read(tmp_path) == {"a": deliveries.Delivery("a", "b", "c", "")}
