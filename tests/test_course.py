"""course.py and helpers/course, in copies of the repository with stand-ins for uv and for .venv's
Python.

No test here needs a network or installs a package. The stand-ins are shell scripts, so on Windows
only the tests without them run.
"""

import ast
import json
import os
import re
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

import course as bootstrap
from helpers.course import checkup as check_
from helpers.course import work
from helpers.course.__main__ import start
from helpers.model.study_records import exercise_cells
from helpers.safety import learner_record
from tests.pythons import finished

REPO = Path(__file__).parents[1]
SET_UP_FILES = ("course.py", "requirements.txt", "constraints.txt", "pyproject.toml", "share")
SET_UP_FILES += ("package",)
KNOWN = ", ".join(bootstrap.COMMANDS)
# and no front door, which course.py leaves shut
ROOMS = ("helpers/course", "helpers/model", "helpers/safety")
scripts_run = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")

FAKE_PYTHON = """#!/bin/sh
case "$2" in jupyterlab|pytest|tests.benchmarks) echo "started: $*"; env; exit 7;; esac
[ -n "$FAKE_VERSION" ] && case "$2" in *implementation*) echo "cpython $FAKE_VERSION"; exit;; esac
exec "{python}" "$@"
"""
FAKE_UV = """#!/bin/sh
echo "$*" >> "{calls}"
if [ "$1" = venv ]; then
  for last; do :; done
  mkdir -p "$last/bin"; cp "{fake_python}" "$last/bin/python"; touch "$last/pyvenv.cfg"
elif [ -n "$UV_SAYS" ]; then
  echo "$UV_SAYS"; exit 1
fi
"""


def script(path, text):
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def notebook(path, says):
    nb = v4.new_notebook(cells=[v4.new_code_cell(f"print({says!r})", id="one")])
    nbformat.write(nb, path)


class House:
    """A copy of the repository, a fake uv on its PATH, and a home of its own."""

    def __init__(self, root, outside):
        self.root, self.calls = root, outside / "calls.txt"
        fake_python = script(outside / "fake_python", FAKE_PYTHON.format(python=sys.executable))
        programs = outside / "programs"
        programs.mkdir()
        script(programs / "uv", FAKE_UV.format(calls=self.calls, fake_python=fake_python))
        self.environ = {
            "PATH": os.pathsep.join([str(programs), os.defpath]),
            "HOME": str(outside),
            "JUPYTER_DATA_DIR": str(outside / "jupyter"),
            # enough disk is not what these tests are about: with an index, 4 GB are asked for
            "PIP_FIND_LINKS": "one two",
        }

    def run(self, *words, **environ):
        """Run course.py as a learner does."""
        command = [sys.executable, self.root / "course.py", *words]
        return finished(command, env={**self.environ, **environ}, cwd=self.root.parent)

    def uv_calls(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    @property
    def stamp(self):
        return (self.root / ".venv" / "course-stamp.txt").read_text().strip()


@pytest.fixture
def house(tmp_path):
    root, outside = tmp_path / "a course", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    for name in SET_UP_FILES:
        copy = shutil.copytree if (REPO / name).is_dir() else shutil.copyfile
        copy(REPO / name, root / name)
    for room in ROOMS:
        shutil.copytree(REPO / room, root / room, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "helpers" / "__init__.py").touch()
    (root / "notebooks").mkdir()
    for name in ("00_start_here", "03_bytecode_and_frames"):
        notebook(root / "notebooks" / f"{name}.ipynb", name)
    return House(root, outside)


@pytest.fixture
def course(house, monkeypatch):
    """course.py as a module, with all its places in the copy, for it and for helpers/course."""
    for name, place in list(vars(bootstrap).items()):
        if isinstance(place, Path):
            monkeypatch.setattr(bootstrap, name, house.root / place.relative_to(REPO))
    monkeypatch.setenv("JUPYTER_DATA_DIR", house.environ["JUPYTER_DATA_DIR"])
    return bootstrap


@pytest.fixture
def unsigned(monkeypatch):
    """Nothing is signed, which takes a while."""
    monkeypatch.setattr(work, "trust", lambda files: None)


def is_refused(done, *words):
    """Assert that a run ended with one line, so no traceback, that says all of `words`."""
    assert done.returncode not in (0, None)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    return True


# -- which Python ----------------------------------------------------------------------------------


def test_file_is_readable_for_every_python():
    """No f-string, no bare star, no annotation: Python 2.7 is to be told that it is too old."""
    source = (REPO / "course.py").read_text("ascii")
    new = ast.JoinedStr | ast.NamedExpr | ast.AnnAssign | ast.Await | ast.Nonlocal
    tree = ast.parse(source, feature_version=(3, 6))
    assert [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, new)] == []
    assert not re.search(r"(?m)raise .* from |^print\(|^ +print\(|def \w+\(.*\*,", source)


@pytest.mark.parametrize(
    ("version", "fault"), [((3, 10), "too old"), ((3, 14), "too new"), ((2, 7), "too old")]
)
def test_python_that_does_not_work_is_refused(course, monkeypatch, capsys, version, fault):
    monkeypatch.setattr(course, "this_python", lambda: version)
    monkeypatch.setattr(course, "pythons_found", lambda: ["python3.12"])
    assert course.main(["lab"]) == 2
    said = capsys.readouterr().err
    assert fault in said and "3.11, 3.12, 3.13" in said and "`python3.12 course.py`" in said


# -- the command line ------------------------------------------------------------------------------


def test_unknown_command_names_those_there_are(house):
    assert is_refused(house.run("rest"), KNOWN, "did you mean reset?")
    assert is_refused(house.run("zzz"), KNOWN)
    assert is_refused(house.run(), KNOWN)


@scripts_run
@pytest.mark.parametrize(
    ("command", "module"),
    [("lab", "jupyterlab"), ("test", "pytest"), ("bench", "tests.benchmarks")],
)
def test_words_for_another_program_reach_it_as_they_are(house, command, module):
    words = ["-h", "--help", "-k", "a and not b", "--", "-x", "--row", "--opt=1", "", "notebooks"]
    done = house.run(command, *words)
    assert done.returncode == 7, done.stderr
    started = next(line for line in done.stdout.splitlines() if line.startswith("started:"))
    assert started.startswith(f"started: -m {module}") and started.endswith(" ".join(words))


# -- the environment -------------------------------------------------------------------------------


@scripts_run
def test_second_start_does_nothing(house):
    first = house.run("setup")
    assert first.returncode == 0, first.stderr
    assert re.findall(r"\[(\d)/3\]", first.stdout) == ["1", "2", "3"]
    assert len(house.uv_calls()) == 2
    second = house.run("setup")
    assert (second.returncode, second.stdout) == (0, "")
    assert len(house.uv_calls()) == 2


@scripts_run
@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ("Caused by: dns error", "No network"),
        ("failed to write: No space left on device (os error 28)", "disk is full"),
        ("invalid peer certificate: UnknownIssuer", "certificate"),
        ("Because tensorflow==2.21.0 has no wheels with a matching Python", "tensorflow==2.21.0"),
    ],
)
def test_failed_install_is_explained_and_repaired(house, says, sentence):
    assert is_refused(house.run("setup", UV_SAYS=says), sentence)
    assert house.stamp == "unfinished"
    again = house.run("setup")
    assert "did not finish" in again.stdout
    assert len(house.stamp) == 64


@scripts_run
def test_broken_venv_is_made_afresh(house):
    house.run("setup")
    (house.root / ".venv" / "bin" / "python").unlink()
    done = house.run("setup")
    assert done.returncode == 0
    assert "broken: its Python does not start" in done.stdout
    assert len(house.stamp) == 64


@scripts_run
def test_what_is_not_an_environment_is_left_alone(house):
    (house.root / ".venv").mkdir()
    (house.root / ".venv" / "my thesis.txt").write_text("three years")
    assert is_refused(house.run("setup"), "not a Python environment")
    assert (house.root / ".venv" / "my thesis.txt").exists()
    shutil.rmtree(house.root / ".venv")
    (house.root / ".venv").write_text("a file")
    assert is_refused(house.run("setup"), "not a Python environment")


def test_full_disk_is_refused_before_the_install(course, monkeypatch, refused):
    usage = shutil.disk_usage(REPO)._replace(free=2 * 10**9)
    monkeypatch.setattr(course.shutil, "disk_usage", lambda path: usage)
    course.refuse_full_disk("update")
    refused(course.Refusal, r"2\.0 GB are free.* about 4 GB;", course.refuse_full_disk, "cpu")
    refused(course.Refusal, r"about 9 GB \(4 GB without CUDA", course.refuse_full_disk, "cuda")


def test_environment_of_kernels(course, monkeypatch):
    for name in course.LEADS_ASTRAY.split():
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    monkeypatch.setenv("PYTHONHASHSEED", "5")
    variables = course.environment()
    assert not set(course.LEADS_ASTRAY.split()) & set(variables)
    assert variables["TF_CPP_MIN_LOG_LEVEL"] == "0"  # the learner's own wish
    assert variables["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert variables["PYTHONHASHSEED"] == "0"
    assert course.installer_environment()["PIP_USER"] == "0"


# -- what is started -------------------------------------------------------------------------------


def test_lab_says_where_the_learner_left_off(course, unsigned, monkeypatch, capsys):
    path = course.ROOT / "notebooks" / "03_bytecode_and_frames.ipynb"
    asked = [v4.new_code_cell(f"check.{name}(...)") for name in ("wound", "unwind")]
    nbformat.write(v4.new_notebook(cells=asked), path)
    monkeypatch.setattr(course, "hand_over", lambda command, variables: 7)
    assert work.lab([]) == 7 and "You left off" not in capsys.readouterr().out
    record = course.WORK / learner_record.NAME
    learner_record.add(record, {"check": "wound", "is": "passed"})
    said = "You left off in chapter 3: 1 of 2 exercises passed; next: unwind."
    assert work.lab([]) == 7 and capsys.readouterr().out.splitlines().count(said) == 1
    record.write_bytes(b"\xff")
    said = "1 of 1 lines in work/progress.jsonl cannot be read"
    assert work.lab([]) == 7 and said in capsys.readouterr().out


@scripts_run
def test_lab_opens_the_first_notebook_in_work(house):
    done = house.run("lab", "--no-browser", "--port", "8899", PYTHONPATH="/elsewhere")
    assert done.returncode == 7  # that of the stand-in: the exit code goes through
    started = next(line for line in done.stdout.splitlines() if line.startswith("started:"))
    assert f"--ServerApp.root_dir={house.root / 'work'}" in started
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in started
    assert started.endswith("--no-browser --port 8899")
    as_root = os.geteuid() == 0
    assert ("--allow-root" in started) == as_root == ("You are root" in done.stdout)
    assert "PYTHONHASHSEED=0" in done.stdout and "PYTHONPATH" not in done.stdout


@scripts_run
@pytest.mark.parametrize(("version", "lax"), [("3.11", False), ("3.12", True), ("3.13", True)])
def test_outputs_are_compared_on_the_reference_python(house, version, lax):
    done = house.run("test", "-k", "something", FAKE_VERSION=version)
    assert done.returncode == 7
    started = next(line for line in done.stdout.splitlines() if line.startswith("started:"))
    assert started.endswith("-k something")
    assert ("--nbval-lax" in started) == lax == ("not compared" in done.stdout)


# -- the learner's notebooks -----------------------------------------------------------------------


@scripts_run
def test_work_is_filled_once_and_then_the_learners(house):
    house.run("lab")
    own = house.root / "work" / "00_start_here.ipynb"
    notebook(own, "mine")
    mine = own.read_bytes()
    notebook(house.root / "notebooks" / "04_new.ipynb", "an update")
    notebook(house.root / "notebooks" / "00_start_here.ipynb", "an update too")
    (house.root / "notebooks" / "instructor").mkdir()
    notebook(house.root / "notebooks" / "instructor" / "04_instructor.ipynb", "for teachers")
    done = house.run("lab")
    assert "04_new.ipynb" in done.stdout
    assert "00_start_here.ipynb," not in done.stdout
    assert own.read_bytes() == mine
    assert (house.root / "work" / "04_new.ipynb").exists()
    assert not (house.root / "work" / "instructor").exists()


def test_an_environment_that_was_moved_is_another(course, monkeypatch, tmp_path):
    before = course.fingerprint((3, 11))
    for name in course.SET_UP_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(course.ROOT / name, tmp_path / name)
    monkeypatch.setattr(course, "ROOT", tmp_path)
    assert course.fingerprint((3, 11)) != before


@pytest.mark.parametrize("word", ["3", "03", "03_byte", "work/03_bytecode_and_frames.ipynb"])
def test_reset_keeps_the_old_one_beside_the_fresh(house, word):
    own = house.root / "work" / "03_bytecode_and_frames.ipynb"
    own.parent.mkdir()
    own.write_text("mine")
    done = house.run("reset", word)
    assert done.returncode == 0, done.stderr
    assert own.read_bytes() == (house.root / "notebooks" / own.name).read_bytes()
    (kept,) = own.parent.glob("03_bytecode_and_frames.*.ipynb")
    assert re.fullmatch(r"03_bytecode_and_frames\.\d{4}-\d\d-\d\d_\d{6}\.ipynb", kept.name)
    assert kept.read_text() == "mine"
    assert kept.name in done.stdout


def test_reset_solved_to_a_number_keeps_the_old_one_too(house):
    own = house.root / "work" / "03_bytecode_and_frames.ipynb"
    own.parent.mkdir()
    own.write_text("mine")
    shutil.copy(bootstrap.ROOT / "notebooks" / own.name, house.root / "notebooks")
    done = house.run("reset", "3", "--solved-to", "2")
    assert done.returncode == 0, done.stderr
    assert "is fresh, its first 2 exercises solved" in done.stdout
    cells = json.loads(own.read_text("utf-8"))["cells"]
    told = list(exercise_cells(cells))[:3]
    here = ["".join(cells[one.stub]["source"]) == one.solution.rstrip() for one in told]
    assert here == [True, True, False]
    (kept,) = own.parent.glob("03_bytecode_and_frames.*.ipynb")
    assert kept.read_text() == "mine"
    assert is_refused(house.run("reset", "3", "--solved-to", "99"), "--solved-to needs a number")
    assert len(list(own.parent.glob("*.ipynb"))) == 2


@pytest.mark.parametrize("words", [["7"], ["0x"], [""], ["."], []])
def test_reset_of_nothing_known_lists_the_notebooks(house, words):
    assert is_refused(house.run("reset", *words), "00_start_here.ipynb, 03_bytecode")
    assert not (house.root / "work").exists()


# -- nothing of the learner's is lost --------------------------------------------------------------

links = pytest.mark.skipif(os.name == "nt", reason="making a link needs rights on Windows")


@pytest.fixture
def victim(house):
    """A folder outside, which looks like an environment of the course."""
    folder = house.root.parent / "victim"
    folder.mkdir()
    for name, text in [("thesis.txt", "three years"), ("pyvenv.cfg", ""), ("00.ipynb", "mine")]:
        (folder / name).write_text(text)
    (folder / "course-stamp.txt").write_text("unfinished")
    yield folder
    assert {*os.listdir(folder)} == {"00.ipynb", "course-stamp.txt", "pyvenv.cfg", "thesis.txt"}
    assert (folder / "thesis.txt").read_text() == "three years"
    assert (folder / "course-stamp.txt").read_text() == "unfinished"


@links
def test_a_venv_that_is_a_link_is_not_followed(house, victim):
    (house.root / ".venv").symlink_to(victim)
    assert is_refused(house.run("setup"), ".venv is a link to another folder")
    assert (house.root / ".venv").is_symlink() and house.uv_calls() == []


@links
@pytest.mark.parametrize("words", [["reset", "0"], ["lab"]])
def test_a_work_that_is_a_link_is_not_written(house, course, unsigned, victim, words, refused):
    (house.root / "work").symlink_to(victim)
    assert is_refused(house.run(*words), "work is a link to another folder")
    refused(course.Refusal, "work is a link to another folder", start, words)


@links
@pytest.mark.parametrize("kind", ["dangling link", "link", "folder"])
def test_whatever_a_learner_has_put_there_is_kept(house, course, unsigned, victim, kind):
    own = house.root / "work" / "00_start_here.ipynb"
    own.parent.mkdir()
    if kind == "folder":
        own.mkdir()
        (own / "mine").write_text("mine")
    else:
        own.symlink_to(victim / ("no such file" if kind == "dangling link" else "00.ipynb"))
    (own.parent / ".00_start_here.ipynb.part").symlink_to(victim / "thesis.txt")
    work.fill()
    assert own.is_dir() if kind == "folder" else own.is_symlink()
    work.reset(["0"])
    assert own.read_bytes() == (house.root / "notebooks" / own.name).read_bytes()
    (kept,) = own.parent.glob("00_start_here.2*")
    assert (kept / "mine").read_text() == "mine" if kind == "folder" else kept.is_symlink()
    assert (victim / "00.ipynb").read_text() == "mine"


# -- check -----------------------------------------------------------------------------------------


@pytest.fixture
def checked(course, monkeypatch, capsys):
    """Run `check` against the packages of this very Python, without loading the heavy ones."""

    def check(pins):
        (course.ROOT / "constraints.txt").write_text("\n".join(pins))
        monkeypatch.setattr(check_, "KEY_PACKAGES", " ".join(pin.split("=")[0] for pin in pins))
        monkeypatch.setattr(check_, "loads", lambda module: True)
        monkeypatch.setattr(course, "hand_over", lambda command, _: start(command[2:]))
        code = course.main(["check"])
        return code, capsys.readouterr().out

    return check


def test_check_passes_where_all_is_there(checked):
    code, said = checked([f"{name}=={version(name)}" for name in ("nbval", "networkx")])
    assert code == 0
    for what in ("Python", "environment", "nbval", "networkx", "memory", "disk", "C compiler"):
        assert re.search(rf"^(ok|note|optional) +{what} ", said, re.MULTILINE), said
    assert said.endswith("Ready: the course can run here.\n")


def test_check_tells_what_is_missing(checked):
    code, said = checked([f"nbval=={version('nbval')}", "no-such-package==1.0"])
    assert code == 1
    assert re.search(r"^MISSING +no-such-package .*course.py setup", said, re.MULTILINE)
    assert "Not ready: no-such-package first." in said


@scripts_run
def test_check_and_reset_need_no_package(house):
    """As before the first install: by a Python that has nothing but its standard library."""
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    (house.root / ".venv" / "bin").mkdir(parents=True)
    script(house.root / ".venv" / "bin" / "python", f'#!/bin/sh\nexec "{base}" -S "$@"\n')
    done = house.run("check")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("Not ready: packages first.\n")
    done = house.run("reset", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Not marked as trusted" in done.stdout
    assert (house.root / "work" / "03_bytecode_and_frames.ipynb").exists()
