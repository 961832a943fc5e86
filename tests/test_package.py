"""`pip install .`: the wheel has every file, and its verbs work away from the course.

"Away" is a child in which nobody finds the course, nor any package that the wheel does not ask for.
"""

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.without import ROOT, cells_without

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDS = [Requirement(line) for line in PROJECT["dependencies"]]
BUILD = "wheel --no-build-isolation --no-deps --no-index --disable-pip-version-check --quiet"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", *BUILD.split(), "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def away(wheel, tmp_path_factory) -> str:
    """The folder that the wheel is unpacked into."""
    folder = tmp_path_factory.mktemp("away")
    with ZipFile(wheel) as packed:
        packed.extractall(folder)
    return str(folder)


def needed(requirements) -> set[str]:
    """Return what is installed for these requirements, and for theirs."""
    found, open_ends = set(), list(requirements)
    while open_ends:
        one = open_ends.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        open_ends += map(Requirement, metadata.requires(name) or ())
    return found


def others() -> list[str]:
    """Return the top modules of all that is installed and not needed."""
    ours = needed(NEEDS)
    homes = metadata.packages_distributions().items()
    tops = {top for top, names in homes if not ours.intersection(map(canonicalize_name, names))}
    return sorted(tops - {"helpers"})


def test_wheel_has_every_file_of_the_helpers(wheel):
    files = (path for path in (ROOT / "helpers").rglob("*") if path.is_file())
    here = {path.relative_to(ROOT).as_posix() for path in files if path.suffix != ".pyc"}
    with ZipFile(wheel) as packed:
        there = {name for name in packed.namelist() if name.startswith("helpers/")}
    assert there == here
    assert {Path(name).suffix for name in here} >= {".py", ".js", ".css", ".html", ".toml", ".c"}


def test_verbs_are_there_without_a_framework_or_a_lab(away):
    hidden = others()
    assert {"torch", "tensorflow", "jupyterlab", "nbformat", "pytest"} <= {*hidden}
    assert not {"IPython", "numpy"}.intersection(hidden)
    where, names, listing, picture = cells_without(
        hidden,
        [
            "import helpers; print(helpers.__file__)",
            "for name in helpers.__all__: getattr(helpers, name)",
            "helpers.show_bytecode(lambda x: x + 1)",
            "data, _ = helpers.watch_stack(lambda x: x + 1, 1)._repr_mimebundle_()\nsorted(data)",
        ],
        path=away,
    )
    assert where.shown.startswith(away)
    assert not names.error, names.shown
    assert "BINARY_OP" in listing.shown
    assert "application/vnd.jupyter.widget-view+json" in picture.shown


def test_missing_part_is_one_sentence_with_pips_cure(away):
    told = cells_without(
        [*others(), "networkx"],
        [
            "from helpers import *",
            "watch_compile(lambda: 1)",
            "show_graph(lambda: 1)",
            "import networkx",
        ],
        path=away,
    )[1:]
    for one, name, cure in zip(
        told,
        ("PyTorch", "TensorFlow", "networkx"),
        ('"torch==2.13.0"', '"tensorflow', '"networkx~=3.6"'),
        strict=True,
    ):
        assert one.error and one.shown.count("\n") == 1, one.shown
        assert one.shown.startswith(f"{name} is missing in this notebook's Python: run `pip inst")
        assert cure in one.shown and "course.py" not in one.shown
