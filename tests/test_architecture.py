"""The arrows between the rooms of helpers/ hold, and ruff finds nothing; each check can fail."""

import subprocess
import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

REPO = Path(__file__).parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command as lint; lint()"
ROOMS = (
    *("capture", "course", "exhibit", "internals", "mini", "model", "safety", "study", "verbs"),
    "view",
)
WINGS = (
    *("cpython", "frameworks", "oneflow", "processes", "references", "tensorflow", "text", "torch"),
)

FORBIDDEN = (
    ("capture/text", "from helpers.view import wrong"),
    ("capture/text", "from helpers.capture.cpython import wrong"),
    ("capture/cpython", "from helpers.capture.references import wrong"),
    ("capture/processes", "from helpers.capture.tensorflow import wrong"),
    ("internals", "from helpers.mini import wrong"),
    ("view", "from helpers.capture.text import wrong"),
    ("view", "import torch"),
    ("exhibit", "from helpers.capture.text import wrong"),
    ("mini", "from helpers.model import wrong"),
    ("mini", "import torch"),
    ("mini/dynamo", "import tensorflow"),
    ("model", "from helpers.view import wrong"),
    ("study", "from helpers import wrong"),
    ("study", "import torch"),
    ("study", "from helpers.course import wrong"),
    ("course", "from helpers.study import wrong"),
    ("verbs", "import torch"),
    ("", "from helpers.mini import wrong"),
    ("view", "from ..capture.text import wrong"),
    ("capture/text", "from ..cpython import wrong"),
    ("", "import tensorflow"),
)


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
    return house_in(tmp_path)


def house_in(folder):
    """Return a `helpers` in which every room and every wing has one empty module, `wrong`."""
    wings = [f"capture/{wing}" for wing in WINGS]
    for room in ("", *ROOMS, *wings, "mini/dynamo", "mini/eager", "study/chapter_5"):
        (folder / "helpers" / room).mkdir()
        (folder / "helpers" / room / "__init__.py").write_text("")
        (folder / "helpers" / room / "wrong.py").write_text("")
    (folder / "helpers/wrong.py").unlink()
    (folder / "helpers/capture/wrong.py").unlink()
    for table in ("environment", "rows"):
        (folder / "helpers/capture" / f"{table}.py").write_text("")
    return folder / "helpers"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What is said of a house with every forbidden arrow in it."""
    folder = tmp_path_factory.mktemp("forbidden")
    house = house_in(folder)
    for number, (place, line) in enumerate(FORBIDDEN):
        write(house, place, number, line)
    done = lint_imports(folder)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("number", range(len(FORBIDDEN)))
def test_arrow_is_reported(told, number):
    place, line = FORBIDDEN[number]
    importer = f"helpers.{place.replace('/', '.')}.line_{number}" if place else "helpers"
    words = line.split()
    imported = f"{words[1]}.wrong" if words[0] == "from" else words[1]
    imported = resolve_name(imported, f"helpers.{place.replace('/', '.')}")
    imported = imported.replace("helpers.wrong", "helpers")
    assert f"{importer} -> {imported} (l." in told


def write(house, place, number, line):
    if place:
        (house / place / f"line_{number}.py").write_text(line + "\n")
    else:
        with open(house / "__init__.py", "a") as door:
            door.write(line + "\n")


@pytest.mark.parametrize("place", ["utils", "capture/wing"])
def test_room_without_a_place_is_reported(rooms, place):
    (rooms / place).mkdir()
    (rooms / place / "__init__.py").write_text("")
    done = lint_imports(rooms.parent)
    assert done.returncode == 1 and f"- helpers.{place.replace('/', '.')}" in done.stdout


def ruff(*paths):
    config = str(REPO / "pyproject.toml")
    return run(REPO, "-m", "ruff", "check", "--no-cache", "--config", config, *paths)


def test_ruff_finds_nothing():
    folders = ("helpers", "package", "tests", "notebooks", "conftest.py", "course.py")
    done = ruff(*[folder for folder in folders if (REPO / folder).exists()])
    assert done.returncode == 0, done.stdout
