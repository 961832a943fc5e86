"""The arrows between the rooms of helpers/ hold, and ruff finds nothing; each check can fail."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command as lint; lint()"
ROOMS = ("capture", "course", "exhibit", "mini", "model", "safety", "study", "view")


def lint_imports(folder):
    """Run import-linter on the `helpers` in a folder, under the contracts of this repository."""
    config = str(REPO / "pyproject.toml")
    return run(folder, "-c", LINT_IMPORTS, "--config", config, "--no-cache")


def run(folder, *words):
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False
    )


def test_arrows_of_helpers_hold():
    done = lint_imports(REPO)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def rooms(tmp_path):
    """A `helpers` in which every room is empty."""
    for room in ("", *ROOMS):
        (tmp_path / "helpers" / room).mkdir()
        (tmp_path / "helpers" / room / "__init__.py").write_text("")
    return tmp_path / "helpers"


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("capture", "from helpers.model import a"),
        ("view", "from helpers.model import a"),
        ("exhibit", "from helpers.view import a"),
        ("study", "from helpers.exhibit import a"),
        ("study", "from helpers.capture import a"),
        ("study", "from helpers.mini import a"),
        ("capture", "from helpers.mini import a"),
        ("course", "from helpers.safety import a"),
        ("", "from helpers.capture import a"),
        ("", "from helpers.study import a"),
        ("capture", "import torch, tensorflow"),
        ("mini/dynamo", "import torch.fx"),
        ("mini/eager", "import tensorflow"),
    ],
)
def test_arrow_is_allowed(rooms, place, line):
    write(rooms, place, line)
    done = lint_imports(rooms.parent)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("capture", "from helpers.view import a"),
        ("capture", "from helpers.exhibit import a"),
        ("capture", "from helpers.study import a"),
        ("view", "from helpers.capture import a"),
        ("view", "from helpers.mini import a"),
        ("exhibit", "from helpers.capture import a"),
        ("exhibit", "from helpers.study import a"),
        ("exhibit", "from helpers.mini import a"),
        ("mini", "from helpers.model import a"),
        ("mini", "from helpers.capture import a"),
        ("model", "from helpers.view import a"),
        ("model", "from helpers.mini import a"),
        ("", "from helpers.mini import a"),
        ("", "from helpers.model import a"),
        ("course", "from helpers.study import a"),
        ("course", "from helpers.model import a"),
        ("study", "from helpers.course import a"),
        ("", "from helpers.course import a"),
        ("study", "from helpers import show"),
        ("view", "import torch"),
        ("", "def late():\n    import tensorflow"),
        ("mini/other", "import torch"),
        ("mini/dynamo", "import tensorflow"),
        ("utils", "x = 1"),
    ],
)
def test_arrow_is_reported(rooms, place, line):
    write(rooms, place, line)
    done = lint_imports(rooms.parent)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "broken" in done.stdout
    assert "Traceback" not in done.stderr


def write(rooms, place, line):
    (rooms / place).mkdir(exist_ok=True)
    (rooms / place / "__init__.py").write_text(line + "\n")


@pytest.mark.parametrize("room", ROOMS)
def test_arrows_hold_while_a_room_is_not_built_yet(rooms, room):
    shutil.rmtree(rooms / room)
    assert lint_imports(rooms.parent).returncode == 0


def ruff(*paths):
    config = str(REPO / "pyproject.toml")
    return run(REPO, "-m", "ruff", "check", "--no-cache", "--config", config, *paths)


def test_ruff_finds_nothing():
    folders = ("helpers", "tests", "notebooks", "conftest.py", "course.py")
    done = ruff(*[folder for folder in folders if (REPO / folder).exists()])
    assert done.returncode == 0, done.stdout


def test_ruff_would_find_something(tmp_path):
    from nbformat import v4, write

    (tmp_path / "a.py").write_text("import os\n")
    cell = v4.new_code_cell("import os, json\nprint(nothing)", id="one")
    write(v4.new_notebook(cells=[cell]), tmp_path / "b.ipynb")
    found = ruff(str(tmp_path)).stdout
    assert "a.py" in found
    assert "b.ipynb:cell 1" in found
