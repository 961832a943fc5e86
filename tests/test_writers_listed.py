"""Whatever deletes, moves, overwrites, writes or starts a process is listed here, so one sees it.

Who adds a line says by that: it goes through `helpers.safety`, or touches only what it made
itself this very moment. In helpers/, nothing outside helpers/safety/ deletes, moves or overwrites.
"""

from collections import Counter

import pytest

from tests.writers import ROOT, writers, writers_of

LISTED = {
    "helpers/mini/dynamo/builder.py Spaces.find: getattr ?": 1,
    "helpers/mini/oneflow/cpp_def.py _compile: Path.mkdir": 1,
    "helpers/course/given.py given: Path.mkdir": 1,
    "helpers/course/work.py ready: Path.mkdir": 1,
    "helpers/safety/learner_record.py <module>: getattr O_NOFOLLOW": 1,
    "helpers/safety/learner_record.py <module>: getattr O_NONBLOCK": 1,
    "helpers/safety/learner_record.py <module>: getattr O_BINARY": 1,
    "helpers/safety/learner_record.py _append: os.open": 1,
    "helpers/safety/folders.py Home.work: tempfile.mkdtemp": 1,
    "helpers/safety/folders.py Home.put: os.replace": 1,
    "helpers/safety/folders.py Home.add: os.replace": 1,
    "helpers/safety/folders.py Home.fill: Path.mkdir": 1,
    "helpers/safety/folders.py write_new: io.open": 1,
    "helpers/safety/folders.py temporary: tempfile.mkdtemp": 1,
    "helpers/safety/folders.py _usual: Path.mkdir": 1,
    "helpers/safety/folders.py made_again: Path.mkdir": 1,
    "helpers/safety/folders.py _mark: os.replace": 1,
    "helpers/safety/children.py _run: tempfile.TemporaryFile": 1,
    "helpers/safety/children.py _run: subprocess.Popen": 1,
    "helpers/safety/children.py _folder_of: Path.mkdir": 1,
    "helpers/safety/children.py _kill_tree: os.killpg": 1,
    "helpers/safety/children.py _run_forked: os.open": 1,
    "helpers/safety/children.py _run_forked: os.fork": 1,
    "helpers/safety/children.py _be_a_child: io.open": 1,
    "helpers/safety/children.py Channel.tell: io.open": 1,
    "helpers/safety/children.py settle: io.open": 2,
    "helpers/safety/folders.py remove_known: shutil.rmtree": 1,
    "helpers/safety/folders.py Home.discard: Path.unlink": 1,
    "helpers/safety/folders.py cache: Path.mkdir": 3,
    "helpers/safety/folders.py renew_copy: os.replace": 1,
    "helpers/safety/folders.py replace_copy: os.replace": 1,
    "helpers/safety/folders.py set_aside: os.unlink": 1,
    "helpers/safety/folders.py _staged: tempfile.mkstemp": 1,
    "helpers/safety/folders.py _staged: shutil.copyfile": 1,
    "helpers/safety/folders.py _staged: os.chmod": 1,
    "helpers/safety/folders.py _staged: os.unlink": 1,
    "helpers/safety/folders.py _move: os.link": 2,
    "helpers/safety/folders.py _move: os.rename": 1,
    "helpers/safety/learner_record.py _plain_file: os.open": 1,
    "helpers/safety/learner_record.py share: tempfile.mkstemp": 1,
    "helpers/safety/learner_record.py share: os.fdopen": 1,
    "helpers/safety/learner_record.py share: os.chmod": 1,
    "helpers/safety/learner_record.py share: os.replace": 1,
    "helpers/safety/learner_record.py share: Path.unlink": 1,
    "helpers/safety/learner_record.py share: os.unlink": 1,
    "helpers/safety/learner_record.py stop: Path.unlink": 2,
    "helpers/safety/limits.py rehearsed: tempfile.TemporaryFile": 1,
    "helpers/safety/limits.py _follow: multiprocessing.Process": 1,
    "helpers/safety/limits.py _follow: os.killpg": 1,
    "helpers/safety/limits.py _be_the_copy: io.FileIO": 1,
    "helpers/safety/limits.py _be_the_copy: io.open": 1,
    "helpers/safety/limits.py _be_the_copy: Path.write_text": 1,
    "course.py <module>: getattr O_NOFOLLOW": 1,
    "course.py ask: subprocess.check_output": 1,
    "course.py write_stamp: Path.mkdir": 1,
    "course.py write_stamp: Path.unlink": 1,
    "course.py write_stamp: io.open": 1,
    "course.py write_stamp: os.replace": 1,
    "course.py remove_venv: shutil.rmtree": 1,
    "course.py only_installer: os.open": 1,
    "course.py run_logged: os.open": 1,
    "course.py run_logged: os.fdopen": 1,
    "course.py run_logged: subprocess.Popen": 1,
    "course.py hand_over: os.execve": 1,
    "course.py hand_over: subprocess.Popen": 1,
}

# Of the tools of the tests, and of the trial of a hub: with what they write, by file.
TOOLS = {
    "hub/trial/load.py: tempfile.TemporaryDirectory",
    "hub/trial/measured.py: Path.write_text",
    "hub/trial/paper.py: Path.write_text",
    "hub/trial/server.py: Path.mkdir",
    "hub/trial/server.py: Path.open",
    "hub/trial/server.py: Path.write_text",
    "hub/trial/upstream.py: Path.mkdir",
    "hub/trial/upstream.py: shutil.copy",
    "hub/try.py: os.execv",
    "hub/try.py: tempfile.TemporaryDirectory",
    "tests/a_kernel.py: io.open",
    "tests/benchmarks/kernels.py: Path.write_text",
    "tests/benchmarks/layout.py: Path.write_text",
    "tests/benchmarks/oneflow.py: Path.mkdir",
    "tests/benchmarks/oneflow.py: tempfile.TemporaryDirectory",
    "tests/browser/conftest.py: Path.open",
    "tests/browser/conftest.py: shutil.copy",
    "tests/browser/conftest.py: shutil.copytree",
    "tests/browser/exhibits.py: Path.mkdir",
    "tests/browser/exhibits.py: Path.write_text",
    "tests/browser/lab_page.py: Path.mkdir",
    "tests/browser/lab_server.py: Path.mkdir",
    "tests/browser/lab_server.py: Path.open",
    "tests/browser/lab_server.py: Path.write_text",
    "tests/browser/readme_pictures.py: Path.write_text",
    "tests/browser/readme_pictures.py: tempfile.TemporaryDirectory",
    "tests/browser/slide_sizes.py: Path.write_text",
    "tests/browser/slide_sizes.py: tempfile.TemporaryDirectory",
    "tests/draw_spine.py: Path.mkdir",
    "tests/draw_spine.py: Path.write_text",
    "tests/dump_rosetta.py: Path.write_text",
    "tests/mark_slides.py: Path.write_text",
    "tests/mini/oneflow/folders.py: Path.mkdir",
    "tests/mini/oneflow/folders.py: Path.write_text",
    "tests/own_process.py: Path.open",
    "tests/own_process.py: Path.touch",
    "tests/own_process.py: Path.write_text",
    "tests/own_process.py: tempfile.TemporaryDirectory",
    "tests/reports/opcodes.py: Path.write_text",
    "tests/reports/tried.py: Path.write_text",
    "tests/mutants/__init__.py: os.open",
    "tests/mutants/__main__.py: Path.write_text",
}
STARTS = ("subprocess.", "os.fork", "os.kill")
MAKES_ONLY = {"Path.mkdir", "subprocess.Popen", "os.fork"}


def found_in(*places) -> Counter:
    files = [file for place in places for file in (sorted(place.rglob("*.py")) or [place])]
    return sum(map(writers_of, files), Counter())


def test_every_writer_of_the_course_is_listed():
    found = found_in(ROOT / "helpers", ROOT / "course.py", ROOT / "conftest.py")
    assert dict(found) == LISTED, "not listed, or gone: see the docstring of this file"


def test_in_helpers_only_one_room_deletes_and_overwrites():
    rooms = [key for key in LISTED if key.startswith("helpers/")]
    assert any("shutil.rmtree" in key for key in rooms)
    outside = {k.rpartition(" ")[2] for k in rooms if not k.startswith("helpers/safety/")}
    assert outside <= MAKES_ONLY | {"?"}


def test_every_writer_among_the_tools_of_the_tests_is_listed():
    files = [p for p in sorted((ROOT / "tests").rglob("*.py")) if not p.name.startswith("test_")]
    files += [*sorted((ROOT / "hub").glob("*.py")), *sorted((ROOT / "hub/trial").glob("*.py"))]
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {key.rpartition(' ')[2]}"
        for path in files
        for key in writers_of(path)
        if not key.rpartition(" ")[2].startswith(STARTS)
    }
    assert found == TOOLS


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("import shutil\nshutil.rmtree(a)", "shutil.rmtree"),
        ("import shutil as s\ns.rmtree(a)", "shutil.rmtree"),
        ("from shutil import rmtree as gone\ngone(a)", "shutil.rmtree"),
        ("import os\nlist(map(os.remove, a))", "os.remove"),
        ("import os\ngetattr(os, 'unlink')(a)", "getattr unlink"),
        ("a.unlink()", "Path.unlink"),
        ("a.rename(b)", "Path.rename"),
        ("a.replace(b)", "Path.replace"),
        ("import os\nos.replace(a, b)", "os.replace"),
        ("a.write_text('')", "Path.write_text"),
        ("open(a, 'w')", "io.open"),
        ("open(a, mode='r+')", "io.open"),
        ("open(a, how)", "io.open"),
        ("a.open('ab')", "Path.open"),
        ("import os\nos.open(a, 0)", "os.open"),
        ("from tempfile import mkdtemp\nmkdtemp()", "tempfile.mkdtemp"),
        ("import subprocess\nsubprocess.run(a)", "subprocess.run"),
        ("import os\nos.fork()", "os.fork"),
    ],
)
def test_a_new_writer_would_be_seen(source, call):
    inside = "def f(a, b, how):\n" + "".join(f"    {line}\n" for line in source.split("\n"))
    assert writers(source) == {f"<module>: {call}": 1}
    assert writers(inside) == {f"f: {call}": 1}


@pytest.mark.parametrize(
    "source",
    ["'a'.replace('a', 'b')", "open(a)", "open(a, 'rb')", "a.open()", "code.replace(co_name='a')"],
)
def test_what_only_reads_is_no_writer(source):
    assert not writers(source)
