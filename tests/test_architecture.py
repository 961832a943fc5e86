"""The arrows between the rooms of helpers/ hold, and ruff finds nothing; each check can fail."""

import sys
from importlib.util import resolve_name
from pathlib import Path

import pytest

from tests.pythons import finished
from tools import draw_rooms

REPO = Path(__file__).parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command as lint; lint()"
ROOMS = "capture course exhibit internals mini model safety study verbs view"
WINGS = "cpython frameworks oneflow processes references tensorflow text torch"
ARROWS = {  # room -> where it must import nothing from
    "capture/text": "helpers.view helpers.capture.cpython ..cpython",
    "capture/cpython": "helpers.capture.references",
    "capture/processes": "helpers.capture.tensorflow",
    "internals": "helpers.mini",
    "view": "helpers.capture.text ..capture.text torch",
    "exhibit": "helpers.capture.text",
    "mini": "helpers.model torch",
    "mini/dynamo": "tensorflow",
    "model": "helpers.view",
    "study": "helpers torch helpers.course",
    "course": "helpers.study",
    "verbs": "torch",
    "": "helpers.mini tensorflow",
}
FORBIDDEN = [
    (room, f"import {name}" if name in ("torch", "tensorflow") else f"from {name} import wrong")
    for room, names in ARROWS.items()
    for name in names.split()
]


def lint_imports(folder):
    """Run import-linter on the `helpers` in a folder, under the contracts of this repository."""
    config = str(REPO / "pyproject.toml")
    return run(folder, "-c", LINT_IMPORTS, "--config", config, "--no-cache")


def run(folder, *words):
    return finished([sys.executable, *words], cwd=folder)


def test_arrows_of_helpers_hold():
    done = lint_imports(REPO)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def rooms(tmp_path):
    return house_in(tmp_path)


def house_in(folder):
    """Return a `helpers` in which every room and every wing has one empty module, `wrong`."""
    wings = [f"capture/{wing}" for wing in WINGS.split()]
    for room in ("", *ROOMS.split(), *wings, "mini/dynamo", "mini/eager", "study/chapter_5"):
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
    folders = ("helpers", "package", "tests", "tools", "notebooks", "conftest.py", "course.py")
    done = ruff(*[folder for folder in folders if (REPO / folder).exists()])
    assert done.returncode == 0, done.stdout


def test_contributing_shows_the_rooms_and_arrows_of_today():
    """After a change: `python -m tools.draw_rooms`."""
    assert draw_rooms.drawn() == draw_rooms.CONTRIBUTING.read_text("utf-8")
