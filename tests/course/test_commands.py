"""The words after `course.py`: what is refused before an install, and what is started."""

import ast
import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from helpers.course import checkout, commands, stamp, terminal
from tests.pythons import finished

REPO = Path(__file__).parents[2]
KNOWN = ", ".join(commands.COMMANDS)
FILES = ("course.py", "requirements.txt", "constraints.txt", "pyproject.toml", "share", "package")
ROOMS = ("helpers/course", "helpers/model", "helpers/safety", "tools/benchmarks")
scripts_run = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are shell scripts")

FAKE_PYTHON = """#!/bin/sh
case "$2" in jupyterlab|pytest|tools.benchmarks|tools.remake) echo "started: $*"; env; exit 7;; esac
[ -n "$FAKE_VERSION" ] && case "$2" in *implementation*) echo "cpython $FAKE_VERSION"; exit;; esac
exec "{python}" "$@"
"""


class House:
    """A copy of the repository in which an environment that is up to date stands in for .venv."""

    def __init__(self, root, outside):
        self.root = root
        programs = root / ".venv" / "bin"
        programs.mkdir(parents=True)
        fake = programs / "python"
        fake.write_text(FAKE_PYTHON.format(python=sys.executable), "utf-8")
        fake.chmod(0o755)
        self.environ = {
            "PATH": os.defpath,
            "HOME": str(outside),
            "JUPYTER_DATA_DIR": str(outside / "jupyter"),
            "JUPYTER_RUNTIME_DIR": str(outside / "running"),
        }

    def stamp(self, version):
        before, checkout.ROOT = checkout.ROOT, self.root
        try:
            text = stamp.fingerprint(version)
        finally:
            checkout.ROOT = before
        (self.root / ".venv" / stamp.STAMP).write_text(text)

    def run(self, *words, **environ):
        """Run course.py as a learner does, with another folder as the current one."""
        version = environ.get("FAKE_VERSION", checkout.dotted(sys.version_info[:2]))
        if (self.root / ".venv" / "bin").exists():
            self.stamp(tuple(map(int, version.split("."))))
        command = [sys.executable, self.root / "course.py", *words]
        return finished(command, env={**self.environ, **environ}, cwd=self.root.parent)


@pytest.fixture
def house(tmp_path):
    root, outside = tmp_path / "a course", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    for name in (*FILES, *ROOMS):
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        if (REPO / name).is_dir():
            shutil.copytree(REPO / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(REPO / name, root / name)
    (root / "helpers" / "__init__.py").touch()  # and no front door, which course.py leaves shut
    (root / "tools" / "__init__.py").touch()
    (root / "notebooks").mkdir()
    for name in ("00_start_here", "03_bytecode_and_frames"):
        cells = [v4.new_code_cell(f"print({name!r})", id="one")]
        nbformat.write(v4.new_notebook(cells=cells), root / "notebooks" / f"{name}.ipynb")
    return House(root, outside)


def is_refused(done, *words):
    """Assert that a run ended with one line, so no traceback, that says all of `words`."""
    assert done.returncode not in (0, None), done.stdout
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr
    return True


def started(done):
    """Return the command that the stand-in for a program was started with."""
    assert done.returncode == 7, done.stderr
    return next(line for line in done.stdout.splitlines() if line.startswith("started:"))


# -- which Python ----------------------------------------------------------------------------------


def test_an_old_python_can_read_the_file_and_says_that_it_is_too_old():
    """No f-string, no bare star, no annotation: Python 2.7 is to be told that it is too old."""
    source = (REPO / "course.py").read_text("ascii")
    new = ast.JoinedStr | ast.NamedExpr | ast.AnnAssign | ast.Await | ast.Nonlocal
    tree = ast.parse(source, feature_version=(3, 6))
    assert [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, new)] == []
    check = source.index("if sys.version_info < (3, 11)")
    assert check < source.index("from helpers.course")


@pytest.mark.parametrize("version", ["3.6", "3.8", "3.10"])
def test_an_old_python_is_told_in_one_sentence(version):
    for folder in sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin")):
        done = finished([folder / "python", REPO / "course.py", "lab"])
        assert is_refused(done, f"Python {version}", "`python3.11 course.py`")


def test_a_new_python_is_refused_and_told_of_one_that_works(monkeypatch, refused):
    monkeypatch.setattr(commands, "SUPPORTED", ((3, 9),))
    monkeypatch.setattr(commands, "pythons_found", lambda: ["python3.9"])
    refused(terminal.CommandRefused, "`python3.9 course.py`", commands.start, ["lab"])


# -- words are refused before anything is installed ------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], KNOWN),
        (["zzz"], KNOWN),
        (["rest"], "reset?"),
        (["setup", "now"], "now."),
        (["check", "--all"], "--all."),
        (["reset"], "00_start_here.ipynb, 03_bytecode"),
        (["reset", "7"], "00_start_here.ipynb, 03_bytecode"),
        (["reset", "3", "--solved-to", "two"], "--solved-to"),
        (["reset", "3", "--sloved-to", "2"], "--sloved-to"),
        (["book", "42"], "'42'"),
        (["book", "--fast"], "--fast"),
        (["handout", "42"], "'42'"),
        (["handout", "3", "--to"], "--to"),
        (["handout", "3", "--to", "a course/notebooks"], "a course/notebooks"),
        (["slides", "3", "--to", "a course"], "a course"),
        (["handout", "3", "--too", "x"], "--too"),
        (["slides", "42"], "'42'"),
        (["slides", "3", "--html"], "--html"),
        (["workshop"], "half-day, day, two-days"),
        (["workshop", "week"], "half-day"),
        (["workshop", "day", "--from", "nine"], "'nine'"),
        (["workshop", "day", "42"], "'42'"),
        (["bench", "nothing"], "nothing"),
        (["bench", "--shrt"], "--shrt"),
        (["remake"], "00_start_here.ipynb, 03_bytecode"),
        (["remake", "42"], "'42'"),
        (["remake", "all", "3"], "'all'"),
    ],
)
def test_wrong_words_are_refused_first(house, words, sentence):
    shutil.rmtree(house.root / ".venv")
    assert is_refused(house.run(*words), sentence)
    assert not any((house.root / name).exists() for name in (".venv", ".vnew", "work"))


# -- what is started -------------------------------------------------------------------------------


@scripts_run
@pytest.mark.parametrize(("command", "module"), [("lab", "jupyterlab"), ("test", "pytest")])
def test_words_for_another_program_reach_it_as_they_are(house, command, module):
    words = ["-h", "--help", "-k", "a and not b", "--", "-x", "--row", "--opt=1", "", "notebooks"]
    line = started(house.run(command, *words))
    assert line.startswith(f"started: -m {module}") and line.endswith(" ".join(words))


@scripts_run
def test_a_folder_is_named_from_where_one_stands(house):
    done = house.run("handout", "3", "--to", "for the class")
    assert done.returncode == 0, done.stderr
    assert (house.root.parent / "for the class" / "03_bytecode_and_frames.ipynb").is_file()


@scripts_run
def test_bench_starts_the_benchmarks(house):
    assert started(house.run("bench", "--list")) == "started: -m tools.benchmarks --list"


@scripts_run
@pytest.mark.parametrize("word", ["03", "all"])
def test_remake_starts_the_remaking(house, word):
    assert started(house.run("remake", word)) == f"started: -m tools.remake {word}"


@pytest.mark.parametrize("command", commands.OF_MAINTAINERS)
def test_a_command_of_maintainers_is_refused_without_their_folder(house, command):
    shutil.rmtree(house.root / "tools")
    assert is_refused(house.run(command), f"`{command}`", "tools/")


@scripts_run
def test_lab_opens_the_first_notebook_in_work(house):
    done = house.run("lab", "--no-browser", "--port", "8899", PYTHONPATH="/elsewhere")
    line = started(done)  # the exit code goes through
    assert f"--ServerApp.root_dir={house.root / 'work'}" in line
    assert "--LabApp.default_url=/lab/tree/00_start_here.ipynb" in line
    assert line.endswith("--no-browser --port 8899")
    as_root = os.geteuid() == 0
    assert ("--allow-root" in line) == as_root
    assert "PYTHONHASHSEED=0" in done.stdout and "PYTHONPATH" not in done.stdout


@scripts_run
@pytest.mark.parametrize(("version", "lax"), [("3.11", False), ("3.12", True), ("3.13", True)])
def test_outputs_are_compared_on_the_reference_python(house, version, lax):
    done = house.run("test", "-k", "something", FAKE_VERSION=version)
    line = started(done)
    assert line.endswith("-k something")
    assert ("--nbval-lax" in line) == lax


@pytest.mark.parametrize("kind", ["folder", "file", "link", "dangling link"])
def test_check_says_the_same_of_a_foreign_environment_as_setup(house, kind):
    place = house.root / ".venv"
    shutil.rmtree(place)
    if kind == "folder":
        place.mkdir()
        (place / "thesis.txt").touch()
    elif kind == "file":
        place.touch()
    else:
        place.symlink_to(house.root if kind == "link" else house.root / "nothing")
    refusal = finished([sys.executable, house.root / "course.py", "setup"]).stderr
    refusal = refusal.removeprefix("course.py: ").strip()
    assert ".venv" in refusal and ("link" in refusal) == ("link" in kind)
    done = house.run("check")
    assert f"MISSING   environment    {refusal}" in done.stdout.splitlines()


@scripts_run
def test_a_reader_who_leaves_early_is_no_error(house):
    command = f'"{sys.executable}" "{house.root}/course.py" --help | head -1'
    done = finished(["sh", "-c", command], env=house.environ)
    assert done.stderr == ""


@scripts_run
def test_check_and_reset_need_no_package(house):
    """As before the first install: by a Python that has nothing but its standard library."""
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    bare = house.root / ".venv" / "bin" / "python"
    bare.write_text(f'#!/bin/sh\nexec "{base}" -S "$@"\n')
    done = house.run("check")
    assert (done.returncode, done.stderr) == (1, "")
    assert "Not ready: " in done.stdout.splitlines()[-1]
    done = house.run("reset", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert "trusted" in done.stdout
    assert (house.root / "work" / "03_bytecode_and_frames.ipynb").exists()


def test_variables_of_what_is_started(monkeypatch):
    for name in checkout.LEADS_ASTRAY.split():
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS", raising=False)
    monkeypatch.setenv("PYTHONHASHSEED", "5")
    variables = checkout.start_environment()
    assert not set(checkout.LEADS_ASTRAY.split()) & set(variables)
    assert variables["TF_CPP_MIN_LOG_LEVEL"] == "0"  # the learner's own wish
    assert variables["TF_ENABLE_ONEDNN_OPTS"] == "0"
    assert variables["PYTHONHASHSEED"] == "0"


def test_the_explanation_names_every_command():
    said = finished([sys.executable, REPO / "course.py", "--help"]).stdout
    assert [
        name for name in commands.COMMANDS if not re.search(rf"course\.py {name}\b", said)
    ] == []
